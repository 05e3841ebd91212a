/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroup that a bio is for, to programs in the kernel. */
#ifndef ALIGNCTL_CGROUP_BPF_H
#define ALIGNCTL_CGROUP_BPF_H

#include "observe/block.bpf.h"

struct kernfs_node {
	__u64 id;
} KERNEL_TYPE;

struct cgroup {
	struct kernfs_node *kn;
} KERNEL_TYPE;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
} KERNEL_TYPE;

struct blkcg {
	struct cgroup_subsys_state css;
} KERNEL_TYPE;

struct blkcg_gq {
	struct blkcg *blkcg;
} KERNEL_TYPE;

/* Return the id of the cgroup to whose account a bio with this bi_blkg goes. */
static __always_inline __u64 cgroup_of_group(struct blkcg_gq *group)
{
	return BPF_CORE_READ(group, blkcg, css.cgroup, kn, id);
}

#endif
