/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_BLK_CGROUP_H
#define SIM_LINUX_BLK_CGROUP_H

#include <linux/bio.h>

struct cgroup_subsys_state *bio_blkcg_css(struct bio *bio);

#endif
