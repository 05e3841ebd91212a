// SPDX-License-Identifier: GPL-2.0
/* A queue for requests that arrive in order, and a heap for those that do not. */
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
 * A request goes to the end of the queue, unless it is earlier than the last one
 * there: then into the heap. So the queue is in order, and the earliest request of
 * all is the queue's first or the heap's root.
 */
/**
 * struct trace_sorter - requests between their arrival and their turn
 * @nr: number of requests
 * @room: allocated length of @entries; grows with the number of requests
 * @arrivals: number of requests that have arrived
 * @entries: the requests, in any order
 * @spare: numbers of the entries without a request, the next one last
 * @queue: ring of the entries that arrived in order, nearly all of most traces
 * @first: index in @queue of its earliest entry
 * @nr_queue: number of entries in @queue
 * @heap: binary heap of the other entries, the earliest at its root
 * @nr_heap: number of entries in @heap
 */
struct trace_sorter {
	uint32_t nr;
	uint32_t room;
	uint64_t arrivals;
	struct entry *entries;
	uint16_t spare[TRACE_SORTER_ROOM];
	uint16_t queue[TRACE_SORTER_ROOM];
	uint32_t first;
	uint32_t nr_queue;
	uint16_t heap[TRACE_SORTER_ROOM];
	uint32_t nr_heap;
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
	uint32_t i;

	sorter->nr = 0;
	sorter->arrivals = 0;
	sorter->first = 0;
	sorter->nr_queue = 0;
	sorter->nr_heap = 0;
	for (i = 0; i < sorter->room; i++)
		sorter->spare[i] = (uint16_t)i;
}

bool trace_sorter_full(const struct trace_sorter *sorter)
{
	return sorter->nr == TRACE_SORTER_ROOM;
}

bool trace_sorter_empty(const struct trace_sorter *sorter)
{
	return !sorter->nr;
}

/* Return whether request @one goes before @other, both numbers of entries. */
static bool is_earlier(const struct trace_sorter *sorter, uint16_t one,
		       uint16_t other)
{
	const struct entry *a = &sorter->entries[one];
	const struct entry *b = &sorter->entries[other];

	if (a->request.time_ns != b->request.time_ns)
		return a->request.time_ns < b->request.time_ns;
	return a->arrival < b->arrival;
}

/* Allocate more entries, none of which has a request; all others have one. */
static void grow_sorter(struct trace_sorter *sorter)
{
	uint32_t room = sorter->room ? 2 * sorter->room : FIRST_ROOM, i;

	sorter->entries = memory_or_exit(reallocarray(sorter->entries, room,
						      sizeof(struct entry)));
	for (i = 0; i < room - sorter->room; i++)
		sorter->spare[i] = (uint16_t)(sorter->room + i);
	sorter->room = room;
}

static uint16_t *entry_at(struct trace_sorter *sorter, uint32_t i)
{
	return &sorter->queue[(sorter->first + i) % TRACE_SORTER_ROOM];
}

/* Put an entry into the heap. */
static void push_entry(struct trace_sorter *sorter, uint16_t entry)
{
	uint32_t i = sorter->nr_heap++;

	while (i && is_earlier(sorter, entry, sorter->heap[(i - 1) / 2])) {
		sorter->heap[i] = sorter->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sorter->heap[i] = entry;
}

/* Take the earliest entry out of the heap. */
static uint16_t pop_entry(struct trace_sorter *sorter)
{
	uint16_t entry = sorter->heap[0];
	uint16_t last = sorter->heap[--sorter->nr_heap];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < sorter->nr_heap) {
		if (child + 1 < sorter->nr_heap &&
		    is_earlier(sorter, sorter->heap[child + 1],
			       sorter->heap[child]))
			child++;
		if (!is_earlier(sorter, sorter->heap[child], last))
			break;
		sorter->heap[i] = sorter->heap[child];
		i = child;
	}
	sorter->heap[i] = last;
	return entry;
}

void trace_sorter_add(struct trace_sorter *sorter,
		      const struct trace_request *request,
		      const struct trace_place *place)
{
	uint16_t entry;

	if (sorter->nr == sorter->room)
		grow_sorter(sorter);
	entry = sorter->spare[sorter->room - ++sorter->nr];
	sorter->entries[entry] = (struct entry) {
		.request = *request,
		.place = *place,
		.arrival = sorter->arrivals++,
	};
	if (sorter->nr_queue &&
	    is_earlier(sorter, entry, *entry_at(sorter, sorter->nr_queue - 1))) {
		push_entry(sorter, entry);
	} else {
		sorter->nr_queue++;
		*entry_at(sorter, sorter->nr_queue - 1) = entry;
	}
}

void trace_sorter_take(struct trace_sorter *sorter,
		       struct trace_request *request,
		       struct trace_place *place)
{
	uint16_t entry;

	if (sorter->nr_heap &&
	    (!sorter->nr_queue || is_earlier(sorter, sorter->heap[0],
					     *entry_at(sorter, 0)))) {
		entry = pop_entry(sorter);
	} else {
		entry = *entry_at(sorter, 0);
		sorter->first = (sorter->first + 1) % TRACE_SORTER_ROOM;
		sorter->nr_queue--;
	}
	*request = sorter->entries[entry].request;
	*place = sorter->entries[entry].place;
	sorter->spare[sorter->room - sorter->nr--] = entry;
}
