/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What requests must cost, by arithmetic alone: how they lie on the physical
 * blocks, what each mode of the target makes of that, and what it would be if
 * all of them lay some sectors further on. For direct I/O, which reaches the
 * device as it was issued, in memory that does not grow with their number; or
 * for what page_cache.h makes of them.
 */
#ifndef ALIGNCTL_FORECAST_H
#define ALIGNCTL_FORECAST_H

#include "forecast/fixing.h"
#include "workload/source.h"

/* Rows that a tally has; what is beyond goes to the last one. */
#define FORECAST_MAX_SIZES	64U
#define FORECAST_MAX_PROCESSES	256U

/**
 * struct forecast_row - writes that have something in common
 * @writes: how many
 * @misaligned: those of them with a partial touch
 * @touches: partial touches
 */
struct forecast_row {
	uint64_t writes;
	uint64_t misaligned;
	uint64_t touches;
};

struct forecast_size {
	uint64_t bytes;
	struct forecast_row row;
};

struct forecast_process {
	char comm[TRACE_COMM_BYTES];
	struct forecast_row row;
};

/**
 * struct forecast - all of it
 * @geometry: the blocks
 * @shift: sectors by which everything was moved: the device, so that blocks of
 *	the page cache move with it
 * @cache_block: bytes of those; 0: all is direct
 * @issued: requests to the page cache; all else here is of the device
 * @issued_bytes: of those
 * @figures: of the writes; but touches, and blocks, are those of write-zeroes too
 * @requests: by what they do
 * @bytes: of those
 * @fua: writes that end when they are durable
 * @class: writes by how they lie
 * @zeroes_misaligned: write-zeroes with a partial touch
 * @zero_touches: the touches of these
 * @pad: touches in that mode, if nothing is known for too long
 * @coalesce: the same, if nothing is held for too long either
 * @timed: are there times?
 * @pad_timed: the same at the times of the trace
 * @coalesce_timed: likewise
 * @shifted: touches if all lay so many sectors further on than they do now
 * @phase: writes by the sector of its block at which each starts
 * @size: writes by length, as they first occurred
 * @nr_sizes: how many of those there are
 * @other_sizes: lengths for which there was no row
 * @process: writes by who issued them, as they first occurred
 * @nr_processes: how many of those there are
 * @other_processes: those for which there was no row
 */
struct forecast {
	struct align_geometry geometry;
	uint64_t shift;
	uint32_t cache_block;
	uint64_t issued[TRACE_NR_OPS];
	uint64_t issued_bytes[TRACE_NR_OPS];
	struct plan_figures figures;
	uint64_t requests[TRACE_NR_OPS];
	uint64_t bytes[TRACE_NR_OPS];
	uint64_t fua;
	uint64_t class[ALIGN_BOTH + 1];
	uint64_t zeroes_misaligned;
	uint64_t zero_touches;
	struct fixing_figures pad;
	struct fixing_figures coalesce;
	bool timed;
	struct fixing_figures pad_timed;
	struct fixing_figures coalesce_timed;
	uint64_t shifted[ALIGN_MAX_BLOCK_SECTORS];
	struct forecast_row phase[ALIGN_MAX_BLOCK_SECTORS];
	struct forecast_size size[FORECAST_MAX_SIZES];
	uint32_t nr_sizes;
	struct forecast_row other_sizes;
	struct forecast_process process[FORECAST_MAX_PROCESSES];
	uint32_t nr_processes;
	struct forecast_row other_processes;
};

/*
 * Reads @source from the start, more than once if its writes lie so far apart
 * that COVERAGE_MAX_LEAVES do not hold them, and moves it by @shift sectors.
 * At the end it flushes, as alignctl replay does. @cache_block: 0, or bytes of
 * a block of the page cache that the requests go through. Return: enum
 * alignctl_exit; errors have been reported.
 */
int forecast_make(struct forecast *forecast, struct source *source,
		  const struct align_geometry *g, uint64_t shift,
		  uint32_t cache_block);

/* The figures of the writes of a workload alone. Arguments and return: as above. */
int plan_figures(const struct plan *plan, const struct align_geometry *g,
		 uint32_t cache_block, struct plan_figures *figures);

/* Blocks that a read could be needed for: touches that are no edge's. */
uint64_t forecast_most_reads(const struct forecast *forecast);

/* The shortest move that leaves the fewest touches. */
uint32_t forecast_best_shift(const struct forecast *forecast);

/*
 * Touches that a move must save to be recommended, in per cent of those that there
 * are. Moving a partition means writing all that is on it elsewhere, and some risk:
 * a tenth of the touches is less than what runs of one workload differ by on a disk.
 */
#define FORECAST_WORTH_PERCENT	10U

/* The same if it saves as much as that, else 0. */
uint32_t forecast_worthwhile_shift(const struct forecast *forecast);

#endif
