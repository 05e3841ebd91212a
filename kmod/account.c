// SPDX-License-Identifier: GPL-2.0
/*
 * The account of a write: the parts that it ends with, and what the ledger has of
 * it from its arrival to its end.
 */
#include <linux/rcupdate.h>

#include "account.h"
#include "block.h"
#include "node.h"
#include "trace.h"

/**
 * align_io_put - end a part of a write
 * @io: the write
 * @status: result of the part; the first error is that of the write
 */
void align_io_put(struct align_io *io, blk_status_t status)
{
	if (status)
		cmpxchg(&io->write.status, BLK_STS_OK, status);
	if (atomic_dec_and_test(&io->write.parts)) {
		/* hold_drop_failed() waits for a write that ends well here. */
		rcu_read_lock();
		if (!io->write.status && hold_was_dropped(io))
			io->write.status = BLK_STS_IOERR;
		io->bio->bi_status = io->write.status;
		bio_endio(io->bio);
		rcu_read_unlock();
	}
}

/* Send a REQ_NOWAIT bio back. Return: what map returns. */
int align_again(struct align_io *io)
{
	ledger_inc(io->at->ledger, nowait_again);
	bio_wouldblock_error(io->bio);
	return DM_MAPIO_SUBMITTED;
}

/* Count write-zeroes; classes, sizes, phases and latencies are of writes. */
static void align_count_zeroes(const struct align_io *io,
			       const struct align_split *split)
{
	struct ledger *ledger = io->at->ledger;
	const struct bio *bio = io->bio;

	ledger_inc(ledger, write_zeroes);
	ledger_add(ledger, write_zeroes_bytes, bio->bi_iter.bi_size);
	trace_align_write(io->at->devt, bio->bi_iter.bi_sector,
			  bio_sectors(bio), split->class, split->nr_touches, 1);
	if (!split->nr_touches)
		return;
	ledger_add(ledger, rmw_expected, split->nr_touches);
	ledger_add(ledger, rmw_expected_zeroes, split->nr_touches);
	ledger_add(ledger, rmw_pending, split->nr_touches);
	ledger_inc(ledger, write_zeroes_misaligned);
}

/* Count what all writes have, @block_bytes being those of all blocks touched. */
static inline void count_write(struct ledger *ledger, const struct bio *bio,
			       u64 block_bytes)
{
	ledger_inc(ledger, writes);
	ledger_add(ledger, write_bytes, bio->bi_iter.bi_size);
	ledger_add(ledger, write_block_bytes, block_bytes);
	this_cpu_inc(ledger->cpu->size[align_size_bin(bio_sectors(bio))]);
	if (bio->bi_opf & REQ_FUA)
		ledger_inc(ledger, fua);
}

/**
 * align_io_count_whole - enter a write that goes down as it came in the ledger
 * @io: a write of whole blocks that the device below takes as one request
 */
void align_io_count_whole(struct align_io *io)
{
	struct ledger *ledger = io->at->ledger;
	const struct bio *bio = io->bio;

	io->write.counted = true;
	count_write(ledger, bio, bio->bi_iter.bi_size);
	ledger_add(ledger, sent_block_bytes, bio->bi_iter.bi_size);
	trace_align_write(io->at->devt, bio->bi_iter.bi_sector,
			  bio_sectors(bio), ALIGN_WHOLE, 0, 0);
}

/**
 * align_io_count - enter a write in the ledger
 * @io: the write, discard or write-zeroes
 * @split: how it lies on the blocks; not used of a discard
 * @over: the device below would split it
 */
void align_io_count(struct align_io *io, const struct align_split *split,
		    bool over)
{
	struct ledger *ledger = io->at->ledger;
	const struct align_geometry *g = &io->at->geometry;
	struct bio *bio = io->bio;
	sector_t sector = bio->bi_iter.bi_sector;
	unsigned int bytes = bio->bi_iter.bi_size;

	io->write.counted = true;
	switch (bio_op(bio)) {
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
		ledger_inc(ledger, discards);
		ledger_add(ledger, discard_bytes, bytes);
		return;
	case REQ_OP_WRITE_ZEROES:
		align_count_zeroes(io, split);
		return;
	default:
		break;
	}

	count_write(ledger, bio, align_blocks_bytes(g, split->first_block,
						    split->last_block));
	if (over)
		ledger_inc(ledger, writes_over_limits);
	trace_align_write(io->at->devt, sector, bio_sectors(bio), split->class,
			  split->nr_touches, 0);
	if (!split->nr_touches)
		return;

	node_sees_cache(io->at->node);
	ledger_add(ledger, rmw_expected, split->nr_touches);
	ledger_add(ledger, rmw_pending, split->nr_touches);
	ledger_inc(ledger, writes_misaligned);
	atomic64_inc(&ledger->rare.phase[align_phase_bin(g, sector)]);
	switch (split->class) {
	case ALIGN_WHOLE:
		break;
	case ALIGN_SUB_BLOCK:
		ledger_inc(ledger, writes_sub_block);
		break;
	case ALIGN_HEAD:
		ledger_inc(ledger, writes_head_only);
		break;
	case ALIGN_TAIL:
		ledger_inc(ledger, writes_tail_only);
		break;
	case ALIGN_BOTH:
		ledger_inc(ledger, writes_both_ends);
		break;
	}
}

/* Book the touches of a write that has ended after @ns. */
static noinline void resolve_touches(const struct align_io *io, u64 ns)
{
	struct ledger *ledger = io->at->ledger;
	unsigned int i;

	for (i = 0; i < io->write.nr_touches; i++) {
		/* What is held is resolved with its block. */
		if (io->write.touch[i].held)
			continue;
		ledger_book(ledger, io->write.touch[i].how, 1);
		trace_align_rmw(io->at->devt, io->write.touch[i].part.block,
				io->write.touch[i].how, 1, ns);
	}
}

/**
 * align_io_resolve - enter the end of a write in the ledger
 * @io: a write that align_io_count() has seen
 */
void align_io_resolve(struct align_io *io)
{
	struct ledger *ledger = io->at->ledger;
	u64 ns = ktime_get_ns() - io->write.start_ns;
	unsigned int bin = align_latency_bin(ns);
	bool write = bio_op(io->bio) == REQ_OP_WRITE;

	if (io->write.nr_touches) {
		if (write)
			atomic64_inc(&ledger->rare.latency[bin]);
		resolve_touches(io, ns);
	} else if (write) {
		this_cpu_inc(ledger->cpu->latency[bin]);
	}
}
