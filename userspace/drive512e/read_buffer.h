/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive's buffer of blocks that it has read or written: a few segments of
 * neighbouring whole blocks.  Content never goes stale, because later writes
 * pass through the same memory.
 */
#ifndef DRIVE512E_READ_BUFFER_H
#define DRIVE512E_READ_BUFFER_H

#include <stdint.h>

#define SEGMENTS 16
#define SEGMENT_BYTES (UINT64_C(2) << 20)	/* 32 MiB in all */

struct segment {
	uint64_t start, end;	/* media bytes; start == end: empty */
	uint64_t used;		/* tick of the last use */
};

struct read_buffer {
	struct segment segments[SEGMENTS];
	uint64_t tick;
};

/*
 * Add neighbouring blocks: extend a segment that they meet, or replace the
 * least recently used one. A segment that exceeds its size is cut at the front.
 */
void read_buffer_add(struct read_buffer *b, uint64_t start, uint64_t end);

/* Return the end of the buffered segment around @start; @start if none. */
uint64_t read_buffer_covers(struct read_buffer *b, uint64_t start);

#endif
