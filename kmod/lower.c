// SPDX-License-Identifier: GPL-2.0
/*
 * The largest request that the device below takes.
 */
#include <linux/io.h>

#include "compat.h"
#include "lower.h"

/**
 * align_get_limits - read the limits of one request of the device below
 * @at: the target
 * @lim: receives them as they are now
 */
void align_get_limits(const struct align_target *at, struct align_limits *lim)
{
	struct request_queue *queue = bdev_get_queue(at->dev->bdev);
	const struct queue_limits *q = &queue->limits;

	/* A device without requests of its own passes bios on to the devices below it. */
	lim->stacked = !queue_is_mq(queue);
	lim->start = get_start_sect(at->dev->bdev);
	lim->max_sectors = q->max_sectors;
	lim->max_zeroes_sectors = q->max_write_zeroes_sectors;
	lim->chunk_sectors = q->chunk_sectors;
	lim->physical_sectors = q->physical_block_size >> SECTOR_SHIFT;
	lim->logical_sectors = q->logical_block_size >> SECTOR_SHIFT;
	lim->max_segments = q->max_segments;
	lim->max_segment_size = q->max_segment_size;
	lim->seg_boundary_mask = q->seg_boundary_mask;
	lim->virt_boundary_mask = q->virt_boundary_mask;
}

/**
 * lower_fit - how much of a write fits in some segments
 * @io: the write
 * @lim: the limits below
 * @from: bytes of the write, from where they are to be sent on
 * @max: most sectors
 * @segments: most segments
 *
 * Return: sectors.
 */
sector_t lower_fit(const struct align_io *io, const struct align_limits *lim,
		   struct bvec_iter from, u32 max, u32 segments)
{
	struct bvec_iter iter;
	struct bio_vec bv;
	u64 last_end = 0;
	u32 bytes = 0;

	if (max < from.bi_size >> SECTOR_SHIFT)
		from.bi_size = max << SECTOR_SHIFT;

	__bio_for_each_bvec(bv, io->bio, iter, from) {
		u64 addr = page_to_phys(bv.bv_page) + bv.bv_offset;
		u32 n;

		/* The block layer's rule, bvec_gap_to_prev(). */
		if (bytes && ((last_end | bv.bv_offset) & lim->virt_boundary_mask))
			break;
#ifdef CONFIG_DM_ALIGN_PAD
		if ((bv.bv_offset | bv.bv_len) & align_memory_mask(io->at))
			break;
#endif
		n = align_segment_bytes(lim, addr, bv.bv_len, &segments);
		bytes += n;
		if (n < bv.bv_len)
			break;
		last_end = bv.bv_offset + bv.bv_len;
	}
	return bytes >> SECTOR_SHIFT;
}

/**
 * align_over_limits - whether the device below would split a write
 * @io: the write, of which nothing has been sent
 */
bool align_over_limits(struct align_io *io)
{
	struct bio *bio = io->bio;
	struct align_limits lim;

	/* Atomic writes have limits of their own, which those above respect. */
	if (align_surely_fits(io->at, bio) || (bio->bi_opf & REQ_ATOMIC))
		return false;
	align_get_limits(io->at, &lim);
	return lower_fit(io, &lim, bio->bi_iter,
			 align_max_io_sectors(&lim, bio->bi_iter.bi_sector),
			 lim.max_segments) < bio_sectors(bio);
}
