// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Reads of parts of logical blocks
 *
 * Where the target offers smaller logical blocks than the underlying device has, a
 * read may begin or end inside one of those. Such an end is read through a bounce: the
 * logical block of the device is read into memory of the target, and the sectors asked
 * for are copied. The middle, between the ends, goes to the device unmodified, without a
 * copy.
 *
 * Reads of parts of one block share bounces. A read that comes while the request of a
 * bounce is in flight must not take what that returns: a write may have ended since
 * the request was sent, and the read that comes behind it has to find the new content.
 * So it waits, and when the request has ended, one more serves all the reads that have
 * come meanwhile. Each read is served by a request that was sent after it came, and
 * however many there are, two requests serve them while there is memory.
 *
 * A bounce is allocated without waiting. A read that finds no memory waits in
 * bounces->starved for a bounce that has become free, or for the reserve, which is
 * allocated with the target. A bounce in flight waits for nothing but its own request,
 * and where reads have found no memory it is not sent again for the same block, so the
 * bounce does become free; but for a read that has waited there already, once more.
 *
 * The bvecs of a read, too, may have a gap inside a logical block of a device that
 * takes no gaps (virt_boundary_mask). Such a block is read through a bounce as a
 * whole, and the rest of the read comes as a bio of its own.
 */

/*
 * Who may touch what
 * ------------------
 * A bounce in a bucket has a request in flight, or is about to be sent one. Under the
 * bucket's lock, any context adds ends to bounce->next. All else of a bounce, bounce->ends
 * and the memory included, belongs to the thread that sends the request, then to the
 * request, then to the thread that serves its end; that thread takes bounce->next over, or
 * the bounce out of the bucket, under the lock. A bounce in no bucket is the reserve, under
 * bounces->lock, or its thread's. The end of a read belongs to its list, and is gone when
 * its part of the read has ended; so the memory is copied from, and the bounce given
 * away, before any read is ended that could be the target's last.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include "bounce.h"
#include "cgroup.h"
#include "fit.h"
#include "ledger.h"

#define BOUNCE_BUCKETS	64
/* Ends of reads that an interrupt serves; a worker serves more. */
#define BOUNCE_ENDS	8
/* Allocate without waiting, and leave the emergency reserves alone. */
#define BOUNCE_GFP	(GFP_NOWAIT | __GFP_NORETRY | __GFP_NOMEMALLOC | \
			 __GFP_NOWARN)

/**
 * struct align_bounce - a logical block of the device below that is read into memory
 * @node: node in the tree of its bucket, by @start
 * @at: the target
 * @start: first sector of the block
 * @ends: the ends of reads that the request in flight serves
 * @nr_ends: their number
 * @next: the ends that have come since the request was sent
 * @nr_next: their number
 * @kept: one of these has waited in bounces->starved, and does not once more
 * @scarce: there was no memory for another one, so others may wait for it
 * @job: takes the next step in process context
 * @bio: the request
 * @vecs: the memory of the block, a page each
 */
struct align_bounce {
	struct rb_node node;
	struct align_target *at;
	u64 start;
	struct list_head ends;
	unsigned int nr_ends;
	struct list_head next;
	unsigned int nr_next;
	bool kept;
	bool scarce;
	struct align_job job;
	struct bio bio;
	struct bio_vec vecs[];
};

/**
 * struct bounce_bucket - some of the bounces in flight
 * @lock: guards the tree, and the lists of the bounces in it
 * @tree: the bounces
 */
struct bounce_bucket {
	spinlock_t lock;	/* guards tree and the bounces in it */
	struct rb_root tree;
};

/**
 * struct align_bounces - the bounces of a target
 * @bucket: the bounces in flight, by the numbers of their blocks
 * @lock: guards all below; taken inside a bucket's
 * @starved: ends of reads that wait for a bounce, oldest first
 * @reserve: a bounce for these; NULL while one is in flight that will be it
 */
struct align_bounces {
	struct bounce_bucket bucket[BOUNCE_BUCKETS];
	spinlock_t lock;	/* guards all below */
	struct list_head starved;
	struct align_bounce *reserve;
};

static unsigned int bounce_bytes(const struct align_target *at)
{
	return (at->lower_mask + 1) << SECTOR_SHIFT;
}

static unsigned int bounce_nr_vecs(const struct align_target *at)
{
	return DIV_ROUND_UP(bounce_bytes(at), PAGE_SIZE);
}

static struct bounce_bucket *bucket_of(const struct align_target *at, u64 start)
{
	return &at->engine.bounces->bucket[(start >> align_log2(at->lower_mask + 1)) %
					   BOUNCE_BUCKETS];
}

static void bounce_free(struct align_bounce *bounce)
{
	unsigned int i;

	for (i = 0; i < bounce_nr_vecs(bounce->at) && bounce->vecs[i].bv_page; i++)
		__free_page(bounce->vecs[i].bv_page);
	kfree(bounce);
}

static struct align_bounce *bounce_new(struct align_target *at, gfp_t gfp)
{
	unsigned int nr = bounce_nr_vecs(at);
	struct align_bounce *bounce;
	unsigned int i;

	bounce = kzalloc(struct_size(bounce, vecs, nr), gfp);
	if (!bounce)
		return NULL;
	bounce->at = at;
	for (i = 0; i < nr; i++) {
		struct page *page = alloc_page(gfp);

		if (!page) {
			bounce_free(bounce);
			return NULL;
		}
		bvec_set_page(&bounce->vecs[i], page,
			      min_t(unsigned int, bounce_bytes(at), PAGE_SIZE), 0);
	}
	return bounce;
}

/* Find the bounce of a block in its bucket. Return: NULL if none. bucket->lock held. */
static struct align_bounce *bucket_find(const struct bounce_bucket *bucket,
					u64 start)
{
	struct rb_node *node = bucket->tree.rb_node;

	lockdep_assert_held(&bucket->lock);
	while (node) {
		struct align_bounce *bounce =
			rb_entry(node, struct align_bounce, node);

		if (bounce->start == start)
			return bounce;
		node = start < bounce->start ? node->rb_left : node->rb_right;
	}
	return NULL;
}

/* Insert a bounce into its bucket, which has none of its block. bucket->lock held. */
static void bucket_insert(struct bounce_bucket *bucket,
			  struct align_bounce *bounce)
{
	struct rb_node **link = &bucket->tree.rb_node, *parent = NULL;

	lockdep_assert_held(&bucket->lock);
	while (*link) {
		parent = *link;
		link = bounce->start <
		       rb_entry(parent, struct align_bounce, node)->start ?
		       &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&bounce->node, parent, link);
	rb_insert_color(&bounce->node, &bucket->tree);
}

/* End a part of a read. */
static void read_put(struct align_io *io, blk_status_t status)
{
	if (status)
		cmpxchg(&io->read.status, BLK_STS_OK, status);
	if (!atomic_dec_and_test(&io->read.parts))
		return;
	io->bio->bi_status = io->read.status;
	bio_endio(io->bio);
}

static void bounce_end_io(struct bio *bio);

/* Send the request of a bounce. It serves the ends that are in bounce->ends. */
static void bounce_send(struct align_bounce *bounce)
{
	struct align_target *at = bounce->at;
	const struct align_read_end *first =
		list_first_entry(&bounce->ends, struct align_read_end, list);
	struct bio *cause = first->io->bio;
	struct bio *bio = &bounce->bio;

	bio_init(bio, at->dev->bdev, bounce->vecs, bounce_nr_vecs(at),
		 REQ_OP_READ | (cause->bi_opf & ALIGN_KEPT_FLAGS));
	bio->bi_vcnt = bounce_nr_vecs(at);
	bio->bi_iter.bi_size = bounce_bytes(at);
	bio->bi_iter.bi_sector = bounce->start;
	bio->bi_ioprio = cause->bi_ioprio;
	bio->bi_private = bounce;
	bio->bi_end_io = bounce_end_io;
	bio_clone_blkg_association(bio, cause);
	if (bounce->scarce)
		bio_charge_no_cgroup(bio);
	ledger_inc(at->ledger, bounce_reads);
	submit_bio_noacct(bio);
}

static void bounce_send_job(struct align_job *job)
{
	bounce_send(container_of(job, struct align_bounce, job));
}

/*
 * Let an end be served by the bounce of its block, or by @bounce if there is none.
 * Return: whether that was so, and @bounce has to be sent. Lock of the bucket held.
 */
static bool bounce_take_end(struct bounce_bucket *bucket,
			    struct align_bounce *bounce,
			    struct align_read_end *end, bool waited)
{
	u64 start = end->start & ~(u64)end->io->at->lower_mask;
	struct align_bounce *other = bucket_find(bucket, start);

	lockdep_assert_held(&bucket->lock);
	if (other) {
		other->kept |= waited;
		list_add_tail(&end->list, &other->next);
		other->nr_next++;
		return false;
	}
	if (!bounce)
		return false;
	bounce->start = start;
	INIT_LIST_HEAD(&bounce->ends);
	INIT_LIST_HEAD(&bounce->next);
	list_add(&end->list, &bounce->ends);
	bounce->nr_ends = 1;
	bounce->nr_next = 0;
	bounce->kept = false;
	bounce->scarce = waited;
	bucket_insert(bucket, bounce);
	return true;
}

/* Take the reserve for an end, or let the end wait. Return: the reserve, or NULL. */
static struct align_bounce *reserve_take(struct align_bounces *bounces,
					 struct align_read_end *end)
{
	struct align_bounce *bounce;
	unsigned long flags;

	spin_lock_irqsave(&bounces->lock, flags);
	bounce = bounces->reserve;
	bounces->reserve = NULL;
	if (!bounce)
		list_add_tail(&end->list, &bounces->starved);
	spin_unlock_irqrestore(&bounces->lock, flags);
	return bounce;
}

/* Read an end of a read. */
static void end_read(struct align_read_end *end)
{
	struct align_target *at = end->io->at;
	struct bounce_bucket *bucket = bucket_of(at, end->start);
	/* Before the lock: the page allocator may take long. */
	struct align_bounce *fresh = bounce_new(at, BOUNCE_GFP);
	struct align_bounce *bounce = fresh;
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&bucket->lock, flags);
	if (!bounce && !bucket_find(bucket, end->start & ~(u64)at->lower_mask)) {
		bounce = reserve_take(at->engine.bounces, end);
		if (!bounce) {
			spin_unlock_irqrestore(&bucket->lock, flags);
			return;
		}
	}
	taken = bounce_take_end(bucket, bounce, end, false);
	if (taken)
		bounce->scarce = !fresh;
	spin_unlock_irqrestore(&bucket->lock, flags);
	if (taken)
		bounce_send(bounce);
	else if (fresh)
		bounce_free(fresh);
}

/* Put a bounce where it is found again. Return: an end that is to be served, or NULL. */
static struct align_read_end *bounce_put(struct align_bounce *bounce)
{
	struct align_bounces *bounces = bounce->at->engine.bounces;
	struct align_read_end *end;
	unsigned long flags;
	bool spare;

	spin_lock_irqsave(&bounces->lock, flags);
	end = list_first_entry_or_null(&bounces->starved, struct align_read_end,
				       list);
	spare = !end && bounces->reserve;
	if (end)
		list_del(&end->list);
	else if (!spare)
		bounces->reserve = bounce;
	spin_unlock_irqrestore(&bounces->lock, flags);
	if (spare)
		bounce_free(bounce);
	return end;
}

/* A bounce serves nothing more: let it serve an end that waits for one. */
static void bounce_release(struct align_bounce *bounce)
{
	struct align_target *at = bounce->at;
	struct align_read_end *end;
	bool taken = false;

	while (!taken && (end = bounce_put(bounce))) {
		struct bounce_bucket *bucket = bucket_of(at, end->start);
		unsigned long flags;

		spin_lock_irqsave(&bucket->lock, flags);
		taken = bounce_take_end(bucket, bounce, end, true);
		spin_unlock_irqrestore(&bucket->lock, flags);
	}
	if (taken) {
		job_init(&bounce->job, bounce_send_job);
		job_queue(&at->engine.jobs, &bounce->job);
	}
}

/* Copy the sectors of an end to its read. */
static void end_copy(const struct align_bounce *bounce,
		     const struct align_read_end *end)
{
	unsigned int byte = (end->start - bounce->start) << SECTOR_SHIFT;
	struct bvec_iter iter = end->io->read.iter;
	struct bio *bio = end->io->bio;
	struct bio_vec bv;

	bio_advance_iter(bio, &iter,
			 (end->start - iter.bi_sector) << SECTOR_SHIFT);
	iter.bi_size = end->sectors << SECTOR_SHIFT;
	__bio_for_each_segment(bv, bio, iter, iter) {
		void *to = bvec_kmap_local(&bv);
		unsigned int done = 0;

		while (done < bv.bv_len) {
			struct bio_vec from = bounce->vecs[byte / PAGE_SIZE];
			unsigned int into = byte % PAGE_SIZE;
			unsigned int n = min_t(unsigned int, PAGE_SIZE - into,
					       bv.bv_len - done);

			memcpy(to + done, bvec_virt(&from) + into, n);
			done += n;
			byte += n;
		}
		flush_dcache_page(bv.bv_page);
		kunmap_local(to);
	}
}

/*
 * Have the ends that came since the request was sent wait behind those that have found
 * no memory, if there are some: a bounce is not kept for one block. Lock of the bucket
 * held.
 */
static void bounce_yield(struct align_bounce *bounce)
{
	struct align_bounces *bounces = bounce->at->engine.bounces;

	lockdep_assert_held(&bucket_of(bounce->at, bounce->start)->lock);
	if (bounce->kept || list_empty(&bounces->starved))
		return;
	spin_lock(&bounces->lock);
	if (!list_empty(&bounces->starved)) {
		list_splice_tail_init(&bounce->next, &bounces->starved);
		bounce->nr_next = 0;
	}
	spin_unlock(&bounces->lock);
}

/*
 * The request of a bounce has ended: serve the ends that it was for, and send the next
 * one for those that have come meanwhile. Neither bounce nor target may be used
 * afterwards.
 */
static void bounce_serve(struct align_bounce *bounce)
{
	struct bounce_bucket *bucket = bucket_of(bounce->at, bounce->start);
	blk_status_t status = bounce->bio.bi_status;
	struct align_read_end *end, *tmp;
	unsigned long flags;
	LIST_HEAD(served);
	bool again;

	bio_uninit(&bounce->bio);
	if (!status)
		list_for_each_entry(end, &bounce->ends, list)
			end_copy(bounce, end);

	spin_lock_irqsave(&bucket->lock, flags);
	list_replace_init(&bounce->ends, &served);
	bounce_yield(bounce);
	list_splice_init(&bounce->next, &bounce->ends);
	bounce->nr_ends = bounce->nr_next;
	bounce->nr_next = 0;
	bounce->kept = false;
	again = bounce->nr_ends;
	if (!again)
		rb_erase(&bounce->node, &bucket->tree);
	spin_unlock_irqrestore(&bucket->lock, flags);

	/* A read that is not served yet keeps the target. */
	if (again) {
		job_init(&bounce->job, bounce_send_job);
		job_queue(&bounce->at->engine.jobs, &bounce->job);
	} else {
		bounce_release(bounce);
	}
	list_for_each_entry_safe(end, tmp, &served, list)
		read_put(end->io, status);
}

static void bounce_serve_job(struct align_job *job)
{
	bounce_serve(container_of(job, struct align_bounce, job));
}

static void bounce_end_io(struct bio *bio)
{
	struct align_bounce *bounce = bio->bi_private;

	if (bounce->nr_ends <= BOUNCE_ENDS) {
		bounce_serve(bounce);
		return;
	}
	job_init(&bounce->job, bounce_serve_job);
	job_queue(&bounce->at->engine.jobs, &bounce->job);
}

static void middle_end(struct bio *bio)
{
	struct align_io *io = bio->bi_private;
	blk_status_t status = bio->bi_status;

	bio_uninit(bio);
	read_put(io, status);
}

/* Send the middle of a read, between its ends. Return: false without memory. */
static bool middle_send(struct align_io *io, gfp_t gfp)
{
	struct align_read *read = &io->read;
	struct bio *bio = &read->middle;

	if (bio_init_clone(io->at->dev->bdev, bio, io->bio, gfp))
		return false;
	bio->bi_opf &= ~ALIGN_DROPPED_FLAGS;
	bio->bi_iter = read->iter;
	bio_advance_iter(io->bio, &bio->bi_iter,
			 (read->start - read->iter.bi_sector) << SECTOR_SHIFT);
	bio->bi_iter.bi_sector = read->start;
	bio->bi_iter.bi_size = read->sectors << SECTOR_SHIFT;
	bio->bi_private = io;
	bio->bi_end_io = middle_end;
	dm_submit_bio_remap(io->bio, bio);
	return true;
}

static void middle_job(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, job);

	if (!middle_send(io, GFP_NOIO))
		read_put(io, BLK_STS_RESOURCE);
}

/* Whether a read does not go down as it came, and so may wait for something. */
bool bounce_needs(const struct align_io *io)
{
	u64 start = io->bio->bi_iter.bi_sector;
	u32 sectors = bio_sectors(io->bio);

	return ((start | sectors) & io->at->lower_mask) ||
	       lower_gapless(io, start, sectors) < sectors;
}

/**
 * bounce_accept - accept a read up to the first gap that the device does not take
 * @io: the read
 *
 * Return: whether all of it is accepted; if not, the rest comes as a bio of its own.
 */
bool bounce_accept(struct align_io *io)
{
	u64 mask = io->at->lower_mask;
	struct bio *bio = io->bio;
	u64 start = bio->bi_iter.bi_sector;
	u64 end = bio_end_sector(bio);
	u64 middle = (start + mask) & ~mask;
	u64 stop;

	if ((end & ~mask) <= middle)
		return true;
	stop = middle + lower_gapless(io, middle, (end & ~mask) - middle);
	if (stop >= (end & ~mask))
		return true;
	stop &= ~mask;
	/* A block with a gap is an end, if nothing is in front of it. */
	if (stop == start)
		stop += mask + 1;
	if (stop == end)
		return true;
	dm_accept_partial_bio(bio, stop - start);
	return false;
}

/**
 * bounce_map_read - map a read that may begin or end inside a logical block
 * @io: the read, of which bounce_accept() has accepted all
 *
 * Return: what map returns.
 */
int bounce_map_read(struct align_io *io)
{
	struct align_read *read = &io->read;
	u64 mask = io->at->lower_mask;
	u64 start = io->bio->bi_iter.bi_sector;
	u64 end = bio_end_sector(io->bio);
	u64 stop = min(end, (start | mask) + 1);
	unsigned int nr = 0, i;

	read->iter = io->bio->bi_iter;
	if (!bounce_needs(io))
		return DM_MAPIO_REMAPPED;
	ledger_inc(io->at->ledger, reads_bounced);
	/* Only its sender would poll for the requests that it becomes. */
	bio_clear_polled(io->bio);
	if ((start & mask) || stop == end) {
		read->end[nr++] = (struct align_read_end) {
			.io = io, .start = start, .sectors = stop - start };
		start = stop;
	}
	if (start < end && (end & mask)) {
		read->end[nr++] = (struct align_read_end) {
			.io = io, .start = end & ~mask, .sectors = end & mask };
		end &= ~mask;
	}
	read->start = start;
	read->sectors = end - start;
	read->status = BLK_STS_OK;
	atomic_set(&read->parts, 1 + nr + !!read->sectors);
	for (i = 0; i < nr; i++)
		end_read(&read->end[i]);
	if (read->sectors && !middle_send(io, GFP_NOWAIT)) {
		job_init(&io->job, middle_job);
		job_queue(&io->at->engine.jobs, &io->job);
	}
	read_put(io, BLK_STS_OK);
	return DM_MAPIO_SUBMITTED;
}

/**
 * bounces_new - make the bounces of a target
 * @at: the target, of which the geometry is known
 *
 * Return: NULL without memory.
 */
struct align_bounces *bounces_new(struct align_target *at)
{
	struct align_bounces *bounces = kzalloc(sizeof(*bounces), GFP_KERNEL);
	unsigned int i;

	if (!bounces)
		return NULL;
	bounces->reserve = bounce_new(at, GFP_KERNEL);
	if (!bounces->reserve) {
		kfree(bounces);
		return NULL;
	}
	for (i = 0; i < BOUNCE_BUCKETS; i++) {
		spin_lock_init(&bounces->bucket[i].lock);
		bounces->bucket[i].tree = RB_ROOT;
	}
	spin_lock_init(&bounces->lock);
	INIT_LIST_HEAD(&bounces->starved);
	return bounces;
}

/* Free the bounces of a target, if there are some; no read is in flight. */
void bounces_free(struct align_bounces *bounces)
{
	if (!bounces)
		return;
	WARN_ON(!list_empty(&bounces->starved));
	bounce_free(bounces->reserve);
	kfree(bounces);
}
