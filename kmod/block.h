/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of one physical block that a write covers in part.
 */
#ifndef DM_ALIGN_BLOCK_H
#define DM_ALIGN_BLOCK_H

#include "align.h"

int blocks_init(struct align_target *at, unsigned int max);
void blocks_exit(struct align_target *at);
void blocks_forget(struct align_target *at);
void blocks_set_max(struct align_target *at, unsigned int max);

bool blocks_would_wait(struct align_target *at, u64 first, u64 last);
void blocks_forget_range(struct align_target *at, u64 first, u64 last);
bool blocks_add_touch(struct align_io *io, struct align_touch *touch,
		      struct list_head *started);
bool blocks_add_range(struct align_io *io);
void blocks_start(struct align_target *at, struct list_head *started);
void blocks_end_range(struct align_io *io);

u64 block_memory(const struct align_target *at);

#endif
