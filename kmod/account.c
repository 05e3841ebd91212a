// SPDX-License-Identifier: GPL-2.0
/*
 * The account of a write: what the ledger has of it from its arrival to its end.
 */
#include "account.h"
#include "node.h"
#include "trace.h"

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

/*
 * Count the figures that all writes have. @block_bytes: bytes of all blocks touched;
 * @sent_bytes: bytes that are known now to be sent.
 */
static inline void count_write(struct ledger *ledger, const struct bio *bio,
			       u64 block_bytes, u64 sent_bytes)
{
	struct ledger_share *share = ledger_get(ledger);

	ledger_count(ledger, share, LEDGER_writes, 1);
	ledger_count(ledger, share, LEDGER_write_bytes, bio->bi_iter.bi_size);
	ledger_count(ledger, share, LEDGER_write_block_bytes, block_bytes);
	if (sent_bytes)
		ledger_count(ledger, share, LEDGER_sent_block_bytes, sent_bytes);
	ledger_count(ledger, share,
		     LEDGER_CELL_SIZE + align_size_bin(bio_sectors(bio)), 1);
	if (bio->bi_opf & REQ_FUA)
		ledger_count(ledger, share, LEDGER_fua, 1);
	ledger_put();
}

/**
 * align_io_count_whole - enter a write that goes down as it came in the ledger
 * @io: a write of whole blocks that the device below takes as one request
 */
void align_io_count_whole(struct align_io *io)
{
	const struct bio *bio = io->bio;

	io->write.counted = true;
	count_write(io->at->ledger, bio, bio->bi_iter.bi_size,
		    bio->bi_iter.bi_size);
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
						    split->last_block), 0);
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
	ledger_inc_rare(ledger, LEDGER_CELL_PHASE + align_phase_bin(g, sector));
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
		if (touch_is_held(&io->write.touch[i]))
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
			ledger_inc_rare(ledger,
					LEDGER_CELL_LATENCY_MISALIGNED + bin);
		resolve_touches(io, ns);
	} else if (write) {
		ledger_add_to(ledger, LEDGER_CELL_LATENCY_ALIGNED + bin, 1);
	}
}
