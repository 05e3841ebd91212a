// SPDX-License-Identifier: GPL-2.0
/* Choose the sizes and starts that are worth a model, and read their results. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "forecast/what_if.h"

/**
 * struct lane - a case whose distinct blocks and modes are asked for
 * @result: outcome of the case
 * @count: its blocks that are written
 * @fixing: model of the modes; NULL: the target does not support the blocks, or
 *	the outcome is known already
 */
struct lane {
	struct what_if_case *result;
	struct coverage_count count;
	struct fixing *fixing;
};

/**
 * struct what_if - the device and its cases
 * @g: blocks and size of the device
 * @timed: the requests have times
 * @modes_known: @pad and @coalesce are known
 * @pad: outcome in mode pad on the blocks of @g
 * @coalesce: outcome in mode coalesce on the blocks of @g
 * @lane: cases
 * @nr_lanes: number of elements of @lane in use
 * @model: models of the lanes that have one
 * @nr_models: number of elements of @model in use
 */
struct what_if {
	struct align_geometry g;
	bool timed;
	bool modes_known;
	struct fixing_figures pad;
	struct fixing_figures coalesce;
	struct lane lane[WHAT_IF_MAX_CASES];
	unsigned int nr_lanes;
	struct fixing *model[WHAT_IF_MAX_CASES];
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
	for (i = 0; i < w->nr_models; i++)
		fixing_free(w->model[i]);
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

/* Set what the moves of the start make of one size of blocks. */
static void choose_move(const struct what_if *w, const struct moves *moves,
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
	uint32_t logical = w->g.logical >> ALIGN_SECTOR_SHIFT, sectors;

	memset(figures, 0, sizeof(*figures));
	for (sectors = WHAT_IF_LEAST; sectors <= WHAT_IF_LARGEST; sectors *= 2) {
		struct what_if_size *size = &figures->size[figures->nr];

		if (sectors < logical)
			continue;
		figures->nr++;
		size->physical = sectors << ALIGN_SECTOR_SHIFT;
		choose_move(w, moves, size);
	}
}

/* Check for the blocks and the start as they are, whose outcome is known. */
static bool is_known(const struct what_if *w, const struct align_geometry *g)
{
	return w->modes_known && g->physical == w->g.physical &&
	       g->lead == w->g.lead;
}

/* Set the outcome of a case in the modes where no model is needed. */
static void set_known_modes(const struct what_if *w,
			    struct what_if_case *result)
{
	result->modes_known = true;
	/* without touches there is nothing to do, and all figures are 0 */
	if (!result->touches)
		return;
	result->pad = w->pad;
	result->coalesce = w->coalesce;
}

static void open_lane(struct what_if *w, uint32_t physical,
		      struct what_if_case *result)
{
	struct align_geometry g = geometry_of(&w->g, physical, result->moved);
	struct lane *lane = &w->lane[w->nr_lanes++];

	lane->result = result;
	lane->count = coverage_count_of(&g);
	if (!align_can_fix(&g))
		return;
	if (is_known(w, &g) || !result->touches) {
		set_known_modes(w, result);
		return;
	}
	lane->fixing = fixing_new(&g, w->timed, fixing_max_blocks(&g));
	w->model[w->nr_models++] = lane->fixing;
}

void what_if_open(struct what_if *w, struct what_if_figures *figures)
{
	uint32_t i;

	for (i = 0; i < figures->nr; i++) {
		struct what_if_size *size = &figures->size[i];

		open_lane(w, size->physical, &size->as_is);
		if (size->best.moved)
			open_lane(w, size->physical, &size->best);
	}
}

unsigned int what_if_counts(struct what_if *w,
			    struct coverage_count *counts[WHAT_IF_MAX_CASES])
{
	unsigned int i;

	for (i = 0; i < w->nr_lanes; i++)
		counts[i] = &w->lane[i].count;
	return w->nr_lanes;
}

struct fixing *const *what_if_models(const struct what_if *w, unsigned int *nr)
{
	*nr = w->nr_models;
	return w->model;
}

/* Set the outcome of a case in the modes, once its model has done all requests. */
static void take_modes(struct lane *lane)
{
	struct what_if_case *result = lane->result;

	result->pad = fixing_figures(lane->fixing, FIXING_PAD);
	result->coalesce = fixing_figures(lane->fixing, FIXING_COALESCE);
	result->modes_known = true;
}

void what_if_end(struct what_if *w, struct what_if_figures *figures)
{
	uint32_t i;

	for (i = 0; i < w->nr_lanes; i++) {
		struct lane *lane = &w->lane[i];

		lane->result->rmin = lane->count.rmin;
		lane->result->rmin_known = true;
		if (lane->fixing)
			take_modes(lane);
	}
	/* the best start may be the start as it is */
	for (i = 0; i < figures->nr; i++)
		if (!figures->size[i].best.moved)
			figures->size[i].best = figures->size[i].as_is;
}
