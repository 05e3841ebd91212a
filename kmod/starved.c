// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Touches that wait for memory
 *
 * Where the target offers smaller logical blocks than the underlying device has,
 * no partial touch may go down unmodified. A touch without a block, for want of
 * memory or of a slot, waits in blocks->starved, and later ones wait behind it.
 * They are retried whenever a block is freed, in order of arrival. A touch that may
 * not be the second of its shard to have very many ranges in flight over its block
 * (see `No deadlock`_) waits apart, in shard->crowding, and comes back in front of
 * the others when the first has gone on.
 *
 * So that the first of them does not wait for the memory of others, the target
 * has one block in reserve. It serves one turn at a time: it holds nothing, is not
 * cached, and touches that come too late for its turn wait here again. No block
 * in memory waits for a touch that waits here, so the reserve is free again when
 * its requests have ended.
 *
 * While touches wait here, a program waits for room, and held blocks are written
 * to make it. Their requests have the flags of a direct write then, REQ_SYNC and
 * REQ_IDLE, as they have when a flush waits for them: the block layer throttles
 * background writes (blk-wbt), and the program would wait for that, too.
 */
#include "block_state.h"

/**
 * starved_add - let a touch wait for a block
 * @touch: the touch, for which there is none
 *
 * Called with the lock of the block's shard held: a range that ends there later sees
 * the touch.
 */
void starved_add(struct align_touch *touch)
{
	struct align_target *at = touch->io->at;
	struct align_blocks *blocks = &at->engine.blocks;

	lockdep_assert_held(&shard_of(at, touch->part.block)->lock);
	ledger_inc(at->ledger, touches_starved);
	touch->starved = true;
	spin_lock(&blocks->lock);
	list_add_tail(&touch->list, touch->crowded ?
		      &shard_of(at, touch->part.block)->crowding :
		      &blocks->starved);
	spin_unlock(&blocks->lock);
	blocks_serve_starved(at);
}

static struct align_touch *starved_first(struct align_blocks *blocks)
{
	struct align_touch *touch;

	spin_lock_irq(&blocks->lock);
	touch = list_first_entry_or_null(&blocks->starved, struct align_touch,
					 list);
	spin_unlock_irq(&blocks->lock);
	return touch;
}

/*
 * Find a block for the touch that has waited longest. Return: whether to go on: it does
 * not wait here any more, or the reserve has come back meanwhile.
 */
static bool starved_retry_touch(struct align_target *at, struct align_touch *touch)
{
	struct align_blocks *blocks = &at->engine.blocks;
	u64 number = touch->part.block;
	struct shard_span span = shard_span(at, number, number);
	struct align_block *fresh = blocks_get_fresh(at, number);
	unsigned long flags;
	LIST_HEAD(started);
	bool more = true;

	span_lock(at, &span, &flags);
	spin_lock(&blocks->lock);
	list_del_init(&touch->list);
	spin_unlock(&blocks->lock);
	touch->fresh = fresh;
	if (blocks_add_touch(touch, &span, &started) == TOUCH_REFUSED) {
		spin_lock(&blocks->lock);
		if (touch->crowded) {
			list_add_tail(&touch->list,
				      &shard_of(at, number)->crowding);
		} else {
			list_add(&touch->list, &blocks->starved);
			more = blocks->reserve;
		}
		spin_unlock(&blocks->lock);
	}
	fresh = touch->fresh;
	touch->fresh = NULL;
	/* The write may end behind the unlock, and the target be removed. */
	blocks_put_fresh(at, number, fresh);
	span_unlock(at, &span, flags);
	turns_queue(&started);
	return more;
}

/* Serve touches that wait for memory, as far as there is some. */
void starved_serve(struct work_struct *work)
{
	struct align_target *at =
		container_of(work, struct align_target, engine.blocks.feed);
	struct align_touch *touch;

	/* Nothing else takes touches out. */
	while ((touch = starved_first(&at->engine.blocks)) &&
	       starved_retry_touch(at, touch))
		cond_resched();
}
