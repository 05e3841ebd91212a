// SPDX-License-Identifier: GPL-2.0
/* The formats with figures at fixed places; LUKS and LVM have own files. */
#include <linux/raid/md_p.h>
#include <string.h>

#include "audit/header.h"
#include "base/bytes.h"
#include "geometry.h"

#define EXT_SUPERBLOCK		1024U
#define EXT_MAGIC		0xef53
#define EXT_INCOMPAT_64BIT	0x80U
#define BLOCK_MAX		65536U	/* largest block of a file system */
#define XFS_SECTOR_MAX		32768U
/* md, version 1: reserved before Linux 6.19, which refuses another value than 0. */
#define MD_LOGICAL		224U
#define MD_MEMBERS_MAX		1920U	/* of 2 bytes, behind the fields */
#define BCACHE_AT		4096U
#define BCACHE_BYTES		256U
#define BCACHE_DATA		16U	/* sector of the data, of old ones */
#define MBR_ENTRY_AT		446U
#define MBR_ENTRY_BYTES		16U
#define MBR_ENTRIES		4U
#define MBR_TYPE_AT		4U	/* of an entry */
#define MBR_TYPE_GPT		0xeeU	/* of the one that protects a GPT */
#define GPT_HEADER_MIN		92U
#define GPT_REVISION		0x00010000U

bool header_read(const struct header_source *source, uint64_t offset,
		 void *buffer, size_t length)
{
	return offset <= source->size && length <= source->size - offset &&
	       source->read(source->context, offset, buffer, length);
}

/* Check for a power of two from @least to @most. */
static bool is_size(uint64_t value, uint64_t least, uint64_t most)
{
	return value >= least && value <= most && !(value & (value - 1));
}

/* Return @blocks of @block bytes, which is unknown if that is no size. */
static struct maybe size_of(uint64_t blocks, uint32_t block)
{
	int64_t bytes;

	if (__builtin_mul_overflow(blocks, block, &bytes))
		return MAYBE_UNKNOWN;
	return maybe_of(bytes);
}

bool header_xfs(const struct header_source *source,
		struct stack_content *content)
{
	uint8_t sb[ALIGN_SECTOR_SIZE];
	uint32_t block, sector;

	if (!header_read(source, 0, sb, sizeof(sb)) || memcmp(sb, "XFSB", 4))
		return false;
	block = be32_at(sb + 4);
	sector = be16_at(sb + 102);
	if (!is_size(block, ALIGN_SECTOR_SIZE, BLOCK_MAX) ||
	    !is_size(sector, ALIGN_SECTOR_SIZE, XFS_SECTOR_MAX) ||
	    sector > block)
		return false;
	content->block = maybe_of(block);
	content->sector = maybe_of(sector);
	content->bytes = size_of(be64_at(sb + 8), block);
	return true;
}

bool header_ext(const struct header_source *source,
		struct stack_content *content)
{
	uint8_t sb[EXT_SUPERBLOCK];
	uint64_t blocks;
	uint32_t shift;

	if (!header_read(source, EXT_SUPERBLOCK, sb, sizeof(sb)) ||
	    le16_at(sb + 56) != EXT_MAGIC)
		return false;
	shift = le32_at(sb + 24);
	if (shift > 6)
		return false;
	blocks = le32_at(sb + 4);
	if (le32_at(sb + 96) & EXT_INCOMPAT_64BIT)
		blocks |= (uint64_t)le32_at(sb + 0x150) << 32;
	content->block = maybe_of((int64_t)EXT_SUPERBLOCK << shift);
	content->bytes = size_of(blocks, EXT_SUPERBLOCK << shift);
	return true;
}

/* Read a superblock of version 1 at sector @sector. */
static bool md_v1(const struct header_source *source, uint64_t sector,
		  struct stack_content *content)
{
	struct mdp_superblock_1 sb;
	struct maybe start;
	uint32_t logical, members;

	/* what follows the fields is a list of members */
	if (!header_read(source, sector << ALIGN_SECTOR_SHIFT, &sb,
			 sizeof(sb)) ||
	    le32toh(sb.magic) != MD_SB_MAGIC ||
	    le32toh(sb.major_version) != 1 ||
	    le64toh(sb.super_offset) != sector)
		return false;
	start = size_of(le64toh(sb.data_offset), ALIGN_SECTOR_SIZE);
	if ((uint64_t)maybe_or(start, INT64_MAX) >= source->size)
		return false;
	content->start = start;
	content->chunk = maybe_of((int64_t)le32toh(sb.chunksize) <<
				   ALIGN_SECTOR_SHIFT);
	members = le32toh(sb.max_dev);
	if (members <= MD_MEMBERS_MAX)
		content->sector = maybe_of((int64_t)
			(sizeof(sb) + 2 * members + ALIGN_SECTOR_SIZE - 1) &
			-(int64_t)ALIGN_SECTOR_SIZE);
	logical = le32_at((const uint8_t *)&sb + MD_LOGICAL);
	if (logical)
		content->logical = maybe_of(logical);
	return true;
}

/* Read a superblock of version 0.90, which is in the machine's byte order. */
static bool md_v0(const struct header_source *source,
		  struct stack_content *content)
{
	uint64_t sectors = source->size >> ALIGN_SECTOR_SHIFT;
	mdp_super_t sb;

	if (sectors < 2 * MD_RESERVED_SECTORS ||
	    !header_read(source, MD_NEW_SIZE_SECTORS(sectors) <<
			 ALIGN_SECTOR_SHIFT, &sb, sizeof(sb)) ||
	    sb.md_magic != MD_SB_MAGIC || sb.major_version != 0)
		return false;
	content->start = maybe_of(0);
	content->sector = maybe_of(MD_SB_BYTES);
	content->chunk = maybe_of(sb.chunk_size);
	return true;
}

bool header_md(const struct header_source *source,
	       struct stack_content *content)
{
	uint64_t sectors = source->size >> ALIGN_SECTOR_SHIFT;

	return md_v1(source, 8, content) || md_v1(source, 0, content) ||
	       (sectors >= 16 &&
		md_v1(source, (sectors - 16) & ~UINT64_C(7), content)) ||
	       md_v0(source, content);
}

bool header_gpt(const struct header_source *source, uint32_t logical,
		struct stack_content *content)
{
	uint8_t header[GPT_HEADER_MIN];
	uint32_t sector;

	for (sector = ALIGN_SECTOR_SIZE; sector <= BLOCK_MAX; sector *= 2) {
		if (sector == logical ||
		    !header_read(source, sector, header, sizeof(header)) ||
		    memcmp(header, "EFI PART", 8) ||
		    le32_at(header + 8) != GPT_REVISION ||
		    le32_at(header + 12) < GPT_HEADER_MIN ||
		    le32_at(header + 12) > sector || le64_at(header + 24) != 1)
			continue;
		content->table_sector = maybe_of(sector);
		return true;
	}
	return false;
}

bool header_gpt_room(const struct header_source *source, uint32_t logical,
		     struct stack_content *content)
{
	uint8_t header[GPT_HEADER_MIN];
	uint64_t first, last;
	int64_t start, end;

	if (!header_read(source, logical, header, sizeof(header)) ||
	    memcmp(header, "EFI PART", 8))
		return false;
	first = le64_at(header + 40);
	last = le64_at(header + 48);
	if (first > last || last > INT64_MAX - 1 ||
	    __builtin_mul_overflow(first, logical, &start) ||
	    __builtin_mul_overflow(last + 1, logical, &end))
		return false;
	content->table_start = maybe_of(start);
	content->table_end = maybe_of(end);
	return true;
}

bool header_is_hybrid(const struct header_source *source)
{
	uint8_t mbr[ALIGN_SECTOR_SIZE];
	unsigned int i;

	if (!header_read(source, 0, mbr, sizeof(mbr)))
		return false;
	for (i = 0; i < MBR_ENTRIES; i++) {
		uint8_t type = mbr[MBR_ENTRY_AT + i * MBR_ENTRY_BYTES +
				   MBR_TYPE_AT];

		if (type && type != MBR_TYPE_GPT)
			return true;
	}
	return false;
}

bool header_bcache(const struct header_source *source,
		   struct stack_content *content)
{
	static const uint8_t magic[] = {
		0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca,
		0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
	};
	uint8_t sb[BCACHE_BYTES];
	uint64_t sectors = BCACHE_DATA;
	struct maybe start;
	uint32_t block;

	if (!header_read(source, BCACHE_AT, sb, sizeof(sb)) ||
	    memcmp(sb + 24, magic, sizeof(magic)))
		return false;
	block = le16_at(sb + 192) * ALIGN_SECTOR_SIZE;
	if (!is_size(block, ALIGN_SECTOR_SIZE, BLOCK_MAX))
		return false;
	switch (le64_at(sb + 16)) {
	case 4:		/* a backing device that says where its data begin */
	case 6:
		sectors = le64_at(sb + 184);
		/* fall through */
	case 1:		/* an old one */
		start = size_of(sectors, ALIGN_SECTOR_SIZE);
		if ((uint64_t)maybe_or(start, INT64_MAX) >= source->size)
			return false;
		content->start = start;
	}
	/* of a cache, buckets follow from its first byte */
	content->block = maybe_of(block);
	return true;
}
