// SPDX-License-Identifier: GPL-2.0
/*
 * The life of one physical block that a write covers in part.
 *
 * Who may touch what
 * ------------------
 * A block exists here while it has partial touches, and for a short time
 * after, while its content is known. Everything else that changes data is a
 * range: it is registered by the blocks that it touches, from before it goes
 * down until it has ended. All states below change under blocks->lock.
 *
 *   WAIT     touches are here, and ranges that came before them have not
 *            ended: block->blockers counts those. Nothing is sent.
 *   COLLECT  no range is in flight here; somebody is about to start
 *   READ     the pad read is in flight or has just ended
 *   WRITE    the whole block is in flight
 *   PASS     the read failed; each touch is in flight as it came
 *   KNOWN    no touch; the buffer holds what a read would return
 *
 *   WAIT -> COLLECT -> READ -> WRITE -> KNOWN, or back to COLLECT or WAIT
 *              |         `--> PASS -'
 *              `-> WRITE, if the content is known or the touches cover it all
 *
 * COLLECT to PASS are the active states. The buffer belongs to the device in
 * READ and WRITE, to the one thread that goes from READ or COLLECT to WRITE
 * in between, and to nobody otherwise. block->touches belongs to that thread,
 * then to the completion, from WRITE or PASS on; before, the lock guards it.
 *
 * Rules, which make the order that the contract promises:
 *
 * 1. While a block is active, no range that touches it is in flight. A range
 *    that comes counts the block among its blockers and waits.
 * 2. A block becomes active only when no range that touches it is in flight
 *    or has been let through by it; a new block counts every range that is
 *    registered there, waiting or not. So a pad read sees every acknowledged
 *    write, and what it read cannot be outdated before it is written back.
 * 3. A touch joins a block in WAIT, COLLECT or READ, unless a range waits
 *    there; otherwise it goes to block->next.
 * 4. When the write of a block has ended, every range that waits for it is
 *    let through, then every touch in block->next is served, and so on in
 *    turns. Nobody is overtaken more than once, so a flood of one kind cannot
 *    starve the other.
 * 5. A range that comes ends what is known in it. An error ends it, too.
 *
 * Two ranges that overlap do not wait for each other: writes in flight at the
 * same time have no order without this target either.
 *
 * No deadlock: parts of one write do not wait for each other. A range R waits
 * for block B only if it came after the last time that B let ranges through,
 * T(B) (for a block that was made later than the ranges there, T is when it
 * was made). B in turn waits for a range S only if S came before T(B). So
 * along any chain of waiting the times only fall, and a chain cannot close.
 * An active block waits for I/O, polled I/O excepted (ranges are not polled),
 * and for the workqueue. Its workers sleep for requests of the device below and
 * for bios of at->pieces; both come back without this workqueue, and it has a
 * rescuer. A block that collects in a task's plug is started at the latest when
 * that task sleeps or ends the plug.
 */
#include <linux/blk-cgroup.h>
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "block.h"

enum block_state {
	BLOCK_IS_WAIT,
	BLOCK_IS_COLLECT,
	BLOCK_IS_READ,
	BLOCK_IS_WRITE,
	BLOCK_IS_PASS,
	BLOCK_IS_KNOWN,
};

/**
 * struct align_block - see the top of this file
 * @rb: in the tree of blocks
 * @number: its number
 * @at: its target
 * @state: see above
 * @valid: the buffer held what a read would return before @touches came
 * @has_read: the pad read for @touches was sent, and has not failed
 * @blockers: WAIT: ranges that have to end first
 * @waiting: ranges that wait for this block
 * @passing: PASS: touches in flight as they came
 * @touches: touches that are served now, or next in WAIT
 * @next: touches that came too late for that
 * @list: COLLECT: with the one that will start it; KNOWN: in blocks->known
 * @known_since: KNOWN: since when, in jiffies
 * @covered: sectors that @touches cover, up to READ
 * @work: takes the next step in process context
 * @bio: the read, then the write
 * @vecs: the buffer, one for each page of it
 */
struct align_block {
	struct rb_node rb;
	u64 number;
	struct align_target *at;
	enum block_state state;
	bool valid;
	bool has_read;
	unsigned int blockers;
	unsigned int waiting;
	unsigned int passing;
	struct list_head touches;
	struct list_head next;
	struct list_head list;
	unsigned long known_since;
	DECLARE_BITMAP(covered, ALIGN_MAX_BLOCK_SECTORS);
	struct work_struct work;
	struct bio bio;
	struct bio_vec vecs[];
};

static void block_work(struct work_struct *work);

/*
 * Buffers: pages, because no order above 0 can be had without waiting; smaller
 * blocks share a page through the slab, which aligns them to their size.
 */
static unsigned int block_vec_size(const struct align_target *at)
{
	return min_t(unsigned int, at->geometry.physical, PAGE_SIZE);
}

static unsigned int block_nr_vecs(const struct align_target *at)
{
	return at->geometry.physical / block_vec_size(at);
}

/* Bytes that the blocks occupy now. */
u64 block_memory(const struct align_target *at)
{
	struct align_block *block;
	size_t head = struct_size(block, vecs, block_nr_vecs(at));

	return (u64)READ_ONCE(at->blocks.nr) * (head + at->geometry.physical);
}

static void block_release(struct align_block *block)
{
	struct align_target *at = block->at;
	unsigned int i;

	for (i = 0; i < block_nr_vecs(at) && block->vecs[i].bv_page; i++) {
		if (block_vec_size(at) < PAGE_SIZE)
			kfree(bvec_virt(&block->vecs[i]));
		else
			__free_page(block->vecs[i].bv_page);
	}
	kfree(block);
}

static struct align_block *block_new(struct align_target *at, u64 number)
{
	/* As a mempool would: no waiting, and no emergency reserves. */
	const gfp_t gfp = GFP_NOWAIT | __GFP_NORETRY | __GFP_NOMEMALLOC |
			  __GFP_NOWARN;
	unsigned int size = block_vec_size(at);
	struct align_block *block;
	unsigned int i;

	block = kzalloc(struct_size(block, vecs, block_nr_vecs(at)), gfp);
	if (!block)
		return NULL;
	block->at = at;
	for (i = 0; i < block_nr_vecs(at); i++) {
		if (size < PAGE_SIZE) {
			void *data = kmalloc(size, gfp);

			if (!data)
				goto no_memory;
			bvec_set_page(&block->vecs[i], virt_to_page(data),
				      size, offset_in_page(data));
		} else {
			struct page *page = alloc_page(gfp);

			if (!page)
				goto no_memory;
			bvec_set_page(&block->vecs[i], page, size, 0);
		}
	}
	block->number = number;
	INIT_LIST_HEAD(&block->touches);
	INIT_LIST_HEAD(&block->next);
	INIT_LIST_HEAD(&block->list);
	INIT_WORK(&block->work, block_work);
	return block;

no_memory:
	block_release(block);
	return NULL;
}

/* Lock held. */
static void block_insert(struct align_block *block)
{
	struct align_blocks *blocks = &block->at->blocks;
	struct rb_node **link = &blocks->tree.rb_node;
	struct rb_node *parent = NULL;

	while (*link) {
		parent = *link;
		if (block->number <
		    rb_entry(parent, struct align_block, rb)->number)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&block->rb, parent, link);
	rb_insert_color(&block->rb, &blocks->tree);
	WRITE_ONCE(blocks->nr, blocks->nr + 1);
}

/* Lock held; the block has no touch, and nothing of it is in flight. */
static void block_remove(struct align_block *block)
{
	struct align_blocks *blocks = &block->at->blocks;

	WARN_ON_ONCE(!list_empty(&block->touches) || !list_empty(&block->next));
	list_del(&block->list);
	rb_erase(&block->rb, &blocks->tree);
	WRITE_ONCE(blocks->nr, blocks->nr - 1);
	block_release(block);
}

/* Blocks that one holder of the lock removes at most, where there are many. */
#define BLOCKS_BATCH	64

/* First block at @number or above it. Lock held. */
static struct align_block *block_at_or_above(struct align_target *at,
					     u64 number)
{
	struct rb_node *node = at->blocks.tree.rb_node;
	struct align_block *found = NULL;

	while (node) {
		struct align_block *block =
			rb_entry(node, struct align_block, rb);

		if (block->number >= number) {
			found = block;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

static struct align_block *block_following(struct align_block *block)
{
	return rb_entry_safe(rb_next(&block->rb), struct align_block, rb);
}

/* Ends the oldest known block. Lock held. */
static bool block_evict(struct align_blocks *blocks)
{
	struct align_block *block =
		list_first_entry_or_null(&blocks->known, struct align_block,
					 list);

	if (block)
		block_remove(block);
	return block;
}

static void block_take_touch(struct align_block *block,
			     struct align_touch *touch)
{
	list_add_tail(&touch->list, &block->touches);
	bitmap_set(block->covered, touch->part.first, touch->part.count);
}

/* Serve what came too late for the touches before. Lock held. */
static void block_take_next(struct align_block *block)
{
	struct align_touch *touch, *tmp;

	bitmap_zero(block->covered, ALIGN_MAX_BLOCK_SECTORS);
	block->has_read = false;
	list_for_each_entry_safe(touch, tmp, &block->next, list) {
		list_del(&touch->list);
		block_take_touch(block, touch);
	}
}

/**
 * blocks_add_touch - let a block serve a partial touch
 * @io: the write
 * @touch: its touch
 * @started: the block is added here if the caller has to start it
 *
 * Called with blocks->lock held.
 *
 * Return: false if there is no room or memory for a block; touch->how says
 * which, and the touch must go down in a range.
 */
bool blocks_add_touch(struct align_io *io, struct align_touch *touch,
		      struct list_head *started)
{
	struct align_target *at = io->at;
	struct align_blocks *blocks = &at->blocks;
	u64 number = touch->part.block;
	struct align_block *block = block_at_or_above(at, number);
	struct align_range *range;

	if (block && block->number == number) {
		switch (block->state) {
		case BLOCK_IS_KNOWN:
			list_del_init(&block->list);
			block->has_read = false;
			bitmap_zero(block->covered, ALIGN_MAX_BLOCK_SECTORS);
			block_take_touch(block, touch);
			block->state = BLOCK_IS_COLLECT;
			list_add_tail(&block->list, started);
			return true;
		case BLOCK_IS_WAIT:
		case BLOCK_IS_COLLECT:
		case BLOCK_IS_READ:
			if (!block->waiting) {
				block_take_touch(block, touch);
				return true;
			}
			fallthrough;
		case BLOCK_IS_WRITE:
		case BLOCK_IS_PASS:
			list_add_tail(&touch->list, &block->next);
			return true;
		}
	}

	while (blocks->nr >= READ_ONCE(blocks->max)) {
		if (!block_evict(blocks)) {
			touch->how = RMW_DRIVE_MAX_BLOCKS;
			return false;
		}
	}
	block = block_new(at, number);
	if (!block && block_evict(blocks))
		block = block_new(at, number);
	if (!block) {
		touch->how = RMW_DRIVE_NO_MEMORY;
		return false;
	}
	block_insert(block);
	block_take_touch(block, touch);
	for (range = range_first(&blocks->ranges, number); range;
	     range = range_next(range, number))
		block->blockers++;
	if (block->blockers) {
		block->state = BLOCK_IS_WAIT;
	} else {
		block->state = BLOCK_IS_COLLECT;
		list_add_tail(&block->list, started);
	}
	return true;
}

/**
 * blocks_would_wait - whether a range would have to wait now
 * @at: the target
 * @first: first block
 * @last: last block
 *
 * Called with blocks->lock held.
 */
bool blocks_would_wait(struct align_target *at, u64 first, u64 last)
{
	struct align_block *block;

	for (block = block_at_or_above(at, first);
	     block && block->number <= last; block = block_following(block))
		if (block->state != BLOCK_IS_KNOWN)
			return true;
	return false;
}

/**
 * blocks_forget_range - end what is known in a range, bit by bit
 * @at: the target
 * @first: first block
 * @last: last block
 *
 * For ranges so long that blocks_add_range(), which does it again, would hold
 * the lock for too long. Called without the lock.
 */
void blocks_forget_range(struct align_target *at, u64 first, u64 last)
{
	struct align_blocks *blocks = &at->blocks;
	struct align_block *block, *next;
	unsigned long flags;
	unsigned int seen;

	if (last - first < BLOCKS_BATCH)
		return;
	do {
		seen = 0;
		spin_lock_irqsave(&blocks->lock, flags);
		for (block = block_at_or_above(at, first);
		     block && block->number <= last && seen < BLOCKS_BATCH;
		     block = next) {
			next = block_following(block);
			first = block->number + 1;
			if (block->state == BLOCK_IS_KNOWN)
				block_remove(block);
			seen++;
		}
		spin_unlock_irqrestore(&blocks->lock, flags);
	} while (seen == BLOCKS_BATCH);
}

/**
 * blocks_add_range - register io->range
 * @io: the write, with the range's blocks filled in
 *
 * Called with blocks->lock held.
 *
 * Return: true if it may go down now. Otherwise io->work is queued when it may.
 */
bool blocks_add_range(struct align_io *io)
{
	struct align_target *at = io->at;
	struct align_range *range = &io->range;
	struct align_block *block, *next;

	range->blockers = 0;
	for (block = block_at_or_above(at, range->first);
	     block && block->number <= range->last; block = next) {
		next = block_following(block);
		if (block->state == BLOCK_IS_KNOWN) {
			block_remove(block);
		} else {
			block->waiting++;
			range->blockers++;
		}
	}
	range_insert(range, &at->blocks.ranges);
	io->in_range = true;
	return !range->blockers;
}

/* Becomes active; somebody else's context. Lock held. */
static void block_collect_and_queue(struct align_block *block)
{
	block->state = BLOCK_IS_COLLECT;
	queue_work(block->at->blocks.wq, &block->work);
}

/**
 * blocks_end_range - a range has ended, whether well or not
 * @io: the write that it belongs to
 */
void blocks_end_range(struct align_io *io)
{
	struct align_target *at = io->at;
	struct align_block *block;
	unsigned long flags;

	spin_lock_irqsave(&at->blocks.lock, flags);
	range_remove(&io->range, &at->blocks.ranges);
	io->in_range = false;
	for (block = block_at_or_above(at, io->range.first);
	     block && block->number <= io->range.last;
	     block = block_following(block)) {
		WARN_ON_ONCE(block->state != BLOCK_IS_WAIT);
		if (!--block->blockers)
			block_collect_and_queue(block);
	}
	spin_unlock_irqrestore(&at->blocks.lock, flags);
}

/*
 * The touches of this turn are on the device, or failed. Lock held. The block
 * may be gone afterwards.
 */
static void block_end_turn(struct align_block *block)
{
	struct align_blocks *blocks = &block->at->blocks;
	struct align_range *range;

	if (block->waiting) {
		block->valid = false;
		block->blockers = block->waiting;
		block->waiting = 0;
		for (range = range_first(&blocks->ranges, block->number);
		     range; range = range_next(range, block->number)) {
			if (!--range->blockers)
				queue_work(blocks->wq,
					   &container_of(range, struct align_io,
							 range)->work);
		}
		if (list_empty(&block->next)) {
			block_remove(block);
			return;
		}
		block_take_next(block);
		block->state = BLOCK_IS_WAIT;
	} else if (!list_empty(&block->next)) {
		block_take_next(block);
		block_collect_and_queue(block);
	} else if (block->valid) {
		block->state = BLOCK_IS_KNOWN;
		block->known_since = jiffies;
		list_add_tail(&block->list, &blocks->known);
		queue_delayed_work(blocks->wq, &blocks->expire,
				   msecs_to_jiffies(ALIGN_KNOWN_MS));
	} else {
		block_remove(block);
	}
}

static void touch_end(struct align_touch *touch, enum rmw_how how,
		      blk_status_t status)
{
	touch->how = how;
	align_io_put(touch->io, status);
}

static void block_write_end(struct bio *bio)
{
	struct align_block *block = bio->bi_private;
	struct align_blocks *blocks = &block->at->blocks;
	blk_status_t status = bio->bi_status;
	struct align_touch *touch, *tmp;
	bool known = block->valid;
	bool has_read = block->has_read;
	unsigned int nth = 0;
	unsigned long flags;
	LIST_HEAD(done);

	bio_uninit(bio);
	spin_lock_irqsave(&blocks->lock, flags);
	list_splice_init(&block->touches, &done);
	block->valid = !status;
	block_end_turn(block);
	spin_unlock_irqrestore(&blocks->lock, flags);

	/* Neither block nor target may be used once the last write has ended. */
	list_for_each_entry_safe(touch, tmp, &done, list)
		touch_end(touch, block_how(status, known, has_read, nth++),
			  status);
}

static void block_read_end(struct bio *bio)
{
	struct align_block *block = bio->bi_private;

	queue_work(block->at->blocks.wq, &block->work);
}

/*
 * A bio for the whole block, on account of its first touch, which stays first
 * while the block is active, whoever joins.
 */
static void block_init_bio(struct align_block *block, blk_opf_t opf,
			   bio_end_io_t *end_io)
{
	struct align_target *at = block->at;
	struct bio *cause = list_first_entry(&block->touches,
					     struct align_touch, list)->io->bio;
	struct bio *bio = &block->bio;

	bio_init(bio, at->dev->bdev, block->vecs, block_nr_vecs(at),
		 opf | (cause->bi_opf & ALIGN_KEPT_FLAGS));
	bio->bi_vcnt = block_nr_vecs(at);
	bio->bi_iter.bi_size = at->geometry.physical;
	bio->bi_iter.bi_sector = align_block_start(&at->geometry,
						   block->number);
	bio->bi_ioprio = cause->bi_ioprio;
	bio->bi_private = block;
	bio->bi_end_io = end_io;
	bio_clone_blkg_association(bio, cause);
}

static void block_copy_touch(struct align_block *block,
			     const struct align_touch *touch)
{
	unsigned int size = block_vec_size(block->at);
	unsigned int at = touch->part.first << SECTOR_SHIFT;
	struct bvec_iter iter;
	struct bio_vec from;

	__bio_for_each_segment(from, touch->io->bio, iter, touch->iter) {
		void *data = bvec_kmap_local(&from);
		unsigned int done = 0;

		while (done < from.bv_len) {
			unsigned int room = size - at % size;
			unsigned int n = min(room, from.bv_len - done);

			memcpy(bvec_virt(&block->vecs[at / size]) + at % size,
			       data + done, n);
			done += n;
			at += n;
		}
		kunmap_local(data);
	}
}

/* Patch and write; in WRITE, so touches and buffer are ours. */
static void block_write(struct align_block *block)
{
	struct align_target *at = block->at;
	struct align_touch *touch;
	blk_opf_t opf = REQ_OP_WRITE;

	list_for_each_entry(touch, &block->touches, list) {
		block_copy_touch(block, touch);
		opf |= touch->io->bio->bi_opf & REQ_FUA;
	}
	ledger_inc(at->ledger, pad_writes);
	ledger_add(at->ledger, sent_block_bytes, at->geometry.physical);
	block_init_bio(block, opf, block_write_end);
	submit_bio_noacct(&block->bio);
}

static void touch_pass_end(struct bio *bio)
{
	struct align_touch *touch = bio->bi_private;
	struct align_block *block = touch->block;
	struct align_blocks *blocks = &block->at->blocks;
	blk_status_t status = bio->bi_status;
	unsigned long flags;

	bio_put(bio);
	spin_lock_irqsave(&blocks->lock, flags);
	if (!--block->passing) {
		block->valid = false;
		block_end_turn(block);
	}
	spin_unlock_irqrestore(&blocks->lock, flags);
	touch_end(touch, RMW_DRIVE_READ_ERROR, status);
}

/* Send the touches as they came; in PASS, so they are ours. Process context. */
static void block_pass(struct align_block *block)
{
	struct align_target *at = block->at;
	u64 sector = align_block_start(&at->geometry, block->number);
	struct align_touch *touch, *tmp;
	LIST_HEAD(touches);

	list_splice_init(&block->touches, &touches);
	list_for_each_entry(touch, &touches, list)
		block->passing++;

	/* Sent in the order in which they came; gone once sent. */
	list_for_each_entry_safe(touch, tmp, &touches, list) {
		/* Waits at most for those sent before, which need nobody. */
		struct bio *bio = bio_alloc_clone(at->dev->bdev,
						  touch->io->bio, GFP_NOIO,
						  &at->pieces);

		touch->block = block;
		bio->bi_private = touch;
		bio->bi_end_io = touch_pass_end;
		bio->bi_opf &= ~ALIGN_DROPPED_FLAGS;
		bio->bi_iter = touch->iter;
		bio->bi_iter.bi_sector = sector + touch->part.first;
		ledger_add(at->ledger, sent_block_bytes, at->geometry.physical);
		submit_bio_noacct(bio);
	}
}

/* Serve the touches of a block that is in COLLECT; process context. */
static void block_start(struct align_block *block)
{
	struct align_target *at = block->at;
	struct align_blocks *blocks = &at->blocks;
	enum block_step step;
	unsigned long flags;

	spin_lock_irqsave(&blocks->lock, flags);
	step = block_first_step(block->valid,
				bitmap_full(block->covered,
					    align_block_sectors(&at->geometry)));
	block->has_read = step == BLOCK_READ;
	block->state = step == BLOCK_READ ? BLOCK_IS_READ : BLOCK_IS_WRITE;
	spin_unlock_irqrestore(&blocks->lock, flags);

	if (step == BLOCK_READ) {
		block_init_bio(block, REQ_OP_READ, block_read_end);
		ledger_inc(at->ledger, pad_reads);
		ledger_add(at->ledger, pad_read_bytes, at->geometry.physical);
		submit_bio_noacct(&block->bio);
	} else {
		block_write(block);
	}
}

/* The pad read of a block has ended. */
static void block_go_on(struct align_block *block)
{
	struct align_target *at = block->at;
	struct align_blocks *blocks = &at->blocks;
	bool failed = block->bio.bi_status;
	enum block_step step;
	unsigned long flags;

	bio_uninit(&block->bio);
	spin_lock_irqsave(&blocks->lock, flags);
	step = block_step_after_read(failed,
				     bitmap_full(block->covered,
						 align_block_sectors(&at->geometry)));
	block->has_read = !failed;
	block->state = step == BLOCK_WRITE ? BLOCK_IS_WRITE : BLOCK_IS_PASS;
	spin_unlock_irqrestore(&blocks->lock, flags);

	if (step == BLOCK_WRITE)
		block_write(block);
	else
		block_pass(block);
}

/* Queued once for each entry into COLLECT by others and for each read. */
static void block_work(struct work_struct *work)
{
	struct align_block *block =
		container_of(work, struct align_block, work);

	/* Only the queued work leaves COLLECT or READ, so no lock is needed. */
	if (READ_ONCE(block->state) == BLOCK_IS_COLLECT)
		block_start(block);
	else
		block_go_on(block);
}

/**
 * struct blocks_plug - blocks that wait for the end of a task's plug
 * @cb: the block layer's
 * @blocks: them; not initialised when new
 *
 * Whoever plugs is about to send more, and what comes may complete a block.
 */
struct blocks_plug {
	struct blk_plug_cb cb;
	struct list_head blocks;
};

static void blocks_unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct blocks_plug *plug = container_of(cb, struct blocks_plug, cb);
	struct align_target *at = cb->data;
	struct align_block *block, *tmp;

	list_for_each_entry_safe(block, tmp, &plug->blocks, list) {
		list_del_init(&block->list);
		/* A task that is about to sleep must not do so for a tag. */
		if (from_schedule)
			queue_work(at->blocks.wq, &block->work);
		else
			block_start(block);
	}
	kfree(plug);
}

/**
 * blocks_start - start blocks, or leave it to the end of the plug
 * @at: the target
 * @started: blocks from blocks_add_touch()
 *
 * Called without the lock.
 */
void blocks_start(struct align_target *at, struct list_head *started)
{
	struct align_block *block, *tmp;
	struct blk_plug_cb *cb;

	if (list_empty(started))
		return;
	cb = blk_check_plugged(blocks_unplug, at, sizeof(struct blocks_plug));
	if (cb) {
		struct blocks_plug *plug =
			container_of(cb, struct blocks_plug, cb);

		if (!plug->blocks.next)
			INIT_LIST_HEAD(&plug->blocks);
		list_splice_tail(started, &plug->blocks);
		return;
	}
	list_for_each_entry_safe(block, tmp, started, list) {
		list_del_init(&block->list);
		block_start(block);
	}
}

static void blocks_expire(struct work_struct *work)
{
	struct align_blocks *blocks =
		container_of(to_delayed_work(work), struct align_blocks, expire);
	unsigned long age = msecs_to_jiffies(ALIGN_KNOWN_MS);
	struct align_block *block, *tmp;
	unsigned int seen = 0;

	spin_lock_irq(&blocks->lock);
	list_for_each_entry_safe(block, tmp, &blocks->known, list) {
		unsigned long end = block->known_since + age;

		if (time_before(jiffies, end) || ++seen > BLOCKS_BATCH) {
			queue_delayed_work(blocks->wq, &blocks->expire,
					   time_before(jiffies, end) ?
					   end - jiffies : 0);
			break;
		}
		block_remove(block);
	}
	spin_unlock_irq(&blocks->lock);
}

/* Ends what is known, the oldest first, until at most @max blocks are left. */
static void blocks_shrink(struct align_blocks *blocks, unsigned int max)
{
	bool more = true;

	while (more) {
		unsigned int i;

		spin_lock_irq(&blocks->lock);
		for (i = 0; i < BLOCKS_BATCH && more; i++)
			more = blocks->nr > max && block_evict(blocks);
		spin_unlock_irq(&blocks->lock);
		cond_resched();
	}
}

/**
 * blocks_forget - end what is known
 * @at: the target
 */
void blocks_forget(struct align_target *at)
{
	cancel_delayed_work_sync(&at->blocks.expire);
	blocks_shrink(&at->blocks, 0);
}

/**
 * blocks_set_max - change the ceiling
 * @at: the target
 * @max: most blocks from now on; what is in use above it ends by itself
 */
void blocks_set_max(struct align_target *at, unsigned int max)
{
	WRITE_ONCE(at->blocks.max, max);
	blocks_shrink(&at->blocks, max);
}

/**
 * blocks_init - no blocks
 * @at: the target, zeroed
 * @max: most blocks
 *
 * Return: 0 or -ENOMEM.
 */
int blocks_init(struct align_target *at, unsigned int max)
{
	struct align_blocks *blocks = &at->blocks;

	spin_lock_init(&blocks->lock);
	blocks->tree = RB_ROOT;
	blocks->ranges = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&blocks->known);
	blocks->max = max;
	INIT_DELAYED_WORK(&blocks->expire, blocks_expire);
	blocks->wq = alloc_workqueue("dm-align", WQ_MEM_RECLAIM | WQ_UNBOUND |
				     WQ_HIGHPRI, WQ_MAX_ACTIVE);
	return blocks->wq ? 0 : -ENOMEM;
}

/* Every write has ended. */
void blocks_exit(struct align_target *at)
{
	blocks_forget(at);
	destroy_workqueue(at->blocks.wq);
	at->blocks.wq = NULL;
	WARN_ON(at->blocks.nr);
}
