// SPDX-License-Identifier: GPL-2.0
/* Replace the segment that was used least recently, and look one up by its bytes. */
#include "read_buffer.h"

void read_buffer_add(struct read_buffer *b, uint64_t start, uint64_t end)
{
	struct segment *s = &b->segments[0];

	for (unsigned int i = 0; i < SEGMENTS; i++) {
		struct segment *at = &b->segments[i];

		if (at->start < at->end && start <= at->end && end >= at->start) {
			s = at;
			break;
		}
		if (at->used < s->used)
			s = at;
	}
	if (s->start == s->end || start > s->end || end < s->start) {
		s->start = start;
		s->end = end;
	} else {
		if (start < s->start)
			s->start = start;
		if (end > s->end)
			s->end = end;
	}
	if (s->end - s->start > SEGMENT_BYTES)
		s->start = s->end - SEGMENT_BYTES;
	s->used = ++b->tick;
}

uint64_t read_buffer_covers(struct read_buffer *b, uint64_t start)
{
	for (unsigned int i = 0; i < SEGMENTS; i++) {
		struct segment *s = &b->segments[i];

		if (start >= s->start && start < s->end) {
			s->used = ++b->tick;
			return s->end;
		}
	}
	return start;
}
