// SPDX-License-Identifier: GPL-2.0
/* Pages as drives send them, made by hand from the standards. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/tap.h"
#include "unit/decode.h"

static uint8_t page[DECODE_NVME_BYTES];

static void put(size_t at, uint64_t value, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		page[at + i] = (uint8_t)(value >> (8 * i));
}

/* Check for a figure of so many bytes; -1: unknown. */
static void is(const char *what, struct maybe figure, int64_t bytes)
{
	CHECK(maybe_or(figure, -1) == bytes && maybe_known(figure) ==
	      (bytes >= 0), "%s: %" PRId64 ", not %" PRId64, what,
	      maybe_or(figure, -1), bytes);
}

/* Build a namespace with LBA formats 0 of 512 bytes and 1 of 4096. */
static void namespace(uint8_t features, uint8_t format)
{
	memset(page, 0, sizeof(page));
	put(24, features, 1);
	put(25, 1, 1);
	put(26, format, 1);
	put(36, 7, 2);		/* NAWUPF */
	put(64, 31, 2);		/* NPWG */
	put(66, 31, 2);		/* NPWA */
	put(68, 63, 2);		/* NPDG */
	put(70, 63, 2);		/* NPDA */
	put(72, 255, 2);	/* NOWS */
	put(128, 9 << 16, 4);
	put(132, 12 << 16, 4);
}

static void granularities(void)
{
	struct decoded_nvme nvme;

	namespace(0x12, 0);
	CHECK(decode_nvme_namespace(page, sizeof(page), &nvme), "refused");
	is("logical", nvme.logical, 512);
	is("NPWG", nvme.npwg, 16384);
	is("NPDG", nvme.npdg, 32768);
	is("NOWS", nvme.nows, 131072);
	is("NAWUPF", nvme.nawupf, 4096);
	/* the same counts of larger blocks */
	namespace(0x12, 1);
	CHECK(decode_nvme_namespace(page, sizeof(page), &nvme), "refused");
	is("logical", nvme.logical, 4096);
	is("NPWG", nvme.npwg, 131072);
}

static void undefined(void)
{
	struct decoded_nvme nvme;

	namespace(0, 0);
	CHECK(decode_nvme_namespace(page, sizeof(page), &nvme), "refused");
	is("NPWG", nvme.npwg, -1);
	is("NPDG", nvme.npdg, -1);
	is("NOWS", nvme.nows, -1);
	is("NAWUPF", nvme.nawupf, -1);
	/* since 2.1: all but the granularity of deallocation */
	namespace(0x20, 0);
	CHECK(decode_nvme_namespace(page, sizeof(page), &nvme), "refused");
	is("NPWG", nvme.npwg, 16384);
	is("NPDG", nvme.npdg, -1);
	namespace(0x10, 0);
	put(72, 0, 2);
	CHECK(decode_nvme_namespace(page, sizeof(page), &nvme), "refused");
	is("NOWS", nvme.nows, -1);
}

static void formats(void)
{
	struct decoded_nvme nvme = { .npwg = maybe_of(7) };

	/* format 17 is bit 5 and 1 */
	namespace(0x10, 0x21);
	put(128 + 4 * 17, 12 << 16, 4);
	CHECK(decode_nvme_namespace(page, sizeof(page), &nvme), "refused");
	is("logical", nvme.logical, 4096);
	nvme.npwg = maybe_of(7);
	namespace(0x10, 2);
	CHECK(!decode_nvme_namespace(page, sizeof(page), &nvme),
	      "a format that is none");
	namespace(0x10, 0);
	put(130, 17, 1);
	CHECK(!decode_nvme_namespace(page, sizeof(page), &nvme),
	      "logical blocks of 131072 bytes");
	namespace(0x10, 0);
	CHECK(!decode_nvme_namespace(page, sizeof(page) - 1, &nvme),
	      "a page that is cut");
	is("NPWG", nvme.npwg, 7);
}

static void atomic(void)
{
	memset(page, 0, sizeof(page));
	put(528, 15, 2);
	is("AWUPF", decode_nvme_awupf(page, sizeof(page), maybe_of(4096)),
	   65536);
	is("AWUPF", decode_nvme_awupf(page, sizeof(page), MAYBE_UNKNOWN), -1);
	is("AWUPF", decode_nvme_awupf(page, 512, maybe_of(4096)), -1);
}

#define IDENTIFY_BYTES	572U	/* of the page with Identify */

/* Build page 89h with words 106 and 209. */
static bool drive_says(uint16_t sectors, uint16_t offset,
		       struct decoded_sectors *found)
{
	memset(page, 0, sizeof(page));
	memset(found, 0, sizeof(*found));
	page[1] = 0x89;
	put(60 + 212, sectors, 2);
	put(60 + 418, offset, 2);
	CHECK(!decode_ata(page, IDENTIFY_BYTES - 1, found), "a page that is cut");
	return decode_ata(page, IDENTIFY_BYTES, found);
}

static void ata(void)
{
	struct decoded_sectors found;

	/* 8 logical sectors a physical one, of which LBA 0 is the second */
	CHECK(drive_says(0x6003, 0x4001, &found), "512e");
	is("logical", found.logical, 512);
	is("physical", found.physical, 4096);
	is("offset", found.offset, 3584);
	CHECK(drive_says(0x4000, 0, &found), "512n");
	is("physical", found.physical, 512);
	is("offset", found.offset, -1);
	CHECK(!drive_says(0, 0, &found), "a drive that says nothing");
	CHECK(!drive_says(0x600f, 0, &found), "a block of 16 MiB");
}

/* Write a text as Identify has it, the second byte of a word first. */
static void text(size_t word, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		page[60 + ((2 * word + i) ^ 1)] =
			(uint8_t)(i < strlen(text) ? text[i] : ' ');
}

static void names(void)
{
	struct decoded_sectors found;
	CLEANUP_FREE char *model = NULL, *firmware = NULL;

	drive_says(0x6003, 0, &found);
	text(27, "ST16000NM001G-2KK103", 40);
	text(23, " SN03", 8);
	model = decode_ata_model(page, IDENTIFY_BYTES);
	firmware = decode_ata_firmware(page, IDENTIFY_BYTES);
	CHECK(model && !strcmp(model, "ST16000NM001G-2KK103"), "model '%s'",
	      model);
	CHECK(firmware && !strcmp(firmware, "SN03"), "firmware '%s'", firmware);
	text(27, "", 40);
	text(23, "a\nb", 8);
	CHECK(!decode_ata_model(page, IDENTIFY_BYTES), "a model of blanks");
	CHECK(!decode_ata_firmware(page, IDENTIFY_BYTES), "a line break");
}

static void serial_number(void)
{
	CLEANUP_FREE char *found = NULL;

	memset(page, 0, sizeof(page));
	page[1] = 0x80;
	page[3] = 12;
	memcpy(page + 4, "    S1D9ABC ", 12);
	found = decode_scsi_serial(page, 16);
	CHECK(found && !strcmp(found, "S1D9ABC"), "serial '%s'", found);
	CHECK(!decode_scsi_serial(page, 15), "a page that is cut");
	CHECK(!decode_scsi_serial(page, 3), "half a head");
	page[14] = page[15] = 0;
	free(found);
	found = decode_scsi_serial(page, 16);
	CHECK(found && !strcmp(found, "S1D9AB"), "padded serial '%s'", found);
	page[6] = '\n';
	CHECK(!decode_scsi_serial(page, 16), "a line break");
	memset(page + 4, ' ', 12);
	CHECK(!decode_scsi_serial(page, 16), "blanks");
	page[4] = 'x';
	page[1] = 0x83;
	CHECK(!decode_scsi_serial(page, 16), "another page");
}

static bool capacity(uint32_t logical, uint8_t exponent, uint16_t lowest,
		     struct decoded_sectors *found)
{
	memset(page, 0, sizeof(page));
	memset(found, 0, sizeof(*found));
	put(4, 0xffffffff, 4);
	put(8, __builtin_bswap32(logical), 4);
	put(13, 0x20 | exponent, 1);
	put(14, __builtin_bswap16((uint16_t)(0x8000 | lowest)), 2);
	CHECK(!decode_capacity(page, DECODE_CAPACITY_BYTES - 1, found), "cut");
	return decode_capacity(page, DECODE_CAPACITY_BYTES, found);
}

static void scsi(void)
{
	struct decoded_sectors found;

	CHECK(capacity(512, 3, 7, &found), "512e");
	is("physical", found.physical, 4096);
	is("offset", found.offset, 3584);
	CHECK(capacity(4096, 0, 0, &found), "4Kn");
	is("physical", found.physical, 4096);
	CHECK(capacity(512, 15, 0, &found), "16 MiB");
	is("logical", found.logical, 512);
	is("physical", found.physical, -1);
	CHECK(!capacity(0, 0, 0, &found) && !capacity(520, 0, 0, &found),
	      "no logical block");
}

/* What a rate in either page comes to: rpm, 0 for none, -1 for unknown. */
static const struct {
	uint16_t rate;
	int64_t rpm;
} rates[] = {
	{ 0x0000, -1 },		/* not reported */
	{ 0x0001, 0 },		/* does not rotate */
	{ 0x0002, -1 }, { 0x0400, -1 },
	{ 0x0401, 1025 },	/* the least that the standards allow */
	{ 0x1518, 5400 }, { 0x1c20, 7200 }, { 0x3a98, 15000 },
	{ 0xfffe, 65534 }, { 0xffff, -1 },
};

static void rotation(void)
{
	struct decoded_sectors found;
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint16_t rate = rates[i].rate;

		drive_says(0x6003, 0, &found);
		put(60 + 434, rate, 2);
		is("word 217", decode_ata_rpm(page, IDENTIFY_BYTES),
		   rates[i].rpm);
		is("cut", decode_ata_rpm(page, IDENTIFY_BYTES - 1), -1);
		memset(page, 0, sizeof(page));
		page[1] = 0xb1;
		page[3] = 60;
		put(4, __builtin_bswap16(rate), 2);
		is("page B1h", decode_scsi_rpm(page, 64), rates[i].rpm);
		/* the rest of the page is not read */
		is("short", decode_scsi_rpm(page, 6), rates[i].rpm);
		is("cut", decode_scsi_rpm(page, 5), -1);
		page[3] = 1;
		is("of a byte", decode_scsi_rpm(page, 64), -1);
		page[3] = 60;
		page[1] = 0xb0;
		is("another page", decode_scsi_rpm(page, 64), -1);
	}
}

const struct tap_test decode_tests[] = {
	{ "NVMe: granularities and atomic unit in bytes", granularities },
	{ "NVMe: what a namespace does not define is unknown", undefined },
	{ "NVMe: the LBA format in use, of 64; others are refused", formats },
	{ "NVMe: the controller's atomic unit", atomic },
	{ "Identify: physical block and offset of an ATA drive", ata },
	{ "Identify: model and firmware without blanks", names },
	{ "page 80h: serial number without blanks", serial_number },
	{ "READ CAPACITY(16): physical block and offset", scsi },
	{ "rotation rate, or none, or one that no standard allows", rotation },
	{ 0 },
};
