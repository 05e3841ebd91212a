/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The account of a write: what the ledger has of it.
 */
#ifndef DM_ALIGN_ACCOUNT_H
#define DM_ALIGN_ACCOUNT_H

#include "align.h"

void align_io_count(struct align_io *io, const struct align_split *split,
		    bool over);
void align_io_count_whole(struct align_io *io);
void align_io_resolve(struct align_io *io);

#endif
