// SPDX-License-Identifier: GPL-2.0
/* Derive the shape and place of request N from the seed. */
#include "base/mix.h"
#include "conform/cut.h"

/* Requests in a row that go to a few cells, so that they meet there. */
#define GROUP		128U
#define GROUP_CELLS	8U
/* What a discard has left is not known: only each such group has any. */
#define DISCARDS	4U

/* Share of a kind of request, in 64. */
static const unsigned int shares[PART_NR] = {
	[PART_SUB_BLOCK] = 24,
	[PART_WHOLE] = 10,
	[PART_TWO_BLOCKS] = 6,
	[PART_FLUSH] = 6,
	[PART_FUA] = 8,
	[PART_DISCARD] = 4,
	[PART_ZEROES] = 6,
};

static enum kind_part choose_part(uint64_t group, unsigned int random)
{
	enum kind_part part = PART_SUB_BLOCK;

	while (random >= shares[part])
		random -= shares[part++];
	return part == PART_DISCARD && group % DISCARDS ? PART_SUB_BLOCK : part;
}

struct cut_shape cut_shape(const struct cut_area *area, uint64_t number)
{
	uint64_t group = number / GROUP;
	uint64_t place = mix64(area->seed ^ mix64(~group));
	uint64_t random = mix64(area->seed ^ mix64(number + 1));
	struct kind kind = { .nr = 1, .across = random >> 32 & 1 };
	struct kind_shape shapes[KIND_PARTS];
	struct cut_shape shape = {
		.part = choose_part(group, random % 64),
		.cell = (place % cut_cells(area) + (random >> 40) % GROUP_CELLS)
			% cut_cells(area),
	};

	kind.part[0] = shape.part;
	kind_shapes(&kind, area->block / area->logical, random, shapes);
	shape.first = shape.cell * cut_cell_blocks(area) + shapes[0].first;
	shape.nr = shapes[0].nr;
	return shape;
}
