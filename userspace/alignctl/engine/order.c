// SPDX-License-Identifier: GPL-2.0
/*
 * Find the earlier requests that a request overlaps, and count down to its turn as
 * these end.
 */
#include <stdlib.h>

#include "base/message.h"
#include "engine/order.h"

/*
 * Requests are counted by regions of 64 KiB, hashed to a fixed number of
 * counts: a request alone in its regions overlaps with none and need not be
 * compared with each other one. A request in more than a few regions is counted
 * apart and compared, as are all requests that are added while it is live.
 */
#define REGION_SHIFT	16
#define REGION_COUNTS	1024U
#define FEW_REGIONS	8U

/**
 * struct live - a request that has not ended
 * @start: first byte
 * @end: byte after the last one
 * @turn: number of requests added before this one
 * @number: the caller's number of the request
 * @waits: number of live requests that this one waits for
 * @changes: the request changes data
 * @flushes: the request is or begins with a flush
 */
struct live {
	uint64_t start;
	uint64_t end;
	uint64_t turn;
	unsigned int number;
	unsigned int waits;
	bool changes;
	bool flushes;
};

/**
 * struct order - the requests that have not ended
 * @live: requests that have not ended, unsorted
 * @nr: number of live requests
 * @nr_waiting: number of live requests that may not start yet
 * @added: number of requests ever added
 * @place: index in @live of each request, by its number
 * @in_region: number of live requests in each region, without the long ones
 * @nr_long: number of live requests in more than a few regions
 */
struct order {
	struct live *live;
	unsigned int nr;
	unsigned int nr_waiting;
	uint64_t added;
	unsigned int *place;
	unsigned int in_region[REGION_COUNTS];
	unsigned int nr_long;
};

struct order *order_new(unsigned int max)
{
	struct order *order = memory_or_exit(calloc(1, sizeof(*order)));

	order->live = memory_or_exit(calloc(max, sizeof(*order->live)));
	order->place = memory_or_exit(calloc(max, sizeof(*order->place)));
	return order;
}

void order_free(struct order *order)
{
	free(order->live);
	free(order->place);
	free(order);
}

static bool must_wait(const struct live *later, const struct live *earlier)
{
	if (later->flushes && earlier->changes)
		return true;
	return (later->changes || earlier->changes) &&
	       later->start < earlier->end && earlier->start < later->end;
}

/*
 * Count a request (@by 1) or cease to count it (@by -1). Return: whether other
 * requests may overlap with it.
 */
static bool count_regions(struct order *order, const struct live *live, int by)
{
	uint64_t region = live->start >> REGION_SHIFT;
	uint64_t last = live->end ? (live->end - 1) >> REGION_SHIFT : 0;
	bool shared = order->nr_long;

	if (last - region >= FEW_REGIONS) {
		order->nr_long += by;
		return true;
	}
	for (; region <= last; region++) {
		unsigned int *count = &order->in_region[region % REGION_COUNTS];

		shared |= *count;
		*count += by;
	}
	return shared;
}

bool order_add(struct order *order, unsigned int number,
	       const struct trace_request *request)
{
	struct live *new = &order->live[order->nr];
	unsigned int i;

	*new = (struct live) {
		.start = request->offset,
		.end = request->offset + request->bytes,
		.turn = order->added++,
		.number = number,
		.changes = request->op != TRACE_READ &&
			   request->op != TRACE_FLUSH,
		.flushes = request->op == TRACE_FLUSH || request->preflush,
	};
	if (count_regions(order, new, 1) || new->flushes)
		for (i = 0; i < order->nr; i++)
			new->waits += must_wait(new, &order->live[i]);
	order->place[number] = order->nr++;
	order->nr_waiting += new->waits != 0;
	return !new->waits;
}

unsigned int order_end(struct order *order, unsigned int number,
		       unsigned int *free)
{
	unsigned int place = order->place[number], nr = 0, i;
	struct live ended = order->live[place];

	order->live[place] = order->live[--order->nr];
	order->place[order->live[place].number] = place;
	count_regions(order, &ended, -1);
	if (!order->nr_waiting)
		return 0;
	for (i = 0; i < order->nr; i++) {
		struct live *live = &order->live[i];

		if (live->turn < ended.turn || !must_wait(live, &ended) ||
		    --live->waits)
			continue;
		free[nr++] = live->number;
		order->nr_waiting--;
	}
	return nr;
}

unsigned int order_waiting(const struct order *order)
{
	return order->nr_waiting;
}
