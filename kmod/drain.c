// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: What the drain writes first
 *
 * A block leaves REST at once if its last missing sector comes, or a touch that
 * may not be held. Otherwise it does when the drain work takes it, with those
 * of its neighbours that are held, because
 *
 * - a waiter waits for all blocks that began to hold up to held->drain_seq, or
 *   a range for this one block;
 * - hold_ms are over, for the oldest;
 * - more than three quarters of max_blocks are held: the oldest go, until it is
 *   half of it;
 * - nothing may be held any more: suspend, another mode, reboot.
 *
 * A block that could not be written stays, in shard->failed, and the target is
 * degraded. The write is retried for each waiter, and 5 seconds after it failed,
 * with the neighbours that failed behind the block.
 *
 * The drain work is one work item, so one thread at a time chooses the blocks to
 * write next. Only that thread looks at engine->cursor. It takes blocks in
 * REST only, each under the lock of the block's shard, which moves them to
 * COLLECT and makes them its own to start. Nothing is chosen while
 * SPARE_MAX_RUNS runs read into memory of their own, or while the target is
 * frozen.
 *
 * It takes three kinds of held blocks in turn, of each kind one block with its
 * neighbours. In each shard only the first block of each kind has to be looked
 * at:
 *
 * - one that a range or a waiter waits for, from the shards in turn.
 *   shard->urgent has blocks that a range waits for, in the order in which they
 *   came there: one that comes cannot pass one that is there;
 * - the oldest of all shards, of those that have to be written: for a waiter,
 *   because hold_ms have passed, or because too many blocks are held.
 *   shard->resting has the order in which blocks began to hold, by block->seq. So
 *   the blocks of a waiter are in front, then blocks that were held for too long;
 * - one that could not be written, from the shards in turn, if a waiter came
 *   since or 5 seconds have passed. shard->failed has the order in which blocks
 *   failed, by block->seq.
 *
 * No kind is preferred, so none can starve however many blocks of the others
 * come. The blocks of a waiter have lower numbers than all blocks that are held
 * later, and the oldest block is taken in every third turn at the latest. So the
 * blocks that N writes made, and for which a flush waits, are taken within 3N
 * turns, each of which sends one read and one write, and where that fails one
 * more for each block of it. Blocks that ranges wait for are taken in the order
 * in which ranges came to the blocks of a shard.
 */

/*
 * The drain: the work that writes held blocks.
 */
#include <linux/jiffies.h>

#include "block_state.h"
#include "hold.h"

/* How often the write of failed blocks is tried without a waiter. */
#define HOLD_RETRY_MS	5000

static void hold_due(struct timer_list *timer)
{
	hold_schedule_drain(container_of(timer, struct align_target, engine.held.due));
}

/* Whether the write of a block in shard->failed is to be tried again. */
static bool hold_is_retried(const struct align_block *block)
{
	return hold_is_awaited(block) ||
	       time_after_eq(jiffies, block->since +
			     msecs_to_jiffies(HOLD_RETRY_MS));
}

/*
 * Return the block of a kind that is to be taken from a shard, or NULL. Each is
 * the first one of its kind. shard->lock held.
 */
static struct align_block *hold_first(struct align_shard *shard,
				      enum drain_turn turn)
{
	struct align_block *block;

	lockdep_assert_held(&shard->lock);
	switch (turn) {
	case DRAIN_URGENT:
		block = list_first_entry_or_null(&shard->urgent,
						 struct align_block, list);
		if (block)
			return block;
		block = block_rests_first(&shard->resting);
		if (block && hold_is_awaited(block))
			return block;
		break;
	case DRAIN_OLDEST:
		block = block_rests_first(&shard->resting);
		if (block && hold_is_over(block))
			return block;
		break;
	case DRAIN_FAILED:
		block = block_rests_first(&shard->failed);
		if (block && hold_is_retried(block))
			return block;
		break;
	case DRAIN_TURNS:
		break;
	}
	return NULL;
}

/* Find out which blocks of a shard the drain may take. */
static void hold_survey(struct align_shard *shard, struct drain_shard *found)
{
	struct align_block *block;
	unsigned int turn;

	spin_lock_irq(&shard->lock);
	for (turn = 0; turn < DRAIN_TURNS; turn++) {
		block = hold_first(shard, turn);
		found->has[turn] = block;
		if (block && turn == DRAIN_OLDEST)
			found->seq = block->seq;
	}
	spin_unlock_irq(&shard->lock);
}

/*
 * Take the blocks for one request that are to be written next; see the top.
 * Return: false if there are none.
 */
static bool hold_take_next(struct align_target *at, struct list_head *started)
{
	struct align_blocks *blocks = &at->engine.blocks;
	struct drain_shard found[ALIGN_SHARDS] = {};
	struct align_block *block;
	struct align_shard *shard;
	enum drain_turn turn;
	unsigned int i;
	bool alone;
	u64 number;

	for (i = 0; i < ALIGN_SHARDS; i++)
		hold_survey(&blocks->shard[i], &found[i]);
	i = drain_next(&at->engine.cursor, found, ALIGN_SHARDS, &turn);
	if (i == ALIGN_SHARDS)
		return false;
	shard = &blocks->shard[i];
	spin_lock_irq(&shard->lock);
	/* The block may have left the rest meanwhile. */
	block = hold_first(shard, turn);
	alone = block && turn != DRAIN_FAILED;
	if (alone) {
		number = block->number;
		turn_take(block, started);
	} else if (block) {
		hold_retry(at, block, started);
	}
	spin_unlock_irq(&shard->lock);
	if (alone)
		hold_gather(at, shard, number, started);
	return true;
}

/*
 * Return the jiffies until @ms are over since a block rests, or failed. Lock of its
 * shard held.
 */
static unsigned long hold_left_of(const struct align_block *block,
				  unsigned int ms)
{
	unsigned long end = block->since + msecs_to_jiffies(ms);
	unsigned long now = jiffies;

	lockdep_assert_held(&block_shard(block)->lock);
	return time_after(end, now) ? end - now : 0;
}

/* Return the jiffies until a block of a shard is due, or MAX_JIFFY_OFFSET. */
static unsigned long hold_left(struct align_held *held,
			       struct align_shard *shard)
{
	unsigned long left = MAX_JIFFY_OFFSET;
	struct align_block *block;

	spin_lock_irq(&shard->lock);
	block = block_rests_first(&shard->failed);
	if (block)
		left = hold_left_of(block, HOLD_RETRY_MS);
	block = block_rests_first(&shard->resting);
	if (block)
		left = min(left, hold_left_of(block,
					      READ_ONCE(held->hold_ms)));
	spin_unlock_irq(&shard->lock);
	return left;
}

/*
 * Tell whether a held block may be sent. If not, the end of a run, or the
 * resume, schedules the work again.
 */
static bool hold_may_send(struct align_engine *engine)
{
	return !hold_is_frozen(&engine->held) && spare_has_room(&engine->spare);
}

/*
 * Let the ranges pass that wait for held blocks of a shard, because these blocks will
 * not be written. Each of these blocks is in WAIT then, as if its ranges had come while it
 * was younger (rule 7): the ranges settle the touches that they overwrite, once they have
 * ended well, and the rest stays held. At most BLOCKS_BATCH blocks. Return: whether there
 * was one.
 */
static bool shard_release_ranges(struct align_shard *shard)
{
	struct align_block *block, *tmp;
	unsigned int nr = 0;
	LIST_HEAD(ready);

	spin_lock_irq(&shard->lock);
	list_for_each_entry_safe(block, tmp, &shard->urgent, list) {
		if (nr++ == BLOCKS_BATCH)
			break;
		hold_leave(block);
		block_end_turn(block, &ready);
	}
	spin_unlock_irq(&shard->lock);
	turns_queue(&ready);
	return nr;
}

/* Behind the deadline of a reboot, let no request wait for a held block. */
static void hold_release_ranges(struct align_blocks *blocks)
{
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		while (shard_release_ranges(&blocks->shard[i]))
			cond_resched();
}

/* Write blocks that must not be held any longer; set the timer for the next. */
static void hold_drain_work(struct work_struct *work)
{
	struct align_target *at = container_of(work, struct align_target,
					       engine.held.work);
	struct align_blocks *blocks = &at->engine.blocks;
	struct align_held *held = &at->engine.held;
	unsigned long left = MAX_JIFFY_OFFSET;
	LIST_HEAD(started);
	unsigned int i;

	if (hold_is_too_late()) {
		hold_release_ranges(blocks);
		return;
	}
	for (;; cond_resched()) {
		if (!hold_may_send(&at->engine))
			return;
		if (!hold_take_next(at, &started))
			break;
		start_now(at, &started);
	}

	for (i = 0; i < ALIGN_SHARDS; i++)
		left = min(left, hold_left(held, &blocks->shard[i]));
	if (left < MAX_JIFFY_OFFSET)
		timer_reduce(&held->due, jiffies + left);
}

/* Set how long a block is held; blocks held for longer are written. */
void hold_set_ms(struct align_target *at, unsigned int ms)
{
	WRITE_ONCE(at->engine.held.hold_ms, ms);
	hold_schedule_drain(at);
}

/* Initialise the work that writes held blocks, and its timer. */
void drain_init(struct align_target *at)
{
	struct align_held *held = &at->engine.held;

	INIT_WORK(&held->work, hold_drain_work);
	timer_setup(&held->due, hold_due, 0);
}
