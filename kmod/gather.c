// SPDX-License-Identifier: GPL-2.0
/*
 * Which held blocks go down together, as one request.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>

#include "block_state.h"
#include "fit.h"
#include "hold.h"

/**
 * hold_take_back - send no block whose held touches must stay where they are
 * @block: a block in COLLECT, the caller's to start
 * @ready: receives the block if a worker has to start it
 *
 * Called with the lock of the block's shard held.
 *
 * Return: true if nothing may be sent any more, and the block holds something and
 * has no touch that waits: then it is in REST, or in WAIT if ranges waited for it,
 * and no longer the caller's.
 */
bool hold_take_back(struct align_block *block, struct list_head *ready)
{
	lockdep_assert_held(&block_shard(block)->lock);
	if (!hold_is_frozen(&block->single.at->engine.held) || !block->held ||
	    !list_empty(&block->touches))
		return false;
	list_del_init(&block->list);
	if (block->waiting)
		block_end_turn(block, ready);
	else
		turn_rest(block);
	return true;
}

static struct align_block *block_before(struct align_block *block)
{
	return rb_entry_safe(rb_prev(&block->rb), struct align_block, rb);
}

/* Whether a block is held, and may go with a neighbour. Lock of its shard held. */
static bool hold_is_going_along(const struct align_block *block)
{
	struct align_held *held = &block->single.at->engine.held;

	lockdep_assert_held(&block_shard(block)->lock);
	if (block->state != BLOCK_IS_REST || block->failed)
		return false;
	return held_goes_along(block_is_all_held(block), hold_is_over(block),
			       jiffies - block->since,
			       msecs_to_jiffies(READ_ONCE(held->hold_ms)));
}

/**
 * hold_before - the block in front of another one, if it is held and whole
 * @block: the other one
 *
 * Called with the lock of the block's shard held.
 */
struct align_block *hold_before(struct align_block *block)
{
	struct align_block *other = block_before(block);

	lockdep_assert_held(&block_shard(block)->lock);
	if (!other || other->number != block->number - 1 ||
	    other->state != BLOCK_IS_REST || other->failed ||
	    !block_is_all_held(other))
		return NULL;
	return other;
}

/**
 * hold_for_stream - let a whole block wait for the blocks that follow it
 * @block: maybe in @started, all of it held, and the next one is held as well
 * @started: blocks that the caller has to start
 *
 * A stream of small writes completes one block after the other; when they fill
 * a request, or a larger write comes behind them, they go as one.
 *
 * Called with the lock of the block's shard held.
 */
void hold_for_stream(struct align_block *block, struct list_head *started)
{
	unsigned int max = min_t(unsigned int, ROW_BLOCKS,
				 run_max_blocks(block->single.at,
						block->number));
	struct align_block *other;
	unsigned int nr;

	lockdep_assert_held(&block_shard(block)->lock);
	if (block->state != BLOCK_IS_COLLECT || list_empty(started) ||
	    list_last_entry(started, struct align_block, list) != block ||
	    !list_empty(&block->touches) || !block_is_all_held(block))
		return;
	other = hold_before(block);
	block->row = other ? other->row + 1 : 1;
	if (block->row < max) {
		list_del_init(&block->list);
		turn_rest(block);
		return;
	}
	for (nr = 1; other && nr < max; nr++) {
		block = other;
		other = hold_before(block);
		turn_take(block, started);
	}
}

/*
 * Take held blocks from a number on, by steps of 1 or -1, until one does not go along.
 * Return: how many.
 */
static unsigned int hold_take_side(struct align_shard *shard, u64 number,
				   int step, unsigned int most,
				   struct list_head *started)
{
	unsigned int taken = 0, left;
	bool more = true;

	while (more && taken < most) {
		spin_lock_irq(&shard->lock);
		for (left = BLOCKS_BATCH; left && more && taken < most; left--) {
			struct align_block *block =
				block_at_or_above(shard, number);

			more = block && block->number == number &&
			       hold_is_going_along(block);
			if (more) {
				turn_take(block, started);
				taken++;
				number += step;
			}
		}
		spin_unlock_irq(&shard->lock);
	}
	return taken;
}

/**
 * hold_gather - take the held neighbours of a block, for one request
 * @at: the target
 * @shard: the shard of the block
 * @number: number of the block, which is to be written
 * @started: blocks that the caller has to start
 *
 * Called without the lock, which is taken for some of them at a time: blocks that come
 * meanwhile go in another request.
 */
void hold_gather(struct align_target *at, struct align_shard *shard, u64 number,
		 struct list_head *started)
{
	unsigned int max = run_max_blocks(at, number);
	unsigned int before = hold_take_side(shard, number - 1, -1, max - 1,
					     started);

	max = min(max, run_max_blocks(at, number - before));
	if (max > before + 1)
		hold_take_side(shard, number + 1, 1, max - before - 1, started);
}

/*
 * Take the failed block that waits longest, and those that failed next and are its
 * neighbours, whether it is their time or not, for one request. Lock of their shard
 * held.
 */
void hold_retry(struct align_target *at, struct align_block *block,
		struct list_head *started)
{
	unsigned int max = min_t(unsigned int, ROW_BLOCKS,
				 run_max_blocks(at, block->number));
	u64 next = block->number;
	struct rb_node *behind;

	lockdep_assert_held(&block_shard(block)->lock);
	for (; block && block->number == next && max--; next++) {
		behind = rb_next(&block->rest);
		turn_take(block, started);
		block = rb_entry_safe(behind, struct align_block, rest);
	}
}
