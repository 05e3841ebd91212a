// SPDX-License-Identifier: GPL-2.0
/* Reads, from memory or from the media, and writes that bypass the cache. */
#include "hdd_internal.h"

/* Interrupt the head's work if possible.  Return when the head is free. */
static int64_t take_head(struct hdd *h, int64_t now)
{
	switch (h->state) {
	case HEAD_IDLE:
		return later(now, h->since);
	case HEAD_SEEKING:
		now = later(now, h->since);
		head_worked(h, h->since, now);
		head_rests(h, now, h->pos);
		return now;
	case HEAD_BATCH:
		return later(now, next_step(h));
	case HEAD_STREAM:
		return h->full ? later(now, next_step(h)) : end_stream(h, now);
	case HEAD_LOOK_AHEAD:
		break;
	}
	return end_look_ahead(h, now);
}

/* Check whether all bytes are in the cache, in the buffer, or read ahead. */
static bool in_memory(struct hdd *h, int64_t now, uint64_t start, uint64_t end)
{
	while (start < end) {
		uint64_t to = read_buffer_covers(&h->buffer, start);

		if (to == start)
			to = cache_covers(h, start);
		if (to == start && h->state == HEAD_LOOK_AHEAD &&
		    start >= h->pos)
			to = looked_ahead_to(h, now);
		if (to <= start)
			return false;
		start = to;
	}
	return true;
}

/*
 * Resume look-ahead where it stopped, once half of the data read ahead has been
 * used, unless there is something to write.
 */
static void resume_look_ahead(struct hdd *h, int64_t now, uint64_t end)
{
	uint64_t from = h->ahead_end;

	if (h->state != HEAD_IDLE || h->pos != from || h->waiting ||
	    end > from || from - end > h->profile->look_ahead / 2 ||
	    from >= h->end)
		return;
	now = later(now, h->since);
	h->ahead_busy = now;
	look_ahead_from(h, mechanics_reach(&h->mechanics, now, from, from,
					   false), from, end);
}

bool read_from_memory(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		      int64_t *done)
{
	hdd_advance(h, now);
	if (!in_memory(h, now, start, end))
		return false;
	resume_look_ahead(h, now, block_ceil(end, h->physical));
	h->bus_free = now + hdd_transfer_time(h, end - start);
	*done = h->bus_free;
	return true;
}

int64_t read_media(struct hdd *h, int64_t now, uint64_t start, uint64_t end)
{
	int64_t transfer = hdd_transfer_time(h, end - start);
	uint64_t first = block_floor(start, h->physical);
	uint64_t after = block_ceil(end, h->physical);
	int64_t begin, read;

	if (h->state == HEAD_LOOK_AHEAD && first >= h->pos &&
	    first <= h->ahead_end) {
		/* Look-ahead is about to reach the block. */
		look_ahead_from(h, h->since, h->pos, after);
		read = h->since +
		       mechanics_travel(&h->mechanics, h->pos, after);
		h->ahead_busy = later(h->ahead_busy, read);
		return later(read, now + transfer);
	}

	begin = take_head(h, now);
	read = mechanics_reach(&h->mechanics, begin, h->pos, first, false);
	look_ahead_from(h, read, first, after);
	read += mechanics_travel(&h->mechanics, first, after);
	head_worked(h, begin, read);
	h->ahead_busy = read;
	/* The interface is faster than the media, and transfers meanwhile. */
	return later(read, now + transfer);
}

/*
 * Read the blocks that a write covers in part, from the time @there on, at
 * which its first block is under the head.  Return when that is there again.
 */
static int64_t read_to_complete(struct hdd *h, int64_t there, uint64_t start,
				uint64_t end)
{
	const struct mechanics *m = &h->mechanics;
	uint64_t first = block_floor(start, h->physical);
	uint64_t after = block_ceil(end, h->physical);
	uint64_t last = after - h->physical;
	uint64_t read_end = end < after ? after : first + h->physical;
	int64_t read;

	if (h->profile->rmw_alone && start > first && end < after &&
	    last != first) {
		/* The last block has to come round for itself. */
		read = there + mechanics_travel(m, first, first + h->physical);
		read = mechanics_reach(m, read, first + h->physical, last,
				       false);
		read += mechanics_travel(m, last, after);
	} else {
		read = there + mechanics_travel(m, first, read_end);
	}
	return mechanics_reach(m, read, read_end, first, true);
}

int64_t write_media(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		    unsigned int touches)
{
	const struct mechanics *m = &h->mechanics;
	uint64_t first = block_floor(start, h->physical);
	uint64_t after = block_ceil(end, h->physical);
	int64_t begin, there, done;

	begin = take_head(h, now);
	there = mechanics_reach(m, begin, h->pos, first, true);
	if (touches) {
		int64_t again = read_to_complete(h, there, start, end);

		h->counters->lost_ns += (uint64_t)(again - there);
		there = again;
	}
	done = there + mechanics_travel(m, first, after);
	h->counters->blocks_written += (after - first) / h->physical;
	head_worked(h, begin, done);
	read_buffer_add(&h->buffer, first, after);
	head_rests(h, done, after);
	return done;
}
