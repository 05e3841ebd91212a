// SPDX-License-Identifier: GPL-2.0
/*
 * Holding: touches that are acknowledged as soon as they are copied.
 *
 * A block holds from its first such touch on, whatever states it goes through,
 * until what it holds is settled: written, overwritten, discarded or dropped.
 * In between, whoever is promised stable data waits for it (struct
 * align_waiter), and whoever reads takes its bytes from the buffer.
 *
 * When a block leaves HELD
 * ------------------------
 * At once if its last missing sector comes, or a touch that may not be held.
 * Otherwise when the emptying work takes it, with those of its neighbours that
 * are held, because
 *   - somebody waits: blocks that began to hold up to blocks->empty_seq;
 *   - hold_ms are over, for the oldest;
 *   - more than three quarters of max_blocks are held: the oldest go, until it
 *     is half of it;
 *   - nothing may be held any more: suspend, another mode, reboot.
 * blocks->held is kept in the order in which blocks began to hold, so only the
 * first has to be looked at.
 *
 * What could not be written stays, in blocks->failed, and the target is
 * degraded. It is tried again for each waiter, and every HOLD_RETRY_MS.
 *
 * Reads
 * -----
 * A read and the write of a held block may pass each other below, so a read that
 * looked for held bytes only at its end could return what was there before. It
 * therefore pins, when it is mapped, each block that holds some of its sectors,
 * and notes which. When it ends it takes those from the buffer, whatever became
 * of the block: they may be newer by then, but never older.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/reboot.h>
#include <linux/slab.h>

#include "block_state.h"
#include "node.h"
#include "trace.h"

/* How often the write of failed blocks is tried though nobody asks for it. */
#define HOLD_RETRY_MS	5000
/* What a reboot waits for at most, for each target. */
#define HOLD_REBOOT_MS	30000

/* All targets, for a reboot. */
static LIST_HEAD(targets);
/* Guards targets; held while one of them is emptied. */
static DEFINE_MUTEX(targets_lock);

/**
 * hold_allowed - whether the touches of a write may be acknowledged early
 * @at: the target
 * @bio: the write
 *
 * Root can switch the write cache of a queue off, and then no flush comes.
 */
bool hold_allowed(const struct align_target *at, const struct bio *bio)
{
	return READ_ONCE(at->blocks.holding) && !(bio->bi_opf & REQ_FUA) &&
	       bdev_write_cache(dm_disk(at->node->md)->part0);
}

/* See to it that what must be emptied is. Lock held, or not. */
void hold_kick(struct align_target *at)
{
	mod_delayed_work(at->blocks.wq, &at->blocks.empty, 0);
}

/* A block of @seq is settled, or has failed once more. Lock held. */
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

/* The target has become degraded, or is so no longer. Lock held. */
static void hold_count_failed(struct align_target *at, int change)
{
	struct align_blocks *blocks = &at->blocks;
	bool before = blocks->nr_failed;

	blocks->nr_failed += change;
	ledger_add(at->ledger, degraded, change);
	if (!before)
		ledger_inc(at->ledger, times_degraded);
	if (before != !!blocks->nr_failed)
		queue_work(blocks->wq, &blocks->event);
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
		DMERR_LIMIT("%s: degraded: held blocks cannot be written; flushes fail",
			    dm_device_name(at->node->md));
	else
		DMWARN_LIMIT("%s: no longer degraded",
			     dm_device_name(at->node->md));
	dm_table_event(at->ti->table);
}

/**
 * hold_touch - copy a touch and hold it
 * @block: in no list, no range there, about to rest or to be collected
 * @touch: it
 *
 * Called with blocks->lock held.
 */
void hold_touch(struct align_block *block, struct align_touch *touch)
{
	struct align_target *at = block->single.at;
	struct align_blocks *blocks = &at->blocks;

	if (!block->held++) {
		block->seq = ++blocks->seq;
		block->held_ns = touch->io->start_ns;
		block->since = jiffies;
		WRITE_ONCE(blocks->nr_held, blocks->nr_held + 1);
		ledger_inc(at->ledger, held_blocks);
	}
	block_copy_touch(block, touch);
	bitmap_set(block->kept, touch->part.first, touch->part.count);
	bitmap_copy(block->covered, block->kept, ALIGN_MAX_BLOCK_SECTORS);
	touch->held = true;
	ledger_inc(at->ledger, touches_held);
}

/* Why the oldest held block must be emptied now, if it must. Lock held. */
static bool hold_is_over(struct align_blocks *blocks,
			 const struct align_block *block)
{
	unsigned int max = READ_ONCE(blocks->max);

	if (blocks->nr_resting > max - max / 4)
		blocks->pressed = true;
	else if (blocks->nr_resting <= max / 2)
		blocks->pressed = false;
	return !blocks->holding || blocks->pressed ||
	       block->seq <= blocks->empty_seq ||
	       time_after_eq(jiffies, block->since +
			     msecs_to_jiffies(READ_ONCE(blocks->hold_ms)));
}

/**
 * hold_rest - nobody is busy with a block that holds something
 * @block: in no list
 *
 * Called with blocks->lock held.
 */
void hold_rest(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_blocks *blocks = &at->blocks;
	struct align_block *other;
	struct list_head *place;

	block->state = BLOCK_IS_HELD;
	bitmap_copy(block->covered, block->kept, ALIGN_MAX_BLOCK_SECTORS);
	if (block->failed) {
		list_add_tail(&block->list, &blocks->failed);
		hold_kick(at);
		return;
	}
	place = &blocks->held;
	list_for_each_entry_reverse(other, &blocks->held, list) {
		if (other->seq < block->seq) {
			place = &other->list;
			break;
		}
	}
	list_add(&block->list, place);
	blocks->nr_resting++;
	if (hold_is_over(blocks, block))
		hold_kick(at);
	else
		queue_delayed_work(blocks->wq, &blocks->empty,
				   msecs_to_jiffies(READ_ONCE(blocks->hold_ms)));
}

/* What a block holds is settled. Lock held. */
static void hold_end(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_blocks *blocks = &at->blocks;
	u64 ns = ktime_get_ns() - block->held_ns;

	block->held = 0;
	bitmap_zero(block->kept, ALIGN_MAX_BLOCK_SECTORS);
	WRITE_ONCE(blocks->nr_held, blocks->nr_held - 1);
	ledger_dec(at->ledger, held_blocks);
	this_cpu_inc(at->ledger->cpu->hold_time[align_latency_bin(ns)]);
	if (block->failed) {
		block->failed = false;
		hold_count_failed(at, -1);
	}
	hold_settle(blocks, block->seq, false);
}

/**
 * hold_resolve - what a block holds is settled: book it
 * @block: it
 * @how: what became of its oldest touch
 * @later: and of the others
 *
 * Called with blocks->lock held.
 */
void hold_resolve(struct align_block *block, enum rmw_how how,
		  enum rmw_how later)
{
	struct align_target *at = block->single.at;
	u64 ns = ktime_get_ns() - block->held_ns;
	unsigned int i;

	for (i = 0; i < block->held; i++) {
		ledger_book(at->ledger, how);
		trace_align_rmw(at->devt, block->number, how, ns);
		how = later;
	}
	hold_end(block);
}

/**
 * hold_failed - what a block holds could not be written
 * @block: it
 *
 * Called with blocks->lock held.
 */
void hold_failed(struct align_block *block)
{
	struct align_blocks *blocks = &block->single.at->blocks;

	hold_settle(blocks, block->seq, true);
	/* Who waits from now on, waits for the next attempt. */
	block->seq = ++blocks->seq;
	block->since = jiffies;
	if (!block->failed) {
		block->failed = true;
		hold_count_failed(block->single.at, 1);
	}
}

/**
 * hold_overwritten - newer data has reached the device
 * @block: in WAIT, holding something
 * @start: first sector that was overwritten or discarded
 * @end: the sector after the last
 *
 * Called with blocks->lock held.
 */
void hold_overwritten(struct align_block *block, u64 start, u64 end)
{
	const struct align_geometry *g = &block->single.at->geometry;
	u64 first = align_block_start(g, block->number);
	u32 from = start > first ? start - first : 0;
	u32 to = min_t(u64, end - first, align_block_sectors(g));
	struct align_touch *touch;

	bitmap_clear(block->kept, from, to - from);
	bitmap_copy(block->covered, block->kept, ALIGN_MAX_BLOCK_SECTORS);
	list_for_each_entry(touch, &block->touches, list)
		bitmap_set(block->covered, touch->part.first,
			   touch->part.count);
	if (bitmap_empty(block->kept, ALIGN_MAX_BLOCK_SECTORS))
		hold_resolve(block, RMW_SUPERSEDED, RMW_SUPERSEDED);
}

/**
 * hold_leave - take a block out of the list that it is in while in HELD
 * @block: in HELD
 *
 * Called with blocks->lock held.
 */
void hold_leave(struct align_block *block)
{
	list_del_init(&block->list);
	if (!block->failed)
		block->single.at->blocks.nr_resting--;
}

/* The caller starts a block that is in HELD. Lock held. */
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

/* Whether @other is held, too, and @distance blocks after @block. Lock held. */
static bool hold_is_neighbour(const struct align_block *block,
			      const struct align_block *other, s64 distance)
{
	return other && other->number == block->number + distance &&
	       other->state == BLOCK_IS_HELD && !other->failed;
}

/* Take a held block, and what lies beside it, for one request. Lock held. */
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

/* Take the failed blocks that are to be tried again. Lock held. */
static void hold_retry(struct align_blocks *blocks, struct list_head *started)
{
	unsigned long retry = msecs_to_jiffies(HOLD_RETRY_MS);
	struct align_block *block, *tmp;

	list_for_each_entry_safe(block, tmp, &blocks->failed, list)
		if (block->seq <= blocks->empty_seq ||
		    time_after_eq(jiffies, block->since + retry))
			hold_take(block, started);
}

/* Come back when the next block is due. Lock held. */
static void hold_arm(struct align_blocks *blocks)
{
	unsigned long delay = msecs_to_jiffies(HOLD_RETRY_MS);
	struct align_block *block;

	block = list_first_entry_or_null(&blocks->held, struct align_block,
					 list);
	if (block) {
		unsigned long end = block->since +
			msecs_to_jiffies(READ_ONCE(blocks->hold_ms));
		unsigned long left = time_after(end, jiffies) ?
			end - jiffies : 0;

		if (list_empty(&blocks->failed) || left < delay)
			delay = left;
	} else if (list_empty(&blocks->failed)) {
		return;
	}
	mod_delayed_work(blocks->wq, &blocks->empty, delay);
}

/* Send what must not be held any longer. */
static void hold_empty_work(struct work_struct *work)
{
	struct align_blocks *blocks =
		container_of(to_delayed_work(work), struct align_blocks, empty);
	struct align_target *at = container_of(blocks, struct align_target,
					       blocks);

	for (;;) {
		struct align_block *block;
		LIST_HEAD(started);

		spin_lock_irq(&blocks->lock);
		/* The end of a run comes back here. */
		if (blocks->frozen || blocks->spare_runs >= HOLD_MAX_RUNS)
			break;
		block = list_first_entry_or_null(&blocks->held,
						 struct align_block, list);
		if (block && hold_is_over(blocks, block))
			hold_gather(at, block, &started);
		else
			hold_retry(blocks, &started);
		if (list_empty(&started)) {
			hold_arm(blocks);
			break;
		}
		spin_unlock_irq(&blocks->lock);
		runs_send(at, &started);
	}
	spin_unlock_irq(&blocks->lock);
}

/* Everything that is held now shall be settled; @waiter waits. Lock held. */
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
 * struct hold_sync - somebody sleeps until what is held is settled
 * @waiter: see there
 * @settled: completed then
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
 * hold_empty - write what is held
 * @at: the target
 * @timeout: how long to wait, in jiffies
 *
 * Return: 0 if all that was held is settled, -EIO if some of it could not be
 * written, -ETIMEDOUT.
 */
int hold_empty(struct align_target *at, unsigned long timeout)
{
	struct align_blocks *blocks = &at->blocks;
	struct hold_sync sync;
	bool done;

	init_completion(&sync.settled);
	sync.waiter.done = hold_synced;
	spin_lock_irq(&blocks->lock);
	if (!blocks->nr_held || blocks->frozen) {
		bool left = blocks->nr_held;

		spin_unlock_irq(&blocks->lock);
		return left ? -EIO : 0;
	}
	hold_wait(at, &sync.waiter);
	spin_unlock_irq(&blocks->lock);

	wait_for_completion_timeout(&sync.settled, timeout);

	/* Whoever completes holds the lock, and must be done with the target. */
	spin_lock_irq(&blocks->lock);
	done = !sync.waiter.left;
	if (!done)
		list_del(&sync.waiter.list);
	spin_unlock_irq(&blocks->lock);
	if (!done)
		return -ETIMEDOUT;
	return sync.waiter.failed ? -EIO : 0;
}

/* Touches may be held from now on, if the mode says so. */
void hold_start(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	blocks->holding = at->mode == ALIGN_COALESCE && !blocks->suspended;
	spin_unlock_irq(&blocks->lock);
}

/* No touch is held from now on, and what is held is on its way. */
void hold_stop(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	blocks->holding = false;
	spin_unlock_irq(&blocks->lock);
	hold_kick(at);
}

/* The device is about to be suspended: no touch is held until hold_resume(). */
void hold_suspend(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	blocks->suspended = true;
	spin_unlock_irq(&blocks->lock);
	hold_stop(at);
}

/**
 * hold_freeze - the device is suspended, or goes away
 * @at: the target, on which nothing is held that could be written
 *
 * Nothing is sent until hold_resume().
 */
void hold_freeze(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	blocks->frozen = true;
	spin_unlock_irq(&blocks->lock);
	cancel_delayed_work_sync(&blocks->empty);
}

/* The device is not suspended any more, or was not in the end. */
void hold_resume(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_irq(&blocks->lock);
	blocks->suspended = false;
	blocks->frozen = false;
	spin_unlock_irq(&blocks->lock);
	hold_start(at);
	/* What could not be written is tried again. */
	if (READ_ONCE(blocks->nr_held))
		hold_kick(at);
}

/* Change how long a block is held; what is held for longer goes. */
void hold_set_ms(struct align_target *at, unsigned int ms)
{
	WRITE_ONCE(at->blocks.hold_ms, ms);
	hold_kick(at);
}

/**
 * hold_drop_failed - give up what could not be written
 * @at: the target
 *
 * Each block is logged, its touches are lost.
 */
void hold_drop_failed(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;
	struct align_block *block;

	spin_lock_irq(&blocks->lock);
	while ((block = list_first_entry_or_null(&blocks->failed,
						 struct align_block, list))) {
		u64 sector = align_block_start(&at->geometry, block->number);
		unsigned int touches = block->held;

		hold_resolve(block, RMW_LOST, RMW_LOST);
		block_remove(block);
		spin_unlock_irq(&blocks->lock);
		DMERR("%s: lost: %u acknowledged writes to the physical block at sector %llu of %s",
		      dm_device_name(at->node->md), touches, sector,
		      at->dev->name);
		spin_lock_irq(&blocks->lock);
	}
	spin_unlock_irq(&blocks->lock);
}

/* Sectors of @block that [@start, @end) covers, counted from its own first. */
static void block_overlap(const struct align_target *at,
			  const struct align_block *block, u64 start, u64 end,
			  u32 *from, u32 *to)
{
	u64 first = align_block_start(&at->geometry, block->number);

	*from = start > first ? start - first : 0;
	*to = min_t(u64, end - first, align_block_sectors(&at->geometry));
}

/* The next block that holds sectors before @end, from @block on. Lock held. */
static struct align_block *next_held(const struct align_target *at,
				     struct align_block *block, u64 start,
				     u64 end)
{
	for (; block && block->number <= align_block_of(&at->geometry, end - 1);
	     block = block_following(block)) {
		u32 from, to;

		if (!block->held)
			continue;
		block_overlap(at, block, start, end, &from, &to);
		if (find_next_bit(block->kept, to, from) < to)
			return block;
	}
	return NULL;
}

static void unpin(struct align_block *block)
{
	if (!--block->pins && block->gone)
		block_release(block);
}

/* Copy the sectors of a pin that a read covers. Lock held. */
static void pin_copy(const struct align_io *io, const struct align_pin *pin)
{
	struct align_target *at = io->at;
	struct align_block *block = pin->block;
	unsigned int size = block_vec_size(at);
	u64 first = align_block_start(&at->geometry, block->number);
	u64 start = io->read_iter.bi_sector;
	unsigned int sector;
	u32 from, to;

	block_overlap(at, block, start,
		      start + (io->read_iter.bi_size >> SECTOR_SHIFT), &from,
		      &to);
	for (sector = find_next_bit(pin->kept, to, from); sector < to;
	     sector = find_next_bit(pin->kept, to, sector + 1)) {
		unsigned int byte = sector << SECTOR_SHIFT;
		struct bvec_iter iter = io->read_iter;
		struct bio_vec bv;

		bio_advance_iter(io->bio, &iter,
				 (first + sector - start) << SECTOR_SHIFT);
		iter.bi_size = SECTOR_SIZE;
		__bio_for_each_segment(bv, io->bio, iter, iter) {
			memcpy_to_bvec(&bv, bvec_virt(&block->vecs[byte / size]) +
				       byte % size);
			byte += bv.bv_len;
		}
	}
}

/* Lay what is held over a read, if @ok, and let the blocks go. */
static void pins_end(struct align_io *io, bool ok)
{
	struct align_blocks *blocks = &io->at->blocks;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < io->nr_pins; i++) {
		spin_lock_irqsave(&blocks->lock, flags);
		if (ok)
			pin_copy(io, &io->pins[i]);
		unpin(io->pins[i].block);
		spin_unlock_irqrestore(&blocks->lock, flags);
	}
	if (io->pins != io->few_pins)
		kfree(io->pins);
	io->nr_pins = 0;
}

/**
 * hold_map_read - map a read of a target that holds something
 * @io: the read
 *
 * Pins the blocks that hold sectors of it. Where there is no memory for more
 * than a few, only the part with those few is accepted.
 *
 * Return: what map returns.
 */
int hold_map_read(struct align_io *io)
{
	struct align_target *at = io->at;
	struct align_blocks *blocks = &at->blocks;
	struct bio *bio = io->bio;
	u64 start = bio->bi_iter.bi_sector;
	u64 end = bio_end_sector(bio);
	u64 first = align_block_of(&at->geometry, start);
	struct align_block *block;
	unsigned int nr = 0;
	u32 sectors = 0;
	unsigned long flags;
	u64 stop = end;

	io->pins = io->few_pins;
	spin_lock_irqsave(&blocks->lock, flags);
	for (block = next_held(at, block_at_or_above(at, first), start, end);
	     block; block = next_held(at, block_following(block), start, end))
		nr++;
	if (nr > ALIGN_FEW_PINS) {
		struct align_pin *pins =
			kmalloc_array(nr, sizeof(*pins), BLOCK_GFP);

		if (pins)
			io->pins = pins;
		else
			nr = ALIGN_FEW_PINS;
	}
	for (block = next_held(at, block_at_or_above(at, first), start, end);
	     block; block = next_held(at, block_following(block), start, end)) {
		struct align_pin *pin = &io->pins[io->nr_pins];
		u32 from, to;

		if (io->nr_pins == nr) {
			stop = align_block_start(&at->geometry, block->number);
			break;
		}
		block_overlap(at, block, start, end, &from, &to);
		pin->block = block;
		bitmap_copy(pin->kept, block->kept, ALIGN_MAX_BLOCK_SECTORS);
		for (; from < to; from++)
			sectors += test_bit(from, pin->kept);
		block->pins++;
		io->nr_pins++;
	}
	spin_unlock_irqrestore(&blocks->lock, flags);

	if (!io->nr_pins)
		return DM_MAPIO_REMAPPED;
	ledger_inc(at->ledger, reads_overlaid);
	if (stop < end)
		dm_accept_partial_bio(bio, stop - start);
	io->read_iter = bio->bi_iter;
	if (sectors < stop - start)
		return DM_MAPIO_REMAPPED;
	/* All of it is held. */
	pins_end(io, true);
	bio_endio(bio);
	return DM_MAPIO_SUBMITTED;
}

/**
 * hold_end_read - a read has ended
 * @io: the read
 * @ok: well
 */
void hold_end_read(struct align_io *io, bool ok)
{
	if (io->nr_pins)
		pins_end(io, ok);
}

static void flush_work_func(struct work_struct *work)
{
	struct align_io *io = container_of(work, struct align_io, work);

	if (io->waiter.failed) {
		ledger_inc(io->at->ledger, flushes_failed);
		bio_io_error(io->bio);
		return;
	}
	submit_bio_noacct(io->bio);
}

static void flush_go(struct align_waiter *waiter)
{
	struct align_io *io = container_of(waiter, struct align_io, waiter);

	queue_work(io->at->blocks.wq, &io->work);
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

	INIT_WORK(&io->work, flush_work_func);
	io->waiter.done = flush_go;
	spin_lock_irqsave(&blocks->lock, flags);
	if (!blocks->nr_held) {
		spin_unlock_irqrestore(&blocks->lock, flags);
		return DM_MAPIO_REMAPPED;
	}
	hold_wait(io->at, &io->waiter);
	spin_unlock_irqrestore(&blocks->lock, flags);
	return DM_MAPIO_SUBMITTED;
}

/* An orderly reboot suspends nobody. */
static int hold_reboot(struct notifier_block *notifier, unsigned long event,
		       void *unused)
{
	struct align_target *at;

	mutex_lock(&targets_lock);
	list_for_each_entry(at, &targets, all) {
		int ret;

		hold_stop(at);
		ret = hold_empty(at, msecs_to_jiffies(HOLD_REBOOT_MS));
		if (ret)
			DMERR("%s: held blocks are not written at the end: error %d",
			      dm_device_name(at->node->md), ret);
	}
	mutex_unlock(&targets_lock);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = hold_reboot,
};

int hold_register_reboot(void)
{
	return register_reboot_notifier(&reboot_notifier);
}

void hold_unregister_reboot(void)
{
	unregister_reboot_notifier(&reboot_notifier);
}

void hold_init(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	INIT_LIST_HEAD(&blocks->held);
	INIT_LIST_HEAD(&blocks->failed);
	INIT_LIST_HEAD(&blocks->waiters);
	INIT_DELAYED_WORK(&blocks->empty, hold_empty_work);
	INIT_WORK(&blocks->event, hold_event);
	mutex_lock(&targets_lock);
	list_add_tail(&at->all, &targets);
	mutex_unlock(&targets_lock);
}

/* No bio is in flight, and what is held cannot be written. */
void hold_exit(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	mutex_lock(&targets_lock);
	list_del(&at->all);
	mutex_unlock(&targets_lock);
	hold_freeze(at);
	hold_drop_failed(at);
	cancel_work_sync(&blocks->event);
	WARN_ON(blocks->nr_held);
}
