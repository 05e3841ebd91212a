// SPDX-License-Identifier: GPL-2.0
/*
 * The ceiling of the memory in blocks of all targets together: the module parameter
 * max_memory_bytes.
 *
 * A quarter of it is divided among the targets, and the rest is common to them
 * (ceiling_divide()). A new block lies in its target's own part if that has room, else
 * in the common one. So a target that fills the common part with blocks which it holds,
 * or cannot write, never takes the own part of another one; and the parts together are
 * the ceiling. A block that goes leaves the common part first, unless the own part has
 * more blocks than it is large.
 *
 * Nothing waits here. A block that gets no room is refused, and its touch goes
 * down unmodified, as above max_blocks; so no touch waits for held data because
 * of the ceiling. Before the common part is full, a work is queued that evicts
 * cached blocks of all targets, and starts the drain of targets that hold more
 * than an equal part (reclaim.c). The work can do more than a touch, which has a
 * shard locked: no touch takes the lock of another target's shard. Nothing depends
 * on the work, which may find no worker.
 *
 * Where the parts become smaller, because the parameter is changed or a target comes,
 * blocks above them stay until they end by themselves, as above max_blocks, and each one
 * that ends makes the excess smaller. All is counted by atomics; a target within its own
 * part, or without a ceiling, touches none of other targets.
 */
#include <linux/bug.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/workqueue.h>

#include "ceiling.h"

static unsigned long max_memory_bytes;
module_param(max_memory_bytes, ulong, 0644);
MODULE_PARM_DESC(max_memory_bytes,
		 "most bytes of memory in blocks of all targets; 0: only max_blocks of each (default)");

/* Number of targets, among which the ceiling is divided. */
static atomic_t nr_targets = ATOMIC_INIT(0);
/* Bytes of blocks in the common part. */
static atomic64_t common_bytes = ATOMIC64_INIT(0);
/* Work that makes room in the common part, and when it was queued, in jiffies. */
static struct work_struct *relief;
static unsigned long relief_since;

/* Return the parts as they are now. */
static struct ceiling_parts ceiling_get_parts(u64 max)
{
	return ceiling_divide(max, atomic_read(&nr_targets));
}

/* Return how many blocks the own part of a target has room for. */
static u64 own_blocks(const struct align_quota *quota, u64 max)
{
	return div64_u64(ceiling_get_parts(max).own, quota->cost);
}

/*
 * Have room made, at most once a jiffy: while the work can make none, each new block
 * comes here. A hint, without a lock.
 */
static void ask_for_relief(void)
{
	unsigned long now = jiffies;

	if (READ_ONCE(relief_since) == now)
		return;
	WRITE_ONCE(relief_since, now);
	schedule_work(relief);
}

/* Reserve memory of the common part. Return: false if it has no room. */
static bool quota_take_common(u64 cost, u64 most)
{
	s64 bytes = atomic64_read(&common_bytes);

	do {
		if (bytes + cost > most)
			return false;
	} while (!atomic64_try_cmpxchg(&common_bytes, &bytes, bytes + cost));
	return true;
}

/* Reserve a block in the own part, of @most blocks. Return: false if that is full. */
static bool quota_take_own(struct align_quota *quota, u64 most)
{
	int nr = atomic_read(&quota->nr_own);

	do {
		if (nr >= most)
			return false;
	} while (!atomic_try_cmpxchg(&quota->nr_own, &nr, nr + 1));
	return true;
}

/**
 * quota_take - reserve memory for a new block below the ceiling
 * @quota: the quota of the block's target
 *
 * Any context.
 *
 * Return: whether it is reserved, until quota_give().
 */
bool quota_take(struct align_quota *quota)
{
	u64 max = READ_ONCE(max_memory_bytes);
	u64 common;
	bool taken;

	if (!max) {
		atomic_inc(&quota->nr_own);
		return true;
	}
	if (quota_take_own(quota, own_blocks(quota, max)))
		return true;
	common = ceiling_get_parts(max).common;
	taken = quota_take_common(quota->cost, common);
	if (taken)
		atomic_inc(&quota->nr_common);
	if (!taken || ceiling_is_near(atomic64_read(&common_bytes), common))
		ask_for_relief();
	return taken;
}

/**
 * quota_give - give back the memory of a block
 * @quota: the quota of the block's target
 *
 * Any context. Either number has all blocks of a target that the other one has not, so
 * one of them is not 0; which one may change meanwhile.
 */
void quota_give(struct align_quota *quota)
{
	u64 max = READ_ONCE(max_memory_bytes);
	int most = INT_MAX;
	int nr = atomic_read(&quota->nr_own);

	if (max)
		most = min_t(u64, most, own_blocks(quota, max));
	while (nr > most)
		if (atomic_try_cmpxchg(&quota->nr_own, &nr, nr - 1))
			return;
	for (;;) {
		if (atomic_dec_if_positive(&quota->nr_common) >= 0) {
			atomic64_sub(quota->cost, &common_bytes);
			return;
		}
		if (atomic_dec_if_positive(&quota->nr_own) >= 0)
			return;
	}
}

/**
 * quota_most_held - the limit of blocks that holding has to keep to
 * @quota: the quota of the target
 * @max_blocks: the target's own limit of blocks
 *
 * Any context.
 *
 * Return: @max_blocks, or fewer where the ceiling is lower: all that the target could
 * have below it, or its equal part while the common part is nearly full.
 */
unsigned int quota_most_held(const struct align_quota *quota,
			     unsigned int max_blocks)
{
	u64 max = READ_ONCE(max_memory_bytes);

	if (!max)
		return max_blocks;
	return ceiling_most_held(max, atomic_read(&nr_targets), quota->cost,
				 atomic64_read(&common_bytes), max_blocks);
}

/* Return the bytes that have to go for the common part to have room again. */
static u64 common_excess(void)
{
	u64 max = READ_ONCE(max_memory_bytes);

	if (!max)
		return 0;
	return ceiling_excess(atomic64_read(&common_bytes),
			      ceiling_get_parts(max).common);
}

/* Whether the common part has room again, so that no more need be evicted. */
bool ceiling_is_relieved(void)
{
	return !common_excess();
}

/* Return how many blocks of a target go for that: none that lie in its own part. */
unsigned int quota_excess(const struct align_quota *quota)
{
	return min_t(u64, atomic_read(&quota->nr_common),
		     div64_u64(common_excess() + quota->cost - 1, quota->cost));
}

/* Count a target that comes, or goes: @change is 1 or -1. */
void ceiling_add_target(int change)
{
	atomic_add(change, &nr_targets);
}

/* Initialise the quota of a target whose blocks have @cost bytes each. */
void quota_init(struct align_quota *quota, u64 cost)
{
	quota->cost = cost;
}

/* Set the work that makes room; it is initialised. */
void ceiling_init(struct work_struct *work)
{
	relief = work;
	relief_since = jiffies - 1;
}

/* Note that no target is left. */
void ceiling_exit(void)
{
	WARN_ON(atomic_read(&nr_targets));
	WARN_ON(atomic64_read(&common_bytes));
}
