/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The buffer of a block: its memory, and the copies into it.
 */
#ifndef DM_ALIGN_BUFFER_H
#define DM_ALIGN_BUFFER_H

#include "align.h"

/* Allocate without waiting, and leave the emergency reserves alone. */
#define BUFFER_GFP	(GFP_NOWAIT | __GFP_NORETRY | __GFP_NOMEMALLOC | \
			 __GFP_NOWARN)

/*
 * Buffers: pages, because higher orders are hard to have without waiting;
 * smaller blocks share a page through the slab, which aligns them to their
 * size. A block that would need more than so many bio_vecs is made of larger
 * pieces, but of none larger than two pages of 4 KiB, however large it is.
 */
#define BUFFER_FEW_VECS		8
#define BUFFER_MAX_PIECE	8192

/* Bytes of one piece of a buffer. */
static inline unsigned int buffer_vec_size(const struct align_target *at)
{
	unsigned int physical = at->geometry.physical;

	return max_t(unsigned int,
		     min_t(unsigned int, physical / BUFFER_FEW_VECS,
			   BUFFER_MAX_PIECE),
		     min_t(unsigned int, physical, PAGE_SIZE));
}

/* Pieces of one block. */
static inline unsigned int buffer_nr_vecs(const struct align_target *at)
{
	return at->geometry.physical / buffer_vec_size(at);
}

/* Where a byte of a buffer is. */
static inline void *buffer_at(const struct align_target *at,
			      const struct bio_vec *vecs, unsigned int byte)
{
	unsigned int size = buffer_vec_size(at);

	return bvec_virt((struct bio_vec *)&vecs[byte / size]) + byte % size;
}

/* Segments that a block adds to a request, even if each page is a segment of its own. */
static inline unsigned int buffer_max_segments(const struct align_target *at)
{
	return DIV_ROUND_UP(at->geometry.physical, PAGE_SIZE);
}

bool buffer_alloc(const struct align_target *at, struct bio_vec *vecs,
		  gfp_t gfp);
void buffer_free(const struct align_target *at, struct bio_vec *vecs);
void buffer_copy(const struct align_target *at, struct bio_vec *vecs,
		 unsigned int byte, struct bio *bio, struct bvec_iter from);
void buffer_copy_touch(const struct align_target *at, struct bio_vec *vecs,
		       const struct align_touch *touch);
void buffer_complete(const struct align_target *at, struct bio_vec *vecs,
		     const struct bio_vec *from, const unsigned long *kept);
void buffer_add_to_bio(const struct align_target *at, struct bio_vec *vecs,
		       unsigned int first, unsigned int end, struct bio *bio);

#endif
