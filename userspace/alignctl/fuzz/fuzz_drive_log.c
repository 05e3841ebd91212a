// SPDX-License-Identifier: GPL-2.0
/* The log page in which an NVMe drive counts misaligned writes. */
#include "audit/drive_log.h"
#include "fuzz.h"

#define MARK	0x5a

/* Compute a little-endian number of up to 8 bytes in another way. */
static uint64_t number(const uint8_t *page, size_t at, size_t length)
{
	uint64_t value = 0;

	while (length--)
		value = value * 256 + page[at + length];
	return value;
}

/* Check for the GUID as the specification writes it, from its last byte on. */
static bool has_guid(const uint8_t *page)
{
	static const char text[] = "AFD514C97C6F4F9CA4F2BFEA2810AFC5";
	char found[sizeof(text)];
	size_t i;

	for (i = 0; i < 16; i++)
		snprintf(found + 2 * i, 3, "%02X", page[511 - i]);
	return !strcmp(found, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct drive_log log, before;
	enum drive_log_fault fault;
	/* no readable byte behind the page */
	uint8_t *page = malloc(size ? size : 1);

	FUZZ_CHECK(page);
	if (size)
		memcpy(page, data, size);
	memset(&log, MARK, sizeof(log));
	log.media_known = false;
	before = log;
	fault = drive_log_read(page, size, &log);
	FUZZ_CHECK((fault == DRIVE_LOG_SHORT) == (size != 512));
	if (fault == DRIVE_LOG_FINE || fault == DRIVE_LOG_VERSION) {
		FUZZ_CHECK(has_guid(page));
		FUZZ_CHECK(log.version == number(page, 494, 2));
		FUZZ_CHECK((log.version >= 2 && log.version <= 6) ==
			   (fault == DRIVE_LOG_FINE));
		before.version = log.version;
	} else if (size == 512) {
		FUZZ_CHECK(!has_guid(page));
	}
	if (fault == DRIVE_LOG_FINE) {
		FUZZ_CHECK(log.unaligned == number(page, 136, 8));
		FUZZ_CHECK(log.media_known == !number(page, 8, 8));
		FUZZ_CHECK(!log.media_known ||
			   log.media_bytes == number(page, 0, 8));
	} else {
		FUZZ_CHECK(log.version == before.version &&
			   log.unaligned == before.unaligned &&
			   log.media_bytes == before.media_bytes &&
			   !log.media_known);
	}
	free(page);
	return 0;
}
