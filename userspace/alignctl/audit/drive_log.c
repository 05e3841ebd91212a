// SPDX-License-Identifier: GPL-2.0
/*
 * Open Compute Project, Datacenter NVMe SSD Specification, version 2.7 of
 * 2026-01-08, section 4.8.6, by the requirements named below; figures are little
 * endian (SLOG-3). The fields read here have the same place in each version of
 * the page, which is 2 in version 1.0 of the specification, then called NVMe
 * Cloud SSD Specification, 3 in 2.0, 4 in 2.5 and 6 in 2.7.
 */
#include <string.h>

#include "audit/drive_log.h"
#include "base/bytes.h"

#define MEDIA_WRITTEN_AT	0U	/* SMART-1, 16 bytes */
#define UNALIGNED_AT		136U	/* SMART-21, 8 bytes */
#define VERSION_AT		494U	/* SMART-27, 2 bytes */
#define GUID_AT			496U	/* SMART-28 */
#define VERSION_LEAST		2U
#define VERSION_MOST		6U

/* AFD514C97C6F4F9CA4F2BFEA2810AFC5h */
static const uint8_t guid[] = {
	0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4,
	0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
};

static bool is_empty(const uint8_t *page)
{
	return !*page && !memcmp(page, page + 1, DRIVE_LOG_BYTES - 1);
}

enum drive_log_fault drive_log_read(const uint8_t *page, size_t length,
				    struct drive_log *log)
{
	uint16_t version;

	if (length != DRIVE_LOG_BYTES)
		return DRIVE_LOG_SHORT;
	if (is_empty(page))
		return DRIVE_LOG_EMPTY;
	if (memcmp(page + GUID_AT, guid, sizeof(guid)))
		return DRIVE_LOG_OTHER;
	version = le16_at(page + VERSION_AT);
	log->version = version;
	if (version < VERSION_LEAST || version > VERSION_MOST)
		return DRIVE_LOG_VERSION;
	log->unaligned = le64_at(page + UNALIGNED_AT);
	log->media_known = !le64_at(page + MEDIA_WRITTEN_AT + 8);
	log->media_bytes = log->media_known ? le64_at(page + MEDIA_WRITTEN_AT) :
					      0;
	return DRIVE_LOG_FINE;
}
