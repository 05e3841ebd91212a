/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the drive still holds of the blocks that it has read or written: a few
 * segments, each one run of whole blocks.  Content never goes stale, as later
 * writes pass through the same memory.
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
 * Adds a run.  It extends a segment that it meets; else it takes the place of
 * the one that was not used for longest.  What exceeds a segment's size drops
 * out at its front.
 */
void read_buffer_add(struct read_buffer *b, uint64_t start, uint64_t end);

/* How far from @start on the buffer holds everything; @start if nothing. */
uint64_t read_buffer_covers(struct read_buffer *b, uint64_t start);

#endif
