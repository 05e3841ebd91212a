// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "observe/programs.h"
#include "tests/tap.h"
#include "top/counting.h"

static struct top_row row_of(uint32_t tgid, uint64_t writes, uint64_t touches,
			     uint64_t zero_touches, uint64_t bytes)
{
	return (struct top_row){
		.key = { .tgid = tgid },
		.count = { .writes = writes, .misaligned = touches,
			   .zeroes = zero_touches,
			   .zeroes_misaligned = zero_touches,
			   .write_touches = touches,
			   .zero_touches = zero_touches, .bytes = bytes },
	};
}

static void most_touches_first(void)
{
	const struct top_row rows[] = {
		row_of(1, 5, 1, 0, 900), row_of(2, 5, 2, 3, 100),
		row_of(3, 0, 0, 0, 0), row_of(4, 5, 1, 0, 1000),
		row_of(5, 9, 4, 0, 100), row_of(6, 1, 0, 0, 5),
	};
	static const uint32_t wanted[] = { 2, 5, 4, 1, 6 };
	const struct top_count *total;
	struct top_interval interval = { .nr = 6 };
	size_t i;

	interval.row = memory_or_exit(malloc(sizeof(rows)));
	memcpy(interval.row, rows, sizeof(rows));
	top_interval_finish(&interval);
	CHECK(interval.nr == 5, "%zu rows", interval.nr);
	for (i = 0; i < interval.nr; i++)
		CHECK(interval.row[i].key.tgid == wanted[i],
		      "row %zu is of %u", i, interval.row[i].key.tgid);
	total = &interval.total;
	CHECK(total->writes == 25 && total->misaligned == 8 &&
	      total->write_touches == 8 && total->zeroes == 3 &&
	      total->zeroes_misaligned == 3 && total->zero_touches == 3 &&
	      total->bytes == 2105, "%" PRIu64 " bytes",
	      (uint64_t)total->bytes);
	top_interval_free(&interval);
}

static void nothing(void)
{
	struct top_interval interval = { 0 };

	top_interval_finish(&interval);
	CHECK(!interval.nr && !interval.total.writes, "%zu rows", interval.nr);
	top_interval_free(&interval);
}

static void loss_of_both(void)
{
	const struct top_interval interval = {
		.events = { .lost = 3, .sent_back = 100, .counted_twice = 10,
			    .requests_lost = 4, .requeued = 1000 },
		.skips = { .arrivals = 20, .ends = 5000, .requests = 30 },
	};

	CHECK(top_lost_writes(&interval) == 23 &&
	      top_lost_requests(&interval) == 34, "%" PRIu64 " %" PRIu64,
	      top_lost_writes(&interval), top_lost_requests(&interval));
}

static void missing_for_a_while(void)
{
	static const uint64_t readings[] = { 5, 4, 5, 0, 5, 7 };
	uint64_t most = 0, sum = 0;
	size_t i;

	for (i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		uint64_t before = most;

		sum += programs_raise(&most, readings[i]);
		CHECK(most >= before && most >= readings[i], "%" PRIu64 " of %" PRIu64,
		      most, readings[i]);
	}
	CHECK(sum == 7 && most == 7, "%" PRIu64 " in all", sum);
}

/* Each size, start and alignment has a class of its own, and no other. */
static void each_class_once(void)
{
	enum { PHASES = 8 };
	bool seen[ALIGN_SIZE_BINS * PHASES * 2] = { false };
	uint32_t size, phase, misaligned, index;

	for (size = 0; size < ALIGN_SIZE_BINS; size++)
		for (phase = 0; phase < PHASES; phase++)
			for (misaligned = 0; misaligned < 2; misaligned++) {
				index = top_class_index(size, phase, PHASES,
							misaligned);
				CHECK(index < sizeof(seen) && !seen[index],
				      "%u", index);
				if (index < sizeof(seen))
					seen[index] = true;
			}
}

const struct tap_test top_counting_tests[] = {
	{ "top: most touches first, then most bytes; what was sent back is no row",
	  most_touches_first },
	{ "top: an interval without a write has no row", nothing },
	{ "top: no room and a program that did not run are a loss, and nothing else is",
	  loss_of_both },
	{ "top: an event that is missing for a while is missing once",
	  missing_for_a_while },
	{ "top: a request has one class", each_class_once },
	{ 0 },
};
