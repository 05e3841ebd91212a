// SPDX-License-Identifier: GPL-2.0
/*
 * NVM Express NVM Command Set Specification 1.1, Identify Namespace; Base
 * Specification 2.1, Identify Controller; ATA/ATAPI Command Set 4, IDENTIFY
 * DEVICE; SCSI Block Commands 4, READ CAPACITY(16) and page B1h; SCSI/ATA
 * Translation 4, page 89h; SCSI Primary Commands 5, page 80h. The log page C0h
 * of the OCP Datacenter NVMe SSD Specification has no field with the unit; its
 * count of unaligned I/O is audit/drive_log.c's.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/message.h"
#include "unit/decode.h"
#include "geometry.h"

#define LOGICAL_MAX	65536U

/* Identify Namespace. */
#define NSFEAT		24
#define NSFEAT_NSABP	0x02	/* NAWUN, NAWUPF, NACWU are defined */
#define NSFEAT_OPTPERF	0x10	/* NPWG, NPWA, NPDG, NPDA, NOWS are defined */
#define NSFEAT_OPTPERF2	0x20	/* the same but NPDG and NPDA, since 2.1 */
#define FLBAS		26
#define NAWUPF		36
#define NPWG		64
#define NPDG		68
#define NOWS		72
#define LBAF		128
#define LBADS_LEAST	9
#define LBADS_MOST	16
/* Identify Controller. */
#define AWUPF		528

/* Page 80h. */
#define SERIAL_AT	4U
/* Page B1h. */
#define RATE_AT		4U
/* A rotation rate, in both standards; the values that are not here are reserved. */
#define RATE_NONE	0x0001	/* does not rotate */
#define RATE_LEAST	0x0401	/* revolutions a minute */
#define RATE_MOST	0xfffe
/* Page 89h, and words of IDENTIFY DEVICE. */
#define IDENTIFY_AT	60U
#define IDENTIFY_BYTES	512U
#define WORD_FIRMWARE	23U
#define WORD_MODEL	27U
#define WORD_SECTORS	106U
#define WORD_LOGICAL	117U
#define WORD_OFFSET	209U
#define WORD_RATE	217U

bool decode_is_block(struct maybe bytes)
{
	int64_t size;

	return maybe_get(bytes, &size) && size >= ALIGN_SECTOR_SIZE &&
	       size <= DECODE_BLOCK_MAX && !(size & (size - 1));
}

/* Check for a logical block that a kernel can use. */
static bool is_logical(uint64_t bytes)
{
	return bytes <= LOGICAL_MAX &&
	       decode_is_block(maybe_of((int64_t)bytes));
}

/* Return a count of logical blocks that is given less one, bytes. */
static struct maybe blocks_at(const uint8_t *page, int64_t logical)
{
	return maybe_of((le16_at(page) + INT64_C(1)) * logical);
}

bool decode_nvme_namespace(const uint8_t *page, size_t length,
			   struct decoded_nvme *nvme)
{
	struct decoded_nvme found = { .logical = MAYBE_UNKNOWN };
	unsigned int format, shift;
	int64_t logical;
	uint8_t features;

	if (length != DECODE_NVME_BYTES)
		return false;
	/* bits 6:5 are the upper ones, since 2.0 */
	format = (page[FLBAS] & 0xf) | (page[FLBAS] >> 1 & 0x30);
	shift = page[LBAF + 4 * format + 2];
	if (shift < LBADS_LEAST || shift > LBADS_MOST)
		return false;
	logical = INT64_C(1) << shift;
	found.logical = maybe_of(logical);
	features = page[NSFEAT];
	if (features & (NSFEAT_OPTPERF | NSFEAT_OPTPERF2)) {
		found.npwg = blocks_at(page + NPWG, logical);
		/* 0: none is reported */
		if (le16_at(page + NOWS))
			found.nows = blocks_at(page + NOWS, logical);
	}
	if (features & NSFEAT_OPTPERF)
		found.npdg = blocks_at(page + NPDG, logical);
	if (features & NSFEAT_NSABP)
		found.nawupf = blocks_at(page + NAWUPF, logical);
	*nvme = found;
	return true;
}

struct maybe decode_nvme_awupf(const uint8_t *page, size_t length,
			       struct maybe logical)
{
	int64_t bytes;

	if (length != DECODE_NVME_BYTES || !maybe_get(logical, &bytes))
		return MAYBE_UNKNOWN;
	return blocks_at(page + AWUPF, bytes);
}

/* Return the Identify data in page 89h, or NULL. */
static const uint8_t *identify_of(const uint8_t *page, size_t length)
{
	return length < IDENTIFY_AT + IDENTIFY_BYTES || page[1] != 0x89 ?
		NULL : page + IDENTIFY_AT;
}

/* Check for a word of Identify that says that its other bits are valid. */
static bool is_valid(uint16_t word)
{
	return (word & 0xc000) == 0x4000;
}

bool decode_ata(const uint8_t *page, size_t length,
		struct decoded_sectors *sectors)
{
	const uint8_t *identify = identify_of(page, length);
	uint64_t logical = ALIGN_SECTOR_SIZE, physical;
	uint16_t word, offset;

	if (!identify)
		return false;
	word = le16_at(identify + 2 * WORD_SECTORS);
	offset = le16_at(identify + 2 * WORD_OFFSET);
	if (!is_valid(word))
		return false;
	if (word & 0x1000)
		logical = (uint64_t)le32_at(identify + 2 * WORD_LOGICAL) * 2;
	physical = word & 0x2000 ? logical << (word & 0xf) : logical;
	if (!is_logical(logical) ||
	    !decode_is_block(maybe_of((int64_t)physical)))
		return false;
	*sectors = (struct decoded_sectors) {
		.logical = maybe_of((int64_t)logical),
		.physical = maybe_of((int64_t)physical),
	};
	/* the word says where in a physical block the drive begins */
	if (is_valid(offset))
		sectors->offset = maybe_of((int64_t)
			(-(uint64_t)(offset & 0x3fff) * logical &
			 (physical - 1)));
	return true;
}

/*
 * Return a text without the blanks around it, for free(); NULL: nothing is left,
 * or it has other characters than printable ASCII. Byte i is at i ^ @swap.
 */
static char *plain_text(const uint8_t *bytes, size_t length, size_t swap)
{
	size_t first = length, end = 0, i;
	char *text;

	for (i = 0; i < length; i++) {
		uint8_t c = bytes[i ^ swap];

		if (!isascii(c) || !isprint(c))
			return NULL;
		if (c == ' ')
			continue;
		if (first == length)
			first = i;
		end = i + 1;
	}
	if (!end)
		return NULL;
	text = memory_or_exit(calloc(end - first + 1, 1));
	for (i = first; i < end; i++)
		text[i - first] = (char)bytes[i ^ swap];
	return text;
}

/* Return a text of Identify, whose words have their first byte last. */
static char *ata_text(const uint8_t *page, size_t length, size_t word,
		      size_t words)
{
	const uint8_t *identify = identify_of(page, length);

	return identify ? plain_text(identify + 2 * word, 2 * words, 1) : NULL;
}

char *decode_ata_model(const uint8_t *page, size_t length)
{
	return ata_text(page, length, WORD_MODEL, 20);
}

char *decode_ata_firmware(const uint8_t *page, size_t length)
{
	return ata_text(page, length, WORD_FIRMWARE, 4);
}

/* Return a rotation rate as the functions below do. */
static struct maybe rpm_of(uint16_t rate)
{
	if (rate == RATE_NONE)
		return maybe_of(0);
	return rate >= RATE_LEAST && rate <= RATE_MOST ? maybe_of(rate) :
							 MAYBE_UNKNOWN;
}

struct maybe decode_ata_rpm(const uint8_t *page, size_t length)
{
	const uint8_t *identify = identify_of(page, length);

	return identify ? rpm_of(le16_at(identify + 2 * WORD_RATE)) :
			  MAYBE_UNKNOWN;
}

struct maybe decode_scsi_rpm(const uint8_t *page, size_t length)
{
	if (length < RATE_AT + 2 || page[1] != 0xb1 || be16_at(page + 2) < 2)
		return MAYBE_UNKNOWN;
	return rpm_of(be16_at(page + RATE_AT));
}

char *decode_scsi_serial(const uint8_t *page, size_t length)
{
	size_t bytes;

	if (length < SERIAL_AT || page[1] != 0x80)
		return NULL;
	bytes = be16_at(page + 2);
	if (bytes > length - SERIAL_AT)
		return NULL;
	/* some are padded with zeroes */
	while (bytes && !page[SERIAL_AT + bytes - 1])
		bytes--;
	return plain_text(page + SERIAL_AT, bytes, 0);
}

bool decode_capacity(const uint8_t *data, size_t length,
		     struct decoded_sectors *sectors)
{
	uint64_t logical, physical;

	if (length != DECODE_CAPACITY_BYTES)
		return false;
	logical = be32_at(data + 8);
	if (!is_logical(logical))
		return false;
	*sectors = (struct decoded_sectors) {
		.logical = maybe_of((int64_t)logical),
	};
	physical = logical << (data[13] & 0xf);
	/* 0: one or more physical blocks in a logical one */
	if (!decode_is_block(maybe_of((int64_t)physical)))
		return true;
	sectors->physical = maybe_of((int64_t)physical);
	sectors->offset = maybe_of((int64_t)((be16_at(data + 14) & 0x3fff) *
					     logical & (physical - 1)));
	return true;
}
