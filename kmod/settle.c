// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Suspend
 *
 * device-mapper waits for the bios that it mapped, and none of these ends
 * before the engine's own I/O for it. A held touch has ended by then, so the
 * engine also waits for held blocks. Presuspend stops holding and starts to
 * drain, because the last writes of a file system that is frozen come after it.
 * Postsuspend writes the blocks that are left, waits until no held block is in
 * flight, fails the waiters of blocks that could not be written, and evicts
 * cached blocks and the cached sectors around held ones. After a suspend
 * nothing of the engine is in flight.
 */

/*
 * Suspends, changes of the mode and ioctls, which have all held blocks settled and wait
 * for that; and drop_failed, which gives up the blocks that could not be written.
 */
#include <linux/jiffies.h>

#include "block_state.h"
#include "hold.h"

/*
 * How long suspend, removal and an ioctl write held blocks. After that suspend and
 * removal begin with no other block, and wait only for blocks that are being read or
 * written; an ioctl fails.
 */
#define HOLD_DEADLINE_MS	30000

/**
 * struct hold_sync - a task that sleeps until held blocks are settled
 * @waiter: waiter of the task
 * @settled: completed when the blocks are settled
 */
struct hold_sync {
	struct align_waiter waiter;
	struct completion settled;
};

static void hold_synced(struct align_waiter *waiter)
{
	complete(&container_of(waiter, struct hold_sync, waiter)->settled);
}

/**
 * hold_drain - write all held blocks
 * @at: the target
 * @timeout: how long to wait, in jiffies
 * @state: TASK_UNINTERRUPTIBLE or TASK_KILLABLE
 *
 * Return: 0 if all that was held is settled, -EIO if some of it could not be
 * written, -ETIMEDOUT, -ERESTARTSYS if the caller was killed before.
 */
int hold_drain(struct align_target *at, unsigned long timeout,
	       unsigned int state)
{
	struct hold_sync sync;
	bool killed = false;
	int ret;

	init_completion(&sync.settled);
	sync.waiter.done = hold_synced;
	ret = hold_ask(at, &sync.waiter);
	if (ret <= 0)
		return ret;

	if (state == TASK_KILLABLE)
		killed = wait_for_completion_killable_timeout(&sync.settled,
							      timeout) < 0;
	else
		wait_for_completion_timeout(&sync.settled, timeout);

	if (hold_withdraw(at, &sync.waiter))
		return killed ? -ERESTARTSYS : -ETIMEDOUT;
	return sync.waiter.failed ? -EIO : 0;
}

/* Log that a write below has not ended; nothing else ends the wait. */
static void hold_say_waiting(const struct align_target *at)
{
	DMWARN_LIMIT("%s: still waiting for %s to complete writes of held blocks",
		     dm_device_name(at->node->md), at->dev->name);
}

static void hold_wait_at_rest(struct align_target *at)
{
	while (!wait_event_timeout(at->engine.held.at_rest,
				   hold_is_at_rest(&at->engine.held),
				   msecs_to_jiffies(HOLD_DEADLINE_MS)))
		hold_say_waiting(at);
}

/**
 * hold_presuspend - hold no more, and let the suspend wait for the held blocks
 * @at: the target
 *
 * device-mapper waits for the bios that it mapped, and that wait can be
 * interrupted; device-mapper knows nothing of held blocks. So the device is sent a
 * flush of the engine's own, which ends when they are written. Nothing else waits for
 * that flush: it may be kept in front of the device until a resume. Without the flush,
 * for want of memory, postsuspend waits for held blocks by itself.
 *
 * A device without openers gets none: it may be about to be removed, and then
 * device-mapper frees it without a wait for bios, which this one would outlive.
 */
void hold_presuspend(struct align_target *at)
{
	struct bio *bio;

	hold_stop(at, HOLD_STOPPED_SUSPEND);
	if (!READ_ONCE(at->engine.held.nr) ||
	    !disk_openers(at->node->disk))
		return;
	bio = bio_alloc(at->node->disk->part0, 0,
			REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC,
			GFP_NOWAIT | __GFP_NOWARN);
	if (!bio)
		return;
	/* Not on account of the task that suspends the device: it may be throttled. */
	bio_associate_blkg_from_css(bio, NULL);
	bio->bi_end_io = bio_put;
	submit_bio_noacct(bio);
}

/**
 * hold_freeze - send no held block until hold_thaw(), and fail the waiters
 * @at: the target, which hold_drain() has drained as far as that is possible
 *
 * Returns when no held block is in flight. Nothing is sent until hold_thaw().
 * Blocks that are still held stay, and their waiters fail.
 */
static void hold_freeze(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	spin_lock_irq(&held->lock);
	WRITE_ONCE(held->frozen, true);
	spin_unlock_irq(&held->lock);
	/* The work may be asleep below with blocks that it has taken. */
	hold_wait_at_rest(at);
	/* The work may set the timer once more, the timer queue the work. */
	cancel_work_sync(&held->work);
	timer_delete_sync(&held->due);
	cancel_work_sync(&held->work);
	/* And it may have been about to take blocks. */
	hold_wait_at_rest(at);

	hold_fail_waiters(held);

	/*
	 * device-mapper has waited for flushes, but does not do so when the
	 * device is removed.
	 */
	while (!wait_event_timeout(held->at_rest,
				   !READ_ONCE(held->nr_flushes),
				   msecs_to_jiffies(HOLD_DEADLINE_MS)))
		hold_say_waiting(at);
	/* The thread that woke this holds the lock, and must be done with the target. */
	spin_lock_irq(&held->lock);
	spin_unlock_irq(&held->lock);
}

/**
 * hold_postsuspend - write the blocks that are still held, and send nothing more
 * @at: the target, whose bios have all ended
 *
 * The file system may have been frozen since hold_presuspend(), and failed writes
 * are retried once more.
 */
void hold_postsuspend(struct align_target *at)
{
	switch (hold_drain(at, msecs_to_jiffies(HOLD_DEADLINE_MS),
			   TASK_UNINTERRUPTIBLE)) {
	case -EIO:
		DMWARN("%s: suspended with held blocks that %s failed to write",
		       dm_device_name(at->node->md), at->dev->name);
		break;
	case -ETIMEDOUT:
		DMWARN("%s: %s did not complete all held blocks within %u s; the rest stay held",
		       dm_device_name(at->node->md), at->dev->name,
		       HOLD_DEADLINE_MS / 1000);
		break;
	}
	hold_freeze(at);
}

/**
 * hold_settle_for_ioctl - write held blocks before a command passes
 * @at: the target
 *
 * Return: 0, -EIO if held blocks could not be written, -ETIMEDOUT if that takes
 * too long, -ERESTARTSYS if the caller was killed.
 */
int hold_settle_for_ioctl(struct align_target *at)
{
	return hold_drain(at, msecs_to_jiffies(HOLD_DEADLINE_MS),
			  TASK_KILLABLE);
}

/* Hold and send again: the device is resumed, or its suspend was undone. */
void hold_thaw(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	spin_lock_irq(&held->lock);
	WRITE_ONCE(held->frozen, false);
	spin_unlock_irq(&held->lock);
	hold_start(at, HOLD_STOPPED_SUSPEND);
	/* Failed writes are retried. */
	if (READ_ONCE(held->nr))
		hold_schedule_drain(at);
}

/*
 * Give up a block of shard->resting or shard->failed. Return: false if there is
 * none.
 */
static bool hold_drop(struct align_target *at, struct align_shard *shard,
		      const struct rb_root_cached *resting)
{
	struct align_block *block;
	unsigned int touches;
	u64 sector;

	spin_lock_irq(&shard->lock);
	block = block_rests_first(resting);
	if (!block) {
		spin_unlock_irq(&shard->lock);
		return false;
	}
	sector = align_first_inside(&at->geometry, block->number);
	touches = block->held;
	atomic_inc(&at->engine.held.drops);
	hold_leave(block);
	hold_resolve(block, RMW_LOST, RMW_LOST);
	block_remove(block);
	spin_unlock_irq(&shard->lock);
	DMERR("%s: lost: %u held writes to the block at sector %llu of %s",
	      dm_device_name(at->node->md), touches, sector, at->dev->name);
	return true;
}

/**
 * hold_drop_failed - give up the blocks that could not be written
 * @at: the target
 *
 * Each block is logged, its touches are lost. A write in flight that has such a
 * touch fails, or has ended when this returns: hold_was_dropped().
 */
void hold_drop_failed(struct align_target *at)
{
	struct align_blocks *blocks = &at->engine.blocks;
	unsigned int i;
	bool any = false;

	for (i = 0; i < ALIGN_SHARDS; i++)
		while (hold_drop(at, &blocks->shard[i],
				 &blocks->shard[i].failed)) {
			any = true;
			cond_resched();
		}
	/* A grace period takes long, and a target that is removed rarely drops any. */
	if (any)
		synchronize_rcu();
}

/* Drop failed blocks, and blocks that the device did not take in time. */
static void hold_drop_all(struct align_target *at)
{
	struct align_blocks *blocks = &at->engine.blocks;
	unsigned int i;

	hold_drop_failed(at);
	for (i = 0; i < ALIGN_SHARDS; i++) {
		struct align_shard *shard = &blocks->shard[i];

		/* No range waits any more, so none of them is urgent. */
		WARN_ON(!list_empty(&shard->urgent));
		while (hold_drop(at, shard, &shard->resting))
			cond_resched();
	}
}

/* Drop all held blocks; no bio is in flight. */
void hold_exit(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	hold_freeze(at);
	hold_drop_all(at);
	cancel_work_sync(&held->event);
	WARN_ON(held->nr);
}
