/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of a write that the engine has taken apart.
 */
#ifndef DM_ALIGN_PARTS_H
#define DM_ALIGN_PARTS_H

#include "align.h"

int align_refuse_nowait(struct align_io *io);
void align_io_put(struct align_io *io, blk_status_t status);

#endif
