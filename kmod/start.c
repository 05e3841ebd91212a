// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Deciding late
 *
 * A block in COLLECT is owned by the thread that starts it. That is done late,
 * because writes on their way may complete the block and save the read: when the
 * plug of the task that wrote ends, because a task that plugs is about to send
 * more.
 */

/*
 * When the serving of blocks starts, and which of them go together.
 */
#include <linux/bitmap.h>
#include <linux/list_sort.h>
#include <linux/slab.h>

#include "block_state.h"
#include "compat.h"
#include "fit.h"
#include "hold.h"

/* Blocks that wait for the end of one task's plug: 1/8 of max_blocks at most. */
#define START_PLUG_PART	8

static int block_compare(void *unused, const struct list_head *a,
			 const struct list_head *b)
{
	u64 first = list_entry(a, struct align_block, list)->number;
	u64 second = list_entry(b, struct align_block, list)->number;

	return first < second ? -1 : first > second;
}

/**
 * start_take_whole - take the whole blocks in front of a run, to go with it
 * @block: maybe in COLLECT
 * @started: blocks that the caller has to start
 * @taken: where the blocks go, now in WRITE: @block, if it was in @started and
 *	needs no read, and behind it the row of whole held blocks up to it
 *
 * Called with the lock of the block's shard held. No edge block is taken, of which not
 * all lies in the target.
 *
 * Return: the number of blocks taken.
 */
unsigned int start_take_whole(struct align_block *block,
			      struct list_head *started,
			      struct list_head *taken)
{
	const struct align_geometry *g = &block->single.at->geometry;
	/* Half of a request is left for the writes that follow. */
	unsigned int max = min_t(unsigned int, JOIN_BLOCKS,
				 run_max_blocks(block->single.at,
						block->number) / 2);
	struct align_block *other;
	unsigned int nr = 0;

	lockdep_assert_held(&block_shard(block)->lock);
	list_for_each_entry(other, started, list)
		if (other == block)
			break;
	if (list_entry_is_head(other, started, list) || !block_is_whole(block))
		return 0;
	if (align_is_edge(g, block->number))
		return 0;
	for (;;) {
		other = hold_before(block);
		turn_begin(block);
		list_move(&block->list, taken);
		if (++nr >= max || !other || align_is_edge(g, other->number))
			return nr;
		hold_leave(other);
		block = other;
	}
}

/*
 * Delay a block in COLLECT that may get the rest of a stream. Not if no other write
 * with partial touches is in flight: then nothing is on its way, unless the block
 * layer has cut write-zeroes there, and the task that has sent the one part sends
 * the other next. Lock of its shard held.
 */
static bool block_delay(struct align_block *block)
{
	struct align_target *at = block->single.at;
	bool cut = block->cut;

	lockdep_assert_held(&block_shard(block)->lock);
	if (!block->late && !cut)
		return false;
	block->late = false;
	block->cut = false;
	if (block_is_whole(block) ||
	    !delay_add(&at->engine.delay, block, cut))
		return false;
	/* The block may be a worker's by now. */
	ledger_inc(at->ledger, blocks_delayed);
	return true;
}

/**
 * start_now - begin to serve blocks
 * @at: the target
 * @started: blocks in COLLECT that are the caller's to start
 *
 * Process context, without the lock, which is released between some of them: blocks that
 * have begun by then are in READ or WRITE, and not sent, and the rest in COLLECT; all of
 * these are the caller's, and a touch or range that comes to one meanwhile joins it or
 * waits.
 */
void start_now(struct align_target *at, struct list_head *started)
{
	list_sort(NULL, started, block_compare);
	while (!list_empty(started)) {
		struct align_block *block, *tmp;
		enum block_step step = BLOCK_PASS;
		unsigned int nr = 0, max = 1, seen = 0;
		struct align_shard *shard;
		unsigned long flags;
		u64 next = 0;
		LIST_HEAD(ready);
		LIST_HEAD(list);

		block = list_first_entry(started, struct align_block, list);
		shard = block_shard(block);
		spin_lock_irqsave(&shard->lock, flags);
		list_for_each_entry_safe(block, tmp, started, list) {
			if (block_shard(block) != shard)
				break;
			if (++seen == BLOCKS_BATCH) {
				spin_unlock_irqrestore(&shard->lock, flags);
				seen = 1;
				spin_lock_irqsave(&shard->lock, flags);
			}
			if (hold_take_back(block, &ready) || block_delay(block))
				continue;
			if (!nr) {
				max = run_max_blocks(at, block->number);
			} else if (block->number != next || nr >= max ||
				   block_first_step(block->valid,
						    block_is_whole(block)) != step) {
				break;
			}
			step = turn_begin(block);
			next = block->number + 1;
			list_move_tail(&block->list, &list);
			nr++;
		}
		spin_unlock_irqrestore(&shard->lock, flags);
		turns_queue(&ready);

		if (!nr)
			continue;
		if (step == BLOCK_WRITE) {
			runs_write(at, &list, nr);
			continue;
		}
		while (nr > 1) {
			unsigned int sent = runs_read(at, &list, nr);

			if (!sent)
				break;
			nr -= sent;
		}
		list_for_each_entry_safe(block, tmp, &list, list) {
			list_del_init(&block->list);
			block_read(block);
		}
	}
}

/* Start a block in COLLECT that another context has left to the workers. */
void start_job(struct align_job *job)
{
	struct align_block *block =
		container_of(job, struct align_block, single.job);
	struct align_target *at = block->single.at;
	LIST_HEAD(started);

	list_add(&block->list, &started);
	start_now(at, &started);
	spare_wake(&at->engine.spare);
}

/**
 * struct start_plug - blocks that wait for the end of a task's plug
 * @cb: callback of the block layer
 * @blocks: the blocks; not initialised when new
 * @nr: number of blocks
 * @job: starts the blocks, if the task cannot
 *
 * A task that plugs is about to send more writes, which may complete a block.
 */
struct start_plug {
	struct blk_plug_cb cb;
	struct list_head blocks;
	unsigned int nr;
	struct align_job job;
};

static void start_plug_job(struct align_job *job)
{
	struct start_plug *plug = container_of(job, struct start_plug, job);

	start_now(plug->cb.data, &plug->blocks);
	kfree(plug);
}

static void start_unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct start_plug *plug = container_of(cb, struct start_plug, cb);
	struct align_target *at = cb->data;

	/* All was started before: nothing keeps the target from being gone. */
	if (list_empty(&plug->blocks)) {
		kfree(plug);
		return;
	}
	/* A task that is about to sleep must not do so for a tag. */
	job_init(&plug->job, start_plug_job);
	if (from_schedule)
		job_queue(&at->engine.jobs, &plug->job);
	else
		start_plug_job(&plug->job);
}

/**
 * start_late - start blocks, or leave it to the end of the plug
 * @at: the target
 * @started: blocks from blocks_add_touch()
 *
 * Called without the lock.
 */
void start_late(struct align_target *at, struct list_head *started)
{
	struct list_head *entry;
	struct blk_plug_cb *cb;

	if (list_empty(started))
		return;
	cb = blk_check_plugged(start_unplug, at, sizeof(struct start_plug));
	if (cb) {
		struct start_plug *plug = container_of(cb, struct start_plug, cb);

		if (!plug->blocks.next)
			INIT_LIST_HEAD(&plug->blocks);
		list_for_each(entry, started)
			plug->nr++;
		list_splice_tail_init(started, &plug->blocks);
		/* A batch must not use up max_blocks before any is served. */
		if (plug->nr < READ_ONCE(at->engine.blocks.max) / START_PLUG_PART)
			return;
		plug->nr = 0;
		start_now(at, &plug->blocks);
		return;
	}
	start_now(at, started);
}
