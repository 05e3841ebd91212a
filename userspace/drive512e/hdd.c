// SPDX-License-Identifier: GPL-2.0
/*
 * The interface, reads, writes that bypass the cache, and the clock,
 * hdd_advance().  write_cache.c has the cached writes, queue.c the order of
 * commands that wait for the head.
 */
#include "hdd.h"

#include "hdd_internal.h"

void hdd_init(struct hdd *h, const struct profile *profile, uint32_t physical,
	      uint64_t end, bool cache, struct media_counters *counters)
{
	*h = (struct hdd){
		.profile = profile,
		.physical = physical,
		.end = block_ceil(end, physical),
		.cache = cache,
		.counters = counters,
		.last_end = UINT64_MAX,
	};
	TAILQ_INIT(&h->queue);
	mechanics_init(&h->mechanics, profile, physical);
}

int64_t hdd_command(struct hdd *h, int64_t now)
{
	h->bus_free = later(now, h->bus_free) + h->profile->command_ns;
	return h->bus_free;
}

int64_t hdd_transfer_time(const struct hdd *h, uint64_t bytes)
{
	return (int64_t)((double)bytes / h->profile->bus_rate * 1e9);
}

void head_rests(struct hdd *h, int64_t time, uint64_t pos)
{
	h->state = HEAD_IDLE;
	h->since = time;
	h->pos = pos;
}

void head_worked(struct hdd *h, int64_t from, int64_t to)
{
	h->counters->busy_ns += (uint64_t)(to - from);
}

/* Return how far look-ahead has come at @now. */
static uint64_t looked_ahead_to(const struct hdd *h, int64_t now)
{
	uint64_t to = h->pos;

	if (now > h->since)
		to += mechanics_passed(&h->mechanics, h->pos, now - h->since);
	return to < h->ahead_end ? block_floor(to, h->physical) : h->ahead_end;
}

static int64_t look_ahead_done(const struct hdd *h)
{
	return h->since + mechanics_travel(&h->mechanics, h->pos, h->ahead_end);
}

int64_t end_look_ahead(struct hdd *h, int64_t now)
{
	uint64_t to;

	now = later(now, h->ahead_busy);
	to = looked_ahead_to(h, now);
	if (to > h->pos)
		read_buffer_add(&h->buffer, h->pos, to);
	head_rests(h, now, to);
	return now;
}

/* Return when the next event happens without a request. */
static int64_t next_event(const struct hdd *h)
{
	switch (h->state) {
	case HEAD_SEEKING:
	case HEAD_BATCH:
		return h->until;
	case HEAD_STREAM:
		return stream_runs_dry(h);
	case HEAD_LOOK_AHEAD:
		return look_ahead_done(h);
	case HEAD_IDLE:
		break;
	}
	return next_work(h);
}

int64_t next_step(struct hdd *h)
{
	int64_t now = next_event(h);

	switch (h->state) {
	case HEAD_IDLE:
		start_seek(h, now);
		break;
	case HEAD_SEEKING:
		start_writing(h);
		break;
	case HEAD_BATCH:
		end_batch(h);
		break;
	case HEAD_STREAM:
		end_stream(h, now);
		break;
	case HEAD_LOOK_AHEAD:
		end_look_ahead(h, now);
		break;
	}
	return now;
}

void hdd_advance(struct hdd *h, int64_t now)
{
	while (next_event(h) <= now)
		next_step(h);
}

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

static void look_ahead_from(struct hdd *h, int64_t now, uint64_t pos,
			    uint64_t read_end)
{
	h->state = HEAD_LOOK_AHEAD;
	h->since = now;
	h->pos = pos;
	h->ahead_end = read_end + h->profile->look_ahead;
	if (h->ahead_end > h->end)
		h->ahead_end = h->end;
}

/*
 * Resume look-ahead where it stopped, once half of what was read ahead has been
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

int64_t hdd_read(struct hdd *h, int64_t now, uint64_t start, uint64_t end)
{
	int64_t done;

	now = hdd_command(h, now);
	if (!read_from_memory(h, now, start, end, &done))
		done = read_media(h, now, start, end);
	if (h->profile->one_at_a_time)
		h->bus_free = later(h->bus_free, done);
	return done;
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

		h->counters->rmws += touches;
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

int64_t hdd_write(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		  uint64_t transfer, unsigned int touches, bool fua)
{
	bool alone = now >= h->last_done;

	now = hdd_command(h, now) + hdd_transfer_time(h, transfer);
	h->bus_free = now;
	hdd_advance(h, now);
	if (!h->cache)
		return write_media(h, now, start, end, touches);

	now = cache_write(h, now, start, end, touches, alone);
	h->last_done = now;
	if (fua)
		now = cache_empty(h, now);
	h->bus_free = now;
	return now;
}

void hdd_lose_power(struct hdd *h, int64_t now)
{
	hdd_advance(h, now);
	h->counters->touches_lost += hdd_pending(h);
	h->waiting = 0;
	h->writing = 0;
	h->full = false;
	h->buffer = (struct read_buffer){ 0 };
	h->bus_free = now;
	h->ahead_busy = now;
	h->last_end = UINT64_MAX;
	h->last_whole = false;
	queue_drop(h, now);
	head_rests(h, now, h->pos);
}

int64_t hdd_flush(struct hdd *h, int64_t now)
{
	/* A flush is no queued command: it waits until the queue is empty. */
	now = hdd_command(h, later(now, queue_drain(h)));
	hdd_advance(h, now);
	if (h->cache)
		now = cache_empty(h, now);
	h->bus_free = now;
	return now;
}
