/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the device below takes as one request.
 */
#ifndef DM_ALIGN_LOWER_H
#define DM_ALIGN_LOWER_H

#include "align.h"

void align_get_limits(const struct align_target *at, struct align_limits *lim);
sector_t run_fit(const struct align_io *io, sector_t sector,
		 struct bvec_iter from, unsigned int blocks);
sector_t run_cut(const struct align_io *io, sector_t sector,
		 struct bvec_iter from);
bool align_over_limits(struct align_io *io);
unsigned int run_max_blocks(const struct align_target *at, u64 number);

#endif
