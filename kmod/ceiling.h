/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ceiling of the memory in blocks of all targets together, and each target's quota.
 */
#ifndef DM_ALIGN_CEILING_H
#define DM_ALIGN_CEILING_H

#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

struct work_struct;

/**
 * struct align_quota - the blocks of a target, as the ceiling sees them
 * @cost: bytes of a block
 * @nr_own: blocks that lie in the target's own part
 * @nr_common: blocks that lie in the common part, and leave that first
 */
struct align_quota {
	u64 cost;
	atomic_t nr_own;
	atomic_t nr_common;
};

/**
 * struct ceiling_parts - the parts of the ceiling of all targets' memory
 * @own: bytes that are each target's own
 * @common: bytes that all targets share
 */
struct ceiling_parts {
	u64 own;
	u64 common;
};

/**
 * ceiling_divide - divide the ceiling among targets
 * @max: the ceiling, bytes
 * @targets: number of targets
 *
 * Return: the parts, of which the common one and all the own ones together are @max.
 */
static inline struct ceiling_parts ceiling_divide(u64 max, unsigned int targets)
{
	u64 own = targets ? div_u64(max / 4, targets) : 0;

	return (struct ceiling_parts) {
		.own = own, .common = max - own * targets };
}

/**
 * ceiling_is_near - decide whether room has to be made in the common part
 * @bytes: memory of blocks in the common part
 * @common: its size
 *
 * Return: whether it is full to more than seven eighths.
 */
static inline bool ceiling_is_near(u64 bytes, u64 common)
{
	return bytes > common - common / 8;
}

/**
 * ceiling_excess - how much has to go from the common part, to make room in it
 * @bytes: memory of blocks in the common part
 * @common: its size
 *
 * Return: bytes, 0 when it is full to three quarters or less.
 */
static inline u64 ceiling_excess(u64 bytes, u64 common)
{
	u64 most = common - common / 4;

	return bytes > most ? bytes - most : 0;
}

/**
 * ceiling_most_held - the limit of blocks for held_is_pressed(), below the ceiling
 * @max: the ceiling, bytes
 * @targets: number of targets
 * @cost: bytes of a block
 * @bytes: bytes of the common part that blocks of all targets have
 * @max_blocks: limit of blocks of the target
 *
 * Return: how many blocks the target could have at most; an equal part while the ceiling
 * is near, so that targets drain which hold more than others could.
 */
static inline unsigned int ceiling_most_held(u64 max, unsigned int targets,
					     u64 cost, u64 bytes,
					     unsigned int max_blocks)
{
	struct ceiling_parts parts = ceiling_divide(max, targets);
	u64 most = parts.own + parts.common;

	if (targets && ceiling_is_near(bytes, parts.common))
		most = div_u64(max, targets);
	most = div64_u64(most, cost);
	return max_t(u64, 1, min_t(u64, most, max_blocks));
}

/* ceiling.c */
void ceiling_init(struct work_struct *relief);
void ceiling_exit(void);
void ceiling_add_target(int change);
bool ceiling_is_relieved(void);
void quota_init(struct align_quota *quota, u64 cost);
bool quota_take(struct align_quota *quota);
void quota_give(struct align_quota *quota);
unsigned int quota_excess(const struct align_quota *quota);
unsigned int quota_most_held(const struct align_quota *quota,
			     unsigned int max_blocks);

#endif
