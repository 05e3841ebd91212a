/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which cgroup is charged with a request, and what may have to wait for its limits.
 */
#ifndef DM_ALIGN_CGROUP_H
#define DM_ALIGN_CGROUP_H

#include "align.h"
#include "compat.h"

bool bio_has_limits(struct bio *bio, bool limited);
void bio_charge_no_cgroup(struct bio *bio);

/**
 * align_has_limits - whether bios may wait below for limits of their cgroups
 * @at: the target
 * @limited: receives whether a cgroup surely has a limit there, or had one
 *
 * What lies below a device without requests of its own is not known.
 *
 * Return: false if they wait for no limit, as far as is known.
 */
static inline bool align_has_limits(const struct align_target *at, bool *limited)
{
	*limited = false;
#ifdef CONFIG_BLK_DEV_THROTTLING
	struct request_queue *queue = bdev_get_queue(at->dev->bdev);

	if (READ_ONCE(queue->td)) {
		*limited = COMPAT_THROTTLE_TELLS;
		return true;
	}
	return !queue_is_mq(queue);
#else
	return false;
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
	bool limited;

	return align_has_limits(at, &limited) && bio_has_limits(bio, limited);
}

#endif
