// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>

#include "record/arrivals.h"
#include "tests/tap.h"

/* Adds one; its offset tells when. */
static void add(struct arrivals *arrivals, uint64_t time_ns, uint64_t number)
{
	struct arrival *next = arrivals_next(arrivals);

	*next = (struct arrival) {
		.request = { .time_ns = time_ns, .offset = number },
	};
	arrivals->nr++;
}

/* Is it in order, and what has the same time in the order of its numbers? */
static void in_order(const struct arrivals *arrivals, uint64_t sum)
{
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < arrivals->nr; i++) {
		const struct trace_request *now = &arrivals->at[i].request;

		found += now->offset;
		if (!i)
			continue;
		CHECK(now[0].time_ns >= arrivals->at[i - 1].request.time_ns,
		      "%zu comes at %" PRIu64 ", behind %" PRIu64, i,
		      now->time_ns, arrivals->at[i - 1].request.time_ns);
		CHECK(now->time_ns > arrivals->at[i - 1].request.time_ns ||
		      now->offset > arrivals->at[i - 1].request.offset,
		      "%zu: number %" PRIu64 " comes behind %" PRIu64, i,
		      now->offset, arrivals->at[i - 1].request.offset);
	}
	CHECK(found == sum, "numbers %" PRIu64 ", not %" PRIu64, found, sum);
}

/* Times of @step at most between two of a run; 0 makes all of a run equal. */
static void runs(size_t nr_runs, size_t length, unsigned int step)
{
	struct arrivals arrivals = { 0 };
	uint64_t sum = 0, number = 0;
	size_t run, i;

	for (run = 0; run < nr_runs; run++) {
		uint64_t time_ns = (unsigned int)random() % (step + 1);

		for (i = 0; i < length; i++) {
			add(&arrivals, time_ns, number);
			time_ns += (unsigned int)random() % (step + 1);
			sum += number++;
		}
	}
	arrivals_sort(&arrivals);
	CHECK(arrivals.nr == nr_runs * length, "%zu", arrivals.nr);
	in_order(&arrivals, sum);
	arrivals_free(&arrivals);
}

static void sorts(void)
{
	size_t nr_runs;

	srandom(1);
	for (nr_runs = 0; nr_runs < 20; nr_runs++) {
		runs(nr_runs, 1, 5);
		runs(nr_runs, 37, 0);
		runs(nr_runs, 200, 3);
		runs(nr_runs, 500, 1000);
	}
}

static void backwards(void)
{
	struct arrivals arrivals = { 0 };
	uint64_t i, sum = 0;

	for (i = 0; i < 3000; i++) {
		add(&arrivals, 3000 - i, i);
		sum += i;
	}
	arrivals_sort(&arrivals);
	in_order(&arrivals, sum);
	arrivals_free(&arrivals);
}

/* What was taken off does not come again, what was left is sorted with what comes. */
static void drops(void)
{
	struct arrivals arrivals = { 0 };

	add(&arrivals, 5, 1);
	add(&arrivals, 1, 2);
	add(&arrivals, 3, 4);
	arrivals_sort(&arrivals);
	arrivals_drop(&arrivals, 1);
	CHECK(arrivals.nr == 2, "%zu", arrivals.nr);
	add(&arrivals, 4, 8);
	arrivals_sort(&arrivals);
	in_order(&arrivals, 1 + 4 + 8);
	arrivals_drop(&arrivals, 3);
	CHECK(!arrivals.nr, "%zu", arrivals.nr);
	arrivals_sort(&arrivals);
	arrivals_free(&arrivals);
}

const struct tap_test arrivals_tests[] = {
	{ "events are put in the order of their times, however they come",
	  sorts },
	{ "events in reverse order are put in order", backwards },
	{ "events that were taken off the list are gone", drops },
	{ 0 },
};
