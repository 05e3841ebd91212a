// SPDX-License-Identifier: GPL-2.0
/* Compute request N of a workload from its period, length and seed. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/mix.h"
#include "workload/page_cache.h"
#include "workload/permutation.h"
#include "workload/plan.h"

/* Reading a gap of at most 64 KiB costs less than another request. */
#define GAP_SECTORS	128U

void plan_init(struct plan *plan, const struct workload *w)
{
	*plan = (struct plan) {
		.workload = w, .count = w->default_count, .start = w->start,
		.places = w->places, .period = w->period, .seed = 1,
		.buffered = w->buffered,
		.length = w->nr_parts == 1 ? w->part[0].bytes : 0,
	};
}

static uint64_t whole_blocks(uint64_t bytes)
{
	return bytes - bytes % WORKLOAD_INSIDE;
}

void plan_spread(struct plan *plan, uint64_t span)
{
	if (plan->workload->device != WORKLOAD_SPREAD) {
		plan->places = span / plan->period;
		return;
	}
	if (span / plan->count < plan->length)
		plan->length = whole_blocks(span / plan->count);
	plan->period = plan->count > 1 ?
		whole_blocks((span - plan->length) / (plan->count - 1)) :
		plan->length;
}

/* Check whether period and length are possible for the workload. */
static bool possible_shape(const struct plan *plan)
{
	const struct workload *w = plan->workload;
	uint64_t length = w->nr_parts == 1 ? w->part[0].bytes : 0;

	switch (w->device) {
	case WORKLOAD_UNIT:
		return plan->length && plan->length <= UINT32_MAX &&
		       plan->length % ALIGN_SECTOR_SIZE == 0 &&
		       plan->period == plan->length;
	case WORKLOAD_SPREAD:
		return plan->length && plan->length <= length &&
		       plan->length == whole_blocks(plan->length) &&
		       plan->period >= plan->length &&
		       plan->period == whole_blocks(plan->period);
	case WORKLOAD_FIXED:
		break;
	}
	return plan->period == w->period && plan->length == length;
}

/* Return the number of writes in a repetition. */
static uint32_t nr_parts(const struct plan *plan)
{
	const struct workload *w = plan->workload;

	if (!w->chunk)
		return w->nr_parts;
	return plan->length / w->chunk + (plan->length % w->chunk != 0);
}

static struct workload_part part_of(const struct plan *plan, uint32_t nth)
{
	const struct workload *w = plan->workload;
	struct workload_part part = { .bytes = (uint32_t)plan->length };

	if (w->nr_parts > 1)
		return w->part[nth];
	if (w->chunk) {
		part.offset = nth * w->chunk;
		part.bytes -= part.offset;
		if (part.bytes > w->chunk)
			part.bytes = w->chunk;
	}
	return part;
}

/* Return where the data of WORKLOAD_BURSTS starts, beyond the journal. */
static uint64_t data_start(const struct plan *plan)
{
	uint64_t journal = plan->count * plan->workload->part[0].bytes;

	return plan->start + whole_blocks(journal + WORKLOAD_INSIDE - 1);
}

/* Return the number of places, which are one period apart. */
static uint64_t nr_places(const struct plan *plan)
{
	const struct workload *w = plan->workload;

	return w->order == WORKLOAD_ROUNDS || workload_random(w) ?
	       plan->places : plan->count;
}

bool plan_possible(const struct plan *plan)
{
	const struct workload *w = plan->workload;

	return possible_shape(plan) && plan_requests(plan) &&
	       plan->start >= w->first &&
	       (plan->buffered ||
		plan_granularity(plan) % ALIGN_SECTOR_SIZE == 0) &&
	       (!workload_random(w) ||
		plan_places_needed(plan) <= plan->places);
}

uint64_t plan_places_needed(const struct plan *plan)
{
	switch (plan->workload->order) {
	case WORKLOAD_DRAWS:
		return 1;
	case WORKLOAD_PAIRS:
		return 2;
	default:
		return plan->count;
	}
}

/* Draw a place, all of them equally likely. */
static uint64_t drawn_place(const struct plan *plan, uint64_t request)
{
	uint64_t random = mix64(plan->seed ^ mix64(request + 1));

	return (unsigned __int128)random * plan->places >> 64;
}

/* Return the place of one of a pair: at a random distance, where both fit. */
static uint64_t pair_place(const struct plan *plan, uint64_t request)
{
	uint64_t random = mix64(plan->seed ^ mix64(request / 2 + 1));
	uint64_t distance = 1 + random % (plan->places - 1);
	uint64_t first = mix64(random) % (plan->places - distance);

	return first + request % 2 * distance;
}

uint64_t plan_requests(const struct plan *plan)
{
	const struct workload *w = plan->workload;
	uint64_t before = w->first != 0, each = nr_parts(plan);

	if (w->order == WORKLOAD_ROUNDS)
		each = plan->places;
	else if (w->order == WORKLOAD_RANDOM || w->order == WORKLOAD_DRAWS)
		each = 1;
	else if (w->order == WORKLOAD_PAIRS)
		each = 2;
	if (!plan->count || !each)
		return 0;
	if (plan->count > (UINT64_MAX - before) / each)
		return UINT64_MAX;
	return plan->count * each + before;
}

uint64_t plan_request(const struct plan *plan, uint64_t request,
		      uint32_t *bytes)
{
	const struct workload *w = plan->workload;
	struct workload_part part;

	if (w->first && request-- == 0) {
		*bytes = w->first;
		return plan->start - w->first;
	}
	part = part_of(plan, request % nr_parts(plan));
	*bytes = part.bytes;
	switch (w->order) {
	case WORKLOAD_ROUNDS:
		return plan->start + request % plan->places * plan->period;
	case WORKLOAD_RANDOM:
		return plan->start + plan->period *
		       permutation_number(plan->places, plan->seed, request);
	case WORKLOAD_DRAWS:
		return plan->start + plan->period * drawn_place(plan, request);
	case WORKLOAD_PAIRS:
		return plan->start + plan->period * pair_place(plan, request);
	case WORKLOAD_BURSTS:
		if (request % 2 == 0)
			return plan->start + request / 2 * part.bytes;
		request /= 2;
		if (w->places)
			request = permutation_number(plan->places, plan->seed,
						     request);
		return data_start(plan) + request * plan->period;
	case WORKLOAD_STREAM:
		break;
	}
	return plan->start + request / nr_parts(plan) * plan->period +
	       part.offset;
}

bool plan_syncs(const struct plan *plan, uint64_t request)
{
	const struct workload *w = plan->workload;

	if (plan->fdatasync)
		return true;
	if (w->sync == WORKLOAD_FDATASYNC_PART)
		return request % nr_parts(plan) == w->sync_part;
	return w->sync == WORKLOAD_FDATASYNC;
}

uint64_t plan_end(const struct plan *plan)
{
	const struct workload *w = plan->workload;
	uint64_t periods = nr_places(plan), start = plan->start;
	uint64_t end = plan->length;

	if (!plan->count || !periods)
		return 0;
	if (w->order == WORKLOAD_BURSTS) {
		if (start > UINT64_MAX - WORKLOAD_INSIDE ||
		    plan->count >= (UINT64_MAX - start - WORKLOAD_INSIDE) /
				   w->part[0].bytes)
			return UINT64_MAX;
		start = data_start(plan);
	}
	if (w->nr_parts > 1)
		end = w->part[w->nr_parts - 1].offset +
		      w->part[w->nr_parts - 1].bytes;
	if (start > UINT64_MAX - end ||
	    periods - 1 > (UINT64_MAX - end - start) / plan->period)
		return UINT64_MAX;
	return start + (periods - 1) * plan->period + end;
}

uint32_t plan_max_bytes(const struct plan *plan)
{
	const struct workload *w = plan->workload;
	uint32_t i, max = w->first;

	for (i = 0; i < w->nr_parts; i++)
		if (part_of(plan, i).bytes > max)
			max = part_of(plan, i).bytes;
	return max;
}

uint32_t plan_granularity(const struct plan *plan)
{
	const struct workload *w = plan->workload;
	uint64_t bits = plan->start | plan->period | w->first | w->chunk |
			plan->length;
	uint32_t i;

	for (i = 0; w->nr_parts > 1 && i < w->nr_parts; i++)
		bits |= w->part[i].offset | w->part[i].bytes;
	return bits & -bits;
}

static int by_first(const void *a, const void *b)
{
	const struct plan_extent *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/*
 * Return every write as an extent, by rising sector, for free(). Writes of a
 * buffered plan are extended to whole pages.
 */
static struct plan_extent *sorted_writes(const struct plan *plan)
{
	uint32_t unit = plan->buffered ? PAGE_CACHE_BLOCK : ALIGN_SECTOR_SIZE;
	uint64_t requests = plan_requests(plan), i;
	struct plan_extent *write = memory_or_exit(
		reallocarray(NULL, requests, sizeof(*write)));

	for (i = 0; i < requests; i++) {
		uint32_t bytes;
		uint64_t start = plan_request(plan, i, &bytes);

		write[i].first = start / unit * (unit >> ALIGN_SECTOR_SHIFT);
		write[i].end = ((start + bytes - 1) / unit + 1) *
			       (unit >> ALIGN_SECTOR_SHIFT);
	}
	qsort(write, requests, sizeof(*write), by_first);
	return write;
}

/* Return a write's blocks and one more on either side, within the range. */
static struct plan_extent find_surroundings(const struct plan_extent *write,
					    const struct align_geometry *g)
{
	uint32_t block = align_block_sectors(g);
	uint64_t back = align_sector_in_block(g, write->first) + block;
	uint64_t ahead = align_sector_in_block(g, write->end);
	struct plan_extent around = {
		.first = write->first > back ? write->first - back : 0,
		.end = write->end + (ahead ? block - ahead : 0) + block,
	};

	if (around.end > g->end_sector)
		around.end = g->end_sector;
	return around;
}

struct plan_extent *plan_extents(const struct plan *plan,
				 const struct align_geometry *g, size_t *nr)
{
	/* the extents are no more than the writes and replace them in place */
	struct plan_extent *extent = sorted_writes(plan);
	uint64_t requests = plan_requests(plan), i;

	*nr = 0;
	for (i = 0; i < requests; i++) {
		struct plan_extent around = find_surroundings(&extent[i], g);

		if (!*nr || around.first > extent[*nr - 1].end + GAP_SECTORS)
			extent[(*nr)++] = around;
		else if (around.end > extent[*nr - 1].end)
			extent[*nr - 1].end = around.end;
	}
	return extent;
}
