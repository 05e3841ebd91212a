// SPDX-License-Identifier: GPL-2.0
/* Match the events of a write to its requests, and count the shapes in a tree. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/message.h"
#include "record/shapes.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_stories(const void *one, const void *other)
{
	return compare_numbers(((const struct story *)one)->number,
			       ((const struct story *)other)->number);
}

static int compare_shapes(const void *one, const void *other)
{
	const struct shape *a = one, *b = other;
	int order = compare_numbers(a->bytes, b->bytes);
	size_t i;

	if (!order)
		order = compare_numbers(a->start, b->start);
	if (!order)
		order = compare_numbers(a->zeroes, b->zeroes);
	if (!order)
		order = compare_numbers(a->touches_after, b->touches_after);
	if (!order)
		order = compare_numbers(a->nr, b->nr);
	for (i = 0; !order && i < a->nr; i++) {
		order = compare_numbers(a->piece[i].bytes, b->piece[i].bytes);
		if (!order)
			order = compare_numbers(a->piece[i].merged,
						b->piece[i].merged);
	}
	return order;
}

/* Order for people: most touches of requests, then most writes first. */
static int compare_weights(const void *one, const void *other)
{
	const struct shape *a = *(struct shape *const *)one;
	const struct shape *b = *(struct shape *const *)other;
	int order = compare_numbers(b->count * b->touches_after,
				    a->count * a->touches_after);

	if (!order)
		order = compare_numbers(b->count, a->count);
	return order ? order : compare_shapes(a, b);
}

static int compare_ranges(const void *one, const void *other)
{
	return compare_numbers(((const struct story_range *)one)->sector,
			       ((const struct story_range *)other)->sector);
}

static int compare_requests(const void *one, const void *other)
{
	const struct story_request *a = one, *b = other;
	int order = compare_numbers(a->part.sector, b->part.sector);

	return order ? order : compare_numbers(a->number, b->number);
}

/* Return a range of the disk as one of the device; of no length if outside. */
static struct story_range on_device(const struct shapes *shapes,
				    uint64_t sector, uint32_t bytes)
{
	const struct observed_range *range = &shapes->range;
	uint64_t end = sector + (bytes >> ALIGN_SECTOR_SHIFT);

	if (sector < range->start)
		sector = range->start;
	if (end > range->end)
		end = range->end;
	if (sector >= end)
		return (struct story_range) { 0 };
	return (struct story_range) { sector - range->start, end - sector };
}

static uint64_t end_of(const struct story_range *range)
{
	return range->sector + range->sectors;
}

uint32_t shapes_touches(const struct shapes *shapes,
			const struct story_range *range)
{
	struct align_split split;

	align_split_write(&shapes->geometry, range->sector, range->sectors,
			  &split);
	return split.nr_touches;
}

/* Return the touches of a request whose edges are in the part of a write. */
static uint32_t touches_of_part(const struct shapes *shapes,
				const struct story_request *request)
{
	const struct story_range *whole = &request->whole;
	bool first = request->part.sector == whole->sector;
	bool last = end_of(&request->part) == end_of(whole);
	struct align_split split;

	align_split_write(&shapes->geometry, whole->sector, whole->sectors,
			  &split);
	switch (split.class) {
	case ALIGN_WHOLE:
		return 0;
	case ALIGN_SUB_BLOCK:
	case ALIGN_HEAD:
		return first;
	case ALIGN_TAIL:
		return last;
	case ALIGN_BOTH:
		break;
	}
	return first + last;
}

/* Count a request, or with -1 take it out again. */
static void count_request(struct shapes *shapes,
			  const struct story_request *request, int n)
{
	shapes->requests += n;
	shapes->merged += request->merged ? n : 0;
	shapes->touches_after += n * (int)shapes_touches(shapes,
							 &request->whole);
	shapes->request_starts[align_phase_bin(&shapes->geometry,
					       request->whole.sector)] += n;
}

static void count_write(struct shapes *shapes, const struct story *story,
			int n)
{
	shapes->writes += n;
	shapes->touches_before += n * (int)shapes_touches(shapes,
							  &story->range);
	shapes->write_starts[align_phase_bin(&shapes->geometry,
					     story->range.sector)] += n;
}

static struct story *find_story(const struct shapes *shapes, uint64_t number)
{
	const struct story key = { .number = number };
	struct story *const *found = tfind(&key, &shapes->live,
					   compare_stories);

	return found ? *found : NULL;
}

static void free_story(void *story)
{
	struct story *s = story;

	free(s->split);
	free(s->request);
	free(s);
}

static void take_write(struct shapes *shapes, const struct follow_event *event)
{
	struct story *story;
	const struct story_range range = on_device(shapes, event->sector,
						   event->bytes);

	if (!range.sectors)
		return;
	story = memory_or_exit(calloc(1, sizeof(*story)));
	*story = (struct story) {
		.number = event->number, .time_ns = event->time_ns,
		.zeroes = event->zeroes, .pid = event->pid, .range = range,
	};
	memcpy(story->comm, event->comm, sizeof(story->comm));
	memory_or_exit(tsearch(story, &shapes->live, compare_stories));
	count_write(shapes, story, 1);
}

/* Note a part that was split off, once: its request may be issued again. */
static void add_split(struct story *story, const struct story_range *part)
{
	size_t i;

	for (i = 0; i < story->nr_splits; i++)
		if (story->split[i].sector == part->sector)
			return;
	*ARRAY_APPEND(story->split, story->nr_splits) = *part;
}

/* Drop the request with the same part: the driver has given it back. */
static void drop_former(struct shapes *shapes, struct story *story,
			const struct story_range *part)
{
	size_t i;

	for (i = 0; i < story->nr_requests; i++) {
		struct story_request *former = &story->request[i];

		if (former->part.sector != part->sector ||
		    former->part.sectors != part->sectors)
			continue;
		shapes->again++;
		story->touches_after -= touches_of_part(shapes, former);
		if (former->first)
			count_request(shapes, former, -1);
		*former = story->request[--story->nr_requests];
		return;
	}
}

static void take_request(struct shapes *shapes,
			 const struct follow_event *event)
{
	struct story *story = find_story(shapes, event->number);
	const struct story_request request = {
		.part = on_device(shapes, event->sector, event->bytes),
		.whole = on_device(shapes, event->request_sector,
				   event->request_bytes),
		.number = event->request, .first = event->first,
		.merged = event->bytes != event->request_bytes,
	};

	if (!request.part.sectors || !request.whole.sectors)
		return;
	if (story)
		drop_former(shapes, story, &request.part);
	if (story && event->split)
		add_split(story, &request.part);
	if (request.first)
		count_request(shapes, &request, 1);
	if (!story) {
		shapes->untied++;
		shapes->untied_bytes += request.part.sectors <<
					ALIGN_SECTOR_SHIFT;
		return;
	}
	*ARRAY_APPEND(story->request, story->nr_requests) = request;
	story->touches_after += touches_of_part(shapes, &request);
}

/*
 * Sort the requests of a write, and its split parts, and join those parts that are
 * in the same request: since
 * Linux 6.18 parts that were split off may be merged again.
 */
static void sort_requests(struct story *story)
{
	struct story_request *last = story->request;
	size_t i;

	if (!story->nr_requests)
		return;
	if (story->nr_splits)
		qsort(story->split, story->nr_splits, sizeof(*story->split),
		      compare_ranges);
	qsort(story->request, story->nr_requests, sizeof(*story->request),
	      compare_requests);
	for (i = 1; i < story->nr_requests; i++) {
		const struct story_request *next = &story->request[i];

		if (next->number != last->number ||
		    next->part.sector != end_of(&last->part)) {
			*++last = *next;
			continue;
		}
		last->part.sectors += next->part.sectors;
		last->merged = last->part.sectors != last->whole.sectors;
	}
	story->nr_requests = last - story->request + 1;
}

/* Check whether each byte of a write is in one of its sorted requests. */
static bool is_whole(const struct story *story)
{
	uint64_t at = story->range.sector;
	size_t i;

	for (i = 0; i < story->nr_requests; i++) {
		if (story->request[i].part.sector != at)
			return false;
		at = end_of(&story->request[i].part);
	}
	return at == end_of(&story->range);
}

static void free_shape(void *shape)
{
	struct shape *s = shape;

	free(s->piece);
	free(s);
}

static void count_shape(struct shapes *shapes, const struct story *story)
{
	struct shape *shape = memory_or_exit(calloc(1, sizeof(*shape))), **found;
	size_t i;

	*shape = (struct shape) {
		.zeroes = story->zeroes,
		.bytes = story->range.sectors << ALIGN_SECTOR_SHIFT,
		.start = align_sector_in_block(&shapes->geometry,
					       story->range.sector) <<
			 ALIGN_SECTOR_SHIFT,
		.touches_before = shapes_touches(shapes, &story->range),
		.touches_after = story->touches_after,
		.nr = story->nr_requests,
	};
	shape->piece = memory_or_exit(calloc(shape->nr + 1, sizeof(*shape->piece)));
	for (i = 0; i < shape->nr; i++)
		shape->piece[i] = (struct shape_piece) {
			.bytes = story->request[i].part.sectors <<
				 ALIGN_SECTOR_SHIFT,
			.merged = story->request[i].merged,
		};
	found = tfind(shape, &shapes->tree, compare_shapes);
	if (found) {
		(*found)->count++;
		free_shape(shape);
	} else if (shapes->nr == SHAPES_MAX) {
		shapes->other_shapes++;
		free_shape(shape);
	} else {
		shape->count = 1;
		memory_or_exit(tsearch(shape, &shapes->tree, compare_shapes));
		shapes->nr++;
	}
}

static int count_added(const struct shapes *shapes, const struct story *story)
{
	return (int)story->touches_after -
	       (int)shapes_touches(shapes, &story->range);
}

/* Check whether a story tells more than the best one so far. */
static bool is_better(const struct shapes *shapes, const struct story *story)
{
	const struct story *best = &shapes->best;

	if (!best->number)
		return true;
	if (count_added(shapes, story) != count_added(shapes, best))
		return count_added(shapes, story) > count_added(shapes, best);
	return story->nr_requests > best->nr_requests;
}

/* Take a story from those in flight; @ended: the write has been completed. */
static void finish_story(struct shapes *shapes, struct story *story, bool ended)
{
	struct story *best = &shapes->best;

	tdelete(story, &shapes->live, compare_stories);
	sort_requests(story);
	if (!is_whole(story)) {
		if (ended)
			shapes->incomplete++;
		else
			shapes->unfinished++;
	} else {
		count_shape(shapes, story);
		if (is_better(shapes, story)) {
			const struct story former = *best;

			*best = *story;
			*story = former;
		}
	}
	free_story(story);
}

static void take_end(struct shapes *shapes, const struct follow_event *event)
{
	struct story *story = find_story(shapes, event->number);

	if (!story)
		return;
	if (!event->sent_back) {
		finish_story(shapes, story, true);
		return;
	}
	shapes->sent_back++;
	count_write(shapes, story, -1);
	tdelete(story, &shapes->live, compare_stories);
	free_story(story);
}

void shapes_take(struct shapes *shapes, const struct follow_event *event)
{
	switch ((enum follow_kind)event->kind) {
	case FOLLOW_WRITE:
		take_write(shapes, event);
		break;
	case FOLLOW_REQUEST:
		take_request(shapes, event);
		break;
	case FOLLOW_END:
		take_end(shapes, event);
		break;
	case FOLLOW_NR_KINDS:
		break;
	}
}

static void collect_shape(const void *node, VISIT visit, void *context)
{
	struct shape ***next = context;

	if (visit == postorder || visit == leaf)
		*(*next)++ = *(struct shape *const *)node;
}

void shapes_finish(struct shapes *shapes)
{
	struct shape **next;

	while (shapes->live) {
		shapes->in_flight++;
		finish_story(shapes, *(struct story **)shapes->live, false);
	}
	shapes->shape = memory_or_exit(calloc(shapes->nr + 1,
					      sizeof(*shapes->shape)));
	next = shapes->shape;
	twalk_r(shapes->tree, collect_shape, &next);
	qsort(shapes->shape, shapes->nr, sizeof(*shapes->shape),
	      compare_weights);
}

void shapes_free(struct shapes *shapes)
{
	tdestroy(shapes->live, free_story);
	tdestroy(shapes->tree, free_shape);
	free(shapes->shape);
	free(shapes->best.split);
	free(shapes->best.request);
}
