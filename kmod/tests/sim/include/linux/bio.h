/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of bios; bio.c. */
#ifndef SHIM_BIO_H
#define SHIM_BIO_H

#include <linux/blk_types.h>
#include <linux/slab.h>
#include <linux/wait.h>

struct bio_list {
	struct bio *head, *tail;
};

#define BIO_EMPTY_LIST	{ NULL, NULL }

static inline void bio_list_init(struct bio_list *list)
{
	list->head = NULL;
	list->tail = NULL;
}

static inline bool bio_list_empty(const struct bio_list *list)
{
	return !list->head;
}

static inline void bio_list_add(struct bio_list *list, struct bio *bio)
{
	bio->bi_next = NULL;
	if (list->tail)
		list->tail->bi_next = bio;
	else
		list->head = bio;
	list->tail = bio;
}

static inline void bio_list_merge(struct bio_list *list, struct bio_list *more)
{
	if (!more->head)
		return;
	if (list->tail)
		list->tail->bi_next = more->head;
	else
		list->head = more->head;
	list->tail = more->tail;
}

static inline struct bio *bio_list_pop(struct bio_list *list)
{
	struct bio *bio = list->head;

	if (bio) {
		list->head = bio->bi_next;
		if (!list->head)
			list->tail = NULL;
		bio->bi_next = NULL;
	}
	return bio;
}

/**
 * struct bio_set - bios, of which some can always be had in the end
 * @reserve: the bios that are kept for when memory lacks
 * @nr: number of @reserve
 * @wait: threads that wait for a bio
 */
struct bio_set {
	struct bio *reserve[BIO_POOL_SIZE];
	unsigned int nr;
	wait_queue_head_t wait;
};

#define BIOSET_NEED_BVECS	1

int bioset_init(struct bio_set *set, unsigned int size, unsigned int pad,
		int flags);
void bioset_exit(struct bio_set *set);

void bio_init(struct bio *bio, struct block_device *bdev, struct bio_vec *table,
	      unsigned short max_vecs, blk_opf_t opf);
void bio_uninit(struct bio *bio);
void bio_reset(struct bio *bio, struct block_device *bdev, blk_opf_t opf);
void bio_put(struct bio *bio);
void bio_endio(struct bio *bio);
struct bio *bio_alloc_bioset(struct block_device *bdev, unsigned short nr_vecs,
			     blk_opf_t opf, gfp_t gfp, struct bio_set *set);
struct bio *bio_alloc_clone(struct block_device *bdev, struct bio *from,
			    gfp_t gfp, struct bio_set *set);
int bio_init_clone(struct block_device *bdev, struct bio *bio, struct bio *from,
		   gfp_t gfp);
struct bio *bio_alloc(struct block_device *bdev, unsigned short nr_vecs,
		      blk_opf_t opf, gfp_t gfp);
void __bio_add_page(struct bio *bio, struct page *page, unsigned int bytes,
		    unsigned int offset);

static inline unsigned int bio_sectors(const struct bio *bio)
{
	return bio->bi_iter.bi_size >> SECTOR_SHIFT;
}

static inline sector_t bio_end_sector(const struct bio *bio)
{
	return bio->bi_iter.bi_sector + bio_sectors(bio);
}

/* Whether a bio has no data, and so no bvecs to advance in. */
static inline bool bio_has_no_bvecs(const struct bio *bio)
{
	return bio_op(bio) == REQ_OP_DISCARD ||
	       bio_op(bio) == REQ_OP_SECURE_ERASE ||
	       bio_op(bio) == REQ_OP_WRITE_ZEROES;
}

static inline void bio_advance_iter(const struct bio *bio,
				    struct bvec_iter *iter, unsigned int bytes)
{
	iter->bi_sector += bytes >> SECTOR_SHIFT;
	if (bio_has_no_bvecs(bio))
		iter->bi_size -= bytes;
	else
		bvec_iter_advance(bio->bi_io_vec, iter, bytes);
}

static inline void bio_advance_iter_single(const struct bio *bio,
					   struct bvec_iter *iter,
					   unsigned int bytes)
{
	iter->bi_sector += bytes >> SECTOR_SHIFT;
	bvec_iter_advance_single(bio->bi_io_vec, iter, bytes);
}

#define bio_iter_iovec(bio, iter)	bvec_iter_bvec((bio)->bi_io_vec, (iter))

#define __bio_for_each_segment(bvl, bio, iter, start) \
	for (iter = (start); \
	     (iter).bi_size && ((bvl = bio_iter_iovec((bio), (iter))), 1); \
	     bio_advance_iter_single((bio), &(iter), (bvl).bv_len))

#define __bio_for_each_bvec(bvl, bio, iter, start) \
	for (iter = (start); \
	     (iter).bi_size && \
	     ((bvl = mp_bvec_iter_bvec((bio)->bi_io_vec, (iter))), 1); \
	     bio_advance_iter_single((bio), &(iter), (bvl).bv_len))

static inline void bio_set_dev(struct bio *bio, struct block_device *bdev)
{
	bio->bi_bdev = bdev;
}

static inline void bio_clear_polled(struct bio *bio)
{
	bio->bi_opf &= ~REQ_POLLED;
}

static inline void bio_io_error(struct bio *bio)
{
	bio->bi_status = BLK_STS_IOERR;
	bio_endio(bio);
}

static inline void bio_wouldblock_error(struct bio *bio)
{
	bio->bi_status = BLK_STS_AGAIN;
	bio_endio(bio);
}

struct cgroup_subsys_state;
static inline void bio_associate_blkg_from_css(struct bio *bio,
					       struct cgroup_subsys_state *css)
{
	bio->nobodys = !css;
	bio->cgroup = 0;
}

static inline void bio_clone_blkg_association(struct bio *bio,
					      const struct bio *from)
{
	bio->nobodys = from->nobodys;
	bio->cgroup = from->cgroup;
}

#endif
