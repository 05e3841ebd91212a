/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where requests are cut that are too large for the device below, and whether a
 * whole block fits into one. Pure functions on integers, as those of geometry.h.
 */
#ifndef DM_ALIGN_CUT_H
#define DM_ALIGN_CUT_H

#include "geometry.h"

#define ALIGN_MAX_BIO_SECTORS	(0xffffffffU >> ALIGN_SECTOR_SHIFT)

/**
 * align_cut - where a request that is too large is cut
 * @g: the blocks
 * @sector: where the request starts
 * @fit: sectors of it that would fit in one request
 * @left: sectors of it in all
 *
 * Return: sectors up to the last boundary that fits, @left if all of it fits,
 * 0 if not even the first boundary fits.
 */
static inline __u64 align_cut(const struct align_geometry *g, __u64 sector,
			      __u64 fit, __u64 left)
{
	__u32 tail;

	if (fit >= left)
		return left;
	tail = align_sector_in_block(g, sector + fit);
	return tail < fit ? fit - tail : 0;
}

/**
 * align_cut_zeroes - where write-zeroes that are too large are cut
 * @g: the blocks
 * @lim: the limits below
 * @sector: where the write-zeroes start
 * @left: their sectors in all
 *
 * The block layer splits write-zeroes by the same rule as writes, from 6.12 on
 * (before that at the limit itself, which is no less). A part of a block, which is
 * left to the drive, goes alone: layers below may cut by rules of their own, from
 * where a request starts (QEMU does, every 32 MiB), and would cut inside blocks.
 *
 * Return: sectors up to the last boundary that fits, @left if the device below
 * takes no write-zeroes (any more) and will say so, 0 if not even the first
 * boundary fits.
 */
static inline __u64 align_cut_zeroes(const struct align_geometry *g,
				     const struct align_limits *lim,
				     __u64 sector, __u64 left)
{
	__u32 into = align_sector_in_block(g, sector);
	__u32 tail = align_sector_in_block(g, sector + left);
	struct align_limits zeroes = *lim;

	if (!lim->max_zeroes_sectors)
		return left;
	if (into && left > align_block_sectors(g) - into)
		left = align_block_sectors(g) - into;
	else if (left > tail)
		left -= tail;
	zeroes.max_sectors = lim->max_zeroes_sectors;
	if (zeroes.max_sectors > ALIGN_MAX_BIO_SECTORS)
		zeroes.max_sectors = ALIGN_MAX_BIO_SECTORS;
	return align_cut(g, sector, align_max_io_sectors(&zeroes, sector),
			 left);
}

/**
 * align_into_granule - how far a sector lies behind the last border of granules
 * @sector: a sector of the disk
 * @granule: sectors of a granule, not 0
 * @alignment: sectors from the start of the disk to a border
 *
 * The same borders as those of bio_split_discard() in block/blk-merge.c.
 *
 * Return: sectors, less than @granule.
 */
static inline __u32 align_into_granule(__u64 sector, __u32 granule,
				       __u32 alignment)
{
	return align_mod(sector + granule - alignment % granule, granule);
}

/**
 * align_zeroes_limit - the limit for write-zeroes to advertise
 * @g: the blocks
 * @max: the limit of the device below, sectors
 *
 * The block layer cuts a large range of zeroes into bios of this size, or of the
 * largest that a bio can have, from the range's own start on.
 *
 * Return: the largest number of whole blocks in both; 0 if @max is less than a
 * block, and then the block layer writes zeroes instead.
 */
static inline __u32 align_zeroes_limit(const struct align_geometry *g,
				       __u32 max)
{
	if (max > ALIGN_MAX_BIO_SECTORS)
		max = ALIGN_MAX_BIO_SECTORS;
	return max & ~(align_block_sectors(g) - 1);
}

/**
 * align_block_fits - whether a whole block fits in one request
 * @g: the blocks
 * @lim: the limits below
 * @block: a block, maybe one that the target has only in part, or not at all
 * @page: bytes in each page of the buffer
 *
 * Return: true if it fits.
 */
static inline bool align_block_fits(const struct align_geometry *g,
				    const struct align_limits *lim,
				    __u64 block, __u32 page)
{
	__u32 pages = (g->physical + page - 1) / page;

	return align_max_io_sectors(lim, align_block_start(g, block)) >=
	       align_block_sectors(g) && pages <= lim->max_segments;
}

#endif
