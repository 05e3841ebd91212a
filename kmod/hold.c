// SPDX-License-Identifier: GPL-2.0
/*
 * Holding: touches that are acknowledged as soon as they are copied.
 *
 * A block holds from its first such touch on, whatever states it goes through,
 * until what it holds is settled: written, overwritten, discarded or dropped.
 * In between, whoever is promised stable data waits for it (struct
 * align_waiter), and whoever reads takes its bytes from the buffer (overlay.c).
 *
 * When a block leaves HELD
 * ------------------------
 * At once if its last missing sector comes, or a touch that may not be held.
 * Otherwise when the emptying work takes it, with those of its neighbours that
 * are held, because
 *   - somebody waits: blocks that began to hold up to blocks->empty_seq, or a
 *     range for this one block;
 *   - hold_ms are over, for the oldest;
 *   - more than three quarters of max_blocks are held: the oldest go, until it
 *     is half of it;
 *   - nothing may be held any more: suspend, another mode, reboot.
 * What could not be written stays, in shard->failed, and the target is
 * degraded. It is tried again for each waiter, and HOLD_RETRY_MS after it failed,
 * with the neighbours that failed behind it.
 *
 * The drain
 * ---------
 * The emptying work is one work item, so one thread at a time chooses what is
 * written next. Only that thread looks at blocks->drain. It takes blocks in HELD
 * only, each under the lock of the block's shard, which moves them to COLLECT and
 * makes them its own to start. Nothing is chosen while SPARE_MAX_RUNS runs read
 * into memory of their own, or while the target is frozen.
 *
 * In each shard only the first block of each list has to be looked at:
 *   - shard->held has the order in which blocks began to hold, by block->seq. So
 *     what a waiter waits for is in front, then what has been held for too long;
 *   - shard->urgent has blocks that a range waits for, in the order in which they
 *     came there: one that comes cannot pass one that is there;
 *   - shard->failed has the order in which blocks failed, by block->seq.
 * Of these kinds one block is taken at a time, with its neighbours, in turn
 * (drain_next()): of what a range or a waiter waits for, from the shards in turn;
 * the oldest of all shards; what failed, from the shards in turn. No kind is
 * preferred, so none can starve: a flush that waits for N blocks in shard->held is
 * served by the turns of the oldest alone, after DRAIN_TURNS * N choices, each of
 * which costs a read and a write of one run, and if that fails one more of each
 * block. A block in shard->urgent waits for those in front of it, which do not
 * become more.
 *
 * What is at stake
 * ----------------
 * The gauge held_bytes is the sum of the sectors in block->kept of all blocks with
 * block->held; the age of one of these counts from block->held_ns. All three, and
 * shard->by_age, change under the lock of the block's shard, and at these places
 * only:
 *   - hold_begin() sets block->held_ns, of a block in no state yet or in KNOWN, and
 *     puts the block at the end of shard->by_age;
 *   - hold_touch() adds to block->kept, of such a block or of one in HELD;
 *   - hold_overwritten() takes from block->kept, of a block in WAIT;
 *   - hold_end() empties block->kept, and takes the block out of shard->by_age: of
 *     a block in WRITE or PASS, which was written, in WAIT, which was overwritten,
 *     or in HELD, which is dropped.
 * In between, a block may be in any state but KNOWN, and in any other list or none,
 * and its write may have failed. So only shard->by_age has all of them, and
 * hold_oldest_ns() looks at its first block: anybody may read the age, at any time,
 * and a read costs one block of each shard, however many blocks are held.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "block_state.h"
#include "compat.h"
#include "lower.h"
#include "node.h"
#include "trace.h"

/* How often the write of failed blocks is tried though nobody asks for it. */
#define HOLD_RETRY_MS	5000
/*
 * How long suspend, removal and an ioctl write what is held. After that suspend
 * and removal begin with no other block, and wait for those only that are read or
 * written; an ioctl fails.
 */
#define HOLD_DEADLINE_MS	30000

/*
 * Set for good at the reboot's deadline; read under blocks->lock, or under that of a
 * shard. Behind it the emptying work sends nothing, and lets what waits for a held
 * block pass instead: see hold_let_pass().
 */
static bool reboot_over;

/* Whether held blocks must stay where they are. */
static bool hold_is_frozen(const struct align_blocks *blocks)
{
	return READ_ONCE(blocks->frozen) || READ_ONCE(reboot_over);
}

/**
 * hold_allowed - whether the touches of a write may be acknowledged early
 * @at: the target
 * @bio: the write
 *
 * Root can switch the write cache of a queue off, and then no flush comes, nor
 * from who looked while the device had none: node_sees_cache().
 */
bool hold_allowed(const struct align_target *at, const struct bio *bio)
{
	return node_sees_cache(at->node) && READ_ONCE(at->blocks.holding) &&
	       !(bio->bi_opf & REQ_FUA) && !READ_ONCE(at->node->unflushed);
}

/* Schedule the work that writes held blocks. Any context. */
void hold_kick(struct align_target *at)
{
	queue_work(at->blocks.jobs.wq, &at->blocks.empty);
}

static void hold_due(struct timer_list *timer)
{
	hold_kick(container_of(timer, struct align_target, blocks.due));
}

/* Wake hold_freeze(): a held block is no longer in flight. */
static void hold_wake(struct align_blocks *blocks)
{
	if (wq_has_sleeper(&blocks->quiet))
		wake_up(&blocks->quiet);
}

/*
 * Tell the waiters that the block with number @seq is settled, or has failed
 * once more. blocks->lock held.
 */
static void hold_settle(struct align_blocks *blocks, u64 seq, bool failed)
{
	struct align_waiter *waiter, *tmp;

	list_for_each_entry_safe(waiter, tmp, &blocks->waiters, list) {
		if (seq > waiter->seq)
			continue;
		if (failed)
			waiter->failed = true;
		if (!--waiter->left) {
			list_del(&waiter->list);
			waiter->done(waiter);
		}
	}
}

/* Add @change to the number of failed blocks. blocks->lock held. */
static void hold_count_failed(struct align_target *at, int change)
{
	struct align_blocks *blocks = &at->blocks;
	bool before = blocks->nr_failed;

	blocks->nr_failed += change;
	ledger_add(at->ledger, degraded, change);
	if (!before)
		ledger_inc(at->ledger, times_degraded);
	if (before != !!blocks->nr_failed)
		schedule_work(&blocks->event);
}

static void hold_event(struct work_struct *work)
{
	struct align_target *at =
		container_of(work, struct align_target, blocks.event);
	struct align_blocks *blocks = &at->blocks;
	unsigned int nr;

	spin_lock_irq(&blocks->lock);
	nr = blocks->nr_failed;
	spin_unlock_irq(&blocks->lock);

	/* What came and went in between needs no words. */
	if (blocks->said_degraded == !!nr)
		return;
	blocks->said_degraded = nr;
	if (nr)
		DMERR_LIMIT("%s: degraded: cannot write held blocks to %s; flushes fail",
			    dm_device_name(at->node->md), at->dev->name);
	else
		DMWARN_LIMIT("%s: no longer degraded",
			     dm_device_name(at->node->md));
	dm_table_event(at->ti->table);
}

/* Return how many sectors a block holds. Lock held. */
static unsigned int hold_sectors(const struct align_block *block)
{
	return bitmap_weight(block->kept, ALIGN_MAX_BLOCK_SECTORS);
}

/* Book a change of what a block holds, @before sectors until now. Lock held. */
static void hold_count_bytes(const struct align_block *block,
			     unsigned int before)
{
	s64 change = (s64)hold_sectors(block) - before;

	ledger_add(block->single.at->ledger, held_bytes, change * SECTOR_SIZE);
}

/* Let a block begin to hold. Return: false if it must not. Lock held. */
static bool hold_begin(struct align_block *block,
		       const struct align_touch *touch)
{
	struct align_target *at = block->single.at;
	struct align_blocks *blocks = &at->blocks;
	bool holding;

	spin_lock(&blocks->lock);
	holding = blocks->holding;
	if (holding) {
		block->seq = ++blocks->seq;
		WRITE_ONCE(blocks->nr_held, blocks->nr_held + 1);
	}
	spin_unlock(&blocks->lock);
	if (!holding)
		return false;
	block->held_ns = touch->io->start_ns;
	block->since = jiffies;
	list_add_tail(&block->by_age, &block_shard(block)->by_age);
	ledger_inc(at->ledger, held_blocks);
	return true;
}

/**
 * hold_touch - copy a touch and hold it
 * @block: a block that no range touches, in HELD or about to be held or started
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

	if (!block->held && !hold_begin(block, touch))
		return false;
	block->held++;
	block->place = align_placement(touch->io->bio);
	buffer_copy_touch(at, block->vecs, touch);
	bitmap_set(block->kept, touch->part.first, touch->part.count);
	hold_count_bytes(block, before);
	bitmap_copy(block->covered, block->kept, ALIGN_MAX_BLOCK_SECTORS);
	if (!align_io_is_zeroes(touch->io))
		block->held_data = true;
	touch->held = true;
	ledger_inc(at->ledger, touches_held);
	return true;
}

/* Whether a waiter waits for a held block. Lock held. */
static bool hold_is_awaited(const struct align_block *block)
{
	return block->seq <= READ_ONCE(block->single.at->blocks.empty_seq);
}

/* Whether a block must not be held longer if @resting blocks rest. Lock held. */
static bool hold_is_over_of(const struct align_block *block,
			    unsigned int resting)
{
	struct align_blocks *blocks = &block->single.at->blocks;
	unsigned int max = READ_ONCE(blocks->max);

	if (resting > max - max / 4)
		WRITE_ONCE(blocks->pressed, true);
	else if (resting <= max / 2)
		WRITE_ONCE(blocks->pressed, false);
	return block->waiting || !READ_ONCE(blocks->holding) ||
	       READ_ONCE(blocks->pressed) ||
	       hold_is_awaited(block) ||
	       time_after_eq(jiffies, block->since +
			     msecs_to_jiffies(READ_ONCE(blocks->hold_ms)));
}

/**
 * hold_is_over - whether a block must not be held any longer
 * @block: a held block
 *
 * Called with the lock of the block's shard held.
 */
bool hold_is_over(const struct align_block *block)
{
	struct align_blocks *blocks = &block->single.at->blocks;

	return hold_is_over_of(block, atomic_read(&blocks->nr_resting));
}

/**
 * hold_rest - put a held block into HELD
 * @block: a held block in no list, of which no request is in flight
 *
 * A target that holds nothing more is frozen, and may be freed, as soon as all its
 * held blocks rest: hold_freeze() looks at the counts without the shard's lock, and
 * then cancels work and timer. So this block is counted last, when nothing here
 * queues the work or sets the timer any more, and hold_freeze() sees both done when
 * it sees the count. Behind that, hold_wake() touches blocks->quiet only, and the
 * caller the shard's lock and lists: hold_exit() takes the lock of each shard before
 * anything is freed.
 *
 * Called with the lock of the block's shard held.
 */
void hold_rest(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_shard *shard = block_shard(block);
	struct align_blocks *blocks = &at->blocks;
	struct list_head *list, *place;
	struct align_block *other;
	atomic_t *count;

	block->state = BLOCK_IS_HELD;
	bitmap_copy(block->covered, block->kept, ALIGN_MAX_BLOCK_SECTORS);
	if (block->waiting && !block->failed) {
		list_add_tail(&block->list, &shard->urgent);
	} else {
		list = block->failed ? &shard->failed : &shard->held;
		place = list;
		list_for_each_entry_reverse(other, list, list) {
			if (other->seq < block->seq) {
				place = &other->list;
				break;
			}
		}
		list_add(&block->list, place);
	}
	count = block->failed ? &blocks->nr_idle : &blocks->nr_resting;
	if (block->failed ||
	    hold_is_over_of(block, atomic_read(&blocks->nr_resting) + 1))
		hold_kick(at);
	else
		timer_reduce(&blocks->due, block->since +
			     msecs_to_jiffies(READ_ONCE(blocks->hold_ms)));
	/* Pairs with smp_rmb() in hold_is_quiet(). */
	smp_mb__before_atomic();
	atomic_inc(count);
	hold_wake(blocks);
}

/**
 * hold_hurry - have a block written before others
 * @block: a block in HELD, not failed, for which one more range waits
 *
 * Called with the lock of the block's shard held.
 */
void hold_hurry(struct align_block *block)
{
	if (block->waiting == 1)
		list_move_tail(&block->list, &block_shard(block)->urgent);
	hold_kick(block->single.at);
}

/**
 * hold_take_back - send no block whose held touches must stay where they are
 * @block: a block in COLLECT, the caller's to start
 *
 * Called with the lock of the block's shard held.
 *
 * Return: true if nothing may be sent any more, and the block holds something and
 * has no touch that waits: then it is in HELD, or in WAIT if ranges waited for it,
 * and no longer the caller's.
 */
bool hold_take_back(struct align_block *block)
{
	if (!hold_is_frozen(&block->single.at->blocks) || !block->held ||
	    !list_empty(&block->touches))
		return false;
	list_del_init(&block->list);
	if (block->waiting)
		block_end_turn(block);
	else
		hold_rest(block);
	return true;
}

/* End the holding of a block whose held touches are settled. Lock held. */
static void hold_end(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_blocks *blocks = &at->blocks;
	u64 ns = ktime_get_ns() - block->held_ns;
	unsigned int before = hold_sectors(block);

	block->held = 0;
	block->held_data = false;
	list_del(&block->by_age);
	bitmap_zero(block->kept, ALIGN_MAX_BLOCK_SECTORS);
	hold_count_bytes(block, before);
	ledger_dec(at->ledger, held_blocks);
	this_cpu_inc(at->ledger->cpu->hold_time[align_latency_bin(ns)]);

	spin_lock(&blocks->lock);
	WRITE_ONCE(blocks->nr_held, blocks->nr_held - 1);
	if (block->failed)
		hold_count_failed(at, -1);
	block->failed = false;
	hold_settle(blocks, block->seq, false);
	spin_unlock(&blocks->lock);
	hold_wake(blocks);
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
	struct align_blocks *blocks = &block->single.at->blocks;

	spin_lock(&blocks->lock);
	hold_settle(blocks, block->seq, true);
	/* Who waits from now on, waits for the next attempt. */
	block->seq = ++blocks->seq;
	if (!block->failed)
		hold_count_failed(block->single.at, 1);
	block->failed = true;
	spin_unlock(&blocks->lock);
	block->since = jiffies;
}

/**
 * hold_overwritten - end what a block holds of the sectors of a range
 * @block: a held block in WAIT
 * @io: a write whose range over the block has ended well
 *
 * A drive may ignore a discard, and then the held bytes are still the newest. So
 * only one of a whole block ends anything, and only what could not be written
 * (rule 7; another block comes here with a discard only behind the deadline of a
 * reboot). A drive may not ignore a secure erase, which is treated like
 * write-zeroes.
 *
 * Called with the lock of the block's shard held.
 */
void hold_overwritten(struct align_block *block, const struct align_io *io)
{
	struct align_target *at = block->single.at;
	unsigned int before = hold_sectors(block);
	struct align_touch *touch;
	u32 from, to;

	align_overlap(&at->geometry, block->number, io->start, io->end, &from,
		      &to);
	if (bio_op(io->bio) == REQ_OP_DISCARD &&
	    (!block->failed || to - from < align_block_sectors(&at->geometry)))
		return;
	bitmap_clear(block->kept, from, to - from);
	hold_count_bytes(block, before);
	bitmap_copy(block->covered, block->kept, ALIGN_MAX_BLOCK_SECTORS);
	list_for_each_entry(touch, &block->touches, list)
		bitmap_set(block->covered, touch->part.first,
			   touch->part.count);
	if (bitmap_empty(block->kept, ALIGN_MAX_BLOCK_SECTORS))
		hold_resolve(block, RMW_SUPERSEDED, RMW_SUPERSEDED);
}

/**
 * hold_leave - take a block in HELD out of its list
 * @block: a block in HELD
 *
 * Called with the lock of the block's shard held.
 */
void hold_leave(struct align_block *block)
{
	list_del_init(&block->list);
	if (block->failed)
		atomic_dec(&block->single.at->blocks.nr_idle);
	else
		atomic_dec(&block->single.at->blocks.nr_resting);
	/* Pairs with the first smp_rmb() in hold_is_quiet(): it ends later. */
	smp_mb__after_atomic();
}

/* Take a block out of HELD, for the caller to start. Lock held. */
static void hold_take(struct align_block *block, struct list_head *started)
{
	hold_leave(block);
	block->state = BLOCK_IS_COLLECT;
	list_add_tail(&block->list, started);
}

static struct align_block *block_before(struct align_block *block)
{
	return rb_entry_safe(rb_prev(&block->rb), struct align_block, rb);
}

/* Whether a block in HELD needs no read. Lock held. */
static bool block_is_kept(const struct align_block *block)
{
	return bitmap_full(block->kept,
			   align_block_sectors(&block->single.at->geometry));
}

/*
 * Whether @other is held, too, lies @distance blocks after @block, and may go
 * with it: a young one, of which a part is missing, had better wait for that.
 * Lock held.
 */
static bool hold_is_neighbour(const struct align_block *block,
			      const struct align_block *other, s64 distance)
{
	struct align_blocks *blocks = &block->single.at->blocks;
	unsigned long half;

	if (!other || other->number != block->number + distance ||
	    other->state != BLOCK_IS_HELD || other->failed)
		return false;
	half = msecs_to_jiffies(READ_ONCE(blocks->hold_ms)) / 2;
	return block_is_kept(other) || hold_is_over(other) ||
	       time_after_eq(jiffies, other->since + half);
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
		hold_rest(block);
		return;
	}
	for (nr = 1; other && nr < max; nr++) {
		block = other;
		other = hold_before(block);
		hold_take(block, started);
	}
}

/* Take a held block and its held neighbours, for one request. Lock held. */
static void hold_gather(struct align_target *at, struct align_block *block,
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
		hold_take(block, started);
		if (!hold_is_neighbour(block, other, 1))
			break;
		block = other;
	}
}

/* Whether the write of a block in shard->failed is to be tried again. */
static bool hold_is_retried(const struct align_block *block)
{
	return hold_is_awaited(block) ||
	       time_after_eq(jiffies, block->since +
			     msecs_to_jiffies(HOLD_RETRY_MS));
}

/*
 * Take the failed block that waits longest, and those behind it in the list that
 * are its neighbours, whether it is their time or not, for one request; at most
 * BLOCKS_BATCH. Lock held.
 */
static void hold_retry(struct align_target *at, struct align_block *block,
		       struct list_head *started)
{
	struct align_shard *shard = block_shard(block);
	unsigned int max = min_t(unsigned int, BLOCKS_BATCH,
				 run_max_blocks(at, block->number));
	struct align_block *tmp;
	u64 next = block->number;

	list_for_each_entry_safe_from(block, tmp, &shard->failed, list) {
		if (!max-- || block->number != next)
			break;
		hold_take(block, started);
		next++;
	}
}

/*
 * Return the block of a kind that is to be taken from a shard, or NULL. Each is
 * the first one of a list. Lock held.
 */
static struct align_block *hold_first(struct align_shard *shard,
				      enum drain_turn turn)
{
	struct align_block *block;

	switch (turn) {
	case DRAIN_URGENT:
		block = list_first_entry_or_null(&shard->urgent,
						 struct align_block, list);
		if (block)
			return block;
		block = list_first_entry_or_null(&shard->held,
						 struct align_block, list);
		if (block && hold_is_awaited(block))
			return block;
		break;
	case DRAIN_OLDEST:
		block = list_first_entry_or_null(&shard->held,
						 struct align_block, list);
		if (block && hold_is_over(block))
			return block;
		break;
	case DRAIN_FAILED:
		block = list_first_entry_or_null(&shard->failed,
						 struct align_block, list);
		if (block && hold_is_retried(block))
			return block;
		break;
	case DRAIN_TURNS:
		break;
	}
	return NULL;
}

/* Look at what is to be taken from a shard. */
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
 * Take the blocks for one request that are to be written next; see "The drain".
 * Return: false if there are none.
 */
static bool hold_take_next(struct align_target *at, struct list_head *started)
{
	struct align_blocks *blocks = &at->blocks;
	struct drain_shard found[ALIGN_SHARDS] = {};
	struct align_block *block;
	struct align_shard *shard;
	enum drain_turn turn;
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		hold_survey(&blocks->shard[i], &found[i]);
	i = drain_next(&blocks->drain, found, ALIGN_SHARDS, &turn);
	if (i == ALIGN_SHARDS)
		return false;
	shard = &blocks->shard[i];
	spin_lock_irq(&shard->lock);
	/* It may have gone its way meanwhile. */
	block = hold_first(shard, turn);
	if (block && turn == DRAIN_FAILED)
		hold_retry(at, block, started);
	else if (block)
		hold_gather(at, block, started);
	spin_unlock_irq(&shard->lock);
	return true;
}

/* Return the jiffies until @ms are over since a block rests, or failed. Lock held. */
static unsigned long hold_left_of(const struct align_block *block,
				  unsigned int ms)
{
	unsigned long end = block->since + msecs_to_jiffies(ms);

	return time_after(end, jiffies) ? end - jiffies : 0;
}

/* Return the jiffies until a block of a shard is due, or MAX_JIFFY_OFFSET. */
static unsigned long hold_left(struct align_blocks *blocks,
			       struct align_shard *shard)
{
	unsigned long left = MAX_JIFFY_OFFSET;
	struct align_block *block;

	spin_lock_irq(&shard->lock);
	block = list_first_entry_or_null(&shard->failed, struct align_block,
					 list);
	if (block)
		left = hold_left_of(block, HOLD_RETRY_MS);
	block = list_first_entry_or_null(&shard->held, struct align_block,
					 list);
	if (block)
		left = min(left, hold_left_of(block,
					      READ_ONCE(blocks->hold_ms)));
	spin_unlock_irq(&shard->lock);
	return left;
}

/*
 * Tell whether a held block may be sent. If not, the end of a run, or the
 * resume, schedules the work again.
 */
static bool hold_may_send(struct align_blocks *blocks)
{
	return !hold_is_frozen(blocks) && spare_has_room(&blocks->spare);
}

/*
 * Let what waits for held blocks of a shard pass, because these blocks will not be
 * written. Each of these blocks is in WAIT then, as if its ranges had come while it
 * was younger (rule 7): they settle what they overwrite, once they have ended well,
 * and the rest stays held. At most BLOCKS_BATCH blocks. Return: whether there was one.
 */
static bool shard_let_pass(struct align_shard *shard)
{
	struct align_block *block, *tmp;
	unsigned int nr = 0;

	spin_lock_irq(&shard->lock);
	list_for_each_entry_safe(block, tmp, &shard->urgent, list) {
		if (nr++ == BLOCKS_BATCH)
			break;
		hold_leave(block);
		block_end_turn(block);
	}
	spin_unlock_irq(&shard->lock);
	return nr;
}

/* Behind the deadline of a reboot, let no request wait for a held block. */
static void hold_let_pass(struct align_blocks *blocks)
{
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		while (shard_let_pass(&blocks->shard[i]))
			cond_resched();
}

/* Write blocks that must not be held any longer; set the timer for the next. */
static void hold_empty_work(struct work_struct *work)
{
	struct align_target *at = container_of(work, struct align_target,
					       blocks.empty);
	struct align_blocks *blocks = &at->blocks;
	unsigned long left = MAX_JIFFY_OFFSET;
	LIST_HEAD(started);
	unsigned int i;

	if (READ_ONCE(reboot_over)) {
		hold_let_pass(blocks);
		return;
	}
	for (;; cond_resched()) {
		if (!hold_may_send(blocks))
			return;
		if (!hold_take_next(at, &started))
			break;
		start_now(at, &started);
	}

	for (i = 0; i < ALIGN_SHARDS; i++)
		left = min(left, hold_left(blocks, &blocks->shard[i]));
	if (left < MAX_JIFFY_OFFSET)
		timer_reduce(&blocks->due, jiffies + left);
}

/* Let @waiter wait until all blocks held now are settled. blocks->lock held. */
static void hold_wait(struct align_target *at, struct align_waiter *waiter)
{
	struct align_blocks *blocks = &at->blocks;

	waiter->seq = blocks->seq;
	waiter->left = blocks->nr_held;
	waiter->failed = false;
	list_add_tail(&waiter->list, &blocks->waiters);
	WRITE_ONCE(blocks->empty_seq, blocks->seq);
	hold_kick(at);
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
	struct align_blocks *blocks = &at->blocks;
	int ret = 0;

	spin_lock_irq(&blocks->lock);
	if (blocks->nr_held && hold_is_frozen(blocks)) {
		ret = -EIO;
	} else if (blocks->nr_held) {
		hold_wait(at, waiter);
		ret = 1;
	}
	spin_unlock_irq(&blocks->lock);
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
	struct align_blocks *blocks = &at->blocks;
	bool waits;

	/* Whoever completes holds the lock, and must be done with the target. */
	spin_lock_irq(&blocks->lock);
	waits = waiter->left;
	if (waits) {
		list_del(&waiter->list);
		waiter->left = 0;
	}
	spin_unlock_irq(&blocks->lock);
	return waits;
}

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
 * hold_empty - write all held blocks
 * @at: the target
 * @timeout: how long to wait, in jiffies
 * @state: TASK_UNINTERRUPTIBLE or TASK_KILLABLE
 *
 * Return: 0 if all that was held is settled, -EIO if some of it could not be
 * written, -ETIMEDOUT, -ERESTARTSYS if the caller was killed before.
 */
int hold_empty(struct align_target *at, unsigned long timeout,
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

/**
 * hold_stop - hold no touch from now on, and begin to write held blocks
 * @at: the target
 * @why: HOLD_STOPPED_...
 *
 * Return: whether blocks are held that may be written.
 */
bool hold_stop(struct align_target *at, unsigned int why)
{
	struct align_blocks *blocks = &at->blocks;
	bool writes;

	spin_lock_irq(&blocks->lock);
	blocks->stopped |= why;
	WRITE_ONCE(blocks->holding, false);
	writes = blocks->nr_held && !hold_is_frozen(blocks);
	spin_unlock_irq(&blocks->lock);
	hold_kick(at);
	return writes;
}

/**
 * hold_start - remove a reason against holding
 * @at: the target
 * @why: the reason, HOLD_STOPPED_...
 */
void hold_start(struct align_target *at, unsigned int why)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	blocks->stopped &= ~why;
	WRITE_ONCE(blocks->holding,
		   READ_ONCE(at->mode) == ALIGN_COALESCE && !blocks->stopped);
	spin_unlock_irq(&blocks->lock);
}

/*
 * Tell whether no held block is in flight, when nothing is held any more. Blocks
 * may end meanwhile, by a write or by a message that drops them, or fail, and are
 * not counted as resting before they rest. So in this order the number that rests
 * may come out too small, and equals the first one only if it is right.
 */
static bool hold_is_quiet(struct align_blocks *blocks)
{
	unsigned int held = READ_ONCE(blocks->nr_held);
	unsigned int rest;

	/* Pairs with the order in hold_drop(): it rests no more, then it ends. */
	smp_rmb();
	rest = atomic_read(&blocks->nr_idle);
	/* A block rests first, and is counted among the failed ones later. */
	smp_rmb();
	rest += atomic_read(&blocks->nr_resting);
	/* Pairs with the barrier in hold_rest(): what it did is seen. */
	smp_rmb();
	return held == rest;
}

/* Log that a write below has not ended; nothing else ends the wait. */
static void hold_say_waiting(const struct align_target *at)
{
	DMWARN_LIMIT("%s: still waiting for %s to complete writes of held blocks",
		     dm_device_name(at->node->md), at->dev->name);
}

static void hold_wait_quiet(struct align_target *at)
{
	while (!wait_event_timeout(at->blocks.quiet,
				   hold_is_quiet(&at->blocks),
				   msecs_to_jiffies(HOLD_DEADLINE_MS)))
		hold_say_waiting(at);
}

/**
 * hold_presuspend - hold no more, and let the suspend wait for what is held
 * @at: the target
 *
 * device-mapper waits for the bios that it mapped, and that wait can be
 * interrupted; it knows nothing of held blocks. So the device is sent a flush of
 * the engine's own, which ends when they are written. Nobody else waits for that
 * flush: it may be kept in front of the device until a resume. Without it, for
 * want of memory, postsuspend waits for held blocks by itself.
 *
 * A device without openers gets none: it may be about to be removed, and then
 * device-mapper frees it without a wait for bios, which this one would outlive.
 */
void hold_presuspend(struct align_target *at)
{
	struct bio *bio;

	hold_stop(at, HOLD_STOPPED_SUSPEND);
	if (!READ_ONCE(at->blocks.nr_held) ||
	    !disk_openers(dm_disk(at->node->md)))
		return;
	bio = bio_alloc(dm_disk(at->node->md)->part0, 0,
			REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC,
			GFP_NOWAIT | __GFP_NOWARN);
	if (!bio)
		return;
	/* Not on account of whoever suspends the device: that may be throttled. */
	bio_associate_blkg_from_css(bio, NULL);
	bio->bi_end_io = bio_put;
	submit_bio_noacct(bio);
}

/* Fail all waiters. blocks->lock held. */
static void hold_fail_waiters(struct align_blocks *blocks)
{
	struct align_waiter *waiter, *tmp;

	list_for_each_entry_safe(waiter, tmp, &blocks->waiters, list) {
		list_del(&waiter->list);
		waiter->left = 0;
		waiter->failed = true;
		waiter->done(waiter);
	}
}

/**
 * hold_fail - fail all waiters
 * @at: the target
 *
 * Return: the number of held blocks.
 */
unsigned int hold_fail(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;
	unsigned int nr;

	spin_lock_irq(&blocks->lock);
	nr = blocks->nr_held;
	hold_fail_waiters(blocks);
	spin_unlock_irq(&blocks->lock);
	hold_kick(at);
	return nr;
}

/* Send no held block of any target from now on: the deadline of a reboot is over. */
void hold_send_no_more(void)
{
	WRITE_ONCE(reboot_over, true);
}

/**
 * hold_freeze - send no held block until hold_thaw(), and fail the waiters
 * @at: the target, which hold_empty() has emptied as far as that is possible
 *
 * Returns when nothing held is in flight. Nothing is sent until hold_thaw().
 * What is still held stays, and whoever waits for it fails.
 */
static void hold_freeze(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	WRITE_ONCE(blocks->frozen, true);
	spin_unlock_irq(&blocks->lock);
	/* The work may be asleep below with blocks that it has taken. */
	hold_wait_quiet(at);
	/* The work may set the timer once more, the timer queue the work. */
	cancel_work_sync(&blocks->empty);
	timer_delete_sync(&blocks->due);
	cancel_work_sync(&blocks->empty);
	/* And it may have been about to take blocks. */
	hold_wait_quiet(at);

	spin_lock_irq(&blocks->lock);
	hold_fail_waiters(blocks);
	spin_unlock_irq(&blocks->lock);

	/*
	 * device-mapper has waited for flushes, but does not do so when the
	 * device is removed.
	 */
	while (!wait_event_timeout(blocks->quiet,
				   !READ_ONCE(blocks->nr_flushes),
				   msecs_to_jiffies(HOLD_DEADLINE_MS)))
		hold_say_waiting(at);
	/* Whoever woke this holds the lock, and must be done with the target. */
	spin_lock_irq(&blocks->lock);
	spin_unlock_irq(&blocks->lock);
}

/**
 * hold_postsuspend - write what is still held, and send nothing more
 * @at: the target, whose bios have all ended
 *
 * The file system may have been frozen since hold_presuspend(), and what could
 * not be written is tried once more.
 */
void hold_postsuspend(struct align_target *at)
{
	switch (hold_empty(at, msecs_to_jiffies(HOLD_DEADLINE_MS),
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
 * hold_settle_for_ioctl - write what is held before a command passes
 * @at: the target
 *
 * Return: 0, -EIO if held blocks could not be written, -ETIMEDOUT if that takes
 * too long, -ERESTARTSYS if the caller was killed.
 */
int hold_settle_for_ioctl(struct align_target *at)
{
	return hold_empty(at, msecs_to_jiffies(HOLD_DEADLINE_MS),
			  TASK_KILLABLE);
}

/* Hold and send again: the device is resumed, or its suspend was undone. */
void hold_thaw(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	WRITE_ONCE(blocks->frozen, false);
	spin_unlock_irq(&blocks->lock);
	hold_start(at, HOLD_STOPPED_SUSPEND);
	/* What could not be written is tried again. */
	if (READ_ONCE(blocks->nr_held))
		hold_kick(at);
}

/* Forget the known sectors around held ones. */
void hold_forget(struct align_target *at)
{
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++) {
		struct align_shard *shard = &at->blocks.shard[i];
		struct align_block *block;

		spin_lock_irq(&shard->lock);
		list_for_each_entry(block, &shard->held, list)
			block->valid = false;
		list_for_each_entry(block, &shard->urgent, list)
			block->valid = false;
		list_for_each_entry(block, &shard->failed, list)
			block->valid = false;
		spin_unlock_irq(&shard->lock);
	}
}

/* Set how long a block is held; blocks held for longer are written. */
void hold_set_ms(struct align_target *at, unsigned int ms)
{
	WRITE_ONCE(at->blocks.hold_ms, ms);
	hold_kick(at);
}

/*
 * Give up a block of a list of blocks in HELD. Return: false if there is none.
 */
static bool hold_drop(struct align_target *at, struct align_shard *shard,
		      struct list_head *list)
{
	struct align_block *block;
	unsigned int touches;
	u64 sector;

	spin_lock_irq(&shard->lock);
	block = list_first_entry_or_null(list, struct align_block, list);
	if (!block) {
		spin_unlock_irq(&shard->lock);
		return false;
	}
	sector = align_block_start(&at->geometry, block->number);
	touches = block->held;
	atomic_inc(&at->blocks.drops);
	hold_leave(block);
	hold_resolve(block, RMW_LOST, RMW_LOST);
	block_remove(block);
	spin_unlock_irq(&shard->lock);
	DMERR("%s: lost: %u held writes to the block at sector %llu of %s",
	      dm_device_name(at->node->md), touches, sector, at->dev->name);
	return true;
}

/**
 * hold_drop_failed - give up what could not be written
 * @at: the target
 *
 * Each block is logged, its touches are lost. A write in flight that has such a
 * touch fails, or has ended when this returns: hold_was_dropped().
 */
void hold_drop_failed(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		while (hold_drop(at, &blocks->shard[i],
				 &blocks->shard[i].failed))
			cond_resched();
	synchronize_rcu();
}

/**
 * hold_was_dropped - whether a write must not end well
 * @io: a write whose parts have ended
 *
 * A touch is held as soon as it is copied, and its write may end long after that,
 * when its other parts do. If what is held was given up in between, the write has
 * not been done. Which blocks were given up is not kept, so any of the target
 * counts.
 *
 * Any context.
 */
bool hold_was_dropped(const struct align_io *io)
{
	unsigned int i;

	for (i = 0; i < io->nr_touches; i++)
		if (io->touch[i].held)
			/* A drop of its block came behind the read of @drops. */
			return atomic_read(&io->at->blocks.drops) != io->drops;
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
 * @at: a target that cannot leave its node meanwhile, of whatever table
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

	/* Before blocks_init() there are no locks, and nothing is held. */
	if (!READ_ONCE(at->blocks.nr_held))
		return oldest;
	for (i = 0; i < ALIGN_SHARDS; i++)
		oldest = min(oldest, shard_oldest_ns(&at->blocks.shard[i]));
	return oldest;
}

/* Drop failed blocks, and blocks that the device did not take in time. */
static void hold_drop_all(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;
	unsigned int i;

	hold_drop_failed(at);
	for (i = 0; i < ALIGN_SHARDS; i++) {
		struct align_shard *shard = &blocks->shard[i];

		/* No range waits any more, so none of them is urgent. */
		WARN_ON(!list_empty(&shard->urgent));
		while (hold_drop(at, shard, &shard->held))
			cond_resched();
	}
}

static void flush_job(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, job);

	if (io->waiter.failed) {
		ledger_inc(io->at->ledger, flushes_failed);
		bio_io_error(io->bio);
		return;
	}
	/*
	 * dm starts the accounting of a flush once for all targets of a table,
	 * and without a lock; where others may do so at this moment, dm does it
	 * when the flush has ended.
	 */
	if (io->at->ti->len == dm_table_get_size(io->at->ti->table))
		dm_submit_bio_remap(io->bio, NULL);
	else
		submit_bio_noacct(io->bio);
}

static void flush_go(struct align_waiter *waiter)
{
	struct align_io *io = container_of(waiter, struct align_io, waiter);

	job_queue(&io->at->blocks.jobs, &io->job);
}

/**
 * hold_map_flush - map a flush of a target that holds something
 * @io: the flush
 *
 * It goes down when what is held now is on the device, and fails if some of it
 * cannot be written.
 *
 * Return: what map returns.
 */
int hold_map_flush(struct align_io *io)
{
	struct align_blocks *blocks = &io->at->blocks;
	unsigned long flags;

	job_init(&io->job, flush_job);
	io->waiter.done = flush_go;
	spin_lock_irqsave(&blocks->lock, flags);
	if (!blocks->nr_held) {
		spin_unlock_irqrestore(&blocks->lock, flags);
		return DM_MAPIO_REMAPPED;
	}
	io->held_flush = true;
	blocks->nr_flushes++;
	hold_wait(io->at, &io->waiter);
	/* A frozen target sends nothing: fail the pending waiters. */
	if (hold_is_frozen(blocks))
		hold_fail_waiters(blocks);
	spin_unlock_irqrestore(&blocks->lock, flags);
	return DM_MAPIO_SUBMITTED;
}

/**
 * hold_end_flush - note the end of a flush that waited for held blocks
 * @at: the target
 */
void hold_end_flush(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;
	unsigned long flags;

	spin_lock_irqsave(&blocks->lock, flags);
	if (!--blocks->nr_flushes)
		wake_up(&blocks->quiet);
	spin_unlock_irqrestore(&blocks->lock, flags);
}

void hold_init(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	INIT_LIST_HEAD(&blocks->waiters);
	init_waitqueue_head(&blocks->quiet);
	blocks->stopped = HOLD_STOPPED_SUSPEND;
	INIT_WORK(&blocks->empty, hold_empty_work);
	timer_setup(&blocks->due, hold_due, 0);
	INIT_WORK(&blocks->event, hold_event);
}

/* Drop all held blocks; no bio is in flight. */
void hold_exit(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	hold_freeze(at);
	hold_drop_all(at);
	cancel_work_sync(&blocks->event);
	WARN_ON(blocks->nr_held);
}
