/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mode report: writes go down as they came, and are counted.
 */
#ifndef DM_ALIGN_REPORT_H
#define DM_ALIGN_REPORT_H

#include "lower.h"

int report_map(struct align_io *io);

/* Count a read, or a part of one: the read itself with its @last part. */
static inline void report_count_read(struct align_io *io, bool last)
{
	if (last)
		ledger_inc(io->at->ledger, reads);
	ledger_add(io->at->ledger, read_bytes, io->bio->bi_iter.bi_size);
}

/*
 * Whether a write covers whole blocks and the device below takes it as one request.
 * Most writes are like that.
 */
static inline bool report_is_whole(struct align_io *io)
{
	struct align_target *at = io->at;
	struct bio *bio = io->bio;

	return bio_op(bio) == REQ_OP_WRITE &&
	       align_is_whole(&at->geometry, bio->bi_iter.bi_sector,
			      bio_sectors(bio)) &&
	       (align_surely_fits(at, bio) || !align_over_limits(io));
}

#endif
