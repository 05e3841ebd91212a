/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges: sectors that go down without passing through a block's buffer (runs of
 * whole blocks, edges and fallbacks, discards, write-zeroes), registered by the
 * blocks that they touch until they have ended.
 */
#ifndef DM_ALIGN_RANGE_H
#define DM_ALIGN_RANGE_H

#include <linux/rbtree.h>
#include <linux/types.h>

struct align_io;

/**
 * struct align_range - one registered range
 * @rb: node in the tree of ranges
 * @subtree_last: last block of the subtree, for the interval tree
 * @first: first block touched
 * @last: last block touched
 * @io: the write that it belongs to
 */
struct align_range {
	struct rb_node rb;
	u64 subtree_last;
	u64 first;
	u64 last;
	struct align_io *io;
};

void range_insert(struct align_range *range, struct rb_root_cached *ranges);
void range_remove(struct align_range *range, struct rb_root_cached *ranges);
struct align_range *range_first(struct rb_root_cached *ranges, u64 block);
struct align_range *range_next(struct align_range *range, u64 block);

#endif
