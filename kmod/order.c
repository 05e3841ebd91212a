// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: No deadlock
 *
 * A range that waits for several blocks waits for one after the other: it is in
 * the queue of one, the first of them by shard and number. When that lets it
 * through, a work goes on to the next one whose turn is not above the range's
 * stamp. Time is blocks->turns: it rises whenever a block is made, or lets
 * ranges through, or one passes it. Such an event and the registration of a
 * range there are both under the lock of the block's shard, so the stamp has
 * the event if that came first, and is below its turn if it came later. A block
 * that the range waited for is not looked at again, and each block made in its
 * range since counts it, and has a turn above its stamp. A partial touch of a
 * block that is not in memory, with 16 ranges or more in flight over it, goes
 * down with the remainder and counts in rmw_drive_max_blocks. Where it may not, as
 * the target offers smaller logical blocks than the device has, its block waits for
 * all ranges of the shard that came before it, wherever they are. There is one such
 * block in a shard at a time; touches of others wait in shard->crowding until it has
 * gone on.
 *
 * Waits cannot form a cycle. The parts of one write do not wait for each other.
 * A range waits for a block only if it arrived after the last time that the
 * block let ranges through, block->turn: of a block that was made later than
 * the ranges there, that is when it was made; of one that was in REST, when the
 * last range arrived that it let pass, or by rule 10 when it let through all
 * that waited. A block waits for a range only if the range arrived before that
 * time, also where it waits for all of them. Along any chain of waiters these
 * times only fall. A flush waits for held blocks, and nothing waits for a flush.
 *
 * An active block waits only for I/O and for a worker; the polling of polled
 * writes is not left to their sender, and ranges are not polled. The workers
 * sleep for requests of the underlying device and for bios of at->pieces; both
 * come back without a worker, and the workqueue has a rescuer. A bio of
 * at->joined that failed waits for it, and nothing waits for that bio. A block
 * in COLLECT is started at the latest when its task sleeps or ends its plug;
 * one that is delayed, by a timer.
 */
#include "block_state.h"

/* Whether a range that ends has done so at a block. Lock of its shard held. */
static bool range_has_left(const struct align_io *io, u64 number)
{
	unsigned int shard = shard_index(io->at, number);

	lockdep_assert_held(&shard_of(io->at, number)->lock);
	return shard < io->write.left_shard ||
	       (shard == io->write.left_shard && number < io->write.left_number);
}

/*
 * Count the ranges of a tree that touch a block, up to ORDER_RANGES, as which those
 * count of which too many would have to be looked at. Lock of the block's shard held.
 */
static unsigned int tree_count_ranges(struct rb_root_cached *ranges, u64 number)
{
	struct align_range *range;
	unsigned int nr = 0, seen = 0;

	for (range = range_first(ranges, number); range && nr < ORDER_RANGES;
	     range = range_next(range, number)) {
		if (++seen > ORDER_RANGES)
			return ORDER_RANGES;
		nr += !range_has_left(range->io, number);
	}
	return nr;
}

/**
 * block_count_ranges - count the registered ranges that touch a block
 * @at: the target
 * @number: number of the block, which need not be in memory
 *
 * Called with the lock of the block's shard held.
 *
 * Return: how many, or ORDER_RANGES or more.
 */
unsigned int block_count_ranges(struct align_target *at, u64 number)
{
	struct align_blocks *blocks = &at->engine.blocks;
	struct align_shard *shard = shard_of(at, number);

	lockdep_assert_held(&shard->lock);
	return tree_count_ranges(&shard->ranges, number) +
	       tree_count_ranges(&blocks->long_ranges, number);
}

/**
 * block_lets_pass - note that no range which is registered at a block waits for it
 * @block: the block
 *
 * Called with the lock of the block's shard held.
 */
void block_lets_pass(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	block->turn =
		atomic64_inc_return(&block->single.at->engine.blocks.turns);
}

/**
 * range_last - find the last block that a range may have
 * @at: the target
 * @span: the shards of the range, whose locks are held
 * @first: first block of the range
 * @last: its last block
 *
 * Return: @last, or the block in front of the one that is one more of the range than
 * RANGE_BLOCKS in memory.
 */
u64 range_last(struct align_target *at, const struct shard_span *span,
	       u64 first, u64 last)
{
	struct align_block *next[ALIGN_SHARDS] = {};
	unsigned int seen, least, i;

	span_assert_held(at, span);
	for (i = shard_first(span); i < ALIGN_SHARDS; i = shard_next(span, i))
		next[i] = block_at_or_above(&at->engine.blocks.shard[i], first);
	/* The blocks of the shards by number; the one too many ends the range. */
	for (seen = 0;; seen++) {
		least = ALIGN_SHARDS;
		for (i = shard_first(span); i < ALIGN_SHARDS;
		     i = shard_next(span, i))
			if (next[i] && (least == ALIGN_SHARDS ||
					next[i]->number < next[least]->number))
				least = i;
		if (least == ALIGN_SHARDS || next[least]->number > last)
			return last;
		if (seen == RANGE_BLOCKS)
			return next[least]->number - 1;
		next[least] = block_following(next[least]);
	}
}

/**
 * range_wait - let a range wait for a block, if it does not wait for one yet
 * @io: the write of the range
 * @block: the block
 *
 * Called with the locks of the range's shards held.
 */
void range_wait(struct align_io *io, struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	if (!list_empty(&io->write.wait))
		return;
	list_add_tail(&io->write.wait, &block->queue);
	io->write.wait_shard = shard_index(io->at, block->number);
	io->write.wait_number = block->number + 1;
}

/**
 * block_pass_queue - let ranges go on that have waited in the queue of a block
 * @block: the block, which has let them pass
 *
 * There may be very many, so a work looks for the blocks behind this one for which they
 * wait. Ranges that wait for a block in front find by block->turn that they may pass this
 * one.
 *
 * Called with the lock of the block's shard held.
 */
void block_pass_queue(struct align_block *block)
{
	struct align_blocks *blocks = &block->single.at->engine.blocks;

	lockdep_assert_held(&block_shard(block)->lock);
	if (list_empty(&block->queue))
		return;
	spin_lock(&blocks->lock);
	list_splice_tail_init(&block->queue, &blocks->passed);
	spin_unlock(&blocks->lock);
	queue_work(block->single.at->engine.jobs.wq, &blocks->pass);
}

/*
 * Let a range wait for the next block of a shard that it waits for, of the next
 * BLOCKS_BATCH. Return: whether there is none in that shard. The locks of its shards are
 * held.
 */
static bool shard_lets_pass(struct align_shard *shard, struct align_io *io)
{
	u64 from = max(io->write.range[0].first, io->write.wait_number);
	struct align_block *block = block_at_or_above(shard, from);
	unsigned int seen;

	lockdep_assert_held(&shard->lock);
	for (seen = 0; seen < BLOCKS_BATCH; seen++) {
		if (!block || block->number > io->write.range[0].last)
			return true;
		io->write.wait_number = block->number + 1;
		if (block->turn <= io->write.stamp) {
			range_wait(io, block);
			return false;
		}
		block = block_following(block);
	}
	return false;
}

/* Let a range wait for the next block that it waits for, or queue its job. */
static void range_advance(struct align_io *io)
{
	struct align_target *at = io->at;
	struct shard_span span = shard_span(at, io->write.range[0].first,
					    io->write.range[0].last);
	unsigned int i = io->write.wait_shard;
	unsigned long flags;
	bool waits;

	while (i < ALIGN_SHARDS) {
		span_lock(at, &span, &flags);
		if (shard_lets_pass(&at->engine.blocks.shard[i], io)) {
			i = shard_next(&span, i);
			io->write.wait_shard = i;
			io->write.wait_number = 0;
		}
		waits = !list_empty(&io->write.wait);
		span_unlock(at, &span, flags);
		/* The range is the block's from there on. */
		if (waits)
			return;
	}
	job_queue(&at->engine.jobs, &io->job);
}

static struct align_io *ranges_next(struct align_blocks *blocks)
{
	struct align_io *io;

	spin_lock_irq(&blocks->lock);
	io = list_first_entry_or_null(&blocks->passed, struct align_io,
				      write.wait);
	if (io)
		list_del_init(&io->write.wait);
	spin_unlock_irq(&blocks->lock);
	return io;
}

/* Work: find the blocks for which ranges that a block has let through still wait. */
void ranges_advance(struct work_struct *work)
{
	struct align_blocks *blocks =
		container_of(work, struct align_blocks, pass);
	struct align_io *io;

	while ((io = ranges_next(blocks))) {
		range_advance(io);
		cond_resched();
	}
}
