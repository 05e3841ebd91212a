// SPDX-License-Identifier: GPL-2.0
/*
 * The volatile write cache: which cache runs wait, which writes may join them,
 * and in which sweeps the head writes them; and the clock, hdd_advance(), as
 * the cache makes all events but the end of look-ahead.
 */
#include <stdlib.h>
#include <string.h>

#include "hdd_internal.h"

/* ---- runs ---- */

static uint64_t first_block(const struct hdd *h, const struct cache_run *r)
{
	return block_floor(r->start, h->physical);
}

static uint64_t last_block(const struct hdd *h, const struct cache_run *r)
{
	return block_floor(r->end - 1, h->physical);
}

static bool block_in(uint64_t block, uint64_t start, uint64_t end, uint32_t size)
{
	return start < block + size && end > block;
}

/* Check whether the bytes lie in a block that the run has only in part. */
static bool meets_partial(const struct hdd *h, const struct cache_run *r,
			  uint64_t start, uint64_t end)
{
	uint32_t size = h->physical;

	return (r->start % size && block_in(first_block(h, r), start, end, size)) ||
	       (r->end % size && block_in(last_block(h, r), start, end, size));
}

static bool is_partial(const struct hdd *h, uint64_t start, uint64_t end)
{
	return start % h->physical || end % h->physical;
}

/* Count the waiting runs that have a block in part. */
static unsigned int partial_runs(const struct hdd *h)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < h->waiting; i++)
		n += is_partial(h, h->pool[i].start, h->pool[i].end);
	return n;
}

static struct cache_run *find_stream(struct hdd *h)
{
	for (unsigned int i = 0; i < h->waiting; i++) {
		if (h->pool[i].stream)
			return &h->pool[i];
	}
	return NULL;
}

static const struct cache_run *stream_of(const struct hdd *h)
{
	return find_stream((struct hdd *)h);
}

/* Return how far a stream may be written: its last block is held back. */
static uint64_t stream_limit(const struct hdd *h, const struct cache_run *r)
{
	uint64_t limit = last_block(h, r);

	return limit > r->start ? limit : r->start;
}

static void remove_run(struct hdd *h, struct cache_run *r)
{
	*r = h->pool[--h->waiting];
}

uint64_t cache_covers(const struct hdd *h, uint64_t start)
{
	for (unsigned int i = 0; i < h->waiting; i++) {
		if (start >= h->pool[i].start && start < h->pool[i].end)
			return h->pool[i].end;
	}
	for (unsigned int i = 0; i < h->writing; i++) {
		if (start >= h->batch[i].start && start < h->batch[i].end)
			return h->batch[i].end;
	}
	return start;
}

uint64_t cache_pending(const struct hdd *h)
{
	uint64_t touches = 0;

	for (unsigned int i = 0; i < h->waiting; i++)
		touches += h->pool[i].touches;
	return touches;
}

void cache_forget_counts(struct hdd *h)
{
	for (unsigned int i = 0; i < h->waiting; i++) {
		h->pool[i].touches = 0;
		h->pool[i].counted = false;
	}
}

/* Count @reads of the run's touches as RMWs, the others as saved. */
static void count_run(struct hdd *h, struct cache_run *r, unsigned int reads)
{
	if (!r->counted)
		return;
	/* Reads for touches from before a reset do not count. */
	if (reads > r->touches)
		reads = r->touches;
	h->counters->rmws += reads;
	h->counters->rmws_saved_by_cache += r->touches - reads;
	r->touches = 0;
}

/* ---- blocks that have to be read ---- */

/* Check whether the whole block is in memory, in a run or in the buffer. */
static bool block_known(struct hdd *h, uint64_t block)
{
	uint64_t end = block + h->physical;

	return read_buffer_covers(&h->buffer, block) >= end ||
	       cache_covers(h, block) >= end;
}

/* Find the blocks to be read before the run can be written.  Return 0 to 2. */
static unsigned int blocks_to_read(struct hdd *h, const struct cache_run *r,
				   uint64_t blocks[2])
{
	uint64_t first = first_block(h, r);
	uint64_t last = last_block(h, r);
	bool head = r->start % h->physical;
	bool tail = r->end % h->physical;
	unsigned int n = 0;

	if ((head || (tail && first == last)) && !block_known(h, first))
		blocks[n++] = first;
	if (tail && first != last && !block_known(h, last))
		blocks[n++] = last;
	return n;
}

/* ---- sweeps ---- */

/* Position and time of the head in a plan. */
struct plan {
	int64_t time;
	uint64_t pos;
};

static void pass_over(struct hdd *h, struct plan *p, uint64_t start,
		      uint64_t end, bool write, bool anew)
{
	const struct mechanics *m = &h->mechanics;

	p->time = anew ? mechanics_reach(m, p->time, p->pos, start, write)
		       : mechanics_sweep(m, p->time, p->pos, start, write);
	p->time += mechanics_travel(m, start, end);
	p->pos = end;
}

static void plan_writes(struct hdd *h, struct plan *p, bool anew)
{
	for (unsigned int i = 0; i < h->writing; i++) {
		const struct cache_run *r = &h->batch[i];

		pass_over(h, p, first_block(h, r),
			  last_block(h, r) + h->physical, true, anew && i == 0);
	}
}

/*
 * Plan the batch's reads, in sweeps of at most rmw_reads_per_pass blocks of
 * each run. Return true if there are any.
 */
static bool plan_reads(struct hdd *h, struct plan *p)
{
	uint64_t blocks[CACHE_ENTRIES_MAX][2];
	unsigned int left[CACHE_ENTRIES_MAX], done[CACHE_ENTRIES_MAX] = { 0 };
	unsigned int total = 0, sweeps = 0;

	for (unsigned int i = 0; i < h->writing; i++) {
		left[i] = blocks_to_read(h, &h->batch[i], blocks[i]);
		total += left[i];
	}
	/* Only now: one run's bytes may complete another run's block. */
	for (unsigned int i = 0; i < h->writing; i++)
		count_run(h, &h->batch[i], left[i]);

	for (; total; sweeps++) {
		bool anew = sweeps > 0;

		for (unsigned int i = 0; i < h->writing; i++) {
			unsigned int limit = h->profile->rmw_reads_per_pass;

			while (left[i] && limit--) {
				uint64_t block = blocks[i][done[i]++];

				pass_over(h, p, block, block + h->physical,
					  false, anew);
				anew = false;
				left[i]--;
				total--;
			}
		}
	}
	return sweeps > 0;
}

static int by_start(const void *a, const void *b)
{
	const struct cache_run *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Move the waiting runs into the batch, in the order of a sweep from @pos. */
static void take_batch(struct hdd *h, uint64_t pos)
{
	struct cache_run sorted[CACHE_ENTRIES_MAX];
	unsigned int n = 0, kept = 0, first = 0;

	for (unsigned int i = 0; i < h->waiting; i++) {
		if (h->pool[i].stream)
			h->pool[kept++] = h->pool[i];
		else
			sorted[n++] = h->pool[i];
	}
	h->waiting = kept;
	h->writing = n;
	qsort(sorted, n, sizeof(*sorted), by_start);
	while (first < n && sorted[first].end <= pos)
		first++;
	for (unsigned int i = 0; i < n; i++)
		h->batch[i] = sorted[(first + i) % n];
}

static void write_batch(struct hdd *h, int64_t now)
{
	struct plan without = { .time = now, .pos = h->target };
	struct plan with = without;

	plan_writes(h, &without, false);
	plan_writes(h, &with, plan_reads(h, &with));
	for (unsigned int i = 0; i < h->writing; i++)
		h->counters->blocks_written +=
			(last_block(h, &h->batch[i]) -
			 first_block(h, &h->batch[i])) / h->physical + 1;
	h->counters->lost_ns += (uint64_t)(with.time - without.time);

	h->state = HEAD_BATCH;
	h->since = now;
	h->until = with.time;
	h->pos = with.pos;
}

static void write_stream(struct hdd *h, struct cache_run *r, int64_t now)
{
	struct plan p = { .time = now, .pos = h->target };
	uint64_t first = first_block(h, r);

	p.time = mechanics_sweep(&h->mechanics, now, h->target, first, true);
	p.pos = first;
	if (r->start % h->physical && !block_known(h, first)) {
		int64_t there = p.time;

		pass_over(h, &p, first, first + h->physical, false, false);
		p.time = mechanics_reach(&h->mechanics, p.time, p.pos, first,
					 true);
		h->counters->lost_ns += (uint64_t)(p.time - there);
		if (r->counted && r->touches) {
			h->counters->rmws++;
			r->touches--;
		}
	}
	head_worked(h, now, p.time);
	r->start = first;	/* the first block is complete now */
	h->state = HEAD_STREAM;
	h->since = p.time;
	h->pos = first;
}

/* ---- events ---- */

/* Return when an idle head has something to write; NEVER if nothing waits. */
static int64_t next_work(const struct hdd *h)
{
	int64_t earliest = NEVER;

	for (unsigned int i = 0; i < h->waiting; i++) {
		const struct cache_run *r = &h->pool[i];
		int64_t at = r->changed;

		if (r->stream && stream_limit(h, r) == r->start)
			at += h->profile->hold_back_ms * INT64_C(1000000);
		if (at < earliest)
			earliest = at;
	}
	return earliest == NEVER ? NEVER : later(earliest, h->since);
}

/* End the stream: its last block is no longer held back, joins are limited. */
static void seal_stream(struct hdd *h, int64_t now)
{
	struct cache_run *r = find_stream(h);
	uint64_t whole;

	if (!r)
		return;
	whole = block_floor(r->end, h->physical);
	if (h->state == HEAD_STREAM && whole <= h->pos)
		end_stream(h, now);
	r->stream = false;
	r->joins = 0;
	r->changed = now;
	if (h->state != HEAD_STREAM)
		return;

	/* The head goes on through the whole blocks, and then is idle. */
	h->writing = 1;
	h->batch[0] = *r;
	h->batch[0].end = whole;
	if (r->end == whole) {
		remove_run(h, r);
	} else {
		r->start = whole;
		r->touches = r->touches > 0;
		h->batch[0].touches -= r->touches;
	}
	count_run(h, &h->batch[0], 0);
	h->counters->blocks_written += (whole - h->pos) / h->physical;
	h->state = HEAD_BATCH;
	h->until = h->since +
		   mechanics_travel(&h->mechanics, h->pos, whole);
	h->pos = whole;
}

/* Seek to the next run in the direction of the sweep, or else to the first. */
static void start_seek(struct hdd *h, int64_t now)
{
	const struct cache_run *r = stream_of(h);
	const struct cache_run *next = NULL;

	if (r && stream_limit(h, r) == r->start &&
	    now >= r->changed + h->profile->hold_back_ms * INT64_C(1000000))
		seal_stream(h, now);

	for (unsigned int i = 0; i < h->waiting; i++) {
		r = &h->pool[i];
		if (r->stream)
			continue;
		if (!next || (r->end > h->pos) > (next->end > h->pos) ||
		    ((r->end > h->pos) == (next->end > h->pos) &&
		     r->start < next->start))
			next = r;
	}
	if (!next)
		next = stream_of(h);

	h->target = first_block(h, next);
	h->state = HEAD_SEEKING;
	h->since = now;
	h->until = mechanics_reach(&h->mechanics, now, h->pos, h->target, true);
}

static void start_writing(struct hdd *h)
{
	int64_t now = h->until;
	struct cache_run *stream = find_stream(h);

	head_worked(h, h->since, now);
	if (stream && h->waiting == 1) {
		write_stream(h, stream, now);
		return;
	}
	take_batch(h, h->target);
	write_batch(h, now);
}

static void end_batch(struct hdd *h)
{
	head_worked(h, h->since, h->until);
	for (unsigned int i = 0; i < h->writing; i++)
		read_buffer_add(&h->buffer, first_block(h, &h->batch[i]),
				last_block(h, &h->batch[i]) + h->physical);
	h->writing = 0;
	head_rests(h, h->until, h->pos);
}

/* Return when the head has written all of the stream that is not held back. */
static int64_t stream_runs_dry(const struct hdd *h)
{
	return h->since + mechanics_travel(&h->mechanics, h->pos,
					   stream_limit(h, stream_of(h)));
}

/* Return how far the stream is written, with the block under the head. */
static uint64_t stream_written(const struct hdd *h, int64_t now)
{
	uint64_t limit = stream_limit(h, stream_of(h));
	uint64_t to = h->pos;

	if (now > h->since)
		to += mechanics_passed(&h->mechanics, to, now - h->since);
	to = block_ceil(to, h->physical);
	return to < limit ? to : limit;
}

int64_t end_stream(struct hdd *h, int64_t now)
{
	uint64_t to = stream_written(h, now);
	int64_t then = h->since + mechanics_travel(&h->mechanics, h->pos, to);

	if (to > h->pos) {
		h->counters->blocks_written += (to - h->pos) / h->physical;
		read_buffer_add(&h->buffer, h->pos, to);
	}
	find_stream(h)->start = to;
	h->full = false;
	head_worked(h, h->since, then);
	head_rests(h, later(then, h->since), to);
	return h->since;
}

/* ---- the clock ---- */

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

/* Do the next event that a waiting request needs.  Return its time. */
static int64_t force_step(struct hdd *h, int64_t now)
{
	if (h->state == HEAD_LOOK_AHEAD)
		return end_look_ahead(h, now);
	if (h->state == HEAD_IDLE && next_work(h) > later(now, h->since))
		seal_stream(h, now);
	return later(now, next_step(h));
}

/* ---- requests ---- */

/*
 * Check whether a write goes on where the last one ended, or in its last block,
 * and both cover a whole block.
 */
static bool follows_stream(const struct hdd *h, uint64_t start, bool whole)
{
	return whole && h->last_whole && start <= h->last_end &&
	       start >= block_floor(h->last_end - 1, h->physical);
}

/*
 * Check whether a write only replaces bytes in the last block of the last write,
 * while that waits: it neither goes on where that ended nor elsewhere.
 */
static bool replaces_last(const struct hdd *h, uint64_t start, uint64_t end)
{
	if (start < block_floor(h->last_end - 1, h->physical) ||
	    end > h->last_end)
		return false;
	for (unsigned int i = 0; i < h->waiting; i++) {
		const struct cache_run *r = &h->pool[i];

		if (r->end == h->last_end)
			return start >= r->start &&
			       (!r->stream || start >= stream_limit(h, r));
	}
	return false;
}

static bool may_join(const struct hdd *h, const struct cache_run *r,
		     uint64_t start, uint64_t end, bool follows)
{
	bool inside = start >= r->start && end <= r->end;

	if (start > r->end || end < r->start)
		return false;
	return inside || (follows && r->end == h->last_end) ||
	       r->joins < h->profile->cache_joins;
}

/* Check whether the write has to wait for a block. */
static bool locked(const struct hdd *h, uint64_t start, uint64_t end,
		   bool follows)
{
	for (unsigned int i = 0; i < h->writing; i++) {
		if (meets_partial(h, &h->batch[i], start, end))
			return true;
	}
	for (unsigned int i = 0; i < h->waiting; i++) {
		if (meets_partial(h, &h->pool[i], start, end) &&
		    !may_join(h, &h->pool[i], start, end, follows))
			return true;
	}
	return false;
}

/* Merge the run with all runs that it now meets, as far as joins allow. */
static struct cache_run *merge_neighbours(struct hdd *h, struct cache_run *r)
{
	unsigned int i = 0;

	while (i < h->waiting) {
		struct cache_run *o = &h->pool[i];

		if (o == r || o->stream || r->stream || o->start > r->end ||
		    o->end < r->start ||
		    o->joins + r->joins + 1 > h->profile->cache_joins) {
			i++;
			continue;
		}
		r->start = o->start < r->start ? o->start : r->start;
		r->end = o->end > r->end ? o->end : r->end;
		r->joins += o->joins + 1;
		r->touches += o->touches;
		remove_run(h, o);
		if (r == &h->pool[h->waiting])	/* remove_run() has moved it */
			r = o;
	}
	return r;
}

static struct cache_run *join_run(struct hdd *h, uint64_t start, uint64_t end,
				  bool follows)
{
	for (unsigned int i = 0; i < h->waiting; i++) {
		struct cache_run *r = &h->pool[i];

		if (!may_join(h, r, start, end, follows))
			continue;
		if (start >= r->start && end <= r->end)
			return r;
		if (follows && r->end == h->last_end)
			r->stream = true;
		else
			r->joins++;
		r->start = start < r->start ? start : r->start;
		r->end = end > r->end ? end : r->end;
		return merge_neighbours(h, r);
	}
	return NULL;
}

/* Cache a write; false if there is no room, or a block is locked. */
static bool take_in(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		    unsigned int touches, bool follows)
{
	struct cache_run *r;

	if (locked(h, start, end, follows))
		return false;
	r = join_run(h, start, end, follows);
	if (!r) {
		if (h->waiting == h->profile->cache_entries)
			return false;
		if (h->profile->cache_partial && is_partial(h, start, end) &&
		    partial_runs(h) >= h->profile->cache_partial)
			return false;
		r = &h->pool[h->waiting++];
		*r = (struct cache_run){ .start = start, .end = end,
				   .stream = follows };
	}
	r->touches += touches;
	r->counted = true;
	r->changed = now;
	return true;
}

static uint64_t dirty_bytes(const struct hdd *h)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < h->waiting; i++)
		bytes += h->pool[i].end - h->pool[i].start;
	return bytes;
}

/* Wait until the dirty bytes fit into the cache.  Return the time then. */
static int64_t make_room(struct hdd *h, int64_t now)
{
	for (;;) {
		uint64_t dirty = dirty_bytes(h);
		uint64_t excess, to;

		if (dirty <= h->profile->cache_bytes)
			return now;
		if (h->state != HEAD_STREAM) {
			now = force_step(h, now);
			continue;
		}
		excess = dirty - h->profile->cache_bytes;
		to = h->pos + excess;
		if (to <= stream_limit(h, stream_of(h))) {
			h->full = true;
			return later(now, h->since +
				     mechanics_travel(&h->mechanics, h->pos,
						      to));
		}
		now = force_step(h, now);
	}
}

int64_t cache_write(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		    unsigned int touches, bool alone)
{
	bool whole = h->profile->stream_whole
		   ? !is_partial(h, start, end)
		   : block_ceil(start, h->physical) <
		     block_floor(end, h->physical);
	bool follows = follows_stream(h, start, whole) &&
		       (alone || start % h->physical == 0);

	if (replaces_last(h, start, end) &&
	    take_in(h, now, start, end, touches, false))
		return now;
	if (!follows)
		seal_stream(h, now);
	while (!take_in(h, now, start, end, touches, follows))
		now = force_step(h, now);
	h->last_end = end;
	h->last_whole = whole;
	return make_room(h, now);
}

int64_t cache_empty(struct hdd *h, int64_t now)
{
	seal_stream(h, now);
	while (h->waiting || h->writing)
		now = force_step(h, now);
	return now;
}
