/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plans: workloads with nothing left open. A plan says which bytes each request
 * covers, by arithmetic without a table.
 */
#ifndef ALIGNCTL_PLAN_H
#define ALIGNCTL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"
#include "workload/workload.h"

/**
 * struct plan - a workload with nothing left open
 * @workload: shape of the requests
 * @count: number of repetitions, rounds or random writes
 * @start: byte of the device at which the plan starts
 * @places: number of places in a round, or to choose from at random
 * @period: bytes from one repetition, or place, to the next
 * @length: bytes of a repetition that has one part; else 0
 * @seed: seed of the order of random writes
 * @buffered: requests go through the page cache
 * @fdatasync: each write is followed by fdatasync, in every workload
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
 * struct plan_extent - neighbouring sectors
 * @first: first sector
 * @end: sector after the last one
 */
struct plan_extent {
	uint64_t first;
	uint64_t end;
};

/**
 * struct plan_figures - what a plan must cost, by arithmetic alone
 * @requests: number of writes; of a buffered plan, those of the page cache
 * @bytes: total length of the writes, bytes
 * @touches: number of partial touches, which is the RMWs of an uncached drive
 * @rmin: number of blocks whose rest no write covers, without edge blocks: the
 *	block reads that no order-preserving fix avoids
 * @distinct: number of blocks written at least once
 * @reads: number of page-cache blocks read because writes cover parts of them;
 *	0 if direct
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
 * Set up a plan as published. What depends on the device is left to
 * plan_spread(): random writes without places get none here.
 */
void plan_init(struct plan *plan, const struct workload *w);

/*
 * Spread random writes without places, or probes, over @span bytes from the
 * start. Probes that do not fit become shorter, down to 0.
 */
void plan_spread(struct plan *plan, uint64_t span);

/*
 * Check whether a plan can be carried out: it writes something, in whole
 * sectors unless buffered, nothing before byte 0, and has places enough for
 * random writes.
 */
bool plan_possible(const struct plan *plan);

/* Return the number of places that random writes need at least. */
uint64_t plan_places_needed(const struct plan *plan);

/* Return the number of requests; UINT64_MAX if there are more. */
uint64_t plan_requests(const struct plan *plan);

/* Return the first byte of write number @request (from 0); set its length. */
uint64_t plan_request(const struct plan *plan, uint64_t request,
		      uint32_t *bytes);

/* Check whether an fdatasync follows write number @request. */
bool plan_syncs(const struct plan *plan, uint64_t request);

/* Return the byte after the last one that may be written, <= UINT64_MAX. */
uint64_t plan_end(const struct plan *plan);

/* Return the length of the longest write, in bytes. */
uint32_t plan_max_bytes(const struct plan *plan);

/* Return the largest power of two that divides every offset and length. */
uint32_t plan_granularity(const struct plan *plan);

/*
 * Return the sectors around all writes, or around the pages that the page cache
 * writes if the plan is buffered, as separate extents by rising sector: all
 * touched blocks, one more on either side as far as the range goes, and gaps
 * too small to be worth skipping. Set @nr, at least 1; for free().
 */
struct plan_extent *plan_extents(const struct plan *plan,
				 const struct align_geometry *g, size_t *nr);

#endif
