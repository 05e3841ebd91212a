/* SPDX-License-Identifier: GPL-2.0 */
/* Reference counts that are killed; percpu_ref.c. */
#ifndef SHIM_PERCPU_REFCOUNT_H
#define SHIM_PERCPU_REFCOUNT_H

#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

struct percpu_ref;
typedef void (percpu_ref_func_t)(struct percpu_ref *ref);

#define PERCPU_REF_ALLOW_REINIT	4

/**
 * struct percpu_ref - a count of users
 * @cpu: counts of the CPUs, which add to them while @atomic is false
 * @count: the count, or the part that is not counted by the CPUs
 * @dead: percpu_ref_kill() was called
 * @atomic: all count in @count
 * @switching: the CPUs' counts are not in @count yet, so that is never 0
 * @release: called when the last user of a killed reference leaves
 * @rcu: the grace period
 */
struct percpu_ref {
	long *cpu;
	long count;
	bool dead;
	bool atomic;
	bool switching;
	percpu_ref_func_t *release;
	struct rcu_head rcu;
};

int percpu_ref_init(struct percpu_ref *ref, percpu_ref_func_t *release,
		    unsigned int flags, gfp_t gfp);
void percpu_ref_exit(struct percpu_ref *ref);
void percpu_ref_kill(struct percpu_ref *ref);
void percpu_ref_resurrect(struct percpu_ref *ref);
bool percpu_ref_tryget_live(struct percpu_ref *ref);
void percpu_ref_put(struct percpu_ref *ref);
bool percpu_ref_is_zero(struct percpu_ref *ref);

#endif
