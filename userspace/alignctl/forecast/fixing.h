/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the target does in modes pad and coalesce with requests that come one at
 * a time, each when the last one has been acknowledged: the rules on top of
 * kmod/block.c without what only requests in flight together need.
 */
#ifndef ALIGNCTL_FIXING_H
#define ALIGNCTL_FIXING_H

#include <stdbool.h>
#include <stdint.h>

#include "defaults.h"
#include "geometry.h"

/**
 * struct fixing_figures - what becomes of the partial touches, as in the ledger
 * @expected: touches, of writes and of write-zeroes
 * @expected_zeroes: of these, those of write-zeroes
 * @avoided: resolved without a read of their own
 * @host: blocks read
 * @drive: left to the drive: of edge blocks
 * @written: whole blocks written from the target's buffers
 * @crowded: more blocks were held at a time than the target holds at ease, and
 *	when it empties them then is a matter of time
 */
struct fixing_figures {
	uint64_t expected;
	uint64_t expected_zeroes;
	uint64_t avoided;
	uint64_t host;
	uint64_t drive;
	uint64_t written;
	bool crowded;
};

struct fixing;

/* @holds: mode coalesce, else pad. */
struct fixing *fixing_new(const struct align_geometry *g, bool holds);
void fixing_free(struct fixing *fixing);

/*
 * It is @ns now: what is held or known for too long is so no more. Never
 * called, requests follow each other so fast that nothing ever is.
 */
void fixing_time(struct fixing *fixing, uint64_t ns);

/* Requests, by sectors from @first to before @end. */
void fixing_write(struct fixing *fixing, uint64_t first, uint64_t end,
		  bool fua);
void fixing_write_zeroes(struct fixing *fixing, uint64_t first, uint64_t end,
			 bool fua);
void fixing_discard(struct fixing *fixing, uint64_t first, uint64_t end);
void fixing_flush(struct fixing *fixing);

const struct fixing_figures *fixing_figures(const struct fixing *fixing);

#endif
