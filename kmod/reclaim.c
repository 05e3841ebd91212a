// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of cached blocks, which serve nothing at the moment, is given back: to
 * the kernel by a shrinker, and to other targets when the ceiling of all is
 * near (ceiling.c).
 *
 * Locks
 * -----
 * The kernel calls a shrinker from any allocation with __GFP_DIRECT_RECLAIM, and from
 * kswapd. These locks may be held then, by the thread that allocates or by those that
 * it waits for:
 *   - a shard's lock, held->lock and all other spin locks of a target: never. Memory is
 *     allocated under them with BUFFER_GFP or GFP_NOWAIT, which do not reclaim; so a
 *     thread that has such a lock goes on, and a shrinker may spin for a shard's;
 *   - change_lock of a target, publish_lock of a node, the locks of device-mapper and of
 *     sysfs: tables are loaded, and files made, under them, with allocations that
 *     reclaim. No shrinker takes them, so they may be held, and the list of targets is
 *     walked without;
 *   - nothing, in workers, which allocate bios with GFP_NOIO; any lock of layers above,
 *     in a submitter. A scan sends no request and waits for none, so it is right with
 *     all flags of the allocation.
 *
 * walk_lock guards the list of targets. Nothing is allocated under it, and no request is
 * waited for, so it is released soon, but other threads may wait for it: a shrinker only
 * tries to take it, and leaves the targets to the thread that walks. Order: walk_lock,
 * then a shard's, one at a time and over at most BLOCKS_BATCH blocks. walk_lock is taken
 * with no other lock of a target held.
 *
 * A target in the list is not freed under walk_lock: engine_exit() takes it out
 * first, which waits for the walk that may be at it. A target is initialised
 * before it comes in. While it is there it may be suspended, change its mode or
 * have touches: cached blocks are evicted as they are when they have become old,
 * and a block with a touch is not among them, which the shard's lock decides.
 *
 * The module goes behind its last target; reclaim_exit() waits for a scan that runs, and
 * then for the work, which nothing queues any more.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/shrinker.h>
#include <linux/workqueue.h>

#include "block.h"
#include "compat.h"
#include "hold.h"

static LIST_HEAD(targets);
static unsigned int nr_targets;
static DEFINE_MUTEX(walk_lock);
static struct shrinker *shrinker;
static struct work_struct relief;

/*
 * Evict at most @most cached blocks of the target whose turn it is; no more than
 * relieve the common part of the ceiling, unless @all are meant. walk_lock held;
 * there is a target. Return: how many went.
 */
static unsigned int evict_from_next(unsigned int most, bool all)
{
	struct align_target *at =
		list_first_entry(&targets, struct align_target, walked);

	lockdep_assert_held(&walk_lock);
	list_move_tail(&at->walked, &targets);
	if (!all)
		most = min(most, quota_excess(&at->engine.blocks.quota));
	return blocks_free_some(at, most);
}

static unsigned long reclaim_count(struct shrinker *unused,
				   struct shrink_control *sc)
{
	struct align_target *at;
	unsigned long nr = 0;

	if (!mutex_trylock(&walk_lock))
		return 0;
	list_for_each_entry(at, &targets, walked)
		nr += blocks_nr_cached(at);
	mutex_unlock(&walk_lock);
	return nr ? nr : SHRINK_EMPTY;
}

static unsigned long reclaim_scan(struct shrinker *unused,
				  struct shrink_control *sc)
{
	unsigned long nr = 0;
	unsigned int idle = 0;

	if (!mutex_trylock(&walk_lock))
		return SHRINK_STOP;
	while (nr < sc->nr_to_scan && idle < nr_targets) {
		unsigned int went =
			evict_from_next(min_t(unsigned long, BLOCKS_BATCH,
					      sc->nr_to_scan - nr), true);

		nr += went;
		idle = went ? 0 : idle + 1;
	}
	mutex_unlock(&walk_lock);
	return nr ? nr : SHRINK_STOP;
}

/*
 * Make room in the common part of the ceiling: evict cached blocks, and have
 * those targets write that hold too much.
 */
static void ceiling_make_room(struct work_struct *work)
{
	struct align_target *at;
	unsigned int idle = 0;

	mutex_lock(&walk_lock);
	while (!ceiling_is_relieved() && idle < nr_targets) {
		idle = evict_from_next(BLOCKS_BATCH, false) ? 0 : idle + 1;
		cond_resched();
	}
	list_for_each_entry(at, &targets, walked)
		hold_limit(at);
	mutex_unlock(&walk_lock);
}

/**
 * reclaim_add - let cached blocks of a target be evicted from now on
 * @at: the target, initialised
 */
void reclaim_add(struct align_target *at)
{
	mutex_lock(&walk_lock);
	list_add_tail(&at->walked, &targets);
	nr_targets++;
	mutex_unlock(&walk_lock);
}

/* Undo reclaim_add(); no walk looks at the target behind that. */
void reclaim_remove(struct align_target *at)
{
	mutex_lock(&walk_lock);
	list_del(&at->walked);
	nr_targets--;
	mutex_unlock(&walk_lock);
}

/* Register the shrinker. Return: 0 or -ENOMEM. */
int reclaim_init(void)
{
	INIT_WORK(&relief, ceiling_make_room);
	ceiling_init(&relief);
	shrinker = compat_shrinker("dm-align", reclaim_count, reclaim_scan);
	return shrinker ? 0 : -ENOMEM;
}

/* Unregister the shrinker; there is no target any more. */
void reclaim_exit(void)
{
	shrinker_free(shrinker);
	cancel_work_sync(&relief);
	ceiling_exit();
}
