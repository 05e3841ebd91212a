/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_CGROUP_H
#define SIM_LINUX_CGROUP_H

/* @parent: NULL: the root */
struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

#endif
