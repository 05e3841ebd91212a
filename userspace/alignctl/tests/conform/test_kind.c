// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mix.h"
#include "conform/kind.h"
#include "conform/report.h"
#include "tests/tap.h"

#define DRAWS	400

static void every_pair_and_triple_is_a_kind(void)
{
	bool seen[2][PART_NR][PART_NR][PART_NR + 1] = { 0 };
	size_t number, found, pairs = 0;

	for (number = 0; number < KIND_NR; number++) {
		const struct kind kind = kind_at(number);
		size_t third = kind.nr == 3 ? kind.part[2] : PART_NR;
		CLEANUP_FREE char *name = kind_name(&kind);
		bool *own = &seen[kind.across][kind.part[0]][kind.part[1]][third];

		CHECK(kind.part[0] <= kind.part[1] && kind.part[1] <= third,
		      "%s is not in order", name);
		CHECK(!*own, "%s is there twice", name);
		*own = true;
		pairs += kind.nr == 2;
		CHECK(kind_find(name, &found) && found == number,
		      "%s is not found", name);
	}
	CHECK(pairs == 2 * 36, "%zu pairs", pairs);
	CHECK(!kind_find("sub-block/in-block", &found), "one alone is a kind");
}

/* Check the blocks of a request by what its name says. */
static void check_shape(const struct kind *kind, uint32_t n,
			const struct kind_shape *shape)
{
	uint32_t end = shape->first + shape->nr;
	bool across = shape->first < 2 * n && end > 2 * n;

	if (shape->part == PART_FLUSH) {
		CHECK(!shape->nr, "a flush covers blocks");
		return;
	}
	CHECK(shape->nr && end <= CELL_BLOCKS * n, "outside of the cell");
	if (shape->part == PART_READ)
		return;
	CHECK(shape->first >= n && end <= 3 * n, "a write in a guard");
	if (shape->part == PART_SUB_BLOCK || shape->part == PART_FUA) {
		CHECK(kind->across == across, "%u+%u, across is %d",
		      shape->first, shape->nr, kind->across);
		CHECK(shape->nr < n || (n == 2 && across), "a whole block");
	}
	if (shape->part == PART_WHOLE)
		CHECK(shape->first % n == 0 && shape->nr == n, "not whole");
	if (shape->part == PART_TWO_BLOCKS)
		CHECK(shape->first == n && shape->nr == 2 * n, "not two");
}

static void requests_cover_what_their_names_say(void)
{
	bool waits = false, together = false, first_last = false;
	size_t number, i, draws;

	for (number = 0; number < KIND_NR; number++) {
		const struct kind kind = kind_at(number);

		for (draws = 0; draws < DRAWS; draws++) {
			uint32_t n = 2U << draws % 4;
			struct kind_shape shapes[KIND_PARTS];
			unsigned int left = 0;

			kind_shapes(&kind, n, mix64(number * DRAWS + draws),
				    shapes);
			for (i = 0; i < kind.nr; i++) {
				check_shape(&kind, n, &shapes[i]);
				left += 1U << 4 * shapes[i].part;
				left -= 1U << 4 * kind.part[i];
				waits |= shapes[i].wait > 256;
			}
			CHECK(!left, "other requests than those of the kind");
			together |= !shapes[0].wait && !shapes[1].wait;
			first_last |= shapes[0].part > shapes[1].part;
		}
	}
	CHECK(waits && together && first_last, "the times do not vary");
}

static void a_bound_is_what_a_binomial_gives(void)
{
	static const uint64_t rounds[] = { 1, 10, 1000, 20000, 1000000 };
	size_t i;

	CHECK(!report_bound(0), "a bound without rounds");
	/* the figure that conform's manual has */
	CHECK(report_bound(20000) == 6676, "%" PRIu64, report_bound(20000));
	for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		double n = (double)report_bound(rounds[i]);

		CHECK(pow(1 - 1 / n, (double)rounds[i]) <= 0.05 &&
		      pow(1 - 1 / (n + 1), (double)rounds[i]) > 0.05,
		      "1 in %.0f of %" PRIu64, n, rounds[i]);
	}
}

const struct tap_test kind_tests[] = {
	{ "every pair and triple of requests is a kind, in a block and across",
	  every_pair_and_triple_is_a_kind },
	{ "requests of a round cover what their names say",
	  requests_cover_what_their_names_say },
	{ "the bound of no fault is that of a binomial at 95 %",
	  a_bound_is_what_a_binomial_gives },
	{ 0 }
};
