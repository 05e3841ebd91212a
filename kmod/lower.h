/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The largest request that the device below takes.
 */
#ifndef DM_ALIGN_LOWER_H
#define DM_ALIGN_LOWER_H

#include "align.h"

void align_get_limits(const struct align_target *at, struct align_limits *lim);
sector_t lower_fit(const struct align_io *io, const struct align_limits *lim,
		   struct bvec_iter from, u32 max, u32 segments);
bool align_over_limits(struct align_io *io);

#ifdef CONFIG_DM_ALIGN_PAD
/*
 * Where the target offers smaller logical blocks: the bits that no address and no length
 * of a segment may have, because the device below takes only larger pieces of memory.
 * A dma_alignment of 511 is the block layer's default: of a loop device, which refuses
 * less than a logical block under direct I/O, and of null_blk, which copies behind the end
 * of a page. A device with a smaller dma_alignment does DMA, and takes such pieces.
 */
static inline u32 align_memory_mask(const struct align_target *at)
{
	u32 mask;

	if (!align_offers_smaller(at))
		return 0;
	mask = bdev_get_queue(at->dev->bdev)->limits.dma_alignment;
	if (mask == SECTOR_SIZE - 1)
		mask = min_t(u32, at->lower_mask << SECTOR_SHIFT, PAGE_SIZE - 1);
	return mask & ~(SECTOR_SIZE - 1);
}
#endif

/*
 * Small writes in one piece of memory fit nearly everywhere, and there are many
 * of them. Whether a write is surely one request, wherever it starts.
 */
static inline bool align_surely_fits(const struct align_target *at,
				     const struct bio *bio)
{
	const struct queue_limits *q = &bdev_get_queue(at->dev->bdev)->limits;
	unsigned int size = bio->bi_iter.bi_size;

#ifdef CONFIG_DM_ALIGN_PAD
	if ((size | mp_bvec_iter_offset(bio->bi_io_vec, bio->bi_iter)) &
	    align_memory_mask(at))
		return false;
#endif
	return size <= PAGE_SIZE &&
	       size == mp_bvec_iter_len(bio->bi_io_vec, bio->bi_iter) &&
	       (size + q->physical_block_size) >> SECTOR_SHIFT <= q->max_sectors &&
	       !q->chunk_sectors && q->max_segments > 1 &&
	       q->max_segment_size >= PAGE_SIZE &&
	       q->seg_boundary_mask >= PAGE_SIZE - 1;
}

#endif
