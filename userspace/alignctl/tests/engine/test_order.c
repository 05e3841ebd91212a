// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/order.h"
#include "tests/tap.h"

#define MAX	16

static const struct trace_request write_0 = { .op = TRACE_WRITE, .bytes = 8 };
static const struct trace_request read_0 = { .op = TRACE_READ, .bytes = 8 };
static const struct trace_request flush = { .op = TRACE_FLUSH };

static struct trace_request at(enum trace_op op, uint64_t offset,
			       uint64_t bytes)
{
	return (struct trace_request) {
		.op = op, .offset = offset, .bytes = bytes,
	};
}

/* May @later start while @earlier runs? */
static bool together(struct trace_request earlier, struct trace_request later)
{
	struct order *order = order_new(2);
	bool may;

	order_add(order, 0, &earlier);
	may = order_add(order, 1, &later);
	order_free(order);
	return may;
}

static void pairs(void)
{
	struct trace_request preflush = at(TRACE_WRITE, 100, 8);

	preflush.preflush = true;
	CHECK(!together(write_0, write_0), "two writes");
	CHECK(!together(write_0, read_0), "read after write");
	CHECK(!together(read_0, write_0), "write after read");
	CHECK(together(read_0, read_0), "two reads");
	CHECK(!together(read_0, at(TRACE_DISCARD, 7, 1)), "discard");
	CHECK(!together(at(TRACE_WRITE_ZEROES, 0, 100), read_0), "zeroes");
	CHECK(together(write_0, at(TRACE_WRITE, 8, 8)), "neighbours");
	CHECK(together(at(TRACE_WRITE, 8, 8), write_0), "neighbours");
	CHECK(!together(write_0, flush), "flush after write");
	CHECK(!together(at(TRACE_DISCARD, 0, 1), flush), "flush after discard");
	CHECK(together(read_0, flush), "flush after read");
	CHECK(together(flush, write_0) && together(flush, flush),
	      "after a flush");
	CHECK(!together(write_0, preflush) && together(read_0, preflush) &&
	      together(preflush, write_0), "a flush before a write");
}

static void chain(void)
{
	struct order *order = order_new(4);
	struct trace_request far = at(TRACE_WRITE, 1000, 8);
	unsigned int free[4];

	CHECK(order_add(order, 3, &write_0), "the first");
	CHECK(!order_add(order, 1, &write_0), "the second");
	CHECK(!order_add(order, 0, &write_0), "the third");
	CHECK(order_add(order, 2, &far), "one elsewhere is not stopped");
	CHECK(order_waiting(order) == 2, "%u wait", order_waiting(order));
	CHECK(order_end(order, 2, free) == 0, "no request waits for that");
	CHECK(order_end(order, 3, free) == 1 && free[0] == 1,
	      "the second is next, and not the third");
	CHECK(order_end(order, 1, free) == 1 && free[0] == 0, "the third");
	CHECK(!order_waiting(order) && !order_end(order, 0, free), "the end");
	order_free(order);
}

static bool changes(const struct trace_request *request)
{
	return request->op != TRACE_READ && request->op != TRACE_FLUSH;
}

/* The rule, by itself: must @later wait for @earlier? */
static bool conflict(const struct trace_request *earlier,
		     const struct trace_request *later)
{
	if (later->op == TRACE_FLUSH)
		return changes(earlier);
	return (changes(earlier) || changes(later)) &&
	       earlier->offset < later->offset + later->bytes &&
	       later->offset < earlier->offset + earlier->bytes;
}

/*
 * Random requests, started and ended in random order, in units of so many
 * bytes: what runs together never conflicts, one that waits has what to wait
 * for, and all of them run in the end.
 */
static void random_in_units_of(uint64_t unit)
{
	enum { NR = 3000, BYTES = 64, RUNNING = 1, WAITING = 2 };
	struct order *order = order_new(MAX);
	struct trace_request request[MAX];
	int state[MAX] = { 0 }, added = 0, ended = 0, i, k;
	uint64_t turn[MAX];
	unsigned int free[MAX], nr;

	srand48(2);
	while (ended < NR && !tap_failures) {
		i = lrand48() % MAX;
		if (!state[i] && added < NR) {
			uint64_t from = lrand48() % BYTES;

			request[i] = at(lrand48() % TRACE_NR_OPS, from * unit,
					(1 + lrand48() % (BYTES / 8)) * unit);
			if (request[i].op == TRACE_FLUSH)
				request[i].bytes = 0;
			turn[i] = added++;
			state[i] = order_add(order, i, &request[i]) ? RUNNING :
								      WAITING;
		} else if (state[i] == RUNNING) {
			state[i] = 0;
			ended++;
			nr = order_end(order, i, free);
			while (nr--) {
				CHECK(state[free[nr]] == WAITING, "was free");
				state[free[nr]] = RUNNING;
			}
		}
		for (i = 0; i < MAX; i++) {
			bool waits = false;

			for (k = 0; k < MAX; k++)
				waits |= state[k] && turn[k] < turn[i] &&
					 conflict(&request[k], &request[i]);
			CHECK(!state[i] || waits == (state[i] == WAITING),
			      "%" PRIu64 " of units of %" PRIu64 ": %s",
			      turn[i], unit, waits ? "runs before its turn" :
						     "waits for no request");
		}
	}
	CHECK(added == NR && ended == NR, "%d of %d", ended, NR);
	order_free(order);
}

/* From bytes to requests of a megabyte, and ones far apart that look alike. */
static void at_random(void)
{
	static const uint64_t units[] = { 1, 4096, 40000, 1 << 17, 1 << 20,
					  1 << 26, (1ULL << 26) - 4096 };
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		random_in_units_of(units[i]);
}

const struct tap_test order_tests[] = {
	{ "overlaps wait where bytes change, flushes for what changed them",
	  pairs },
	{ "three writes of a place run in order, others meanwhile", chain },
	{ "of any requests, none runs against the order, and all run",
	  at_random },
	{ 0 },
};
