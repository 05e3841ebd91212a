// SPDX-License-Identifier: GPL-2.0
/* A physical volume of LVM 2: where its extents begin, and their size. */
#include <string.h>

#include "audit/header.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/message.h"
#include "geometry.h"

#define LABEL_SECTORS	4U		/* the label is in one of these */
#define PV_HEADER_MIN	40U		/* of the header, before its areas */
#define AREA_BYTES	16U		/* offset and size */
#define METADATA_MAGIC	" LVM2 x[5A%r0N*>"
#define METADATA_HEADER	512U		/* the text wraps to behind it */
#define TEXT_MAX	(1U << 20)	/* of the text; LVM's areas: 1 MiB */
#define EXTENT_MAX	(UINT64_C(1) << 32)	/* of sectors, in LVM too */

/*
 * Read the text of a metadata area, which may go on at the area's start; return
 * it for free(), or NULL.
 */
static char *read_text(const struct header_source *source, uint64_t area,
		       uint64_t area_size, uint64_t offset, uint64_t length)
{
	uint64_t first;
	char *text;

	if (!length || length > TEXT_MAX || offset < METADATA_HEADER ||
	    offset >= area_size || area_size > source->size ||
	    length > area_size - METADATA_HEADER)
		return NULL;
	text = memory_or_exit(malloc(length + 1));
	first = length < area_size - offset ? length : area_size - offset;
	if (!header_read(source, area + offset, text, first) ||
	    !header_read(source, area + METADATA_HEADER, text + first,
			 length - first)) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

/* Return the size of an extent, bytes. */
static struct maybe read_extent(const struct header_source *source, uint64_t area)
{
	static const char name[] = "\nextent_size = ";
	uint8_t header[METADATA_HEADER];
	CLEANUP_FREE char *text = NULL;
	const char *at;
	uint64_t sectors;

	if (area > source->size || !header_read(source, area, header,
						sizeof(header)) ||
	    memcmp(header + 4, METADATA_MAGIC, strlen(METADATA_MAGIC)) ||
	    le64_at(header + 24) != area)
		return MAYBE_UNKNOWN;
	text = read_text(source, area, le64_at(header + 32),
			 le64_at(header + 40), le64_at(header + 48));
	at = text ? strstr(text, name) : NULL;
	if (!at)
		return MAYBE_UNKNOWN;
	at += strlen(name);
	if (!decimal_read(&at, EXTENT_MAX, &sectors) || !sectors)
		return MAYBE_UNKNOWN;
	return maybe_of((int64_t)sectors << ALIGN_SECTOR_SHIFT);
}

/* Take the figures from a label's sector. */
static bool read_label(const struct header_source *source,
		       const uint8_t *sector, struct stack_content *content)
{
	uint32_t header = le32_at(sector + 20);
	uint64_t start = 0;
	size_t at;

	if (memcmp(sector, "LABELONE", 8) || memcmp(sector + 24, "LVM2 001", 8) ||
	    header > ALIGN_SECTOR_SIZE - PV_HEADER_MIN)
		return false;
	/* the data areas, of which there is one, end with one at 0 */
	at = header + PV_HEADER_MIN;
	while (at + AREA_BYTES <= ALIGN_SECTOR_SIZE && le64_at(sector + at)) {
		if (!start)
			start = le64_at(sector + at);
		at += AREA_BYTES;
	}
	if (!start || start >= source->size || start % ALIGN_SECTOR_SIZE)
		return false;
	content->start = maybe_of((int64_t)start);
	/* and then the metadata areas */
	at += AREA_BYTES;
	if (at + AREA_BYTES <= ALIGN_SECTOR_SIZE && le64_at(sector + at))
		content->extent = read_extent(source, le64_at(sector + at));
	return true;
}

bool header_lvm(const struct header_source *source,
		struct stack_content *content)
{
	uint8_t sector[ALIGN_SECTOR_SIZE];
	unsigned int i;

	for (i = 0; i < LABEL_SECTORS; i++)
		if (header_read(source, i * ALIGN_SECTOR_SIZE, sector,
				sizeof(sector)) &&
		    read_label(source, sector, content))
			return true;
	return false;
}
