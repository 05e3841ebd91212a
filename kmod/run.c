// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Runs of blocks
 *
 * Blocks that are started together are sorted, and neighbours that need the
 * same, a read or a write, are served by one request, as long as the underlying
 * device takes it as one: by its size, its segments (each page counts as one)
 * and its chunks. A row of blocks that a stream of small writes has completed
 * is sent at 42 blocks at the latest. Runs also end at the borders of regions
 * (shard.h). In mode pad, the two blocks of a write that lies in both and fills
 * neither are such neighbours.
 *
 * A read of a block that holds nothing goes to the block's own buffer. Held
 * sectors, which reads and the coming write need, must not be overwritten by a
 * read, so a run with held blocks is read into another buffer, and the missing
 * sectors are copied from there.
 *
 * If a request of several blocks fails, each block is resent alone, so that an
 * error reaches only the writes that it concerns. If there is no memory for a
 * run, each block goes alone as well, and a block alone needs none: it has a
 * request of its own, and if it holds something, it is read into the target's
 * reserve (spare.c), which serves one block at a time.
 *
 * Where the target offers smaller logical blocks than the device has, a block that
 * lies only partly inside the target is served, too, because its touches cannot go
 * to the device unmodified. A run is clipped to the target: sectors outside are never
 * read nor written. Such a block is whole once all its sectors inside are there, so
 * overwriting or discarding these settles it as it settles other blocks.
 */

/**
 * DOC: When something fails
 *
 * A pad read that fails, because of a bad physical block perhaps, ends nothing:
 * the touches go to the drive unmodified, and the result of the drive is
 * theirs. Held sectors of the block then go down as well, together with the
 * touches that joined them: each stretch of sectors as one partial write from
 * the buffer. Where the target offers smaller logical blocks than the device has,
 * the touches fail instead, and held ones stay held. If the write of a block
 * fails, every write that has a touch in it gets the error, and no other. Neither
 * leaves anything cached, except that the buffer of a held block that was to be
 * written is complete, and is not read again for the retry.
 */
#include <linux/bitmap.h>
#include <linux/blk-cgroup.h>
#include <linux/slab.h>

#include "block_state.h"
#include "cgroup.h"
#include "compat.h"
#include "hold.h"
#include "parts.h"

static void run_finish_read(struct align_job *job);
static void run_write_apart(struct align_job *job);

static struct align_block *run_first(const struct block_run *run)
{
	return list_first_entry(&run->blocks, struct align_block, list);
}

static struct block_run *run_new(struct align_target *at, unsigned int nr,
				 gfp_t gfp)
{
	size_t vecs = array_size(nr, buffer_nr_vecs(at) * sizeof(struct bio_vec));
	struct block_run *run = kzalloc(sizeof(*run) + vecs, gfp);

	if (!run)
		return NULL;
	run->at = at;
	run->vecs = (struct bio_vec *)(run + 1);
	INIT_LIST_HEAD(&run->blocks);
	return run;
}

/* A run of one: the block's own request. */
static struct block_run *run_single(struct align_block *block)
{
	struct block_run *run = &block->single;

	run->vecs = block->vecs;
	list_add(&block->list, &run->blocks);
	return run;
}

/* Whether a block of a run holds something. */
static bool run_is_held(const struct block_run *run)
{
	const struct align_block *block;

	list_for_each_entry(block, &run->blocks, list)
		if (block->held)
			return true;
	return false;
}

/*
 * Set the sectors of a request, and its bytes: those of the blocks of its run, but for
 * the parts outside the target.
 */
static void run_set_sectors(const struct block_run *run, struct bio *bio)
{
	const struct align_geometry *g = &run->at->geometry;
	u64 first = run_first(run)->number;
	u64 last = first + run->nr - 1;
	u32 from, to, unused;

	align_inside(g, last, &unused, &to);
	align_inside(g, first, &from, &unused);
	bio->bi_iter.bi_sector = align_block_start(g, first);
	bio->bi_iter.bi_size = ((run->nr - 1) * align_block_sectors(g) + to) <<
			       SECTOR_SHIFT;
	bio_advance_iter(bio, &bio->bi_iter, from << SECTOR_SHIFT);
}

/*
 * Return the flags of a direct write if a request waits for a held block of a run, or 0:
 * blk-wbt keeps writes with fewer of these flags waiting for long. A flush waits for the
 * block, or touches that came too late for its turn do, or, where touches wait for memory,
 * they wait for the room of any block. Without the lock of the shard: a request that comes
 * to wait from now on may be missed.
 */
static blk_opf_t block_hurry(const struct align_block *block)
{
	if (!block->held)
		return 0;
	if (hold_is_awaited(block) || READ_ONCE(block->waiting) ||
	    !list_empty(&block->next) ||
	    !list_empty(&block->single.at->engine.blocks.starved))
		return REQ_SYNC | REQ_IDLE;
	return 0;
}

/* The same for a run: one of its blocks is enough. */
static blk_opf_t run_hurry(const struct block_run *run)
{
	const struct align_block *block;
	blk_opf_t hurry = 0;

	list_for_each_entry(block, &run->blocks, list)
		hurry |= block_hurry(block);
	return hurry;
}

static void run_init_bio(struct block_run *run, blk_opf_t opf,
			 bio_end_io_t *end_io)
{
	struct align_target *at = run->at;
	struct align_block *block = run_first(run);
	struct bio *bio = &run->bio;
	struct align_touch *cause = NULL;

	/*
	 * With the flags of the first touch, which stays first while the block
	 * is active, unless it was acknowledged before. Held blocks that a request
	 * waits for go in a hurry, also in a run with others.
	 */
	if (block->state == BLOCK_IS_WRITE || !block->held)
		cause = list_first_entry_or_null(&block->touches,
						 struct align_touch, list);
	if (cause)
		opf |= cause->io->bio->bi_opf & ALIGN_KEPT_FLAGS;
	opf |= run_hurry(run);
	bio_init(bio, at->dev->bdev, run->vecs, run->nr * buffer_nr_vecs(at),
		 opf);
	bio->bi_vcnt = run->nr * buffer_nr_vecs(at);
	run_set_sectors(run, bio);
	bio->bi_private = run;
	bio->bi_end_io = end_io;
	if (cause) {
		bio->bi_ioprio = cause->io->bio->bi_ioprio;
		bio_clone_blkg_association(bio, cause->io->bio);
	}
	/* Requests of other cgroups wait for held data, and for scarce memory. */
	if (run_is_held(run) || block->reserved || run->spare ||
	    run->vecs == at->engine.spare.vecs)
		bio_charge_no_cgroup(bio);
}

static void run_read_end(struct bio *bio)
{
	struct block_run *run = bio->bi_private;

	job_init(&run->job, run_finish_read);
	job_queue(&run->at->engine.jobs, &run->job);
}

static void run_read(struct block_run *run)
{
	struct align_target *at = run->at;

	run_init_bio(run, REQ_OP_READ, run_read_end);
	ledger_inc(at->ledger, pad_reads);
	ledger_add(at->ledger, pad_read_bytes, run->bio.bi_iter.bi_size);
	submit_bio_noacct(&run->bio);
}

/* Tell whether a read must not go to the block's own buffer. */
static bool block_needs_spare(const struct align_block *block)
{
	/* Pairs with block_unpin(): the read is done with the buffer. */
	return block->held || smp_load_acquire(&block->pins);
}

/*
 * A run of one that reads into the reserve. Return: NULL if the block has to wait,
 * in COLLECT.
 */
static struct block_run *run_reserve(struct align_block *block)
{
	struct align_spare *spare = &block->single.at->engine.spare;
	struct align_delay *delay = &block->single.at->engine.delay;
	struct align_shard *shard = block_shard(block);
	struct block_run *run = NULL;
	struct bio_vec *vecs;
	unsigned long flags;

	job_init(&block->single.job, delay->start);
	spin_lock_irqsave(&shard->lock, flags);
	vecs = spare_get_reserve(spare, &block->single.job);
	if (vecs) {
		run = run_single(block);
		run->vecs = vecs;
	} else {
		turn_wait_for_memory(block);
	}
	spin_unlock_irqrestore(&shard->lock, flags);
	return run;
}

/* Allocate a run that reads one block into memory of its own, or NULL. */
static struct block_run *run_new_spare(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct block_run *run;

	if (!spare_get(&at->engine.spare))
		return NULL;
	run = run_new(at, 1, BUFFER_GFP);
	if (run && buffer_alloc(at, run->vecs, BUFFER_GFP)) {
		run->nr = 1;
		run->spare = at->geometry.physical;
		block_charge(at, run->spare);
		list_add(&block->list, &run->blocks);
		return run;
	}
	kfree(run);
	spare_put(&at->engine.spare);
	return NULL;
}

/**
 * block_read - read one block
 * @block: a block in READ, in no list
 */
void block_read(struct align_block *block)
{
	struct block_run *run;

	if (!block_needs_spare(block)) {
		run_read(run_single(block));
		return;
	}
	run = run_new_spare(block);
	if (!run)
		run = run_reserve(block);
	if (run)
		run_read(run);
}

/**
 * runs_read - read neighbours as one request
 * @at: the target
 * @list: blocks in READ, ascending
 * @nr: number of blocks
 *
 * Return: the number of blocks for which a read was sent, and which have left
 * the list; 0 if there is no memory, or too much of it in use.
 */
unsigned int runs_read(struct align_target *at, struct list_head *list,
		       unsigned int nr)
{
	unsigned int n = buffer_nr_vecs(at);
	struct align_block *block, *tmp;
	struct block_run *run = run_new(at, nr, BUFFER_GFP);
	bool spare = false;

	if (!run)
		return 0;
	list_for_each_entry_safe(block, tmp, list, list) {
		struct bio_vec *vecs = &run->vecs[run->nr * n];

		if (!block_needs_spare(block)) {
			memcpy(vecs, block->vecs, n * sizeof(*vecs));
		} else {
			if (!spare && !spare_get(&at->engine.spare))
				break;
			spare = true;
			if (!buffer_alloc(at, vecs, BUFFER_GFP))
				break;
			run->spare += at->geometry.physical;
		}
		list_move_tail(&block->list, &run->blocks);
		run->nr++;
	}
	nr = run->nr;
	if (spare && !run->spare)
		spare_put(&at->engine.spare);
	if (!nr) {
		kfree(run);
		return 0;
	}
	block_charge(at, run->spare);
	run_read(run);
	return nr;
}

/* Complete the buffer of a block from the memory into which its run was read. */
static void block_merge(struct align_block *block, struct bio_vec *vecs)
{
	struct align_shard *shard = block_shard(block);
	unsigned long flags;

	/* A read that ends may be copying the sectors that were held when it came. */
	spin_lock_irqsave(&shard->lock, flags);
	buffer_complete(block->single.at, block->vecs, vecs,
			block_held_map(block));
	spin_unlock_irqrestore(&shard->lock, flags);
}

/* Complete the buffers of a run, unless it @failed, and free its own memory. */
static void run_merge(struct block_run *run, bool failed)
{
	struct align_target *at = run->at;
	struct align_spare *spare = &at->engine.spare;
	struct bio_vec *vecs = run->vecs;
	struct align_block *block;

	list_for_each_entry(block, &run->blocks, list) {
		if (vecs[0].bv_page != block->vecs[0].bv_page ||
		    vecs[0].bv_offset != block->vecs[0].bv_offset) {
			if (!failed)
				block_merge(block, vecs);
			if (run->vecs == spare->vecs)
				spare_put_reserve(spare);
			else
				buffer_free(at, vecs);
		}
		vecs += buffer_nr_vecs(at);
	}
	if (run->spare) {
		block_charge(at, -(s64)run->spare);
		run->spare = 0;
		spare_put(spare);
	}
}

/* Serve the blocks of a run that has been written, or of which the only one has failed. */
static void run_served(struct block_run *run)
{
	blk_status_t status = run->bio.bi_status;
	struct align_block *block, *tmp;
	LIST_HEAD(served);

	bio_uninit(&run->bio);
	list_splice_init(&run->blocks, &served);
	if (run->nr > 1)
		kfree(run);
	list_for_each_entry_safe(block, tmp, &served, list) {
		list_del_init(&block->list);
		block_served(block, status);
	}
}

static void run_served_job(struct align_job *job)
{
	run_served(container_of(job, struct block_run, job));
}

/* An interrupt serves no more blocks than one lock is held over. */
static void run_write_end(struct bio *bio)
{
	struct block_run *run = bio->bi_private;

	if (bio->bi_status && run->nr > 1) {
		job_init(&run->job, run_write_apart);
		job_queue(&run->at->engine.jobs, &run->job);
	} else if (run->nr > BLOCKS_BATCH) {
		job_init(&run->job, run_served_job);
		job_queue(&run->at->engine.jobs, &run->job);
	} else {
		run_served(run);
	}
}

/*
 * Whether a read may come to the buffer of a block in WRITE or PASS. If not, none
 * does until the turn ends: only a block that is held or shown is pinned.
 */
static bool block_is_read(const struct align_block *block)
{
	/* @shown is set before a pin is given back. */
	return block_needs_spare(block) || block->shown;
}

/* Most bytes of touches that are copied in one lock hold: 64 touches of 64 KiB. */
#define PATCH_BYTES	(4U << 20)

/*
 * Copy at most BLOCKS_BATCH touches of a block into its buffer, where a read may
 * look; fewer of a large block. Return: the next one, or NULL. Lock of the block's
 * shard held.
 */
static struct align_touch *block_patch_some(struct align_block *block,
					    struct align_touch *touch)
{
	unsigned int nr = min_t(unsigned int, BLOCKS_BATCH,
				PATCH_BYTES / block->single.at->geometry.physical);

	lockdep_assert_held(&block_shard(block)->lock);
	if (!block->patched)
		bitmap_copy(block_covered(block), block_held_map(block),
			    block_sectors(block));
	block->patched = true;
	list_for_each_entry_from(touch, &block->touches, list) {
		if (!nr--)
			return touch;
		buffer_copy_touch(block->single.at, block->vecs, touch);
		bitmap_set(block_covered(block), touch->part.first,
			   touch->part.count);
	}
	return NULL;
}

/* As block_patch(), where a read may be copying held sectors. */
static void block_patch_shared(struct align_block *block)
{
	struct align_touch *touch =
		list_first_entry_or_null(&block->touches, struct align_touch,
					 list);
	spinlock_t *lock = &block_shard(block)->lock;
	unsigned long flags;

	while (touch) {
		spin_lock_irqsave(lock, flags);
		touch = block_patch_some(block, touch);
		spin_unlock_irqrestore(lock, flags);
	}
}

/**
 * block_patch - copy the touches of a block into its buffer
 * @block: a block in WRITE or PASS, so that touches and buffer are the caller's
 *
 * Where a read may be copying held sectors, it finds bytes of the touches that are
 * in the block's covered by then, and says so in block->shown.
 *
 * Return: REQ_FUA if one of the touches asks for it, else 0.
 */
blk_opf_t block_patch(struct align_block *block)
{
	bool shared = block_is_read(block);
	struct align_touch *touch;
	blk_opf_t opf = 0;

	if (shared)
		block_patch_shared(block);
	else
		block->patched = true;
	list_for_each_entry(touch, &block->touches, list) {
		opf |= touch->io->bio->bi_opf & REQ_FUA;
		if (!shared)
			buffer_copy_touch(block->single.at, block->vecs, touch);
	}
	return opf;
}

/**
 * block_sent_bytes - bytes that the write of a block adds to sent_block_bytes
 * @block: a block in WRITE or PASS, so that the touches are the caller's
 *
 * The counter is compared with write_block_bytes, which counts writes alone, so
 * a block that only write-zeroes touched does not count.
 *
 * Return: the bytes of the block, or 0.
 */
unsigned int block_sent_bytes(const struct align_block *block)
{
	unsigned int physical = block->single.at->geometry.physical;
	struct align_touch *touch;

	if (block->held_data)
		return physical;
	list_for_each_entry(touch, &block->touches, list)
		if (!align_io_is_zeroes(touch->io))
			return physical;
	return 0;
}

/*
 * Where a block in WRITE or PASS is to be put: as its oldest touch that is not
 * acknowledged, or else as what it holds.
 */
static struct align_placement block_placement(struct align_block *block)
{
	const struct align_touch *touch =
		list_first_entry_or_null(&block->touches, struct align_touch,
					 list);

	return touch ? align_placement(touch->io->bio) : block->place;
}

/*
 * Where a run in WRITE is to be put: the block layer keeps requests that differ
 * in it apart, so blocks that differ go without.
 */
static struct align_placement run_placement(struct block_run *run)
{
	struct align_placement place = block_placement(run_first(run)), other;
	struct align_block *block;

	list_for_each_entry(block, &run->blocks, list) {
		other = block_placement(block);
		if (other.hint != place.hint || other.stream != place.stream)
			return (struct align_placement) {};
	}
	return place;
}

/* Write a run whose blocks are in WRITE. */
static void run_write(struct block_run *run)
{
	struct align_target *at = run->at;
	unsigned int n = buffer_nr_vecs(at);
	struct bio_vec *vecs = run->vecs;
	struct align_block *block;
	blk_opf_t opf = REQ_OP_WRITE;
	unsigned int bytes = 0;

	list_for_each_entry(block, &run->blocks, list) {
		opf |= block_patch(block);
		bytes += block_sent_bytes(block);
		if (vecs != block->vecs)
			memcpy(vecs, block->vecs, n * sizeof(*vecs));
		vecs += n;
	}
	ledger_add(at->ledger, pad_writes, run->nr);
	ledger_add(at->ledger, sent_block_bytes, bytes);
	run_init_bio(run, opf, run_write_end);
	align_set_placement(&run->bio, run_placement(run));
	submit_bio_noacct(&run->bio);
}

/**
 * block_write - write one block
 * @block: a block in WRITE, in no list
 */
void block_write(struct align_block *block)
{
	run_write(run_single(block));
}

/**
 * runs_write - write neighbours as one request, or each alone
 * @at: the target
 * @list: blocks in WRITE, ascending; empty afterwards
 * @nr: number of blocks
 */
void runs_write(struct align_target *at, struct list_head *list,
		unsigned int nr)
{
	struct align_block *block, *tmp;
	struct block_run *run = nr > 1 ? run_new(at, nr, BUFFER_GFP) : NULL;

	if (run) {
		list_splice_init(list, &run->blocks);
		run->nr = nr;
		run_write(run);
		return;
	}
	list_for_each_entry_safe(block, tmp, list, list) {
		list_del_init(&block->list);
		block_write(block);
	}
}

static void touch_pass_end(struct bio *bio)
{
	struct align_touch *touch = bio->bi_private;
	struct align_block *block = touch->block;
	struct align_shard *shard = block_shard(block);
	blk_status_t status = bio->bi_status;
	unsigned long flags;
	LIST_HEAD(ready);

	bio_put(bio);
	spin_lock_irqsave(&shard->lock, flags);
	if (!--block->passing) {
		block->valid = false;
		block_end_turn(block, &ready);
	}
	spin_unlock_irqrestore(&shard->lock, flags);
	turns_queue(&ready);
	touch->how = RMW_DRIVE_READ_ERROR;
	align_io_put(touch->io, status);
}

/* Send the touches of a block in PASS unmodified. Process context. */
static void block_pass_touches(struct align_block *block)
{
	struct align_target *at = block->single.at;
	struct align_touch *touch, *tmp;
	LIST_HEAD(touches);

	list_splice_init(&block->touches, &touches);
	list_for_each_entry(touch, &touches, list)
		block->passing++;

	/* Sent in the order in which they came; gone once sent. */
	list_for_each_entry_safe(touch, tmp, &touches, list) {
		/* Waits at most for those sent before, which end by themselves. */
		struct bio *bio = bio_alloc_clone(at->dev->bdev,
						  touch->io->bio, GFP_NOIO,
						  &at->pieces);

		touch->block = block;
		bio->bi_private = touch;
		bio->bi_end_io = touch_pass_end;
		bio->bi_opf &= ~ALIGN_DROPPED_FLAGS;
		bio->bi_iter = touch_iter(touch);
		if (!align_io_is_zeroes(touch->io))
			ledger_add(at->ledger, sent_block_bytes,
				   at->geometry.physical);
		submit_bio_noacct(bio);
	}
}

static void block_put_passing(struct align_block *block, blk_status_t status)
{
	struct align_shard *shard = block_shard(block);
	unsigned long flags;
	bool last;

	spin_lock_irqsave(&shard->lock, flags);
	if (status && !block->pass_status)
		block->pass_status = status;
	last = !--block->passing;
	status = block->pass_status;
	spin_unlock_irqrestore(&shard->lock, flags);
	if (last)
		block_served(block, status);
}

static void held_pass_end(struct bio *bio)
{
	struct align_block *block = bio->bi_private;
	blk_status_t status = bio->bi_status;

	bio_put(bio);
	block_put_passing(block, status);
}

/*
 * Send the held touches of a block together with the touches that joined it: each
 * stretch of sectors as one partial write from the buffer, because one touch may
 * overwrite a part of another. All share one result. Process context.
 */
static void block_pass_held(struct align_block *block)
{
	struct align_target *at = block->single.at;
	u32 sectors = align_block_sectors(&at->geometry);
	blk_opf_t opf = REQ_OP_WRITE | block_patch(block);
	unsigned int bytes = block_sent_bytes(block);
	unsigned int start, end;

	block->pass_status = BLK_STS_OK;
	block->passing = 1;
	for_each_set_bitrange(start, end, block_covered(block), sectors) {
		struct bio *bio;

		/* Waits at most for those sent before, which end by themselves. */
		bio = bio_alloc_bioset(at->dev->bdev, buffer_nr_vecs(at), opf,
				       GFP_NOIO, &at->pieces);
		align_set_placement(bio, block_placement(block));
		bio->bi_iter.bi_sector =
			align_block_start(&at->geometry, block->number) + start;
		buffer_add_to_bio(at, block->vecs, start, end, bio);
		bio->bi_private = block;
		bio->bi_end_io = held_pass_end;
		ledger_add(at->ledger, sent_block_bytes, bytes);
		spin_lock_irq(&block_shard(block)->lock);
		block->passing++;
		spin_unlock_irq(&block_shard(block)->lock);
		submit_bio_noacct(bio);
	}
	block_put_passing(block, BLK_STS_OK);
}

/* Fail the touches of a block that cannot be read, where none may go as it came. */
static void block_fail(struct align_block *block, blk_status_t status)
{
	struct align_target *at = block->single.at;

	DMERR_LIMIT("%s: cannot read the block at sector %llu of %s: writes to parts of it fail",
		    dm_device_name(at->node->md),
		    align_first_inside(&at->geometry, block->number),
		    at->dev->name);
	block_served(block, status);
}

/*
 * Go on with blocks in READ when the read of their run has ended. Only this leaves
 * that state.
 */
static void run_finish_read(struct align_job *job)
{
	struct block_run *run = container_of(job, struct block_run, job);
	struct align_target *at = run->at;
	blk_status_t status = run->bio.bi_status;
	bool failed = status;
	struct align_block *block, *tmp;
	struct align_shard *shard;
	enum block_step step = BLOCK_WRITE;
	unsigned int nr = run->nr, seen = 0;
	unsigned long flags;
	LIST_HEAD(list);

	bio_uninit(&run->bio);
	run_merge(run, failed);
	list_splice_init(&run->blocks, &list);
	if (run != &list_first_entry(&list, struct align_block, list)->single)
		kfree(run);

	if (failed && nr > 1) {
		list_for_each_entry_safe(block, tmp, &list, list) {
			list_del_init(&block->list);
			block_read(block);
		}
		return;
	}

	/* Neighbours that came here as one are of one shard. */
	shard = block_shard(list_first_entry(&list, struct align_block, list));
	spin_lock_irqsave(&shard->lock, flags);
	list_for_each_entry(block, &list, list) {
		if (++seen == BLOCKS_BATCH) {
			spin_unlock_irqrestore(&shard->lock, flags);
			seen = 1;
			spin_lock_irqsave(&shard->lock, flags);
		}
		step = turn_after_read(block, failed);
	}
	spin_unlock_irqrestore(&shard->lock, flags);

	if (step == BLOCK_WRITE) {
		runs_write(at, &list, nr);
		return;
	}
	block = list_first_entry(&list, struct align_block, list);
	list_del_init(&block->list);
	if (step == BLOCK_FAIL)
		block_fail(block, status);
	else if (block->held)
		block_pass_held(block);
	else
		block_pass_touches(block);
}

/* Write the blocks of a failed run one by one, to find the bad one. */
static void run_write_apart(struct align_job *job)
{
	struct block_run *run = container_of(job, struct block_run, job);
	struct align_block *block, *tmp;
	LIST_HEAD(list);

	bio_uninit(&run->bio);
	list_splice_init(&run->blocks, &list);
	kfree(run);
	list_for_each_entry_safe(block, tmp, &list, list) {
		list_del_init(&block->list);
		block_write(block);
	}
}
