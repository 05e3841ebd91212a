/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large a request the block layer lets pass.
 */
#ifndef DM_ALIGN_MAX_IO_H
#define DM_ALIGN_MAX_IO_H

#include <linux/minmax.h>

#include "geometry.h"

/* get_max_io_size() of block/blk-merge.c, for writes that are not atomic. */
static inline u32 kernel_max_io(const struct align_limits *lim, u32 sector)
{
	u32 bi_sector = lim->start + sector;
	u32 pbs = lim->physical_sectors;
	u32 lbs = lim->logical_sectors;
	u32 max_sectors = lim->max_sectors;
	u32 start, end;

	if (lim->chunk_sectors)
		max_sectors = min(max_sectors, lim->chunk_sectors -
				  bi_sector % lim->chunk_sectors);

	start = bi_sector & (pbs - 1);
	end = (start + max_sectors) & ~(pbs - 1);
	if (end > start)
		return end - start;
	return max_sectors & ~(lbs - 1);
}

#endif
