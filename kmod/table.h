/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table line of a target.
 */
#ifndef DM_ALIGN_TABLE_H
#define DM_ALIGN_TABLE_H

#include "align.h"

#ifdef CONFIG_DM_ALIGN_PAD
/* Largest max_blocks. */
#define ALIGN_MAX_MAX_BLOCKS	262144
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
/* Largest hold_ms. */
#define ALIGN_MAX_HOLD_MS	600000
#endif

/**
 * struct align_args - feature arguments of a table line
 * @mode: report, pad or coalesce
 * @physical: physical_block_size, bytes
 * @offset: alignment_offset, bytes
 * @logical: logical_block_size, bytes
 * @max_blocks: most blocks in memory
 * @hold_ms: how long coalesce holds a block
 */
struct align_args {
	enum align_mode mode;
	unsigned int physical;
	unsigned int offset;
#ifdef CONFIG_DM_ALIGN_PAD
	unsigned int logical;
	unsigned int max_blocks;
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
	unsigned int hold_ms;
#endif
};

const char *table_parse_mode(const char *arg, enum align_mode *mode);
#ifdef CONFIG_DM_ALIGN_COALESCE
const char *table_parse_hold_ms(const char *arg, unsigned int *ms);
#endif
#ifdef CONFIG_DM_ALIGN_PAD
const char *table_parse_max_blocks(const char *arg, unsigned int *max);
#endif
const char *table_parse(struct align_target *at, struct align_args *args,
			struct dm_arg_set *as);
const char *table_find_geometry(struct align_target *at,
				const struct align_args *args);
unsigned int table_suggest_physical(struct block_device *bdev);
const char *table_refuse_mode(struct align_target *at, enum align_mode mode);
void table_print(const struct align_target *at, char *result,
		 unsigned int maxlen);

#endif
