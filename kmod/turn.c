// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: The life of a block
 *
 * A block exists while it has partial touches, and for a short time after,
 * while its content is cached. Everything else that changes data is a range.
 * All states change under the lock of the block's shard; "the lock" means that
 * one here.
 *
 * ::
 *
 *   WAIT     touches are here, and earlier ranges have not ended:
 *            block->blockers counts these ranges. Nothing is sent.
 *   COLLECT  no range is in flight here; a task or worker is about to start
 *   READ     the pad read is in flight or has just ended
 *   WRITE    the whole block is in flight
 *   PASS     the read failed; the touches are in flight unmodified
 *   REST     acknowledged touches are in the buffer; no request is in flight
 *   CACHED   no touch; the buffer holds the data that a read would return
 *
 *   WAIT -> COLLECT -> READ -> WRITE -> CACHED, or back to COLLECT or WAIT
 *     ^      ^   |         `--> PASS -'
 *     |      |   `-> WRITE, if the content is cached or the touches cover it all
 *     `------+-- REST
 *
 * COLLECT to PASS are the active states. The buffer belongs to the device in
 * READ (of a block that holds nothing) and WRITE, to the one thread that goes
 * from READ or COLLECT to WRITE in between, and to the holder of the lock
 * otherwise. block->touches belongs to that thread, then to the completion,
 * from WRITE or PASS on; before, the lock guards it.
 */

/**
 * DOC: Ranges
 *
 * A change of data without a buffer of the engine (a remainder, a discard) is
 * registered as a range, by the blocks that it overlaps, from before it goes
 * down until it has ended. The registration lies in the per-bio data of the bio
 * itself, so it needs no memory.
 *
 * No lock is held with interrupts off over more than 64 blocks. So a remainder
 * that covers more than 32 blocks in memory is registered and sent in parts,
 * one after the other, which count in cuts; cached blocks are evicted first and
 * do not count. Data written meanwhile to a part that is not registered yet may
 * be overwritten or discarded by it, as on the raw drive, where both requests
 * are in flight. A discard is cut between granules of the underlying device, as
 * that may ignore parts of one, and inside a granule only if more than 32 blocks
 * of it are in memory. A secure erase goes on to the end of the granule then, and
 * an atomic write is not cut. A REQ_NOWAIT write that would be cut is sent back.
 *
 * Two ranges that overlap do not wait for each other. Writes that are in flight
 * at the same time have no order on the raw drive either.
 */

/**
 * DOC: Why no update is lost
 *
 * Padding writes back the data that a read at that moment would return. Two
 * writes could make that untrue: one that is in flight when the block is read,
 * because the read returns the content from before it; and one that is
 * acknowledged between the read of a block and its write, which puts the old
 * content back. Both are excluded by order:
 *
 * 1. While a block is active, no range that overlaps it is in flight. A range
 *    that arrives counts the block among its blockers and waits.
 * 2. A block becomes active only when no range that overlaps it is in flight or
 *    has been let through by it; a new block counts every range that is
 *    registered there, waiting or not. So a pad read sees every acknowledged
 *    write, and its data cannot be outdated before they are written back.
 * 3. A touch joins a block in WAIT, COLLECT, READ or REST, up to the moment
 *    when the buffer is patched, unless a range waits there; otherwise it goes
 *    to block->next and is served in the next turn.
 * 4. When the write of a block has ended, every range that waits for it is let
 *    through, then every touch in block->next is served, and so on in turns. No
 *    request is overtaken more than once, so a flood of one kind cannot starve
 *    the other; of a remainder that goes down in parts that is true for each
 *    part.
 * 5. A range that arrives evicts the cached blocks that it overlaps. An error on
 *    a block evicts it, too.
 *
 * Where no block is in memory, writes are counted by area and not registered; a
 * block that is made there counts all of them as one range that overlaps it,
 * and they have passed it before it was made.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "block_state.h"
#include "cgroup.h"
#include "fit.h"
#include "hold.h"
#include "parts.h"

/*
 * Blocks that a range leaves under one lock: each may settle what it holds, for which
 * others are looked at, too.
 */
#define RANGE_END_BLOCKS	(BLOCKS_BATCH / 4)

static void block_take_touch(struct align_block *block,
			     struct align_touch *touch)
{
	list_add_tail(&touch->list, &block->touches);
	bitmap_set(block_touched(block), touch->part.first, touch->part.count);
	bitmap_set(block_covered(block), touch->part.first, touch->part.count);
	if (touch->late)
		block->late = true;
	if (touch->cut)
		block->cut = true;
}

/* Let a touch wait for the next turn. Lock of the block's shard held. */
static void block_defer_touch(struct align_block *block, struct align_touch *touch)
{
	lockdep_assert_held(&block_shard(block)->lock);
	list_add_tail(&touch->list, &block->next);
	bitmap_set(block_next_covered(block), touch->part.first, touch->part.count);
	block->next_late |= touch->late;
	block->next_cut |= touch->cut;
}

/*
 * Begin a turn with the touches that came too late for the last. There may be very
 * many, and none of them is looked at. Lock of the block's shard held.
 */
static void block_take_next(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	list_splice_tail_init(&block->next, &block->touches);
	bitmap_copy(block_touched(block), block_next_covered(block),
		    block_sectors(block));
	bitmap_or(block_covered(block), block_held_map(block),
		  block_touched(block), block_sectors(block));
	bitmap_zero(block_next_covered(block), block_sectors(block));
	block->late |= block->next_late;
	block->cut |= block->next_cut;
	block->next_late = false;
	block->next_cut = false;
}

/* Make a block active; the caller starts it. Lock of its shard held. */
static void block_collect(struct align_block *block, struct list_head *started)
{
	lockdep_assert_held(&block_shard(block)->lock);
	block->state = BLOCK_IS_COLLECT;
	list_add_tail(&block->list, started);
}

/**
 * turn_rest - put a held block into REST
 * @block: a held block in no list, of which no request is in flight
 *
 * Called with the lock of the block's shard held.
 */
void turn_rest(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	block->state = BLOCK_IS_REST;
	hold_rest(block);
}

/**
 * turn_take - take a block out of REST
 * @block: the block
 * @started: where it goes, for the caller to start
 *
 * Called with the lock of the block's shard held.
 */
void turn_take(struct align_block *block, struct list_head *started)
{
	lockdep_assert_held(&block_shard(block)->lock);
	hold_leave(block);
	block_collect(block, started);
}

/**
 * turn_begin - begin to serve the touches that a block has collected
 * @block: a block in COLLECT, or whole and just out of REST; the caller's to start
 *
 * Called with the lock of the block's shard held.
 *
 * Return: its first step.
 */
enum block_step turn_begin(struct align_block *block)
{
	enum block_step step =
		block_first_step(block->valid, block_is_whole(block));

	lockdep_assert_held(&block_shard(block)->lock);
	/* A second attempt is booked as the first one was. */
	if (!block->failed || step == BLOCK_READ) {
		block->was_valid = block->valid;
		block->has_read = step == BLOCK_READ;
	}
	block->unread = false;
	block->state = step == BLOCK_READ ? BLOCK_IS_READ : BLOCK_IS_WRITE;
	return step;
}

/**
 * turn_wait_for_memory - put a block back that there is no memory to read
 * @block: a block in READ
 *
 * Called with the lock of the block's shard held.
 */
void turn_wait_for_memory(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	block->state = BLOCK_IS_COLLECT;
}

/**
 * turn_after_read - go on with a block when its pad read has ended
 * @block: a block in READ
 * @failed: the read failed
 *
 * Called with the lock of the block's shard held.
 *
 * Return: its next step.
 */
enum block_step turn_after_read(struct align_block *block, bool failed)
{
	enum block_step step =
		block_step_after_read(failed, block_is_whole(block),
				      !align_offers_smaller(block->single.at));

	lockdep_assert_held(&block_shard(block)->lock);
	block->unread = step == BLOCK_FAIL;
	block->has_read = !failed;
	block->state = step == BLOCK_PASS ? BLOCK_IS_PASS : BLOCK_IS_WRITE;
	return step;
}

/* Take a block out of CACHED, for a touch. Lock of its shard held. */
static void block_leave_cache(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	block_remove_cached(block);
	bitmap_zero(block_touched(block), block_sectors(block));
	bitmap_zero(block_covered(block), block_sectors(block));
}

/*
 * Hold or take a touch of a block where no range is or waits: in REST, or in no
 * state yet. Lock of the block's shard held.
 */
static enum touch_fate block_join_free(struct align_block *block,
				       struct align_touch *touch,
				       struct list_head *started)
{
	bool rests = block->state == BLOCK_IS_REST;
	bool hold = touch->io->write.may_hold && !touch->starved &&
		    !block->failed && !block->reserved &&
		    hold_touch(block, touch);

	lockdep_assert_held(&block_shard(block)->lock);
	if (hold) {
		if (!block_is_all_held(block)) {
			if (!rests)
				turn_rest(block);
			return TOUCH_HELD;
		}
	}
	if (rests)
		hold_leave(block);
	if (!hold)
		block_take_touch(block, touch);
	block_collect(block, started);
	return hold ? TOUCH_HELD : TOUCH_TAKEN;
}

/*
 * Let a new block wait for the writes that are counted in its area, if it is the
 * first one there, or they have not ended yet. Return: whether it waits. Lock of its
 * shard held.
 */
static bool block_waits_for_quiet(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_quiet *quiet = &at->engine.quiet;
	unsigned int i = area_index(at, block->number);
	struct align_area *area = area_at(at, i);

	lockdep_assert_held(&block_shard(block)->lock);
	if (!quiet_is_over(quiet, i)) {
		area->quiesces = quiet_end(quiet, i);
		blocks_schedule_quiet(at);
	}
	if (area->quiesces)
		list_add_tail(&block->list, &area->blocks);
	return area->quiesces;
}

/*
 * Let a new block wait for all ranges of its shard, of which too many overlap the block to
 * look at each. Later ranges wait for the block. Return: the number of blockers.
 * shard->lock held.
 */
static unsigned int shard_await_ranges(struct align_shard *shard,
				       struct align_block *block)
{
	lockdep_assert_held(&shard->lock);
	shard->crowded = block;
	shard->nr_before = shard->nr_ranges;
	return 1;
}

/*
 * Allocate a block for a touch, if need be in place of a cached one. Return: NULL if
 * there is no room or memory; touch->how says which. The locks of @span are held.
 */
static struct align_block *block_for_touch(struct align_touch *touch,
					   const struct shard_span *span,
					   struct align_shard *shard)
{
	struct align_target *at = touch->io->at;
	u64 number = touch->part.block;
	struct align_block *block;

	span_assert_held(at, span);
	touch->how = RMW_DRIVE_MAX_BLOCKS;
	/* Not in front of those that have come first. */
	if (!touch->starved && !list_empty(&at->engine.blocks.starved))
		return NULL;
	if (blocks_make_room(at, span, shard)) {
		block = block_new(touch, number);
		if (!block && block_evict(shard)) {
			/* In the memory that this has freed. */
			touch->fresh = block_alloc(at, BUFFER_GFP);
			block = block_new(touch, number);
		}
		if (block)
			return block;
		blocks_put_slot(at);
		touch->how = RMW_DRIVE_NO_MEMORY;
	}
	return touch->starved ? block_take_reserve(at, number) : NULL;
}

/**
 * blocks_add_touch - let a block serve a partial touch
 * @touch: the touch
 * @span: shards whose locks are held, that of the block among them
 * @started: receives the block if the caller has to start it
 *
 * Return: TOUCH_REFUSED if there is no room or memory for a block; touch->how
 * says which, and the touch must go down in a range, or wait if it may not go down as
 * it came. TOUCH_TAKEN if it is to be
 * served, TOUCH_HELD if it has been copied and may be acknowledged.
 */
enum touch_fate blocks_add_touch(struct align_touch *touch,
				 const struct shard_span *span,
				 struct list_head *started)
{
	struct align_target *at = touch->io->at;
	struct align_delay *delay = &at->engine.delay;
	u64 number = touch->part.block;
	struct align_shard *shard = shard_of(at, number);
	struct align_block *block = block_at_or_above(shard, number);
	unsigned int ranges;
	bool crowded;

	span_assert_held(at, span);
	touch->crowded = false;
	if (block && block->number == number) {
		touch->block = block;
		switch (block_touch_step(block->state, block->waiting)) {
		case TOUCH_MAY_REST:
			if (block->state == BLOCK_IS_CACHED)
				block_leave_cache(block);
			return block_join_free(block, touch, started);
		case TOUCH_JOINS:
			block_take_touch(block, touch);
			if (block_is_whole(block))
				delay_remove(delay, block, started);
			return TOUCH_TAKEN;
		case TOUCH_WAITS:
			/* Touches wait for the reserve, which has to become free. */
			if (block->reserved) {
				touch->block = NULL;
				return TOUCH_REFUSED;
			}
			block_defer_touch(block, touch);
			return TOUCH_TAKEN;
		}
	}

	ranges = block_count_ranges(at, number);
	crowded = ranges >= ORDER_RANGES;
	if (crowded && (shard->crowded || !align_offers_smaller(at))) {
		touch->how = RMW_DRIVE_MAX_BLOCKS;
		touch->crowded = true;
		return TOUCH_REFUSED;
	}
	block = block_for_touch(touch, span, shard);
	if (!block)
		return TOUCH_REFUSED;
	block_insert(block);
	touch->block = block;
	block_lets_pass(block);
	block->blockers = (crowded ? shard_await_ranges(shard, block) : ranges) +
			  block_waits_for_quiet(block);
	if (!block->blockers)
		return block_join_free(block, touch, started);
	block_take_touch(block, touch);
	block->state = BLOCK_IS_WAIT;
	return TOUCH_TAKEN;
}

/*
 * Decide about a range that comes to a block. A range that was @seen not to wait, under the
 * same locks, does not, though the block may be over by now. Lock of its shard held.
 */
static enum range_step range_step(const struct align_block *block,
				  struct bio *bio, bool late, bool seen)
{
	bool rests = block->state == BLOCK_IS_REST ||
		     block->state == BLOCK_IS_WAIT;
	struct block_facts facts = {
		.state = block->state,
		.touches = !list_empty(&block->touches),
		.waiting = block->waiting,
		.held = block->held,
		.failed = block->failed,
		.over = rests && !seen && (late || hold_is_over(block)),
	};

	lockdep_assert_held(&block_shard(block)->lock);
	return block_range_step(&facts, bio_op(bio) == REQ_OP_DISCARD);
}

/**
 * blocks_would_wait - whether a range would have to wait now
 * @at: the target
 * @bio: the bio of the range: a discard waits for held blocks, and so does a bio that
 *	may be throttled
 * @first: first block
 * @last: last block
 *
 * Called with the locks of their shards held.
 *
 * Return: whether the range would wait, or has more blocks in memory than may be looked
 * at, and would be cut, so that a part of it waits.
 */
bool blocks_would_wait(struct align_target *at, struct bio *bio, u64 first,
		       u64 last)
{
	struct shard_span span = shard_span(at, first, last);
	bool late = align_may_be_throttled(at, bio);
	unsigned int left = RANGE_BLOCKS;
	struct align_block *block;
	unsigned int i;

	span_assert_held(at, &span);
	for (i = shard_first(&span); i < ALIGN_SHARDS;
	     i = shard_next(&span, i)) {
		for (block = block_at_or_above(&at->engine.blocks.shard[i], first);
		     block && block->number <= last;
		     block = block_following(block))
			if (!left-- ||
			    range_step(block, bio, late, false) == RANGE_WAITS)
				return true;
	}
	return false;
}

/**
 * turns_queue - have blocks started by workers
 * @ready: blocks in COLLECT that are the caller's to start, if any
 *
 * Called without the lock. Neither blocks nor their target may be used afterwards.
 */
void turns_queue(struct list_head *ready)
{
	struct align_block *block, *tmp;

	list_for_each_entry_safe(block, tmp, ready, list) {
		struct align_engine *engine = &block->single.at->engine;

		list_del_init(&block->list);
		job_init(&block->single.job, engine->delay.start);
		job_queue(&engine->jobs, &block->single.job);
	}
}

/* Note that ranges go down over held touches of a block in WAIT. Shard's lock held. */
static void block_note_over(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	if (block->held && !block->over) {
		block->over = true;
		atomic_inc(&block->single.at->engine.blocks.nr_over);
	}
}

/*
 * The sector where a range is cut, in front of a block; @end: the range is not cut. A
 * device may ignore parts of a granule, which it discards or erases as a whole; so discards
 * and erases are cut between granules. If the whole range lies in one granule, a discard is
 * cut in front of the block, and no more than that granule is not discarded; an erase goes
 * on to the end of its granule, and may meet as many blocks as a granule has. An atomic
 * write stays whole, and no drive takes a large one.
 */
static u64 range_cut(const struct align_io *io, u64 start, u64 end, u64 block)
{
	const struct align_geometry *g = &io->at->geometry;
	u64 cut = align_block_start(g, block);
	u32 granule, into;

	if (io->bio->bi_opf & REQ_ATOMIC)
		return end;
	if (bio_op(io->bio) == REQ_OP_WRITE || align_io_is_zeroes(io))
		return cut;
	granule = align_discard_granule(io->at, cut, &into);
	if (granule <= align_block_sectors(g))
		return cut;
	if (cut - start > into)
		return cut - into;
	if (bio_op(io->bio) != REQ_OP_SECURE_ERASE)
		return cut;
	return min(cut - into + granule, end);
}

/*
 * Make a range of no more than the beginning of a remainder, if there are too
 * many blocks in memory. The locks of the span are held.
 */
static void range_shorten(struct align_io *io, const struct shard_span *span)
{
	struct align_write *w = &io->write;
	u64 last = range_last(io->at, span, w->range[0].first, w->range[0].last);
	sector_t n;

	span_assert_held(io->at, span);
	if (last == w->range[0].last)
		return;
	n = w->end - range_cut(io, w->start, w->end, last + 1);
	if (!n)
		return;
	w->range[0].last = align_block_of(&io->at->geometry, w->end - n - 1);
	w->end -= n;
	w->behind = n;
	w->unsent.bi_size -= n << SECTOR_SHIFT;
}

/*
 * Whether a range may wait for long: for a limit of its cgroup, or, where there surely
 * are limits, at a block, where it may come behind one that waits so. The locks of its
 * shards are held.
 */
static bool range_is_late(struct align_io *io)
{
	struct align_range *range = &io->write.range[0];
	enum align_throttling throttling = align_throttling(io->at);

	return throttling != THROTTLING_NONE &&
	       (bio_has_limits(io->bio, throttling) ||
		(throttling == THROTTLING_SURE &&
		 blocks_would_wait(io->at, io->bio, range->first, range->last)));
}

/* Register a range with the blocks of one shard; @late: it may wait. shard->lock held. */
static void shard_add_range(struct align_shard *shard, struct align_io *io,
			    bool late)
{
	/* The sender has asked blocks_would_wait(). */
	bool seen = io->bio->bi_opf & REQ_NOWAIT;
	struct align_block *block, *next;

	lockdep_assert_held(&shard->lock);
	for (block = block_at_or_above(shard, io->write.range[0].first);
	     block && block->number <= io->write.range[0].last; block = next) {
		next = block_following(block);
		switch (range_step(block, io->bio, late, seen)) {
		case RANGE_WAITS:
			block->waiting++;
			range_wait(io, block);
			if (block->state == BLOCK_IS_REST)
				hold_make_urgent(block);
			break;
		case RANGE_EVICTS:
			block_remove(block);
			break;
		case RANGE_PASSES:
			if (block->state == BLOCK_IS_REST)
				hold_leave(block);
			block->state = BLOCK_IS_WAIT;
			block_note_over(block);
			block->valid = false;
			block->blockers++;
			block_lets_pass(block);
			break;
		}
	}
}

/* Call @place with each tree that a range is in, and its node there. */
static void range_visit_trees(struct align_io *io, const struct shard_span *span,
			      void (*place)(struct align_range *range,
					    struct rb_root_cached *ranges))
{
	struct align_blocks *blocks = &io->at->engine.blocks;

	if (span->all) {
		place(&io->write.range[0], &blocks->long_ranges);
		return;
	}
	place(&io->write.range[0], &blocks->shard[span->first].ranges);
	if (span->second != span->first)
		place(&io->write.range[1], &blocks->shard[span->second].ranges);
}

/**
 * blocks_add_range - register io->write.range
 * @io: the write, with the blocks in its range[0] and the sectors filled in
 *
 * Called with the locks of the blocks' shards held. If there are too many blocks in
 * memory, only the beginning is registered, as io->write.behind says: a range never
 * grows, as one that had let another pass at one block could come to wait for it at
 * the next. A REQ_NOWAIT write comes here only behind a blocks_would_wait() under the
 * same locks, and never waits.
 *
 * Return: true if it may go down now. Otherwise io->job is queued when it may.
 */
bool blocks_add_range(struct align_io *io)
{
	struct align_target *at = io->at;
	struct shard_span span = shard_span(at, io->write.range[0].first,
					    io->write.range[0].last);
	unsigned int i;
	bool late;

	span_assert_held(at, &span);
	range_shorten(io, &span);
	span = shard_span(at, io->write.range[0].first, io->write.range[0].last);
	late = range_is_late(io);
	io->write.left_shard = 0;
	io->write.left_number = 0;
	io->write.stamp = atomic64_read(&at->engine.blocks.turns);
	INIT_LIST_HEAD(&io->write.wait);
	for (i = shard_first(&span); i < ALIGN_SHARDS;
	     i = shard_next(&span, i))
		shard_add_range(&at->engine.blocks.shard[i], io, late);
	io->write.range[0].io = io;
	io->write.range[1] = io->write.range[0];
	range_visit_trees(io, &span, range_insert);
	for (i = shard_first(&span); i < ALIGN_SHARDS; i = shard_next(&span, i))
		at->engine.blocks.shard[i].nr_ranges++;
	io->write.in_range = true;
	return list_empty(&io->write.wait);
}

/*
 * Go on with a block in WAIT whose last range has ended; @ready receives it if a worker
 * has to start it. Lock of its shard held.
 */
static void block_resume(struct align_block *block, struct list_head *ready)
{
	struct block_facts facts = {
		.touches = !list_empty(&block->touches),
		.waiting = block->waiting,
		.held = block->held,
		.failed = block->failed,
	};

	lockdep_assert_held(&block_shard(block)->lock);
	if (block->over) {
		block->over = false;
		atomic_dec(&block->single.at->engine.blocks.nr_over);
	}
	switch (block_after_ranges(&facts)) {
	case BLOCK_COLLECTS:
		block_collect(block, ready);
		break;
	case BLOCK_RESTS:
		turn_rest(block);
		break;
	case BLOCK_ENDS_TURN:
		block_end_turn(block, ready);
		break;
	default:
		block_remove(block);
		break;
	}
}

/*
 * Unregister a range from the blocks of one shard, at most *@left. Return: whether
 * there may be more. The locks of the range's shards are held.
 */
static bool shard_end_range(struct align_shard *shard, struct align_io *io,
			    bool ok, unsigned int *left,
			    struct list_head *ready)
{
	u64 from = max(io->write.range[0].first, io->write.left_number);
	struct align_block *block, *next;

	lockdep_assert_held(&shard->lock);
	for (block = block_at_or_above(shard, from);
	     block && block->number <= io->write.range[0].last; block = next) {
		if (!*left)
			return true;
		--*left;
		next = block_following(block);
		io->write.left_number = block->number + 1;
		WARN_ON_ONCE(block->state != BLOCK_IS_WAIT);
		/* The block counts the range once, with all others. */
		if (block == shard->crowded)
			continue;
		if (ok && block->held)
			hold_overwritten(block, io);
		if (!--block->blockers)
			block_resume(block, ready);
	}
	return false;
}

/*
 * Count a range out of a shard, and let the block go on that waits for the ranges before
 * it, if this was the last of them. shard->lock held.
 */
static void shard_leave(struct align_shard *shard, const struct align_io *io,
			struct list_head *ready)
{
	struct align_blocks *blocks = &io->at->engine.blocks;
	struct align_block *block = shard->crowded;

	lockdep_assert_held(&shard->lock);
	shard->nr_ranges--;
	if (!block || io->write.stamp >= block->turn || --shard->nr_before)
		return;
	shard->crowded = NULL;
	if (!--block->blockers)
		block_resume(block, ready);
	if (list_empty(&shard->crowding))
		return;
	/* These touches came before those that wait for memory now, if of this shard. */
	spin_lock(&blocks->lock);
	list_splice_init(&shard->crowding, &blocks->starved);
	spin_unlock(&blocks->lock);
	blocks_serve_starved(io->at);
}

/*
 * Unregister a range from at most RANGE_END_BLOCKS blocks, and from its trees when
 * none is left. Return: whether blocks are left. The locks of its shards are held.
 */
static bool range_end_some(struct align_io *io, const struct shard_span *span,
			   bool ok, struct list_head *ready)
{
	unsigned int i = max(io->write.left_shard, shard_first(span));
	unsigned int left = RANGE_END_BLOCKS;

	span_assert_held(io->at, span);
	for (; i < ALIGN_SHARDS; i = shard_next(span, i)) {
		if (i != io->write.left_shard)
			io->write.left_number = 0;
		io->write.left_shard = i;
		if (shard_end_range(&io->at->engine.blocks.shard[i], io, ok,
				    &left, ready))
			return true;
	}
	range_visit_trees(io, span, range_remove);
	for (i = shard_first(span); i < ALIGN_SHARDS; i = shard_next(span, i))
		shard_leave(&io->at->engine.blocks.shard[i], io, ready);
	io->write.in_range = false;
	return false;
}

/**
 * blocks_end_range - unregister a range that has ended
 * @io: the write that the range belongs to
 * @ok: the whole range is on the device
 *
 * Any context. When the range was registered, at most RANGE_BLOCKS of its blocks were
 * in memory, but each one that was made since counts it, too. The blocks are let go on
 * some at a time; those that are made meanwhile count it where it has not left yet.
 */
void blocks_end_range(struct align_io *io, bool ok)
{
	struct align_target *at = io->at;
	struct shard_span span = shard_span(at, io->write.range[0].first,
					    io->write.range[0].last);
	unsigned long flags;
	LIST_HEAD(ready);
	bool more;

	do {
		span_lock(at, &span, &flags);
		more = range_end_some(io, &span, ok, &ready);
		span_unlock(at, &span, flags);
		turns_queue(&ready);
	} while (more);
}

/*
 * Let blocks of an area go on whose counted writes have ended, at most BLOCKS_BATCH.
 * Return: whether there may be more.
 */
static bool area_resume_blocks(struct align_target *at, unsigned int index)
{
	struct align_shard *shard = shard_of_area(at, index);
	struct align_area *area = area_at(at, index);
	unsigned long flags;
	unsigned int nr;
	LIST_HEAD(ready);

	spin_lock_irqsave(&shard->lock, flags);
	if (area->quiesces)
		area->quiesces = !quiet_is_empty(&at->engine.quiet, index);
	for (nr = 0; nr < BLOCKS_BATCH && !area->quiesces &&
	     !list_empty(&area->blocks); nr++) {
		struct align_block *block =
			list_first_entry(&area->blocks, struct align_block,
					 list);

		list_del_init(&block->list);
		if (!--block->blockers)
			block_resume(block, &ready);
	}
	spin_unlock_irqrestore(&shard->lock, flags);
	turns_queue(&ready);
	return nr == BLOCKS_BATCH;
}

/**
 * blocks_end_quiet - let blocks go on that wait for the writes counted in an area
 * @at: the target
 * @index: the area, where such a write has ended or was taken back
 *
 * Any context; a work goes on where there are very many.
 */
void blocks_end_quiet(struct align_target *at, unsigned int index)
{
	if (area_resume_blocks(at, index))
		queue_work(at->engine.jobs.wq, &at->engine.blocks.go_on);
}

/* Let more blocks go on, in all areas. */
void blocks_resume(struct work_struct *work)
{
	struct align_target *at =
		container_of(work, struct align_target, engine.blocks.go_on);
	unsigned int i;

	for (i = 0; i < ALIGN_AREAS; i++)
		while (area_resume_blocks(at, i))
			cond_resched();
}

/* Let all ranges through that wait for a block. Lock of its shard held. */
static void block_release_ranges(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	block_lets_pass(block);
	block->blockers = block->waiting;
	block->waiting = 0;
	block_pass_queue(block);
}

/* Keep a block for a while, as its content is cached. Lock of its shard held. */
static void block_keep_cached(struct align_block *block)
{
	struct align_engine *engine = &block->single.at->engine;

	lockdep_assert_held(&block_shard(block)->lock);
	block->state = BLOCK_IS_CACHED;
	block->since = jiffies;
	block_add_cached(block);
	queue_delayed_work(engine->jobs.wq, &engine->blocks.expire,
			   msecs_to_jiffies(ALIGN_CACHED_MS));
}

/**
 * block_end_turn - let waiting ranges through and begin the next turn
 * @block: a block whose turn has ended; may be gone afterwards
 * @ready: receives the block if a worker has to start it
 *
 * Called with the lock of the block's shard held.
 */
void block_end_turn(struct align_block *block, struct list_head *ready)
{
	struct align_blocks *blocks = &block->single.at->engine.blocks;
	struct block_facts facts = {
		.next = !list_empty(&block->next),
		.waiting = block->waiting,
		.held = block->held,
		.valid = block->valid && !READ_ONCE(blocks->asleep) &&
			 !block->reserved,
	};
	enum block_next step = block_after_turn(&facts);

	lockdep_assert_held(&block_shard(block)->lock);
	block->patched = false;
	if (block->shown) {
		block->shown = false;
		atomic_dec(&blocks->nr_shown);
	}
	if (block->waiting) {
		block->valid = false;
		block_release_ranges(block);
	}
	switch (step) {
	case BLOCK_WAITS:
		block_take_next(block);
		block->state = BLOCK_IS_WAIT;
		block_note_over(block);
		break;
	case BLOCK_COLLECTS:
		block_take_next(block);
		block_collect(block, ready);
		break;
	case BLOCK_RESTS:
		turn_rest(block);
		break;
	case BLOCK_STAYS:
		block_keep_cached(block);
		break;
	default:
		block_remove(block);
		break;
	}
}

/**
 * block_served - book the touches of a block and end its turn
 * @block: a block in WRITE or PASS, in no list, whose requests have ended, or which
 *	sends none because its pad read has failed
 * @status: result of the requests
 *
 * Neither block nor target may be used afterwards.
 */
void block_served(struct align_block *block, blk_status_t status)
{
	struct align_shard *shard = block_shard(block);
	bool passed = block->state == BLOCK_IS_PASS;
	enum rmw_how first, later;
	struct align_touch *touch, *tmp;
	unsigned long flags;
	LIST_HEAD(ready);
	LIST_HEAD(done);

	spin_lock_irqsave(&shard->lock, flags);
	first = passed ? RMW_DRIVE_READ_ERROR :
		block_how(status, block->was_valid, block->has_read, 0);
	later = passed ? RMW_DRIVE_READ_ERROR :
		block_how(status, block->was_valid, block->has_read, 1);
	list_splice_init(&block->touches, &done);
	if (block->held && status) {
		hold_failed(block);
		/* If all of it was to be written, all of it is there. */
		block->valid = !passed && !block->unread;
	} else {
		block->valid = !status && !passed;
		if (block->held) {
			hold_resolve(block, first, later);
			first = later;
		}
	}
	block_end_turn(block, &ready);
	spin_unlock_irqrestore(&shard->lock, flags);

	turns_queue(&ready);
	list_for_each_entry_safe(touch, tmp, &done, list) {
		touch->how = first;
		first = later;
		align_io_put(touch->io, status);
	}
}
