// SPDX-License-Identifier: GPL-2.0
/* Fill a buffer with labelled content, and tell whose content a block has. */
#include <stdbool.h>
#include <string.h>

#include "base/pattern.h"
#include "conform/content.h"

/* Zeroes at the start of what is not all zeroes are a part of a write. */
#define LINE_BYTES	64U

void content_fill(char *buffer, uint64_t byte, uint64_t bytes, uint64_t run,
		  uint64_t sequence)
{
	const struct pattern_label label = {
		.sector = byte / PATTERN_SECTOR, .sequence = sequence,
		.run = run,
	};

	pattern_fill(buffer, bytes / PATTERN_SECTOR);
	pattern_label(buffer, &label, bytes / PATTERN_SECTOR);
}

static bool is_zero(const char *buffer, size_t bytes)
{
	return !*buffer && !memcmp(buffer, buffer + 1, bytes - 1);
}

enum content content_recognize(const char *buffer, uint32_t logical,
			       uint64_t byte, uint64_t run, uint64_t *sequence)
{
	struct pattern_label label;
	enum pattern_state state;
	uint32_t at;

	if (is_zero(buffer, logical))
		return CONTENT_ZEROES;
	for (at = 0; at < logical; at += PATTERN_SECTOR) {
		state = pattern_read(buffer + at, &label);
		if (state == PATTERN_TORN)
			return CONTENT_TORN;
		if (state == PATTERN_ABSENT || label.run != run ||
		    label.sector != (byte + at) / PATTERN_SECTOR)
			return at || is_zero(buffer, LINE_BYTES) ?
			       CONTENT_TORN : CONTENT_FOREIGN;
		if (at && label.sequence != *sequence)
			return CONTENT_TORN;
		*sequence = label.sequence;
	}
	return CONTENT_LABEL;
}
