// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Rules of holding
 *
 * A block holds from its first held touch on, in all states that it goes
 * through, until its held touches are settled: written, overwritten, discarded or
 * dropped. Holding adds to the rules 1 to 5:
 *
 * 6. A touch may be copied to a block's held_map and acknowledged only where no range
 *    is in flight or waits: in a new block, or in one in CACHED or REST. So
 *    nothing older can arrive after it. From then on block->held counts it, in
 *    all states of the block, until it is settled. A block whose write has
 *    ended and that holds more by then is in REST again.
 * 7. A range that arrives at a block in REST goes down at once, and the block
 *    is in WAIT until it has ended. Only then, and only if it succeeded, are
 *    the held sectors that it covers settled: until then a read takes the held
 *    bytes, and a flush waits for both. More ranges may pass the same way,
 *    until the block has to be written back; from then on ranges wait for that,
 *    and a range that a limit of its cgroup may keep from the drive waits at once.
 *    A range that must not wait (REQ_NOWAIT) is sent back; the answer, found
 *    under the locks of its blocks, holds until it is registered. A discard has
 *    the block written back and waits for it, because a drive may ignore a
 *    discard, and then the data beneath must not be older than the acknowledged
 *    data. A block in REST that a range waits for stays there until the
 *    drain work takes it next, in a run with its neighbours; touches go to
 *    block->next from then on.
 * 8. A read takes the sectors that are held when it is mapped, from the buffer,
 *    when the read ends: the block is pinned, and a held sector of a buffer is
 *    only ever overwritten by newer writes. Data that one read has found, the
 *    next one does not miss, though they be of a write in flight.
 * 9. A block whose write failed keeps its held touches (REST, block->failed).
 * 10. After the deadline of a reboot no held block is sent for its own sake, so
 *     no range waits for that: where rule 7 would have a range wait, it is let
 *     through as at the end of a turn (rule 4), and the block is in WAIT until
 *     the range has ended. A discard that comes so settles nothing. A touch joins
 *     as before, and takes the held touches down with it. A run that was read
 *     before the deadline is written behind it, and a run whose write fails is
 *     resent in parts.
 */

/*
 * Holding: touches that are acknowledged as soon as they are copied.
 *
 * Flushes and other waiters wait for held blocks (struct align_waiter), and reads
 * take their bytes from the buffer (overlay.c).
 *
 * Held bytes and their age
 * ------------------------
 * The gauge held_bytes is the sum of the sectors in the held_map of all blocks
 * with block->held; the age of a held block counts from block->held_ns. All three,
 * and shard->by_age, change under the lock of the block's shard, and at these
 * places only:
 *   - hold_begin() sets block->held_ns, of a block in no state yet or in CACHED, and
 *     puts the block at the end of shard->by_age;
 *   - hold_touch() adds to the held_map of such a block or of one in REST;
 *   - hold_overwritten() takes from the held_map of a block in WAIT;
 *   - hold_end() empties the held_map, and takes the block out of shard->by_age: of
 *     a block in WRITE or PASS, which was written, in WAIT, which was overwritten,
 *     or in REST, which is dropped.
 * In between, a block may be in any state but CACHED, and in any other list or
 * none, and its write may have failed. So only shard->by_age has all of them,
 * and hold_oldest_ns() looks at its first block: a file in sysfs may be read at
 * any time, and that costs one block of each shard, however many blocks are
 * held.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "block_state.h"
#include "hold.h"
#include "compat.h"
#include "trace.h"

/* Waiters that end under one lock: each takes some neighbours in their tree. */
#define WAITERS_BATCH	8

/*
 * Set for good at the reboot's deadline; read under held->lock, or under that of a
 * shard. Behind it the drain work sends nothing, and lets the ranges that wait for a
 * held block pass instead: see hold_release_ranges().
 */
static bool reboot_over;

/* Whether the deadline of a reboot is over, behind which no held block is sent. */
bool hold_is_too_late(void)
{
	return READ_ONCE(reboot_over);
}

/* Whether held blocks must stay where they are. */
bool hold_is_frozen(const struct align_held *held)
{
	return READ_ONCE(held->frozen) || hold_is_too_late();
}

/**
 * hold_allowed - whether the touches of a write may be acknowledged early
 * @at: the target
 * @bio: the write
 *
 * Root can switch the write cache of a queue off, and then no flush comes, nor
 * from an opener that looked while the device had none: node_sees_cache().
 */
bool hold_allowed(const struct align_target *at, const struct bio *bio)
{
	return node_sees_cache(at->node) && READ_ONCE(at->engine.held.holding) &&
	       !(bio->bi_opf & REQ_FUA) && !READ_ONCE(at->node->unflushed);
}

/* Schedule the work that writes held blocks. Any context. */
void hold_schedule_drain(struct align_target *at)
{
	queue_work(at->engine.jobs.wq, &at->engine.held.work);
}

/*
 * Note that @resting blocks rest, or how many there may be. Threads that do so at the
 * same time may leave the older hint; the next block that rests or leaves mends it.
 */
static void hold_note_pressure(struct align_target *at, int resting)
{
	struct align_held *held = &at->engine.held;
	bool pressed = READ_ONCE(held->pressed);
	struct align_blocks *blocks = &at->engine.blocks;
	bool now = held_is_pressed(pressed, resting,
				   quota_most_held(&blocks->quota,
						   READ_ONCE(blocks->max)));

	if (now != pressed)
		WRITE_ONCE(held->pressed, now);
}

/* Have held blocks written until there is room for others. Any context. */
void hold_make_room(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	WRITE_ONCE(held->pressed, true);
	hold_note_pressure(at, atomic_read(&held->nr_resting));
	hold_schedule_drain(at);
}

/* Write the blocks that are too many for a limit that has changed. */
void hold_limit(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	hold_note_pressure(at, atomic_read(&held->nr_resting));
	if (READ_ONCE(held->pressed))
		hold_schedule_drain(at);
}

/* Wake hold_freeze(): a held block is no longer in flight. */
static void hold_wake(struct align_held *held)
{
	if (wq_has_sleeper(&held->at_rest))
		wake_up(&held->at_rest);
}

/* End waiters whose blocks are settled; a worker ends the rest of very many. */
static void hold_end_waiters(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	if (waiters_end(&held->waiters, WAITERS_BATCH))
		queue_work(at->engine.jobs.wq, &held->ends);
}

static void hold_ends_work(struct work_struct *work)
{
	struct align_held *held = container_of(work, struct align_held, ends);
	bool more;

	do {
		spin_lock_irq(&held->lock);
		more = waiters_end(&held->waiters, WAITERS_BATCH);
		spin_unlock_irq(&held->lock);
		cond_resched();
	} while (more);
}

/* Add @change to the number of failed blocks. held->lock held. */
static void hold_count_failed(struct align_target *at, int change)
{
	struct align_held *held = &at->engine.held;
	bool before = held->nr_failed;

	lockdep_assert_held(&held->lock);
	held->nr_failed += change;
	ledger_add(at->ledger, degraded, change);
	if (!before)
		ledger_inc(at->ledger, times_degraded);
	if (before != !!held->nr_failed)
		schedule_work(&held->event);
}

static void hold_event(struct work_struct *work)
{
	struct align_target *at =
		container_of(work, struct align_target, engine.held.event);
	struct align_held *held = &at->engine.held;
	unsigned int nr;

	spin_lock_irq(&held->lock);
	nr = held->nr_failed;
	spin_unlock_irq(&held->lock);

	/* A change that was undone in between is not told. */
	if (held->said_degraded == !!nr)
		return;
	held->said_degraded = nr;
	if (nr)
		DMERR_LIMIT("%s: degraded: cannot write held blocks to %s; flushes fail",
			    dm_device_name(at->node->md), at->dev->name);
	else
		DMWARN_LIMIT("%s: no longer degraded",
			     dm_device_name(at->node->md));
	dm_table_event(at->ti->table);
}

/* Return how many sectors a block holds. Lock of its shard held. */
static unsigned int hold_sectors(const struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	return bitmap_weight(block_held_map(block), block_sectors(block));
}

/*
 * Book a change of the held sectors of a block, @before of them until now. Lock of its
 * shard held.
 */
static void hold_count_bytes(const struct align_block *block,
			     unsigned int before)
{
	s64 change = (s64)hold_sectors(block) - before;

	lockdep_assert_held(&block_shard(block)->lock);
	ledger_add(block->single.at->ledger, held_bytes, change * SECTOR_SIZE);
}

/* Let a block begin to hold. Return: false if it must not. Lock of its shard held. */
static bool hold_begin(struct align_block *block,
		       const struct align_touch *touch)
{
	struct align_target *at = block->single.at;
	struct align_held *held = &at->engine.held;
	bool holding;

	lockdep_assert_held(&block_shard(block)->lock);
	spin_lock(&held->lock);
	holding = held->holding;
	if (holding) {
		block->seq = ++held->seq;
		WRITE_ONCE(held->nr, held->nr + 1);
		waiters_hold(&held->waiters);
	}
	spin_unlock(&held->lock);
	if (!holding)
		return false;
	block->held_ns = touch->io->write.start_ns;
	block->since = jiffies;
	list_add_tail(&block->by_age, &block_shard(block)->by_age);
	ledger_inc(at->ledger, held_blocks);
	return true;
}

/**
 * hold_touch - copy a touch and hold it
 * @block: a block that no range touches, in REST or about to be held or started
 * @touch: the touch
 *
 * Called with the lock of the block's shard held.
 *
 * Return: false if nothing may be held at this moment.
 */
bool hold_touch(struct align_block *block, struct align_touch *touch)
{
	struct align_target *at = block->single.at;
	unsigned int before = hold_sectors(block);

	lockdep_assert_held(&block_shard(block)->lock);
	if (!block->held && !hold_begin(block, touch))
		return false;
	block->held++;
	block->place = align_placement(touch->io->bio);
	buffer_copy_touch(at, block->vecs, touch);
	bitmap_set(block_held_map(block), touch->part.first, touch->part.count);
	hold_count_bytes(block, before);
	bitmap_copy(block_covered(block), block_held_map(block),
		    block_sectors(block));
	if (!align_io_is_zeroes(touch->io))
		block->held_data = true;
	touch->held = true;
	ledger_inc(at->ledger, touches_held);
	return true;
}

/*
 * Whether a waiter waits for a held block. Lock of its shard held, or the block is in
 * a run of the caller's: its number stays then.
 */
bool hold_is_awaited(const struct align_block *block)
{
	return block->seq <= READ_ONCE(block->single.at->engine.held.drain_seq);
}

/**
 * hold_is_over - whether a block must not be held any longer
 * @block: a held block
 *
 * Called with the lock of the block's shard held.
 */
bool hold_is_over(const struct align_block *block)
{
	const struct align_held *held = &block->single.at->engine.held;

	lockdep_assert_held(&block_shard(block)->lock);
	return block->waiting || !READ_ONCE(held->holding) ||
	       READ_ONCE(held->pressed) ||
	       hold_is_awaited(block) ||
	       time_after_eq(jiffies, block->since +
			     msecs_to_jiffies(READ_ONCE(held->hold_ms)));
}

static bool block_is_older(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct align_block, rest)->seq <
	       rb_entry(b, struct align_block, rest)->seq;
}

/* The tree in which a block in REST is, if it is not urgent. */
static struct rb_root_cached *resting_of(const struct align_block *block)
{
	struct align_shard *shard = block_shard(block);

	return block->failed ? &shard->failed : &shard->resting;
}

/**
 * hold_rest - put a block in REST to those of its kind
 * @block: a held block in no list, of which no request is in flight
 *
 * A target that holds nothing more is frozen, and may be freed, as soon as all its
 * held blocks rest: hold_freeze() looks at the counts without the shard's lock, and
 * then cancels work and timer. So this block is counted last, when nothing here
 * queues the work or sets the timer any more, and hold_freeze() sees both done when
 * it sees the count. Behind that, hold_wake() touches held->at_rest only, and the
 * caller the shard's lock and lists: hold_exit() takes the lock of each shard before
 * anything is freed.
 *
 * Called with the lock of the block's shard held.
 */
void hold_rest(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_shard *shard = block_shard(block);
	struct align_held *held = &at->engine.held;
	atomic_t *count;

	lockdep_assert_held(&shard->lock);
	bitmap_zero(block_touched(block), block_sectors(block));
	bitmap_copy(block_covered(block), block_held_map(block),
		    block_sectors(block));
	if (block->waiting && !block->failed)
		list_add_tail(&block->list, &shard->urgent);
	else
		rb_add_cached(&block->rest, resting_of(block), block_is_older);
	count = block->failed ? &held->nr_idle : &held->nr_resting;
	if (!block->failed)
		hold_note_pressure(at, atomic_read(count) + 1);
	if (block->failed || hold_is_over(block))
		hold_schedule_drain(at);
	else
		timer_reduce(&held->due, block->since +
			     msecs_to_jiffies(READ_ONCE(held->hold_ms)));
	/* Pairs with smp_rmb() in hold_is_at_rest(). */
	smp_mb__before_atomic();
	atomic_inc(count);
	hold_wake(held);
}

/**
 * hold_make_urgent - have a block written before others
 * @block: a block in REST, not failed, for which one more range waits
 *
 * Called with the lock of the block's shard held.
 */
void hold_make_urgent(struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	if (block->waiting == 1) {
		rb_erase_cached(&block->rest, resting_of(block));
		list_add_tail(&block->list, &block_shard(block)->urgent);
	}
	hold_schedule_drain(block->single.at);
}

/* End the holding of a block whose held touches are settled. Lock of its shard held. */
static void hold_end(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_held *held = &at->engine.held;
	u64 ns = ktime_get_ns() - block->held_ns;
	unsigned int before = hold_sectors(block);

	lockdep_assert_held(&block_shard(block)->lock);
	block->held = 0;
	block->held_data = false;
	list_del(&block->by_age);
	bitmap_zero(block_held_map(block), block_sectors(block));
	hold_count_bytes(block, before);
	ledger_dec(at->ledger, held_blocks);
	ledger_inc_rare(at->ledger,
			LEDGER_CELL_HOLD_TIME + align_latency_bin(ns));

	spin_lock(&held->lock);
	WRITE_ONCE(held->nr, held->nr - 1);
	if (block->failed)
		hold_count_failed(at, -1);
	block->failed = false;
	waiters_settle(&held->waiters, block->seq);
	hold_end_waiters(at);
	spin_unlock(&held->lock);
	hold_wake(held);
}

/**
 * hold_resolve - book the held touches of a block, which are settled
 * @block: the block
 * @how: how its oldest held touch was resolved
 * @later: how the others were resolved
 *
 * Called with the lock of the block's shard held.
 */
void hold_resolve(struct align_block *block, enum rmw_how how,
		  enum rmw_how later)
{
	struct align_target *at = block->single.at;
	u64 ns = ktime_get_ns() - block->held_ns;
	unsigned int others = block->held - 1;

	lockdep_assert_held(&block_shard(block)->lock);
	ledger_book(at->ledger, how, 1);
	ledger_book(at->ledger, later, others);
	if (how == later || !others) {
		trace_align_rmw(at->devt, block->number, how, block->held, ns);
	} else {
		trace_align_rmw(at->devt, block->number, how, 1, ns);
		trace_align_rmw(at->devt, block->number, later, others, ns);
	}
	hold_end(block);
}

/**
 * hold_failed - note that the held touches of a block could not be written
 * @block: the block
 *
 * Called with the lock of the block's shard held.
 */
void hold_failed(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_held *held = &at->engine.held;

	lockdep_assert_held(&block_shard(block)->lock);
	spin_lock(&held->lock);
	waiters_fail(&held->waiters, block->seq);
	hold_end_waiters(at);
	/* A waiter that comes from now on waits for the next attempt. */
	block->seq = ++held->seq;
	if (!block->failed)
		hold_count_failed(at, 1);
	block->failed = true;
	spin_unlock(&held->lock);
	block->since = jiffies;
}

/**
 * hold_overwritten - settle the held sectors of a block that a range has overwritten
 * @block: a held block in WAIT
 * @io: a write whose range over the block has ended well
 *
 * A drive may ignore a discard, and then the held bytes are still the newest. So
 * only a discard of a whole block settles anything, and only data that could not
 * be written (rule 7; another block comes here with a discard only behind the
 * deadline of a reboot). A drive may not ignore a secure erase, which is treated
 * like write-zeroes.
 *
 * Called with the lock of the block's shard held.
 */
void hold_overwritten(struct align_block *block, const struct align_io *io)
{
	const struct align_geometry *g = &block->single.at->geometry;
	unsigned int before = hold_sectors(block);
	u32 from, to, first, last;

	lockdep_assert_held(&block_shard(block)->lock);
	align_overlap(g, block->number, io->write.start, io->write.end, &from,
		      &to);
	align_inside(g, block->number, &first, &last);
	if (bio_op(io->bio) == REQ_OP_DISCARD &&
	    (!block->failed || from > first || to < last))
		return;
	bitmap_clear(block_held_map(block), from, to - from);
	hold_count_bytes(block, before);
	bitmap_or(block_covered(block), block_held_map(block),
		  block_touched(block), block_sectors(block));
	if (bitmap_empty(block_held_map(block), block_sectors(block)))
		hold_resolve(block, RMW_SUPERSEDED, RMW_SUPERSEDED);
}

/**
 * hold_leave - take a block in REST from those of its kind
 * @block: a block in REST
 *
 * Called with the lock of the block's shard held.
 */
void hold_leave(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_held *held = &at->engine.held;

	lockdep_assert_held(&block_shard(block)->lock);
	if (list_empty(&block->list))
		rb_erase_cached(&block->rest, resting_of(block));
	else
		list_del_init(&block->list);
	if (block->failed)
		atomic_dec(&held->nr_idle);
	else
		hold_note_pressure(at, atomic_dec_return(&held->nr_resting));
	/* Pairs with the first smp_rmb() in hold_is_at_rest(): it ends later. */
	smp_mb__after_atomic();
}

/* Let @waiter wait until all blocks held now are settled. held->lock held. */
void hold_wait(struct align_target *at, struct align_waiter *waiter)
{
	struct align_held *held = &at->engine.held;

	lockdep_assert_held(&held->lock);
	waiters_add(&held->waiters, waiter, held->seq);
	WRITE_ONCE(held->drain_seq, held->seq);
	hold_schedule_drain(at);
}

/**
 * hold_ask - let a waiter wait until all blocks held now are settled
 * @at: the target
 * @waiter: the waiter, which does not wait yet
 *
 * Return: 1, or the waiter does not wait: 0 if nothing is held, -EIO if held blocks
 * must not be sent.
 */
int hold_ask(struct align_target *at, struct align_waiter *waiter)
{
	struct align_held *held = &at->engine.held;
	int ret = 0;

	spin_lock_irq(&held->lock);
	if (held->nr && hold_is_frozen(held)) {
		ret = -EIO;
	} else if (held->nr) {
		hold_wait(at, waiter);
		ret = 1;
	}
	spin_unlock_irq(&held->lock);
	return ret;
}

/**
 * hold_withdraw - end the wait of a waiter
 * @at: the target
 * @waiter: the waiter of hold_ask(), or one that has never waited
 *
 * Returns behind the end of @waiter->done() if that was called.
 *
 * Return: whether the waiter still waited; @waiter->done() is not called then.
 */
bool hold_withdraw(struct align_target *at, struct align_waiter *waiter)
{
	struct align_held *held = &at->engine.held;
	bool waits;

	/* The thread that completes holds the lock, and must be done with the target. */
	spin_lock_irq(&held->lock);
	/* Its blocks may be settled, and the work that ends it on its way. */
	while (waiters_end(&held->waiters, WAITERS_BATCH)) {
		spin_unlock_irq(&held->lock);
		cond_resched();
		spin_lock_irq(&held->lock);
	}
	waits = waiters_remove(&held->waiters, waiter);
	spin_unlock_irq(&held->lock);
	return waits;
}

/**
 * hold_stop - hold no touch from now on, and begin to write held blocks
 * @at: the target
 * @why: HOLD_STOPPED_...
 *
 * Return: whether blocks are held that may be written.
 */
bool hold_stop(struct align_target *at, unsigned int why)
{
	struct align_held *held = &at->engine.held;
	bool writes;

	spin_lock_irq(&held->lock);
	held->stopped |= why;
	WRITE_ONCE(held->holding, false);
	writes = held->nr && !hold_is_frozen(held);
	spin_unlock_irq(&held->lock);
	hold_schedule_drain(at);
	return writes;
}

/**
 * hold_start - remove a reason against holding
 * @at: the target
 * @why: the reason, HOLD_STOPPED_...
 */
void hold_start(struct align_target *at, unsigned int why)
{
	struct align_held *held = &at->engine.held;

	spin_lock_irq(&held->lock);
	held->stopped &= ~why;
	WRITE_ONCE(held->holding,
		   READ_ONCE(at->mode) == ALIGN_COALESCE && !held->stopped);
	spin_unlock_irq(&held->lock);
}

/*
 * Tell whether no held block is in flight, when nothing is held any more. Blocks
 * may end meanwhile, by a write or by a message that drops them, or fail, and are
 * not counted as resting before they rest. So in this order the number that rests
 * may come out too small, and equals the first one only if it is right.
 */
bool hold_is_at_rest(struct align_held *held)
{
	unsigned int nr = READ_ONCE(held->nr);
	unsigned int rest;

	/* Pairs with the order in hold_drop(): it rests no more, then it ends. */
	smp_rmb();
	rest = atomic_read(&held->nr_idle);
	/* A block rests first, and is counted among the failed ones later. */
	smp_rmb();
	rest += atomic_read(&held->nr_resting);
	/* Pairs with the barrier in hold_rest(): what it did is seen. */
	smp_rmb();
	return nr == rest;
}

/* Fail all waiters. Process context. */
void hold_fail_waiters(struct align_held *held)
{
	bool more;

	do {
		spin_lock_irq(&held->lock);
		more = waiters_fail_all(&held->waiters, WAITERS_BATCH);
		spin_unlock_irq(&held->lock);
		cond_resched();
	} while (more);
}

/**
 * hold_fail - fail all waiters
 * @at: the target
 *
 * Return: the number of held blocks.
 */
unsigned int hold_fail(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	hold_fail_waiters(held);
	hold_schedule_drain(at);
	return READ_ONCE(held->nr);
}

/* Send no held block of any target from now on: the deadline of a reboot is over. */
void hold_stop_all(void)
{
	WRITE_ONCE(reboot_over, true);
}

/**
 * hold_was_dropped - whether a write must not end well
 * @io: a write whose parts have ended
 *
 * A touch is held as soon as it is copied, and its write may end long after that,
 * when its other parts do. If the touch was given up in between, the write has not
 * been done. Which blocks were given up is not kept, so any of the target counts.
 *
 * Any context.
 */
bool hold_was_dropped(const struct align_io *io)
{
	unsigned int i;

	for (i = 0; i < io->write.nr_touches; i++)
		if (io->write.touch[i].held)
			/* A drop of its block came behind the read of @drops. */
			return atomic_read(&io->at->engine.held.drops) != io->write.drops;
	return false;
}

/* Return when the block that a shard holds longest got its first held touch. */
static u64 shard_oldest_ns(struct align_shard *shard)
{
	struct align_block *block;
	u64 oldest = U64_MAX;

	spin_lock_irq(&shard->lock);
	block = list_first_entry_or_null(&shard->by_age, struct align_block,
					 by_age);
	if (block)
		oldest = block->held_ns;
	spin_unlock_irq(&shard->lock);
	return oldest;
}

/**
 * hold_oldest_ns - when the first of a target's held touches arrived
 * @at: a target of any table, which cannot leave its node meanwhile
 *
 * Takes the lock of each shard once, however many blocks are held. Process
 * context; waits for no request.
 *
 * Return: the time, as of ktime_get_ns(), or U64_MAX if nothing is held.
 */
u64 hold_oldest_ns(struct align_target *at)
{
	u64 oldest = U64_MAX;
	unsigned int i;

	/* Before engine_init() there are no locks, and nothing is held. */
	if (!READ_ONCE(at->engine.held.nr))
		return oldest;
	for (i = 0; i < ALIGN_SHARDS; i++)
		oldest = min(oldest, shard_oldest_ns(&at->engine.blocks.shard[i]));
	return oldest;
}

/* Initialise the held touches: there are none, and there may be none. */
void held_init(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	spin_lock_init(&held->lock);
	waiters_init(&held->waiters);
	INIT_WORK(&held->ends, hold_ends_work);
	init_waitqueue_head(&held->at_rest);
	held->stopped = HOLD_STOPPED_SUSPEND;
	INIT_WORK(&held->event, hold_event);
}
