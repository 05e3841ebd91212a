// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "forecast/coverage.h"
#include "forecast/what_if.h"

#define NR_LENGTHS	(2 * WHAT_IF_LARGEST)
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
 * struct what_if - what is known of the writes
 * @g: blocks and size of the device
 * @timed: the requests have times
 * @modes_known: @pad and @coalesce are known
 * @pad: outcome in mode pad on the blocks of @g
 * @coalesce: outcome in mode coalesce on the blocks of @g
 * @passes: number of passes in which requests were done again
 * @sectors: total length of the writes, sectors
 * @writes: number of writes by start in the largest block and by length, in
 *	sectors, [start * NR_LENGTHS + length]. A length above a block is reduced
 *	by whole blocks to less than two, which leaves its touches.
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
	uint64_t sectors;
	uint64_t *writes;
	struct lane lane[NR_CASES];
	struct fixing *model[NR_CASES];
	unsigned int nr_models;
};

struct what_if *what_if_new(const struct align_geometry *g, bool timed)
{
	struct what_if *w = memory_or_exit(calloc(1, sizeof(*w)));

	w->g = *g;
	w->timed = timed;
	w->writes = memory_or_exit(calloc(WHAT_IF_LARGEST * NR_LENGTHS,
					  sizeof(*w->writes)));
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
	free(w->writes);
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

void what_if_note(struct what_if *w, uint64_t first, uint64_t end)
{
	const struct align_geometry largest =
		geometry_of(&w->g, WHAT_IF_LARGEST * ALIGN_SECTOR_SIZE, 0);
	uint64_t length = end - first;

	w->sectors += length;
	if (length >= WHAT_IF_LARGEST)
		length = WHAT_IF_LARGEST + length % WHAT_IF_LARGEST;
	w->writes[align_sector_in_block(&largest, first) * NR_LENGTHS +
		  length]++;
}

/**
 * struct kind - writes that are the same on blocks of one size
 * @nr: number of writes
 * @start: start in the block, sectors
 * @length: length, reduced to less than two blocks, sectors
 */
struct kind {
	uint64_t nr;
	uint32_t start;
	uint32_t length;
};

/* Collect the kinds of writes on the largest blocks. Return: their number. */
static size_t collect(const struct what_if *w, struct kind *kind)
{
	size_t nr = 0, i;

	for (i = 0; i < WHAT_IF_LARGEST * NR_LENGTHS; i++)
		if (w->writes[i])
			kind[nr++] = (struct kind) { w->writes[i],
				(uint32_t)(i / NR_LENGTHS),
				(uint32_t)(i % NR_LENGTHS) };
	return nr;
}

/*
 * Merge the @nr kinds of writes on larger blocks to those on blocks of @sectors,
 * in place. Return: their number.
 */
static size_t merge(struct kind *kind, size_t nr, uint32_t sectors)
{
	uint32_t lengths = 2 * sectors;
	uint64_t *merged = memory_or_exit(calloc(sectors * lengths,
						 sizeof(*merged)));
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t length = kind[i].length < sectors ? kind[i].length :
				  sectors + kind[i].length % sectors;

		merged[kind[i].start % sectors * lengths + length] +=
			kind[i].nr;
	}
	for (nr = 0, i = 0; i < sectors * lengths; i++)
		if (merged[i])
			kind[nr++] = (struct kind) { merged[i],
				(uint32_t)(i / lengths),
				(uint32_t)(i % lengths) };
	free(merged);
	return nr;
}

/**
 * struct ends - the ends of all writes, on blocks of one size
 * @start: number of writes by the sector of the block at which they start
 * @end: number of writes by the sector of the block before which they end
 * @inside: number of writes that lie inside a block and reach neither of its
 *	ends, by moves of the start: those that begin to lie so at a move, less
 *	those that cease to
 * @writes: number of all writes
 */
struct ends {
	uint64_t start[WHAT_IF_LARGEST];
	uint64_t end[WHAT_IF_LARGEST];
	uint64_t inside[WHAT_IF_LARGEST];
	uint64_t writes;
};

/* Collect the ends of @nr kinds of writes on blocks of @sectors. */
static void collect_ends(struct ends *ends, const struct kind *kind, size_t nr,
			 uint32_t sectors)
{
	size_t i;

	memset(ends, 0, sizeof(*ends));
	for (i = 0; i < nr; i++) {
		uint32_t start = kind[i].start, length = kind[i].length;

		ends->writes += kind[i].nr;
		ends->start[start] += kind[i].nr;
		ends->end[(start + length) % sectors] += kind[i].nr;
		if (length + 2 > sectors)
			continue;
		/* inside from the move to sector 1 on, up to that to the last one */
		ends->inside[(sectors + 1 - start) % sectors] += kind[i].nr;
		ends->inside[(2 * sectors - start - length) % sectors] -=
			kind[i].nr;
		/* and at no move, if the latter comes first */
		if (start > 1 && start + length <= sectors)
			ends->inside[0] += kind[i].nr;
	}
}

/*
 * Count, for each move, the touches, and the sectors between the ends of writes
 * and their blocks (@gaps).
 */
static void count(const struct ends *ends, uint32_t sectors, uint64_t *touches,
		  uint64_t *gaps)
{
	uint64_t inside = 0, gap = 0;
	uint32_t moved, i;

	for (i = 0; i < sectors; i++)
		gap += ends->start[i] * i +
		       ends->end[i] * ((sectors - i) % sectors);
	for (moved = 0; moved < sectors; moved++) {
		/* what the move brings to the start of a block */
		uint32_t first = (sectors - moved) % sectors;

		/* all starts are a sector further, but for these, and all ends nearer */
		if (moved)
			gap += sectors * (ends->end[(first + 1) % sectors] -
					  ends->start[first]);
		inside += ends->inside[moved];
		touches[moved] = 2 * ends->writes - ends->start[first] -
				 ends->end[first] - inside;
		gaps[moved] = gap;
	}
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

/* Set what the notes say of one size of blocks. */
static void choose(const struct what_if *w, struct what_if_size *size,
		   const struct kind *kind, size_t nr)
{
	uint32_t sectors = size->physical >> ALIGN_SECTOR_SHIFT;
	uint32_t step = w->g.logical >> ALIGN_SECTOR_SHIFT, moved, best = 0;
	uint64_t gaps[WHAT_IF_LARGEST] = { 0 };
	struct ends ends;

	collect_ends(&ends, kind, nr, sectors);
	count(&ends, sectors, size->touches, gaps);
	for (moved = 0; moved < sectors; moved++) {
		if (w->sectors)
			size->amplification[moved] =
				1 + (double)gaps[moved] / (double)w->sectors;
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

void what_if_choose(struct what_if *w, struct what_if_figures *figures)
{
	struct kind *kind = memory_or_exit(calloc(WHAT_IF_LARGEST * NR_LENGTHS,
						  sizeof(*kind)));
	uint32_t logical = w->g.logical >> ALIGN_SECTOR_SHIFT, sectors, i;
	size_t nr = collect(w, kind);

	memset(figures, 0, sizeof(*figures));
	for (sectors = WHAT_IF_LEAST; sectors <= WHAT_IF_LARGEST; sectors *= 2)
		if (sectors >= logical)
			figures->size[figures->nr++].physical =
				sectors << ALIGN_SECTOR_SHIFT;
	for (i = figures->nr; i-- > 0;) {
		struct what_if_size *size = &figures->size[i];

		sectors = size->physical >> ALIGN_SECTOR_SHIFT;
		if (sectors < WHAT_IF_LARGEST)
			nr = merge(kind, nr, sectors);
		choose(w, size, kind, nr);
	}
	free(kind);
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
