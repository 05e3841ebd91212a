// SPDX-License-Identifier: GPL-2.0
/* The requests before a power cut. */
#include <inttypes.h>

#include "base/units.h"
#include "conform/cut.h"
#include "tests/tap.h"

#define REQUESTS	20000
#define CELLS		64U

static struct cut_area area_of(uint32_t logical, uint32_t block)
{
	return (struct cut_area) {
		.start = MIB, .bytes = (uint64_t)CELLS * CELL_BLOCKS * block,
		.logical = logical, .block = block, .seed = 3,
	};
}

/* Check what a request covers by what its kind says. */
static void check_request(const struct cut_area *area, uint64_t number,
			  const struct cut_shape *shape)
{
	uint32_t n = area->block / area->logical;
	uint64_t first = shape->first - shape->cell * CELL_BLOCKS * n;
	uint64_t end = first + shape->nr;

	CHECK(shape->part != PART_READ && shape->cell < CELLS,
	      "%" PRIu64 ": cell %" PRIu64, number, shape->cell);
	CHECK(!shape->nr == (shape->part == PART_FLUSH), "a flush is empty");
	if (!shape->nr)
		return;
	CHECK(first >= n && end <= 3 * n, "%" PRIu64 ": %" PRIu64 " to %" PRIu64
	      " is in a guard", number, first, end);
	if (shape->part == PART_WHOLE)
		CHECK(first % n == 0 && shape->nr == n, "not whole");
	if (shape->part == PART_TWO_BLOCKS)
		CHECK(first == n && shape->nr == 2 * n, "not two");
}

static bool same(const struct cut_shape *one, const struct cut_shape *two)
{
	return one->part == two->part && one->cell == two->cell &&
	       one->first == two->first && one->nr == two->nr;
}

static void requests_are_of_all_kinds_and_places(void)
{
	static const uint32_t sizes[][2] = {
		{ 512, 1024 }, { 512, 4096 }, { 4096, 65536 }, { 512, MIB },
	};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct cut_area area = area_of(sizes[i][0], sizes[i][1]);
		uint64_t parts[PART_NR] = { 0 }, cells[CELLS] = { 0 }, number;
		size_t k;

		for (number = 0; number < REQUESTS; number++) {
			struct cut_shape shape = cut_shape(&area, number);
			struct cut_shape again = cut_shape(&area, number);

			check_request(&area, number, &shape);
			CHECK(same(&shape, &again),
			      "not the same again");
			parts[shape.part]++;
			cells[shape.cell]++;
		}
		for (k = 0; k < PART_NR; k++)
			CHECK((k == PART_READ) == !parts[k],
			      "%" PRIu64 " of part %zu", parts[k], k);
		for (k = 0; k < CELLS; k++)
			CHECK(cells[k], "nothing goes to cell %zu", k);
	}
}

static void a_seed_changes_them(void)
{
	struct cut_area area = area_of(512, 4096), other = area;
	unsigned int alike = 0;
	uint64_t number;

	other.seed++;
	for (number = 0; number < REQUESTS; number++) {
		struct cut_shape one = cut_shape(&area, number);
		struct cut_shape two = cut_shape(&other, number);

		alike += same(&one, &two);
	}
	CHECK(alike < REQUESTS / 50, "%u are the same", alike);
}

const struct tap_test cut_tests[] = {
	{ "requests before a cut are of all kinds, in each cell, and in no guard",
	  requests_are_of_all_kinds_and_places },
	{ "another seed makes other requests", a_seed_changes_them },
	{ 0 }
};
