// SPDX-License-Identifier: GPL-2.0
/* LUKS 1 and 2: where the encrypted data begins, and its sector. */
#include <string.h>

#include "audit/header.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/json.h"
#include "base/message.h"
#include "geometry.h"

#define LUKS_BINARY	4096U		/* LUKS 2: before the JSON */
#define LUKS_MAX	(4U << 20)	/* cryptsetup makes no larger one */
#define LUKS_DEPTH	16		/* of the JSON; cryptsetup needs 5 */
#define PAYLOAD_AT	104U		/* LUKS 1: sector of the data */

static bool read_v1(const uint8_t *header, uint64_t size,
		    struct stack_content *content)
{
	uint32_t sector = be32_at(header + PAYLOAD_AT);

	/* 0: the header is detached, and is not before the data */
	if ((uint64_t)sector << ALIGN_SECTOR_SHIFT >= size)
		return false;
	content->start = maybe_of((int64_t)sector << ALIGN_SECTOR_SHIFT);
	content->sector = maybe_of(ALIGN_SECTOR_SIZE);
	content->version = 1;
	return true;
}

/* Check for a segment that cryptsetup needs to end or undo a reencryption. */
static bool is_backup(struct json_object *segment)
{
	struct json_object *flags;
	size_t i;

	if (!json_object_object_get_ex(segment, "flags", &flags) ||
	    !json_object_is_type(flags, json_type_array))
		return false;
	for (i = 0; i < json_object_array_length(flags); i++) {
		const char *flag = json_object_get_string(
			json_object_array_get_idx(flags, i));

		if (flag && !strncmp(flag, "backup-", strlen("backup-")))
			return true;
	}
	return false;
}

/*
 * Take the segment that begins first. While a device is being encrypted, those
 * that are not yet are "linear", and the sector is that of the segment which
 * they are to become.
 */
static bool take_segment(struct json_object *segment, uint64_t size,
			 struct stack_content *content)
{
	const char *type = json_get_text(segment, "type");
	const char *at = json_get_text(segment, "offset");
	bool crypt = type && !strcmp(type, "crypt"), backup = is_backup(segment);
	uint64_t offset, sector;

	if (!type || (!crypt && strcmp(type, "linear")) || !at ||
	    !decimal_read(&at, INT64_MAX, &offset) || *at || offset >= size ||
	    offset % ALIGN_SECTOR_SIZE)
		return false;
	if (!backup && !maybe_below(content->start, (int64_t)offset + 1))
		content->start = maybe_of((int64_t)offset);
	if (!crypt)
		return true;
	if (!json_get_number(segment, "sector_size", &sector) ||
	    sector < ALIGN_SECTOR_SIZE || sector > 4096 ||
	    (sector & (sector - 1)))
		return false;
	if (!maybe_below(content->sector, (int64_t)sector))
		content->sector = maybe_of((int64_t)sector);
	return true;
}

static bool take_segments(struct json_object *document, uint64_t size,
			  struct stack_content *content)
{
	struct stack_content found = *content;
	struct json_object *segments;

	found.start = MAYBE_UNKNOWN;
	if (!json_object_object_get_ex(document, "segments", &segments) ||
	    !json_object_is_type(segments, json_type_object))
		return false;
	json_object_object_foreach(segments, key, segment) {
		(void)key;
		if (!take_segment(segment, size, &found))
			return false;
	}
	if (!maybe_known(found.start) || !maybe_known(found.sector))
		return false;
	found.version = 2;
	*content = found;
	return true;
}

static bool read_v2(const struct header_source *source, const uint8_t *header,
		    struct stack_content *content)
{
	struct json_tokener *tokener;
	struct json_object *document;
	CLEANUP_FREE char *text = NULL;
	uint64_t length = be64_at(header + 8);
	bool found;

	if (length <= LUKS_BINARY || length > LUKS_MAX)
		return false;
	length -= LUKS_BINARY;
	text = memory_or_exit(malloc(length + 1));
	if (!header_read(source, LUKS_BINARY, text, length))
		return false;
	text[length] = '\0';
	tokener = memory_or_exit(json_tokener_new_ex(LUKS_DEPTH));
	document = json_tokener_parse_ex(tokener, text,
					 (int)strlen(text) + 1);
	found = document && take_segments(document, source->size, content);
	json_object_put(document);
	json_tokener_free(tokener);
	return found;
}

bool header_luks(const struct header_source *source,
		 struct stack_content *content)
{
	static const uint8_t magic[] = { 'L', 'U', 'K', 'S', 0xba, 0xbe, 0 };
	uint8_t header[ALIGN_SECTOR_SIZE];

	if (!header_read(source, 0, header, sizeof(header)) ||
	    memcmp(header, magic, sizeof(magic)))
		return false;
	switch (header[sizeof(magic)]) {
	case 1:
		return read_v1(header, source->size, content);
	case 2:
		return read_v2(source, header, content);
	}
	return false;
}
