/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forecast what requests must cost, by arithmetic: their alignment to physical
 * blocks, the outcome in each mode of the target, and what moving them by some
 * sectors would change. For direct I/O, which reaches the device unmodified, in
 * constant memory; or through the page cache of page_cache.h.
 */
#ifndef ALIGNCTL_FORECAST_H
#define ALIGNCTL_FORECAST_H

#include "forecast/fixing.h"
#include "forecast/what_if.h"
#include "workload/source.h"

/* Limits of rows by size and by process; the rest is counted together. */
#define FORECAST_MAX_SIZES	64U
#define FORECAST_MAX_PROCESSES	256U

/**
 * struct forecast_row - counts of writes with something in common
 * @writes: number of writes
 * @misaligned: number of writes with a partial touch
 * @touches: number of partial touches
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
 * struct forecast - a forecast
 * @geometry: geometry of the device
 * @shift: sectors by which all requests, and page-cache blocks, are moved
 * @cache_block: page-cache block, bytes; 0: direct I/O
 * @touches_only: only what needs no more than the touches is known
 * @issued: number of requests to the page cache, by operation; the other
 *	members count requests to the device
 * @issued_bytes: total length of the requests to the page cache, by operation
 * @figures: figures of the writes; touches and blocks include write-zeroes
 * @requests: number of requests, by operation
 * @bytes: total length of the requests, by operation
 * @fua: number of writes with FUA
 * @class: number of writes, by alignment class
 * @zeroes_misaligned: number of write-zeroes with a partial touch
 * @zero_touches: number of touches of write-zeroes
 * @pad: outcome in mode pad, if no time passes between requests
 * @coalesce: outcome in mode coalesce, if no time passes between requests
 * @timed: the requests have times
 * @last_ns: time of the last request, ns since the start of the trace
 * @pad_timed: outcome in mode pad, at the times of the requests
 * @coalesce_timed: outcome in mode coalesce, at the times of the requests
 * @what_if: outcome on blocks of other sizes and with other starts
 * @shifted: number of touches if all requests were moved further, by sectors
 * @phase: writes, by the sector of the block at which they start
 * @size: writes, by length, in order of first occurrence
 * @nr_sizes: number of rows in @size
 * @other_sizes: writes of lengths without a row
 * @process: writes, by the issuing process, in order of first occurrence
 * @nr_processes: number of rows in @process
 * @other_processes: writes of processes without a row
 */
struct forecast {
	struct align_geometry geometry;
	uint64_t shift;
	uint32_t cache_block;
	bool touches_only;
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
	uint64_t last_ns;
	struct fixing_figures pad_timed;
	struct fixing_figures coalesce_timed;
	struct what_if_figures what_if;
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
 * Forecast the cost of @source, moved by @shift sectors, with a flush at the
 * end as alignctl replay makes. @cache_block: page-cache block that requests go
 * through, bytes; 0: direct I/O. The source is read from the start, several
 * times if COVERAGE_MAX_LEAVES or CHANGES_MAX do not suffice for one. Return: enum
 * alignctl_exit; errors have been reported.
 */
int forecast_make(struct forecast *forecast, struct source *source,
		  const struct align_geometry *g, uint64_t shift,
		  uint32_t cache_block);

/*
 * Forecast the touches alone, in one pass over the source: neither distinct
 * blocks, nor reads that nothing avoids, nor the modes; otherwise as
 * forecast_make().
 */
int forecast_touches(struct forecast *forecast, struct source *source,
		     const struct align_geometry *g, uint64_t shift,
		     uint32_t cache_block);

/*
 * Forecast what forecast_advise() asks for, of direct requests; otherwise as
 * forecast_make(). @seen is handed each request once, in their order.
 */
int forecast_modes(struct forecast *forecast, struct source *source,
		   const struct align_geometry *g,
		   void (*seen)(const struct trace_request *request,
				void *context), void *context);

/*
 * Compute only the figures of a workload's writes; otherwise forecast_make().
 */
int plan_figures(const struct plan *plan, const struct align_geometry *g,
		 uint32_t cache_block, struct plan_figures *figures);

/*
 * Return why there is no forecast for blocks, or NULL. For blocks that are too large
 * for the modes there is one of the drive alone.
 */
const char *forecast_refuse_blocks(const struct align_geometry *g);

/* Tell whether a forecast has figures of the modes; else they are 0. */
bool forecast_fixes(const struct forecast *f);

/*
 * Return the largest number of block reads: touches of other than edge blocks.
 */
uint64_t forecast_most_reads(const struct forecast *forecast);

/* Return the shortest move, in sectors, that leaves the fewest touches. */
uint32_t forecast_best_shift(const struct forecast *forecast);

/*
 * Share of the touches, in percent, that a move must save to be recommended.
 * Moving a partition means rewriting its data, at some risk, and runs of one
 * workload on a disk differ by more than a tenth.
 */
#define FORECAST_WORTH_PERCENT	10U

enum forecast_remedy { FORECAST_NOTHING, FORECAST_MOVE, FORECAST_PAD,
		       FORECAST_COALESCE };

/* Share of the touches, in percent, that a mode must save over a lesser remedy. */
#define FORECAST_GAIN_PERCENT	5U

/**
 * struct forecast_advice - what helps most
 * @remedy: remedy that is recommended
 * @left: number of read-modify-writes, or block reads, that are left
 */
struct forecast_advice {
	enum forecast_remedy remedy;
	uint64_t left;
};

/*
 * Choose between a move of the start, which mends the cause, and the modes: a
 * mode has to save FORECAST_GAIN_PERCENT more than what intrudes less, a move
 * FORECAST_WORTH_PERCENT. @left: what each remedy up to @most leaves of the touches.
 */
struct forecast_advice forecast_choose(const uint64_t *left,
				       enum forecast_remedy most);

/* Return the blocks that a mode reads, and the touches that it leaves. */
uint64_t forecast_left_by(const struct fixing_figures *figures);

/* Choose by forecast_choose() for the best move, and the modes as timed. */
struct forecast_advice forecast_advise(const struct forecast *forecast);

/* Return the word for a remedy, "coalesce". */
const char *forecast_remedy_name(enum forecast_remedy remedy);

/* Return the share of the touches, in percent, that a remedy saves. */
double forecast_gain_percent(const struct forecast *forecast, uint64_t left);

/* Return the advice for people, "mode pad; it leaves ...", for free(). */
char *forecast_advice_text(const struct forecast *forecast);

/* Return forecast_best_shift() if that move is worthwhile, else 0. */
uint32_t forecast_worthwhile_shift(const struct forecast *forecast);

#endif
