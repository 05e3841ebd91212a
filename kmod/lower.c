// SPDX-License-Identifier: GPL-2.0
/*
 * What the device below takes as one request: where a write is cut at physical
 * boundaries, so that the device below does not cut it elsewhere, and how many
 * blocks go together.
 */
#include <linux/io.h>

#include "buffer.h"
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

	/* What has no requests of its own passes bios on to where it lies. */
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
 * run_fit - how much of a write fits in one request
 * @io: the write
 * @sector: first sector, on the device below
 * @from: bytes from there on
 * @blocks: number of blocks in front of them, in the same request
 *
 * Return: sectors.
 */
sector_t run_fit(const struct align_io *io, sector_t sector,
		 struct bvec_iter from, unsigned int blocks)
{
	struct align_limits lim;
	struct bvec_iter iter;
	struct bio_vec bv;
	u64 last_end = 0;
	u32 segments;
	u32 bytes = 0;
	u32 max;

	align_get_limits(io->at, &lim);
	segments = lim.max_segments;
	if (blocks) {
		u32 front = blocks * align_block_sectors(&io->at->geometry);

		max = align_max_io_sectors(&lim, sector - front);
		max -= min(max, front);
		segments -= min(segments, blocks * buffer_max_segments(io->at));
		/* Nothing is known about the gap between the two. */
		if (lim.virt_boundary_mask)
			return 0;
	} else {
		max = align_max_io_sectors(&lim, sector);
	}
	if (max < from.bi_size >> SECTOR_SHIFT)
		from.bi_size = max << SECTOR_SHIFT;

	__bio_for_each_bvec(bv, io->bio, iter, from) {
		u64 addr = page_to_phys(bv.bv_page) + bv.bv_offset;
		u32 n;

		/* The block layer's rule, bvec_gap_to_prev(). */
		if (bytes && ((last_end | bv.bv_offset) & lim.virt_boundary_mask))
			break;
		n = align_segment_bytes(&lim, addr, bv.bv_len, &segments);
		bytes += n;
		if (n < bv.bv_len)
			break;
		last_end = bv.bv_offset + bv.bv_len;
	}
	return bytes >> SECTOR_SHIFT;
}

/**
 * run_cut - where to cut the rest of a run
 * @io: the write or write-zeroes
 * @sector: first sector of the rest, on the device below
 * @from: bytes of the rest; of write-zeroes only their number
 *
 * Return: sectors up to the last boundary that fits in one request, all of them
 * if they fit, 0 if not even the first boundary does.
 */
sector_t run_cut(const struct align_io *io, sector_t sector,
		 struct bvec_iter from)
{
	const struct align_geometry *g = &io->at->geometry;
	sector_t left = from.bi_size >> SECTOR_SHIFT;
	struct align_limits lim;

	if (!align_io_is_zeroes(io))
		return align_cut(g, sector, run_fit(io, sector, from, 0), left);
	align_get_limits(io->at, &lim);
	return align_cut_zeroes(g, &lim, sector, left);
}

/**
 * align_over_limits - whether the device below would split a write
 * @io: the write, of which nothing has been sent
 */
bool align_over_limits(struct align_io *io)
{
	struct bio *bio = io->bio;

	/* Atomic writes have limits of their own, which those above respect. */
	if (align_surely_fits(io->at, bio) || (bio->bi_opf & REQ_ATOMIC))
		return false;
	return run_cut(io, bio->bi_iter.bi_sector, bio->bi_iter) <
	       bio_sectors(bio);
}

/**
 * run_max_blocks - how many blocks go together as one request
 * @at: the target
 * @number: the first of them
 *
 * Return: 1 to RUN_BLOCKS.
 */
unsigned int run_max_blocks(const struct align_target *at, u64 number)
{
	struct align_limits lim;
	u32 sectors;

	align_get_limits(at, &lim);
	sectors = align_max_io_sectors(&lim,
				       align_block_start(&at->geometry, number));
	/* Each page may be a segment of its own. */
	return clamp(min(sectors / align_block_sectors(&at->geometry),
			 min_t(u32, lim.max_segments, BIO_MAX_VECS) /
			 buffer_max_segments(at)), 1U, (u32)RUN_BLOCKS);
}
