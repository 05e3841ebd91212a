/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What writes would cost on physical blocks of other sizes, and if the start of
 * the device were moved: for each of these by arithmetic, and in the modes of the
 * target for the start as it is and for the best one.
 */
#ifndef ALIGNCTL_WHAT_IF_H
#define ALIGNCTL_WHAT_IF_H

#include "forecast/coverage.h"
#include "forecast/fixing.h"
#include "forecast/moves.h"
#include "trace/trace.h"

/* Physical blocks from 4 KiB to 256 KiB, in sectors. */
#define WHAT_IF_LEAST		8U
#define WHAT_IF_LARGEST		512U
#define WHAT_IF_NR_SIZES	7U
#define WHAT_IF_MAX_CASES	(2 * WHAT_IF_NR_SIZES)

/**
 * struct what_if_case - one size of blocks, and one start of the device
 * @moved: sectors by which the start is moved on
 * @touches: number of partial touches
 * @amplification: bytes of whole blocks touched, by bytes written; 0: no writes
 * @extra: bytes of whole blocks touched less bytes written
 * @rmin_known: @rmin is known
 * @rmin: number of block reads that nothing avoids
 * @modes_known: @pad and @coalesce are known
 * @pad: outcome in mode pad, at the times of the requests if these have times
 * @coalesce: outcome in mode coalesce, likewise timed
 */
struct what_if_case {
	uint32_t moved;
	uint64_t touches;
	double amplification;
	uint64_t extra;
	bool rmin_known;
	uint64_t rmin;
	bool modes_known;
	struct fixing_figures pad;
	struct fixing_figures coalesce;
};

/**
 * struct what_if_size - one size of blocks
 * @physical: physical block, bytes
 * @touches: number of touches for each move of the start, by sectors
 * @amplification: bytes of whole blocks touched, by bytes written, for each
 *	move; 0: no writes
 * @as_is: outcome for the start as it is
 * @best: outcome for the shortest move that leaves the fewest touches
 */
struct what_if_size {
	uint32_t physical;
	uint64_t touches[WHAT_IF_LARGEST];
	double amplification[WHAT_IF_LARGEST];
	struct what_if_case as_is;
	struct what_if_case best;
};

/**
 * struct what_if_figures - all sizes of blocks
 * @nr: number of sizes, those that are not less than the logical block
 * @size: the sizes, rising
 */
struct what_if_figures {
	uint32_t nr;
	struct what_if_size size[WHAT_IF_NR_SIZES];
};

struct what_if;

/* @g: blocks and size of the device; @timed: the requests have times */
struct what_if *what_if_new(const struct align_geometry *g, bool timed);
void what_if_free(struct what_if *what_if);

/*
 * Compute what needs no more than the touches, once @moves has all writes, for blocks
 * of WHAT_IF_LEAST to WHAT_IF_LARGEST.
 */
void what_if_choose(struct what_if *what_if, const struct moves *moves,
		    struct what_if_figures *figures);

/*
 * Take over the outcome in the modes, timed as the requests are, on the blocks
 * and with the start as they are, so that it is not computed again. Before
 * what_if_open(), if at all.
 */
void what_if_know(struct what_if *what_if, const struct fixing_figures *pad,
		  const struct fixing_figures *coalesce);

/* Begin with what needs all requests again, for the cases that were chosen. */
void what_if_open(struct what_if *what_if, struct what_if_figures *figures);

/* Get the counts that a coverage has to make. Return: their number. */
unsigned int what_if_counts(struct what_if *what_if,
			    struct coverage_count *counts[WHAT_IF_MAX_CASES]);

/* Return the models that have to do all requests, and their number. */
struct fixing *const *what_if_models(const struct what_if *what_if,
				     unsigned int *nr);

/* Set what is known when the counts are complete and the models have done all. */
void what_if_end(struct what_if *what_if, struct what_if_figures *figures);

#endif
