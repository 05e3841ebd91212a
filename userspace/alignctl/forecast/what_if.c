// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "forecast/coverage.h"
#include "forecast/what_if.h"

#define NR_CASES	(2 * WHAT_IF_NR_SIZES)

/* Each case has its own; all together are bounded. */
#define MAX_LEAVES	(COVERAGE_MAX_LEAVES / 2)

/**
 * struct lane - a case that requests are done again for
 * @g: geometry of the case
 * @coverage: coverage of writes and write-zeroes, of this lane or of one with
 *	larger blocks, of which this lane's are parts
 * @owns: the coverage is this lane's
 * @fixing: model of the modes; NULL: the target does not support the blocks, or
 *	the outcome is known
 */
struct lane {
	struct align_geometry g;
	struct coverage *coverage;
	bool owns;
	struct fixing *fixing;
};

/**
 * struct what_if - the device and its cases
 * @g: blocks and size of the device
 * @timed: the requests have times
 * @modes_known: @pad and @coalesce are known
 * @pad: outcome in mode pad on the blocks of @g
 * @coalesce: outcome in mode coalesce on the blocks of @g
 * @passes: number of passes in which requests were done again
 * @lane: cases, first all of the start as it is, each by rising blocks; without
 *	a coverage: not needed
 * @model: models of all lanes that have one
 * @nr_models: number of elements of @model in use
 */
struct what_if {
	struct align_geometry g;
	bool timed;
	bool modes_known;
	struct fixing_figures pad;
	struct fixing_figures coalesce;
	unsigned int passes;
	struct lane lane[NR_CASES];
	struct fixing *model[NR_CASES];
	unsigned int nr_models;
};

struct what_if *what_if_new(const struct align_geometry *g, bool timed)
{
	struct what_if *w = memory_or_exit(calloc(1, sizeof(*w)));

	w->g = *g;
	w->timed = timed;
	return w;
}

void what_if_free(struct what_if *w)
{
	unsigned int i;

	if (!w)
		return;
	for (i = 0; i < NR_CASES; i++) {
		if (w->lane[i].owns)
			coverage_free(w->lane[i].coverage);
		fixing_free(w->lane[i].fixing);
	}
	free(w);
}

/* Return the geometry for other blocks, with the start moved on. */
static struct align_geometry geometry_of(const struct align_geometry *g,
					 uint32_t physical, uint32_t moved)
{
	uint32_t sectors = physical >> ALIGN_SECTOR_SHIFT;
	struct align_geometry other = *g;

	other.physical = physical;
	other.block_shift = align_log2(sectors);
	other.lead = (sectors - g->offset / ALIGN_SECTOR_SIZE % sectors +
		      moved) % sectors;
	other.offset = (sectors - other.lead) % sectors * ALIGN_SECTOR_SIZE;
	other.first_whole = align_block_of(&other, g->first_sector + sectors - 1);
	other.end_whole = align_block_of(&other, g->end_sector);
	return other;
}

/* Find a coverage of larger blocks that the lane's blocks are parts of. */
static struct coverage *find_coverage(const struct what_if *w,
				      const struct lane *lane)
{
	uint32_t sectors = align_block_sectors(&lane->g), i;

	for (i = 0; i < NR_CASES; i++)
		if (w->lane[i].owns && w->lane[i].g.lead >= lane->g.lead &&
		    (w->lane[i].g.lead - lane->g.lead) % sectors == 0)
			return w->lane[i].coverage;
	return NULL;
}

/* Check for the blocks and the start as they are, whose outcome is known. */
static bool is_known(const struct what_if *w, uint32_t physical, uint32_t moved)
{
	return w->modes_known && physical == w->g.physical && !moved;
}

/* Open a lane; those of larger blocks are open already. */
static void open_lane(struct what_if *w, struct lane *lane, uint32_t physical,
		      uint32_t moved)
{
	lane->g = geometry_of(&w->g, physical, moved);
	lane->coverage = find_coverage(w, lane);
	lane->owns = !lane->coverage;
	if (lane->owns)
		lane->coverage = coverage_new(&lane->g, MAX_LEAVES);
	if (!align_can_fix(&lane->g) || is_known(w, physical, moved))
		return;
	lane->fixing = fixing_new(&lane->g, w->timed,
				  fixing_max_blocks(&lane->g));
	w->model[w->nr_models++] = lane->fixing;
}

/* Set what the moves of the start make of one size of blocks. */
static void choose(const struct what_if *w, const struct moves *moves,
		   struct what_if_size *size)
{
	uint32_t sectors = size->physical >> ALIGN_SECTOR_SHIFT;
	uint32_t step = w->g.logical >> ALIGN_SECTOR_SHIFT, moved, best = 0;
	uint64_t written = moves_written(moves);
	uint64_t gaps[WHAT_IF_LARGEST];

	moves_count(moves, sectors, size->touches, gaps);
	for (moved = 0; moved < sectors; moved++) {
		if (written)
			size->amplification[moved] =
				1 + (double)gaps[moved] / (double)written;
		/* a device starts at a logical block */
		if (moved % step == 0 &&
		    size->touches[moved] < size->touches[best])
			best = moved;
	}
	size->as_is.touches = size->touches[0];
	size->as_is.amplification = size->amplification[0];
	size->as_is.extra = gaps[0] << ALIGN_SECTOR_SHIFT;
	size->best.moved = best;
	size->best.touches = size->touches[best];
	size->best.amplification = size->amplification[best];
	size->best.extra = gaps[best] << ALIGN_SECTOR_SHIFT;
}

void what_if_know(struct what_if *w, const struct fixing_figures *pad,
		  const struct fixing_figures *coalesce)
{
	w->modes_known = true;
	w->pad = *pad;
	w->coalesce = *coalesce;
}

void what_if_choose(struct what_if *w, const struct moves *moves,
		    struct what_if_figures *figures)
{
	uint32_t logical = w->g.logical >> ALIGN_SECTOR_SHIFT, sectors, i;

	memset(figures, 0, sizeof(*figures));
	for (sectors = WHAT_IF_LEAST; sectors <= WHAT_IF_LARGEST; sectors *= 2) {
		struct what_if_size *size = &figures->size[figures->nr];

		if (sectors < logical)
			continue;
		figures->nr++;
		size->physical = sectors << ALIGN_SECTOR_SHIFT;
		choose(w, moves, size);
	}
	for (i = figures->nr; i-- > 0;) {
		const struct what_if_size *size = &figures->size[i];

		open_lane(w, &w->lane[i], size->physical, 0);
		if (size->best.moved)
			open_lane(w, &w->lane[WHAT_IF_NR_SIZES + i],
				  size->physical, size->best.moved);
	}
}

void what_if_do(struct what_if *w, const struct trace_request *request,
		uint64_t first, uint64_t end)
{
	bool writes = request->op == TRACE_WRITE ||
		      request->op == TRACE_WRITE_ZEROES;
	unsigned int i;

	for (i = 0; i < NR_CASES; i++) {
		struct lane *lane = &w->lane[i];

		if (lane->owns && writes)
			coverage_add(lane->coverage, first, end);
	}
	if (!w->passes)
		fixing_request(w->model, w->nr_models, request, first, end);
}

bool what_if_end_pass(struct what_if *w, struct what_if_figures *figures)
{
	bool more = false;
	unsigned int i;

	for (i = 0; i < NR_CASES; i++) {
		struct what_if_size *size = &figures->size[i % WHAT_IF_NR_SIZES];
		struct what_if_case *result = i < WHAT_IF_NR_SIZES ?
					      &size->as_is : &size->best;
		struct lane *lane = &w->lane[i];
		uint64_t distinct = 0;

		if (!lane->coverage)
			continue;
		coverage_count(lane->coverage, &lane->g, &distinct,
			       &result->rmin);
		result->rmin_known = true;
		if (result == &size->as_is && is_known(w, size->physical, 0)) {
			result->pad = w->pad;
			result->coalesce = w->coalesce;
			result->modes_known = true;
		}
		if (!lane->fixing || w->passes)
			continue;
		fixing_flush(lane->fixing);
		result->pad = fixing_figures(lane->fixing, FIXING_PAD);
		result->coalesce = fixing_figures(lane->fixing,
						  FIXING_COALESCE);
		result->modes_known = true;
	}
	for (i = 0; i < NR_CASES; i++) {
		uint64_t distinct = 0, rmin = 0;

		if (w->lane[i].owns)
			more |= coverage_end_pass(w->lane[i].coverage,
						  &distinct, &rmin);
	}
	w->passes++;
	/* the best start may be the start as it is */
	for (i = 0; i < figures->nr; i++)
		if (!figures->size[i].best.moved)
			figures->size[i].best = figures->size[i].as_is;
	return more;
}
