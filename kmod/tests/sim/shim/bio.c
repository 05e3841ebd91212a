// SPDX-License-Identifier: GPL-2.0
/* Bios, and sets of them that keep some in reserve. */
#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>

void bio_init(struct bio *bio, struct block_device *bdev, struct bio_vec *table,
	      unsigned short max_vecs, blk_opf_t opf)
{
	memset(bio, 0, sizeof(*bio));
	bio->bi_bdev = bdev;
	bio->bi_opf = opf;
	bio->bi_io_vec = table;
	bio->bi_max_vecs = max_vecs;
}

void bio_uninit(struct bio *bio)
{
	bio->bi_bdev = NULL;
}

void bio_reset(struct bio *bio, struct block_device *bdev, blk_opf_t opf)
{
	struct bio_set *pool = bio->bi_pool;

	bio_init(bio, bdev, bio->bi_io_vec, bio->bi_max_vecs, opf);
	bio->bi_pool = pool;
}

static struct bio *bio_new(unsigned int nr_vecs, gfp_t gfp)
{
	return kmalloc(sizeof(struct bio) + nr_vecs * sizeof(struct bio_vec),
		       gfp);
}

int bioset_init(struct bio_set *set, unsigned int size, unsigned int pad,
		int flags)
{
	if (!size || size > BIO_POOL_SIZE || pad)
		machine_fail("a set of bios keeps %u, with %u bytes in front of each",
			     size, pad);
	memset(set, 0, sizeof(*set));
	for (set->nr = 0; set->nr < size; set->nr++) {
		set->reserve[set->nr] = bio_new(BIO_MAX_VECS, GFP_KERNEL);
		if (!set->reserve[set->nr]) {
			bioset_exit(set);
			return -ENOMEM;
		}
	}
	return 0;
}

void bioset_exit(struct bio_set *set)
{
	while (set->nr)
		kfree(set->reserve[--set->nr]);
}

/* As mempool_alloc(): memory, the reserve, or wait until one comes back. */
static struct bio *set_take(struct bio_set *set, unsigned int nr_vecs,
			    gfp_t gfp)
{
	struct bio *bio;

	/* First as if the caller must not sleep, so that the reserve is used at times. */
	bio = bio_new(nr_vecs, GFP_NOWAIT);
	if (bio)
		return bio;
	machine_point();
	if (!set->nr && gfp & __GFP_DIRECT_RECLAIM)
		wait_event(set->wait, set->nr);
	else if (gfp & __GFP_DIRECT_RECLAIM)
		might_sleep();
	return set->nr ? set->reserve[--set->nr] : NULL;
}

struct bio *bio_alloc_bioset(struct block_device *bdev, unsigned short nr_vecs,
			     blk_opf_t opf, gfp_t gfp, struct bio_set *set)
{
	struct bio *bio = set_take(set, nr_vecs, gfp);

	if (!bio)
		return NULL;
	bio_init(bio, bdev, (struct bio_vec *)(bio + 1), nr_vecs, opf);
	bio->bi_pool = set;
	return bio;
}

struct cgroup_subsys_state *bio_blkcg_css(struct bio *bio)
{
	static struct cgroup_subsys_state root, other = { .parent = &root };

	return bio->cgroup ? &other : &root;
}

static void clone(struct bio *bio, struct block_device *bdev, struct bio *from,
		  struct bio_set *pool)
{
	bio_init(bio, bdev, from->bi_io_vec, 0, from->bi_opf);
	bio->bi_pool = pool;
	bio->cloned = true;
	bio->bi_iter = from->bi_iter;
	bio->bi_ioprio = from->bi_ioprio;
	bio->bi_write_hint = from->bi_write_hint;
	bio->bi_write_stream = from->bi_write_stream;
	bio_clone_blkg_association(bio, from);
}

struct bio *bio_alloc_clone(struct block_device *bdev, struct bio *from,
			    gfp_t gfp, struct bio_set *set)
{
	struct bio *bio = set_take(set, 0, gfp);

	if (bio)
		clone(bio, bdev, from, set);
	return bio;
}

int bio_init_clone(struct block_device *bdev, struct bio *bio, struct bio *from,
		   gfp_t gfp)
{
	/* A bio that is encrypted has a context, of which the clone needs its own. */
	void *context = kmalloc(1, gfp & ~__GFP_MAY_FAIL);

	if (!context)
		return -ENOMEM;
	kfree(context);
	clone(bio, bdev, from, NULL);
	return 0;
}

struct bio *bio_alloc(struct block_device *bdev, unsigned short nr_vecs,
		      blk_opf_t opf, gfp_t gfp)
{
	struct bio *bio = bio_new(nr_vecs, gfp & ~__GFP_MAY_FAIL);

	if (bio)
		bio_init(bio, bdev, (struct bio_vec *)(bio + 1), nr_vecs, opf);
	return bio;
}

void bio_put(struct bio *bio)
{
	struct bio_set *set = bio->bi_pool;

	machine_point();
	/* A bio of the reserve has room for all bvecs, and goes back there. */
	if (set && set->nr < BIO_POOL_SIZE &&
	    ksize(bio) >= BIO_MAX_VECS * sizeof(struct bio_vec)) {
		set->reserve[set->nr++] = bio;
		wake_up(&set->wait);
	} else {
		kfree(bio);
	}
}

void bio_endio(struct bio *bio)
{
	machine_point();
	if (bio->bi_end_io)
		bio->bi_end_io(bio);
}

void __bio_add_page(struct bio *bio, struct page *page, unsigned int bytes,
		    unsigned int offset)
{
	if (bio->bi_vcnt == bio->bi_max_vecs)
		machine_fail("WARNING: a bio of %u bvecs gets one more",
			     bio->bi_max_vecs);
	bvec_set_page(&bio->bi_io_vec[bio->bi_vcnt++], page, bytes, offset);
	bio->bi_iter.bi_size += bytes;
}
