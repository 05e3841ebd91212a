// SPDX-License-Identifier: GPL-2.0
/* On-disk headers in memory: right ones, and each way to be wrong. */
#include <endian.h>
#include <inttypes.h>
#include <linux/raid/md_p.h>
#include <stdlib.h>
#include <string.h>

#include "audit/header.h"
#include "tests/tap.h"

#define MEDIUM	(2U << 20)

static uint8_t medium[MEDIUM];
static uint64_t furthest;	/* end of what has been read */

static bool read_medium(void *context, uint64_t offset, void *buffer,
			size_t length)
{
	(void)context;
	CHECK(offset <= MEDIUM && length <= MEDIUM - offset,
	      "reads behind the end");
	if (offset + length > furthest)
		furthest = offset + length;
	memcpy(buffer, medium + offset, length);
	return true;
}

typedef bool (*reader)(const struct header_source *source,
		       struct stack_content *content);

static bool get(reader read, struct stack_content *content)
{
	const struct header_source source = { read_medium, NULL, MEDIUM };
	struct stack_content before;
	bool found;

	memset(content, 0, sizeof(*content));
	before = *content;
	furthest = 0;
	found = read(&source, content);
	CHECK(found || !memcmp(&before, content, sizeof(before)),
	      "sets a figure of a header that it refuses");
	return found;
}

static void clear(void)
{
	memset(medium, 0, sizeof(medium));
}

static void put(size_t at, const void *bytes, size_t length)
{
	memcpy(medium + at, bytes, length);
}

static void put_be(size_t at, uint64_t value, size_t length)
{
	while (length--) {
		medium[at + length] = (uint8_t)value;
		value >>= 8;
	}
}

static void put_le(size_t at, uint64_t value, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		medium[at + i] = (uint8_t)(value >> (8 * i));
}

static void xfs(void)
{
	struct stack_content content;

	clear();
	put(0, "XFSB", 4);
	put_be(4, 4096, 4);
	put_be(8, 1000, 8);
	put_be(102, 512, 2);
	CHECK(get(header_xfs, &content) && maybe_is(content.block, 4096) &&
	      maybe_is(content.sector, 512) && maybe_is(content.bytes, 4096000),
	      "block %" PRId64 ", sector %" PRId64, maybe_or(content.block, -1),
	      maybe_or(content.sector, -1));
	put_be(8, UINT64_MAX, 8);
	CHECK(get(header_xfs, &content) && !maybe_known(content.bytes),
	      "a size that wraps");
	put_be(102, 513, 2);
	CHECK(!get(header_xfs, &content), "a sector of 513 bytes");
	put_be(102, 8192, 2);
	CHECK(!get(header_xfs, &content), "a sector above the block");
	put_be(102, 512, 2);
	put_be(4, 0, 4);
	CHECK(!get(header_xfs, &content), "a block of 0 bytes");
}

static void ext(void)
{
	struct stack_content content;

	clear();
	put_le(1024 + 56, 0xef53, 2);
	put_le(1024 + 24, 0, 4);
	put_le(1024 + 4, 77, 4);
	put_le(1024 + 0x150, 9, 4);
	CHECK(get(header_ext, &content) && maybe_is(content.block, 1024) &&
	      maybe_is(content.bytes, 77 * 1024), "block %" PRId64 ", bytes %" PRId64,
	      maybe_or(content.block, -1), maybe_or(content.bytes, -1));
	put_le(1024 + 96, 0x80, 4);
	CHECK(get(header_ext, &content) &&
	      maybe_is(content.bytes, (INT64_C(9) << 42) + 77 * 1024),
	      "of 64 bits: %" PRId64, maybe_or(content.bytes, -1));
	put_le(1024 + 24, 7, 4);
	CHECK(!get(header_ext, &content), "a block of 128 KiB");
	put_le(1024 + 24, UINT32_MAX, 4);
	CHECK(!get(header_ext, &content), "a shift of 2^32 - 1");
}

static void luks1(void)
{
	struct stack_content content;

	clear();
	put(0, "LUKS\xba\xbe\0\1", 8);
	put_be(104, 2056, 4);
	CHECK(get(header_luks, &content) && maybe_is(content.start, 2056 * 512) &&
	      maybe_is(content.sector, 512), "start %" PRId64, maybe_or(content.start, -1));
	put_be(104, MEDIUM / 512, 4);
	CHECK(!get(header_luks, &content), "data behind the end");
	put_be(6, 3, 2);
	CHECK(!get(header_luks, &content), "version 3");
}

static bool luks2_says(const char *json, struct stack_content *content)
{
	clear();
	put(0, "LUKS\xba\xbe\0\2", 8);
	put_be(8, 16384, 8);
	put(4096, json, strlen(json));
	return get(header_luks, content);
}

#define SEGMENT(offset, sector) \
	"{\"type\":\"crypt\",\"offset\":\"" offset "\",\"sector_size\":" sector "}"

#define LINEAR(offset, more) \
	"{\"type\":\"linear\",\"offset\":\"" offset "\",\"size\":\"512\"" more "}"

static void luks2(void)
{
	static const char *const wrong[] = {
		"", "{", "[]", "{\"segments\":[]}", "{\"segments\":{}}",
		"{\"segments\":{\"0\":null}}",
		"{\"segments\":{\"0\":{\"type\":\"crypt\"}}}",
		"{\"segments\":{\"0\":" SEGMENT("-1", "512") "}}",
		"{\"segments\":{\"0\":" SEGMENT("513", "512") "}}",
		"{\"segments\":{\"0\":" SEGMENT("4096x", "512") "}}",
		"{\"segments\":{\"0\":" SEGMENT("4194304", "512") "}}",
		"{\"segments\":{\"0\":" SEGMENT("99999999999999999999", "512") "}}",
		"{\"segments\":{\"0\":" SEGMENT("4096", "513") "}}",
		"{\"segments\":{\"0\":" SEGMENT("4096", "8192") "}}",
		"{\"segments\":{\"0\":" LINEAR("4096", "") "}}",
		"{\"segments\":{\"0\":" LINEAR("0", ",\"flags\":[\"backup-final\"]") "}}",
	};
	struct stack_content content;
	char deep[4096];
	size_t i;

	/* being encrypted: what is not yet is plain, and the rest for the end */
	CHECK(luks2_says("{\"segments\":{\"0\":" LINEAR("1572864", "") ",\"1\":"
			 LINEAR("1049088", "") ",\"2\":"
			 LINEAR("0", ",\"flags\":[\"backup-previous\"]") ",\"3\":"
			 "{\"type\":\"crypt\",\"offset\":\"524288\",\"sector_size\":4096,\"flags\":[\"backup-final\"]}"
			 "}}", &content) &&
	      maybe_is(content.start, 1049088) && maybe_is(content.sector, 4096),
	      "start %" PRId64, maybe_or(content.start, -1));
	CHECK(luks2_says("{\"segments\":{\"0\":" SEGMENT("1048576", "4096")
			 ",\"1\":" SEGMENT("524800", "512") "}}", &content) &&
	      maybe_is(content.start, 524800) && maybe_is(content.sector, 512),
	      "start %" PRId64, maybe_or(content.start, -1));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(!luks2_says(wrong[i], &content), "%s", wrong[i]);
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	CHECK(!luks2_says(deep, &content), "JSON of 4095 levels");
	/* lengths of the header that no cryptsetup makes */
	put_be(8, 4096, 8);
	CHECK(!get(header_luks, &content), "a header without JSON");
	put_be(8, UINT64_MAX, 8);
	CHECK(!get(header_luks, &content) && furthest <= 4096,
	      "reads a header of 16 EiB");
	put_be(8, 4U << 20, 8);
	CHECK(!get(header_luks, &content), "a header behind the end");
}

#define METADATA	4096U
#define METADATA_BYTES	16384U

/* Make a physical volume whose metadata begins @at bytes into their area. */
static void make_volume(const char *text, uint64_t at)
{
	uint64_t i;

	clear();
	put(512, "LABELONE", 8);
	put_le(512 + 20, 32, 4);
	put(512 + 24, "LVM2 001", 8);
	put_le(512 + 32 + 40, 1 << 20, 8);
	put_le(512 + 32 + 72, METADATA, 8);
	put(METADATA + 4, " LVM2 x[5A%r0N*>", 16);
	put_le(METADATA + 24, METADATA, 8);
	put_le(METADATA + 32, METADATA_BYTES, 8);
	put_le(METADATA + 40, at, 8);
	put_le(METADATA + 48, strlen(text), 8);
	for (i = 0; i < strlen(text); i++)
		medium[METADATA + (at + i < METADATA_BYTES ? at + i :
				   512 + at + i - METADATA_BYTES)] = text[i];
}

static void lvm(void)
{
	static const char text[] = "vg {\nextent_size = 8192\n}\n";
	struct stack_content content;

	make_volume(text, 512);
	CHECK(get(header_lvm, &content) && maybe_is(content.start, 1 << 20) &&
	      maybe_is(content.extent, 4 << 20), "start %" PRId64 ", extent %" PRId64,
	      maybe_or(content.start, -1), maybe_or(content.extent, -1));
	/* the area is a ring */
	make_volume(text, METADATA_BYTES - 12);
	CHECK(get(header_lvm, &content) && maybe_is(content.extent, 4 << 20),
	      "extent %" PRId64, maybe_or(content.extent, -1));
	/* without metadata the volume still has a start */
	make_volume("vg {\nextent_size = 0\n}", 512);
	CHECK(get(header_lvm, &content) && maybe_is(content.start, 1 << 20) &&
	      !maybe_known(content.extent), "an extent of 0");
	make_volume(text, METADATA_BYTES);
	CHECK(get(header_lvm, &content) && !maybe_known(content.extent),
	      "text behind the area");
	make_volume(text, 512);
	put_le(METADATA + 48, UINT64_MAX, 8);
	CHECK(get(header_lvm, &content) && !maybe_known(content.extent),
	      "a text of 16 EiB");
	put_le(METADATA + 32, UINT64_MAX, 8);
	CHECK(get(header_lvm, &content) && !maybe_known(content.extent),
	      "an area of 16 EiB");
	put_le(512 + 32 + 72, UINT64_MAX, 8);
	CHECK(get(header_lvm, &content) && !maybe_known(content.extent),
	      "an area behind the end");
	put_le(512 + 32 + 40, MEDIUM, 8);
	CHECK(!get(header_lvm, &content), "extents behind the end");
	put_le(512 + 32 + 40, 1 << 20, 8);
	put_le(512 + 20, 500, 4);
	CHECK(!get(header_lvm, &content), "a header behind its sector");
}

static void make_member(uint64_t sector, uint64_t data, uint32_t chunk)
{
	const struct mdp_superblock_1 sb = {
		.magic = htole32(MD_SB_MAGIC),
		.major_version = htole32(1),
		.chunksize = htole32(chunk),
		.data_offset = htole64(data),
		.super_offset = htole64(sector),
	};

	clear();
	put(sector * 512, &sb, sizeof(sb));
}

static void md(void)
{
	static const uint64_t places[] = { 0, 8, (MEDIUM / 512 - 16) & ~7U };
	const mdp_super_t old = {
		.md_magic = MD_SB_MAGIC, .chunk_size = 65536,
	};
	struct stack_content content;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		make_member(places[i], 2049, 1024);
		CHECK(get(header_md, &content) && maybe_is(content.start, 2049 * 512) &&
		      maybe_is(content.chunk, 512 << 10), "version 1 at sector %" PRIu64,
		      places[i]);
	}
	CHECK(!maybe_known(content.logical), "a superblock before Linux 6.19");
	make_member(8, 2048, 0);
	put_le(4096 + 220, 128, 4);
	CHECK(get(header_md, &content) && maybe_is(content.sector, 512),
	      "of 128 members: %" PRId64, maybe_or(content.sector, -1));
	put_le(4096 + 220, 129, 4);
	CHECK(get(header_md, &content) && maybe_is(content.sector, 1024),
	      "of 129 members: %" PRId64, maybe_or(content.sector, -1));
	put_le(4096 + 220, UINT32_MAX, 4);
	CHECK(get(header_md, &content) && !maybe_known(content.sector),
	      "of more members than md can have");
	make_member(8, 2048, 0);
	put_le(4096 + 224, 512, 4);
	CHECK(get(header_md, &content) && maybe_is(content.logical, 512),
	      "logical block %" PRId64, maybe_or(content.logical, -1));
	make_member(8, MEDIUM / 512, 0);
	CHECK(!get(header_md, &content), "data behind the end");
	make_member(8, UINT64_MAX, 0);
	CHECK(!get(header_md, &content), "data that wrap");
	make_member(8, 2048, 0);
	put_le(4096 + 144, 16, 8);
	CHECK(!get(header_md, &content), "a copy at another place");
	clear();
	put(MEDIUM - 65536, &old, sizeof(old));
	CHECK(get(header_md, &content) && maybe_is(content.start, 0) &&
	      maybe_is(content.chunk, 65536), "version 0.90");
}

static void make_fat(uint32_t reserved, uint32_t root, uint32_t fat16,
		     uint32_t fat32)
{
	clear();
	put_le(11, 512, 2);
	put_le(13, 8, 1);
	put_le(14, reserved, 2);
	put_le(16, 2, 1);
	put_le(17, root, 2);
	put_le(22, fat16, 2);
	put_le(36, fat32, 4);
}

static void fat(void)
{
	struct stack_content content;

	make_fat(1, 512, 210, 0);
	CHECK(get(header_fat, &content) &&
	      maybe_is(content.start, (1 + 2 * 210) * 512 + 512 * 32) &&
	      maybe_is(content.block, 4096), "FAT 16: start %" PRId64,
	      maybe_or(content.start, -1));
	make_fat(32, 0, 0, 1000);
	CHECK(get(header_fat, &content) &&
	      maybe_is(content.start, (32 + 2 * 1000) * 512), "FAT 32");
	/* an odd number of root entries fills a sector */
	make_fat(1, 17, 1, 0);
	CHECK(get(header_fat, &content) && maybe_is(content.start, 5 * 512),
	      "start %" PRId64, maybe_or(content.start, -1));
	make_fat(32, 0, 0, UINT32_MAX);
	CHECK(!get(header_fat, &content), "clusters behind the end");
	make_fat(0, 512, 210, 0);
	CHECK(!get(header_fat, &content), "no boot sector");
	make_fat(1, 512, 0, 0);
	CHECK(!get(header_fat, &content), "no table");
	make_fat(1, 512, 210, 0);
	put_le(11, 513, 2);
	CHECK(!get(header_fat, &content), "a sector of 513 bytes");
	put_le(11, 512, 2);
	put_le(13, 3, 1);
	CHECK(!get(header_fat, &content), "a cluster of 3 sectors");
}

static void exfat(void)
{
	struct stack_content content;

	clear();
	put(3, "EXFAT   ", 8);
	put_le(88, 2049, 4);
	put_le(108, 9, 1);
	put_le(109, 6, 1);
	CHECK(get(header_exfat, &content) &&
	      maybe_is(content.start, 2049 * 512) &&
	      maybe_is(content.block, 32768), "start %" PRId64,
	      maybe_or(content.start, -1));
	put_le(109, 17, 1);
	CHECK(!get(header_exfat, &content), "a cluster of 64 MiB");
	put_le(109, 255, 1);
	CHECK(!get(header_exfat, &content), "a shift of 264");
	put_le(109, 0, 1);
	put_le(88, UINT32_MAX, 4);
	CHECK(!get(header_exfat, &content), "clusters behind the end");
}

static void ntfs(void)
{
	struct stack_content content;

	clear();
	put(3, "NTFS    ", 8);
	put_le(11, 512, 2);
	put_le(13, 1, 1);
	CHECK(get(header_ntfs, &content) && maybe_is(content.block, 512),
	      "block %" PRId64, maybe_or(content.block, -1));
	/* 256 sectors */
	put_le(13, 0xf8, 1);
	CHECK(get(header_ntfs, &content) && maybe_is(content.block, 131072),
	      "block %" PRId64, maybe_or(content.block, -1));
	put_le(13, 0x81, 1);
	CHECK(!get(header_ntfs, &content), "a shift of 127");
	put_le(13, 0, 1);
	CHECK(!get(header_ntfs, &content), "a cluster of no sector");
}

static void make_bcache(uint64_t version, uint64_t data, uint32_t block)
{
	clear();
	put(4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
	    16);
	put_le(4096 + 16, version, 8);
	put_le(4096 + 184, data, 8);
	put_le(4096 + 192, block, 2);
}

static void bcache(void)
{
	struct stack_content content;

	make_bcache(1, 999, 1);
	CHECK(get(header_bcache, &content) && maybe_is(content.start, 8192) &&
	      maybe_is(content.block, 512), "an old backing device");
	make_bcache(4, 17, 8);
	CHECK(get(header_bcache, &content) &&
	      maybe_is(content.start, 17 * 512) &&
	      maybe_is(content.block, 4096), "start %" PRId64,
	      maybe_or(content.start, -1));
	make_bcache(3, 64, 8);
	CHECK(get(header_bcache, &content) && !maybe_known(content.start) &&
	      maybe_is(content.block, 4096), "a cache");
	make_bcache(4, MEDIUM / 512, 8);
	CHECK(!get(header_bcache, &content), "data behind the end");
	make_bcache(4, UINT64_MAX, 8);
	CHECK(!get(header_bcache, &content), "data that wrap");
	make_bcache(4, 16, 3);
	CHECK(!get(header_bcache, &content), "a block of 3 sectors");
}

static bool gpt_at(uint32_t sector, uint32_t logical,
		   struct stack_content *content)
{
	const struct header_source source = { read_medium, NULL, MEDIUM };

	clear();
	put(sector, "EFI PART", 8);
	put_le(sector + 8, 0x00010000, 4);
	put_le(sector + 12, 92, 4);
	put_le(sector + 24, 1, 8);
	memset(content, 0, sizeof(*content));
	return header_gpt(&source, logical, content);
}

static void gpt(void)
{
	static const uint32_t sizes[] = { 512, 1024, 2048, 4096, 65536 };
	const struct header_source source = { read_medium, NULL, MEDIUM };
	struct stack_content content;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK(!gpt_at(sizes[i], sizes[i], &content),
		      "the GPT of the disk's own sectors of %u", sizes[i]);
		CHECK(gpt_at(sizes[i], sizes[i] == 512 ? 4096 : 512,
			     &content) &&
		      maybe_is(content.table_sector, sizes[i]), "%u", sizes[i]);
	}
	gpt_at(4096, 512, &content);
	memset(&content, 0, sizeof(content));
	put_le(4096 + 24, 2, 8);
	CHECK(!header_gpt(&source, 512, &content), "a copy at another place");
	put_le(4096 + 24, 1, 8);
	put_le(4096 + 12, 8192, 4);
	CHECK(!header_gpt(&source, 512, &content), "a header above its sector");
	put_le(4096 + 12, 91, 4);
	CHECK(!header_gpt(&source, 512, &content) &&
	      !maybe_known(content.table_sector), "a header of 91 bytes");
}

static void ends(void)
{
	const struct header_source source = { read_medium, NULL, 100 };
	static const reader readers[] = {
		header_luks, header_lvm, header_md, header_xfs, header_ext,
		header_fat, header_exfat, header_ntfs, header_bcache,
	};
	struct stack_content content;
	size_t i;

	clear();
	for (i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		furthest = 0;
		CHECK(!readers[i](&source, &content) && furthest <= 100,
		      "reader %zu", i);
	}
}

const struct tap_test header_tests[] = {
	{ "XFS: sector, block and size", xfs },
	{ "ext2, 3 and 4: block and size", ext },
	{ "LUKS 1: where the data begin", luks1 },
	{ "LUKS 2: where the first segment begins, and its sector", luks2 },
	{ "LVM: pe_start and extent, of a text that wraps too", lvm },
	{ "md: data offset and chunk, of each version", md },
	{ "FAT: where clusters begin, and their size", fat },
	{ "exFAT: the same", exfat },
	{ "NTFS: clusters, below and above 128 sectors", ntfs },
	{ "bcache: data and block of a backing device, block of a cache",
	  bcache },
	{ "GPT: a table for sectors of another size", gpt },
	{ "no reader reads behind the end of a device", ends },
	{ 0 },
};
