/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The account of a write: its parts, and what the ledger has of it.
 */
#ifndef DM_ALIGN_ACCOUNT_H
#define DM_ALIGN_ACCOUNT_H

#include "align.h"

int align_again(struct align_io *io);
void align_io_count(struct align_io *io, const struct align_split *split,
		    bool over);
void align_io_count_whole(struct align_io *io);
void align_io_resolve(struct align_io *io);
void align_io_put(struct align_io *io, blk_status_t status);

#endif
