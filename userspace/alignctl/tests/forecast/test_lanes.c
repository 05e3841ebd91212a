// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "forecast/lanes.h"
#include "forecast/tally.h"
#include "tests/tap.h"

#define DISKS	37U
#define ITEMS	20000U

/**
 * struct counted - what a lane has found of a disk, which no other thread touches
 * @nr: number of items
 * @last: time of the last one
 * @disorder: number of items that were not behind the last one
 */
struct counted {
	uint64_t nr;
	uint64_t last;
	uint64_t disorder;
};

static void count(const struct lane_item *item)
{
	struct counted *counted = item->disk;

	counted->nr++;
	counted->disorder += item->clock_ns <= counted->last;
	counted->last = item->clock_ns;
}

/* Give items to disks, as many to each as its number, and one more, in turn. */
static void give_to(unsigned int jobs)
{
	static struct counted counted[DISKS];
	struct lanes *lanes = lanes_new(jobs, count);
	struct lane_item item = { 0 };
	uint64_t want[DISKS] = { 0 };
	uint32_t i, disk;

	memset(counted, 0, sizeof(counted));
	for (i = 0; i < ITEMS; i++) {
		disk = i * i % DISKS;
		item.disk = &counted[disk];
		item.clock_ns = i + 1;
		want[disk]++;
		lanes_give(lanes, disk, &item);
	}
	lanes_end(lanes);
	for (i = 0; i < DISKS; i++)
		CHECK(counted[i].nr == want[i] && !counted[i].disorder,
		      "%u jobs, disk %u: %llu of %llu, %llu out of order", jobs,
		      i, (unsigned long long)counted[i].nr,
		      (unsigned long long)want[i],
		      (unsigned long long)counted[i].disorder);
}

static void all_arrive_in_order(void)
{
	static const unsigned int jobs[] = { 0, 1, 2, 3, LANES_MOST,
					     LANES_MOST + 5 };
	unsigned int i;

	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		give_to(jobs[i]);
}

static void none_is_a_number_too(void)
{
	lanes_end(lanes_new(4, count));
}

static void kinds_are_counted_in_a_table_that_grows(void)
{
	struct write_kind *kind;
	struct tally tally;
	uint32_t i, nr = 0;

	tally_begin(&tally, "sda", false);
	for (i = 0; i < 3 * ITEMS; i++)
		tally_add_kind(&tally, i % 509, 1 + i % 701, 1 + i % 3);
	kind = tally_kinds(&tally);
	for (i = 0; i < tally.nr_kinds; i++) {
		nr += kind[i].nr;
		CHECK(!i || kind[i - 1].start < kind[i].start ||
		      (kind[i - 1].start == kind[i].start &&
		       kind[i - 1].length < kind[i].length),
		      "%u: %u + %u", i, kind[i].start, kind[i].length);
	}
	CHECK(nr == 2 * 3 * ITEMS, "%u", nr);
	CHECK(tally_bytes(&tally) >= tally.nr_kinds * sizeof(*kind),
	      "%zu", tally_bytes(&tally));
	free(kind);
	tally_free(&tally);
}

const struct tap_test lanes_tests[] = {
	{ "one thread a lane gets all that is given to it, in its order",
	  all_arrive_in_order },
	{ "threads without work end", none_is_a_number_too },
	{ "kinds of writes are counted in a table that grows",
	  kinds_are_counted_in_a_table_that_grows },
	{ 0 },
};
