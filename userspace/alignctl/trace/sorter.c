// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <stdlib.h>

#include "base/message.h"
#include "trace/sorter.h"

#define FIRST_ROOM	32U

struct entry {
	struct trace_request request;
	struct trace_place place;
	uint64_t arrival;
};

/*
 * A binary heap of entry numbers, the earliest request at its root; behind the
 * heap are the numbers of free entries. Grows with the number of requests.
 */
struct trace_sorter {
	uint32_t nr;
	uint32_t room;
	uint64_t arrivals;
	struct entry *entries;
	uint16_t heap[TRACE_SORTER_ROOM];
};

static_assert(TRACE_SORTER_ROOM <= UINT16_MAX + 1 &&
	      TRACE_SORTER_ROOM % FIRST_ROOM == 0, "16-bit numbers, in doublings");

struct trace_sorter *trace_sorter_new(void)
{
	return memory_or_exit(calloc(1, sizeof(struct trace_sorter)));
}

void trace_sorter_free(struct trace_sorter *sorter)
{
	if (sorter)
		free(sorter->entries);
	free(sorter);
}

void trace_sorter_clear(struct trace_sorter *sorter)
{
	sorter->nr = 0;
	sorter->arrivals = 0;
}

bool trace_sorter_full(const struct trace_sorter *sorter)
{
	return sorter->nr == TRACE_SORTER_ROOM;
}

bool trace_sorter_empty(const struct trace_sorter *sorter)
{
	return !sorter->nr;
}

static bool is_earlier(const struct trace_sorter *sorter, uint32_t one,
		       uint32_t other)
{
	const struct entry *a = &sorter->entries[sorter->heap[one]];
	const struct entry *b = &sorter->entries[sorter->heap[other]];

	if (a->request.time_ns != b->request.time_ns)
		return a->request.time_ns < b->request.time_ns;
	return a->arrival < b->arrival;
}

static void swap(struct trace_sorter *sorter, uint32_t one, uint32_t other)
{
	uint16_t number = sorter->heap[one];

	sorter->heap[one] = sorter->heap[other];
	sorter->heap[other] = number;
}

static void grow(struct trace_sorter *sorter)
{
	uint32_t room = sorter->room ? 2 * sorter->room : FIRST_ROOM;

	sorter->entries = memory_or_exit(reallocarray(sorter->entries, room,
						      sizeof(struct entry)));
	for (; sorter->room < room; sorter->room++)
		sorter->heap[sorter->room] = (uint16_t)sorter->room;
}

void trace_sorter_add(struct trace_sorter *sorter,
		      const struct trace_request *request,
		      const struct trace_place *place)
{
	uint32_t i = sorter->nr++;

	if (i == sorter->room)
		grow(sorter);
	sorter->entries[sorter->heap[i]] = (struct entry) {
		.request = *request,
		.place = *place,
		.arrival = sorter->arrivals++,
	};
	for (; i && is_earlier(sorter, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(sorter, i, (i - 1) / 2);
}

void trace_sorter_take(struct trace_sorter *sorter,
		       struct trace_request *request,
		       struct trace_place *place)
{
	const struct entry *first = &sorter->entries[sorter->heap[0]];
	uint32_t i = 0, least;

	*request = first->request;
	*place = first->place;
	swap(sorter, 0, --sorter->nr);
	for (;;) {
		least = i;
		if (2 * i + 1 < sorter->nr && is_earlier(sorter, 2 * i + 1, least))
			least = 2 * i + 1;
		if (2 * i + 2 < sorter->nr && is_earlier(sorter, 2 * i + 2, least))
			least = 2 * i + 2;
		if (least == i)
			break;
		swap(sorter, i, least);
		i = least;
	}
}
