/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of a write, and how many blocks, one request of the device below carries.
 */
#ifndef DM_ALIGN_FIT_H
#define DM_ALIGN_FIT_H

#include "align.h"

sector_t piece_fit(const struct align_io *io, sector_t sector,
		   struct bvec_iter from, unsigned int blocks);
sector_t piece_cut(const struct align_io *io, sector_t sector,
		   struct bvec_iter from);
u32 align_discard_granule(const struct align_target *at, u64 sector, u32 *into);
sector_t lower_gapless(const struct align_io *io, sector_t start,
		       sector_t sectors);
unsigned int run_max_blocks(const struct align_target *at, u64 number);

#endif
