// SPDX-License-Identifier: GPL-2.0
#include <linux/interval_tree_generic.h>

#include "range.h"

#define RANGE_FIRST(range) ((range)->first)
#define RANGE_LAST(range) ((range)->last)

INTERVAL_TREE_DEFINE(struct align_range, rb, u64, subtree_last,
		     RANGE_FIRST, RANGE_LAST, static, range_tree)

void range_insert(struct align_range *range, struct rb_root_cached *ranges)
{
	range_tree_insert(range, ranges);
}

void range_remove(struct align_range *range, struct rb_root_cached *ranges)
{
	range_tree_remove(range, ranges);
}

/* Return the first range that touches @block, or NULL. */
struct align_range *range_first(struct rb_root_cached *ranges, u64 block)
{
	return range_tree_iter_first(ranges, block, block);
}

/* Return the range after @range that touches @block, or NULL. */
struct align_range *range_next(struct align_range *range, u64 block)
{
	return range_tree_iter_next(range, block, block);
}
