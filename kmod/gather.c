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
 * has no touch that waits: then it is in HELD, or in WAIT if ranges waited for it,
 * and no longer the caller's.
 */
bool hold_take_back(struct align_block *block, struct list_head *ready)
{
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

/*
 * Whether @other is held, too, lies @distance blocks after @block, and may go
 * with it. Lock held.
 */
static bool hold_is_neighbour(const struct align_block *block,
			      const struct align_block *other, s64 distance)
{
	struct align_held *held = &block->single.at->engine.held;

	if (!other || other->number != block->number + distance ||
	    other->state != BLOCK_IS_HELD || other->failed)
		return false;
	return held_goes_along(block_is_kept(other), hold_is_over(other),
			       jiffies - other->since,
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

	if (!other || other->number != block->number - 1 ||
	    other->state != BLOCK_IS_HELD || other->failed ||
	    !block_is_kept(other))
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
	unsigned int max = run_max_blocks(block->single.at, block->number);
	struct align_block *other;
	unsigned int nr;

	if (block->state != BLOCK_IS_COLLECT || list_empty(started) ||
	    list_last_entry(started, struct align_block, list) != block ||
	    !list_empty(&block->touches) || !block_is_kept(block))
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

/* Take a held block and its held neighbours, for one request. Lock held. */
void hold_gather(struct align_target *at, struct align_block *block,
		 struct list_head *started)
{
	unsigned int max = run_max_blocks(at, block->number);
	struct align_block *other = block_before(block);
	unsigned int nr = 1;

	while (nr < max && hold_is_neighbour(block, other, -1)) {
		block = other;
		other = block_before(block);
		nr++;
	}
	max = min(max, run_max_blocks(at, block->number));
	for (nr = 0; nr < max; nr++) {
		other = block_following(block);
		turn_take(block, started);
		if (!hold_is_neighbour(block, other, 1))
			break;
		block = other;
	}
}

/*
 * Take the failed block that waits longest, and those that failed next and are its
 * neighbours, whether it is their time or not, for one request. Lock held.
 */
void hold_retry(struct align_target *at, struct align_block *block,
		struct list_head *started)
{
	unsigned int max = run_max_blocks(at, block->number);
	u64 next = block->number;
	struct rb_node *behind;

	for (; block && block->number == next && max--; next++) {
		behind = rb_next(&block->rest);
		turn_take(block, started);
		block = rb_entry_safe(behind, struct align_block, rest);
	}
}
