// SPDX-License-Identifier: GPL-2.0
/* Log pages as drives send them, and pages that are not believed. */
#include <inttypes.h>
#include <string.h>

#include "audit/drive_log.h"
#include "tests/tap.h"

static uint8_t page[DRIVE_LOG_BYTES + 1];

static void put(size_t at, uint64_t value, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		page[at + i] = (uint8_t)(value >> (8 * i));
}

/*
 * Build a page as a drive that has been in use for a while sends it, with
 * something in each field beside those that are read.
 */
static void build(uint16_t version)
{
	memset(page, 0, sizeof(page));
	put(0, 609651339018240, 8);	/* bytes written to the media */
	put(16, 581122303836160, 8);	/* bytes read from it */
	put(38, 100, 2);		/* bad user blocks, normalised */
	put(46, 100, 2);		/* bad system blocks, normalised */
	put(64, 12, 8);			/* soft ECC errors */
	put(80, 3, 1);			/* system data used, per cent */
	put(88, 293, 4);		/* erase counts: most, least */
	put(92, 197, 4);
	put(112, 5, 4);			/* incomplete shutdowns */
	put(120, 96, 1);		/* free blocks, per cent */
	put(128, 114, 2);		/* capacitor health */
	put(136, 8589934597, 8);	/* unaligned I/O */
	put(144, 2, 8);			/* security version */
	put(152, 1875385008, 8);	/* utilization */
	put(160, 42, 8);		/* power losses */
	put(176, 16896000000000000, 8);	/* endurance estimate */
	if (version >= 3) {
		put(98, 0x0200, 6);	/* version of the specification */
		put(192, 9, 8);		/* link retraining */
		put(200, 77, 8);	/* power state changes */
	}
	put(494, version, 2);
	put(496, UINT64_C(0xA4F2BFEA2810AFC5), 8);
	put(504, UINT64_C(0xAFD514C97C6F4F9C), 8);
}

static enum drive_log_fault get(size_t length, struct drive_log *log)
{
	static const struct drive_log nothing;
	enum drive_log_fault fault;

	*log = nothing;
	fault = drive_log_read(page, length, log);
	CHECK(fault == DRIVE_LOG_FINE ||
	      (!log->unaligned && !log->media_bytes && !log->media_known),
	      "sets a figure of a page that it does not believe");
	return fault;
}

static void versions(void)
{
	struct drive_log log;
	uint16_t version;

	for (version = 2; version <= 6; version++) {
		build(version);
		CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_FINE &&
		      log.version == version && log.unaligned == 8589934597 &&
		      log.media_known && log.media_bytes == 609651339018240,
		      "version %u: unaligned %" PRIu64 ", media %" PRIu64,
		      version, log.unaligned, log.media_bytes);
	}
}

static void unknown_versions(void)
{
	static const uint16_t unknown[] = { 0, 1, 7, 0x0200, 0xffff };
	struct drive_log log;
	size_t i;

	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		build(unknown[i]);
		CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_VERSION &&
		      log.version == unknown[i], "version %u", unknown[i]);
	}
}

static void largest(void)
{
	struct drive_log log;

	build(3);
	put(136, UINT64_MAX, 8);
	put(0, UINT64_MAX, 8);
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_FINE &&
	      log.unaligned == UINT64_MAX && log.media_known &&
	      log.media_bytes == UINT64_MAX, "a count at its end");
	put(8, 1, 1);
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_FINE &&
	      log.unaligned == UINT64_MAX && !log.media_known,
	      "2^64 bytes written: media %" PRIu64, log.media_bytes);
	put(8, 0, 1);
	put(15, 1, 1);
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_FINE &&
	      !log.media_known, "2^120 bytes written");
}

static void other_pages(void)
{
	struct drive_log log;
	size_t i;

	for (i = 496; i < 512; i++) {
		build(3);
		page[i] ^= 0x10;
		CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_OTHER,
		      "a GUID that is wrong at %zu", i);
	}
	/* as a text would have it: the first byte first */
	build(3);
	put(496, UINT64_C(0x9C4F6F7CC914D5AF), 8);
	put(504, UINT64_C(0xC5AF1028EABFF2A4), 8);
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_OTHER,
	      "a GUID the wrong way round");
	memset(page, 0xff, sizeof(page));
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_OTHER, "all bits set");
	memset(page, 0, sizeof(page));
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_EMPTY, "zeroes");
	page[511] = 1;
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_OTHER,
	      "zeroes but for the last byte");
}

static void lengths(void)
{
	static const size_t wrong[] = { 0, 1, 496, 511, 513 };
	struct drive_log log;
	size_t i;

	build(3);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(get(wrong[i], &log) == DRIVE_LOG_SHORT, "%zu bytes",
		      wrong[i]);
	/* as the kernel leaves a page that the drive has sent in part */
	memset(page + 256, 0, 256);
	CHECK(get(DRIVE_LOG_BYTES, &log) == DRIVE_LOG_OTHER,
	      "half a page, and zeroes");
}

const struct tap_test drive_log_tests[] = {
	{ "a drive's log page is read in each version of its layout",
	  versions },
	{ "a drive's log page of an unknown version is not believed",
	  unknown_versions },
	{ "counts of a drive's log page may be as large as their fields",
	  largest },
	{ "a log page without the GUID is another one", other_pages },
	{ "a log page of another length is not believed", lengths },
	{ NULL, NULL },
};
