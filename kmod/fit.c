// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Where a remainder is cut
 *
 * The lower queue would split a remainder that exceeds its limits at logical
 * blocks, or at multiples of P that ignore alignment_offset, and so make
 * partial touches of its own. So the engine applies the same limits (size,
 * segments, segment size, chunks) first and cuts at the last physical boundary
 * that fits. Such pieces are counted in cuts. Where the underlying device lies
 * on others itself (LVM, md) the position on the disk is not known, and the
 * engine stays below the largest request by as much as the split could be off.
 * Write-zeroes are cut by the same rule, at the limit for them.
 */
#include "buffer.h"
#include "cut.h"
#include "fit.h"
#include "lower.h"

/**
 * piece_fit - how much of a write fits in one request
 * @io: the write
 * @sector: first sector, on the device below
 * @from: bytes from there on
 * @blocks: number of blocks in front of them, in the same request
 *
 * Return: sectors.
 */
sector_t piece_fit(const struct align_io *io, sector_t sector,
		   struct bvec_iter from, unsigned int blocks)
{
	struct align_limits lim;
	u32 segments;
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
	return lower_fit(io, &lim, from, max, segments);
}

/**
 * piece_cut - where to cut the rest of a remainder
 * @io: the write or write-zeroes
 * @sector: first sector of the rest, on the device below
 * @from: bytes of the rest; of write-zeroes only their number
 *
 * Return: sectors up to the last boundary that fits in one request, all of them
 * if they fit, 0 if not even the first boundary does.
 */
sector_t piece_cut(const struct align_io *io, sector_t sector,
		   struct bvec_iter from)
{
	const struct align_geometry *g = &io->at->geometry;
	sector_t left = from.bi_size >> SECTOR_SHIFT;
	struct align_limits lim;

	if (!align_io_is_zeroes(io))
		return align_cut(g, sector, piece_fit(io, sector, from, 0),
				 left);
	align_get_limits(io->at, &lim);
	return align_cut_zeroes(g, &lim, sector, left);
}

/**
 * align_discard_granule - find the granule that the device below discards as a whole
 * @at: the target
 * @sector: a sector of the device below
 * @into: receives how far the sector lies behind the granule's first
 *
 * The block layer counts granules from the start of the disk (bio_split_discard()).
 *
 * Return: sectors of a granule, of which it may discard all or none; 0: any.
 */
u32 align_discard_granule(const struct align_target *at, u64 sector, u32 *into)
{
	struct block_device *bdev = at->dev->bdev;
	const struct queue_limits *q = &bdev_get_queue(bdev)->limits;
	u32 granule = q->discard_granularity >> SECTOR_SHIFT;

	*into = 0;
	if (granule)
		*into = align_into_granule(sector + get_start_sect(bdev), granule,
					   q->discard_alignment >> SECTOR_SHIFT);
	return granule;
}

/**
 * lower_gapless - find the first gap in the bvecs of a read
 * @io: the read
 * @start: first sector, on the device below
 * @sectors: number of sectors
 *
 * Return: sectors from @start up to memory that the device below does not take in one
 * request, @sectors if there is none.
 */
sector_t lower_gapless(const struct align_io *io, sector_t start,
		       sector_t sectors)
{
	struct bvec_iter iter = io->bio->bi_iter;
	struct align_limits lim;

	align_get_limits(io->at, &lim);
	if (!lim.virt_boundary_mask && !align_memory_mask(io->at))
		return sectors;
	bio_advance_iter(io->bio, &iter, (start - iter.bi_sector) << SECTOR_SHIFT);
	return lower_fit(io, &lim, iter, sectors, UINT_MAX);
}

/**
 * run_max_blocks - how many blocks go together as one request
 * @at: the target
 * @number: the first of them
 *
 * Return: at least 1. There may be more than one lock is held over.
 */
unsigned int run_max_blocks(const struct align_target *at, u64 number)
{
	struct align_limits lim;
	u32 sectors;

	align_get_limits(at, &lim);
	sectors = align_max_io_sectors(&lim,
				       align_block_start(&at->geometry, number));
	/* Each page may be a segment of its own. */
	return max(1U, min(sectors / align_block_sectors(&at->geometry),
			   min_t(u32, lim.max_segments, BIO_MAX_VECS) /
			   buffer_max_segments(at)));
}
