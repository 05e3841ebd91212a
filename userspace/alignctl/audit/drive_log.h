/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log page in which an NVMe drive counts misaligned writes itself: "SMART /
 * Health Information Extended", log identifier C0h, of the Datacenter NVMe SSD
 * Specification of the Open Compute Project.
 */
#ifndef ALIGNCTL_DRIVE_LOG_H
#define ALIGNCTL_DRIVE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRIVE_LOG_ID		0xc0U
#define DRIVE_LOG_BYTES		512U

enum drive_log_fault {
	DRIVE_LOG_FINE,
	DRIVE_LOG_SHORT,	/* fewer or more bytes than the page has */
	DRIVE_LOG_EMPTY,	/* zeroes only */
	DRIVE_LOG_OTHER,	/* another page: its GUID is missing */
	DRIVE_LOG_VERSION,	/* a version whose layout is not known */
};

/**
 * struct drive_log - the figures of a page
 * @version: version of the page's layout
 * @unaligned: writes since power-on whose first byte was not the first of an
 *	indirection unit, the block in which the drive maps its media
 * @media_bytes: bytes written to the media over the drive's life, for any
 *	reason
 * @media_known: @media_bytes is set; else the count exceeds 64 bits
 */
struct drive_log {
	uint16_t version;
	uint64_t unaligned;
	uint64_t media_bytes;
	bool media_known;
};

/*
 * Read a page of @length bytes, which is not trusted. Return:
 * DRIVE_LOG_FINE, or why the page is not believed, with nothing set but, for
 * DRIVE_LOG_VERSION, the version.
 */
enum drive_log_fault drive_log_read(const uint8_t *page, size_t length,
				    struct drive_log *log);

#endif
