/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which cgroup is charged with a request, and which requests may wait for its limits.
 */
#ifndef DM_ALIGN_CGROUP_H
#define DM_ALIGN_CGROUP_H

#include "align.h"
#include "compat.h"

/**
 * enum align_throttling - whether bios may wait below for limits of their cgroups
 * @THROTTLING_NONE: bios wait for no limit, as far as is known
 * @THROTTLING_MAYBE: there may be limits; or the devices below a device without requests
 *	of its own are not known
 * @THROTTLING_SURE: a cgroup has a limit, or had one
 */
enum align_throttling {
	THROTTLING_NONE,
	THROTTLING_MAYBE,
	THROTTLING_SURE,
};

bool bio_has_limits(struct bio *bio, enum align_throttling throttling);
void bio_charge_no_cgroup(struct bio *bio);

/* Tell which limits there are below a target. Any context. */
static inline enum align_throttling align_throttling(const struct align_target *at)
{
#ifdef CONFIG_BLK_DEV_THROTTLING
	struct request_queue *queue = bdev_get_queue(at->dev->bdev);

	if (READ_ONCE(queue->td))
		return COMPAT_THROTTLE_TELLS ? THROTTLING_SURE : THROTTLING_MAYBE;
	return queue_is_mq(queue) ? THROTTLING_NONE : THROTTLING_MAYBE;
#else
	return THROTTLING_NONE;
#endif
}

/**
 * align_may_be_throttled - whether a bio may wait below for a limit of its cgroup
 * @at: the target
 * @bio: the bio, which the target maps
 *
 * Any context.
 *
 * Return: false if the bio does not wait for one, as far as is known.
 */
static inline bool align_may_be_throttled(const struct align_target *at,
					  struct bio *bio)
{
	enum align_throttling throttling = align_throttling(at);

	return throttling != THROTTLING_NONE && bio_has_limits(bio, throttling);
}

#endif
