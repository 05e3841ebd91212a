// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Cgroups
 *
 * blk-throttle keeps a bio of a cgroup with io.max in a queue of that cgroup, for
 * minutes where the limit is low. A request that others wait for must not be in such a
 * queue:
 *
 * - No cgroup is charged with held data: its writer has been told that the write is done,
 *   and an fsync of another may wait for the data. The same holds for requests in the
 *   last memory, when no other can be had, as all later requests wait for that.
 * - A write that may be kept there does not go over held touches, and neither does a write
 *   that has to wait at another block, where it may wait for such a write, if a cgroup is
 *   known to have a limit. The block is written first, and costs the RMW that the write
 *   would have avoided: an fsync that comes in between would wait for the write, and so
 *   for the limit.
 * - A write that may be kept there is registered, and not counted: the next partial touch
 *   near it would wait for it.
 *
 * These still wait for the limits of another cgroup: a request that overlaps one of the
 * cgroup's in a block; a flush, and touches that wait for memory, if such a write goes over
 * a block that could not be written. Limits by latency and weight (io.latency, io.cost)
 * have the sender wait, with the write half sent; such limits are not looked at.
 */
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>
#include <linux/sched.h>

#include "cgroup.h"

/**
 * bio_has_limits - whether limits of cgroups apply to a bio
 * @bio: a bio that the target maps
 * @throttling: whether there are some
 *
 * The bio is charged to its sender in map, and to the writer of its data when it is sent
 * on. A kernel thread sends what others have written, of any cgroup. Where there may be
 * no limit at all, as in most machines, it is taken for one of the root.
 *
 * Return: whether one may apply.
 */
bool bio_has_limits(struct bio *bio, enum align_throttling throttling)
{
#ifdef CONFIG_BLK_CGROUP
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	return (throttling == THROTTLING_SURE && current->flags & PF_KTHREAD) ||
	       (css && css->parent);
#else
	return false;
#endif
}

/**
 * bio_charge_no_cgroup - charge no cgroup with a bio that others wait for
 * @bio: the bio, with its device
 *
 * Neither the writer's, nor that of the task that happens to send the bio. It must be
 * sent by submit_bio_noacct(): dm_submit_bio_remap() charges the writer once more.
 */
void bio_charge_no_cgroup(struct bio *bio)
{
	bio_associate_blkg_from_css(bio, NULL);
}
