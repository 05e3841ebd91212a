/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload with nothing left open: which bytes each of its requests covers.
 * Pure arithmetic, without a table of requests.
 */
#ifndef ALIGNCTL_PLAN_H
#define ALIGNCTL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"
#include "workload/workload.h"

/**
 * struct plan - what is to be written
 * @workload: its shape
 * @count: repetitions; rounds; random writes
 * @start: byte at which it starts, in place of the workload's own
 * @places: in a round, or to choose from at random; else not used
 * @period: bytes from one repetition, or place, to the next
 * @length: bytes of a repetition that is one part; else 0
 * @seed: for the order of random writes
 * @buffered: through the page cache?
 * @fdatasync: after each write, whatever the workload has?
 */
struct plan {
	const struct workload *workload;
	uint64_t count;
	uint64_t start;
	uint64_t places;
	uint64_t period;
	uint64_t length;
	uint64_t seed;
	bool buffered;
	bool fdatasync;
};

/**
 * struct plan_extent - sectors that lie together
 * @first: the first one
 * @end: the one after the last
 */
struct plan_extent {
	uint64_t first;
	uint64_t end;
};

/**
 * struct plan_figures - what a plan must cost, by arithmetic alone
 * @requests: writes
 * @bytes: bytes of those writes
 * @touches: partial touches, so the RMWs of a drive without cache
 * @rmin: blocks whose rest no write covers, edge blocks left out: the block
 *	reads that no order-preserving fix avoids
 * @distinct: blocks written at least once
 * @reads: what the page cache reads because writes cover a part of it: blocks
 *	of its own; 0 if direct. @requests are what it writes, then
 */
struct plan_figures {
	uint64_t requests;
	uint64_t bytes;
	uint64_t touches;
	uint64_t rmin;
	uint64_t distinct;
	uint64_t reads;
};

/*
 * As published. What the device has a say in needs plan_spread() still: random
 * writes without places get none here.
 */
void plan_init(struct plan *plan, const struct workload *w);

/*
 * Spreads random writes without places, or probes, over @span bytes from the
 * start. Probes that do not fit become shorter, down to 0.
 */
void plan_spread(struct plan *plan, uint64_t span);

/*
 * Does it write anything, in whole sectors unless that is buffered, and nothing
 * before byte 0, and are there places enough for random writes?
 */
bool plan_possible(const struct plan *plan);

/* Of random writes: a place for each, or, where it can be the same, for any. */
uint64_t plan_places_needed(const struct plan *plan);

/* All its writes; UINT64_MAX if that is beyond counting. */
uint64_t plan_requests(const struct plan *plan);

/* Where write number @request (from 0) starts, in bytes; sets its length. */
uint64_t plan_request(const struct plan *plan, uint64_t request,
		      uint32_t *bytes);

/* Does an fdatasync follow write number @request? */
bool plan_syncs(const struct plan *plan, uint64_t request);

/* Byte after the last one that may be written; at most UINT64_MAX. */
uint64_t plan_end(const struct plan *plan);

/* The longest write, in bytes. */
uint32_t plan_max_bytes(const struct plan *plan);

/* The largest power of two that divides every offset and every length. */
uint32_t plan_granularity(const struct plan *plan);

/*
 * The sectors around all writes, or, if they are buffered, around the pages that
 * the page cache writes, as extents by rising sector that do not meet: all blocks
 * that are touched and one more on either side, as far as the range goes, and
 * gaps so small that skipping them gains nothing. Sets @nr, at least 1; for
 * free().
 */
struct plan_extent *plan_extents(const struct plan *plan,
				 const struct align_geometry *g, size_t *nr);

#endif
