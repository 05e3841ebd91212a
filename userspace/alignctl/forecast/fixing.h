/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the target in modes pad and coalesce at once, for requests that come one
 * at a time, each when the previous one has been acknowledged and what it has
 * completed is written: the rules at the top of kmod/turn.c and kmod/drain.c,
 * without those for requests in flight together, nor limits of a request.
 * kmod/tests/sim/forecast_main.c compares it with the target.
 */
#ifndef ALIGNCTL_FIXING_H
#define ALIGNCTL_FIXING_H

#include <stdbool.h>
#include <stdint.h>

#include "defaults.h"
#include "geometry.h"
#include "trace/trace.h"

enum fixing_mode { FIXING_PAD, FIXING_COALESCE, FIXING_NR_MODES };

/**
 * struct fixing_figures - outcome of the partial touches, as in the ledger
 * @expected: number of touches of writes and write-zeroes
 * @expected_zeroes: number of touches of write-zeroes
 * @avoided: number of touches resolved without a read of their own; held touches
 *	are not resolved yet
 * @host: number of blocks read
 * @drive: number of touches left to the drive, of edge blocks
 * @written: number of whole blocks written from the target's buffers
 * @crowded: so many blocks were held at a time that the target writes the
 *	oldest early, and when it does so depends on timing
 * @evicted: so many blocks were cached at a time that the target has evicted some
 *	early, and in which order depends on timing
 */
struct fixing_figures {
	uint64_t expected;
	uint64_t expected_zeroes;
	uint64_t avoided;
	uint64_t host;
	uint64_t drive;
	uint64_t written;
	bool crowded;
	bool evicted;
};

/**
 * struct fixing_request - a request as struct trace_request has it, on a device
 * @time_ns: time of issue, ns
 * @first: first sector
 * @end: the sector behind the last one
 * @op: operation; a read without @preflush changes nothing
 * @preflush: a flush precedes the request
 * @fua: the request is durable when it ends
 */
struct fixing_request {
	uint64_t time_ns;
	uint64_t first;
	uint64_t end;
	enum trace_op op;
	bool preflush;
	bool fua;
};

struct fixing;

/* Return the default of the table argument max_blocks. */
uint32_t fixing_max_blocks(const struct align_geometry *g);

/*
 * Create a model of a target in both modes. Requests come at their times if @timed,
 * else no time passes between them. @max_blocks: at least 8.
 */
struct fixing *fixing_new(const struct align_geometry *g, bool timed,
			  uint32_t max_blocks);
void fixing_free(struct fixing *fixing);

/* Return the memory of a model, which grows with the blocks in memory, bytes. */
size_t fixing_bytes(const struct fixing *fixing);

/*
 * Do @nr requests in their order. Blocks that are held or cached for too long at the
 * time of one have been written or evicted before it.
 */
void fixing_do(struct fixing *fixing, const struct fixing_request *requests,
	       size_t nr);

/* Do a flush. */
void fixing_flush(struct fixing *fixing);

/* Return the outcome so far in one of the modes. */
struct fixing_figures fixing_figures(const struct fixing *fixing,
				     enum fixing_mode mode);

#endif
