// SPDX-License-Identifier: GPL-2.0
/* Reference counts of users on each CPU, as lib/percpu-refcount.c has them. */
#include <linux/percpu-refcount.h>
#include <linux/sched.h>

static wait_queue_head_t switched;

int percpu_ref_init(struct percpu_ref *ref, percpu_ref_func_t *release,
		    unsigned int flags, gfp_t gfp)
{
	*ref = (struct percpu_ref) { .release = release, .count = 1 };
	ref->cpu = shim_alloc_percpu(sizeof(long));
	return ref->cpu ? 0 : -ENOMEM;
}

void percpu_ref_exit(struct percpu_ref *ref)
{
	if (ref->switching)
		machine_fail("a percpu_ref is freed in a grace period");
	free_percpu(ref->cpu);
	ref->cpu = NULL;
}

/* Drop a reference. Until the counts of the CPUs are in, they may keep the count up. */
static void put(struct percpu_ref *ref)
{
	weak_mb();
	if (!--ref->count && !ref->switching)
		ref->release(ref);
}

static void fold(struct rcu_head *head)
{
	struct percpu_ref *ref = container_of(head, struct percpu_ref, rcu);
	int cpu;

	for_each_possible_cpu(cpu) {
		ref->count += *per_cpu_ptr(ref->cpu, cpu);
		*per_cpu_ptr(ref->cpu, cpu) = 0;
	}
	ref->switching = false;
	wake_up_all(&switched);
	/* Drop the reference of percpu_ref_kill(), which held the count up until here. */
	rcu_read_lock();
	put(ref);
	rcu_read_unlock();
}

void percpu_ref_kill(struct percpu_ref *ref)
{
	machine_point();
	if (ref->dead)
		machine_fail("a percpu_ref is killed twice");
	ref->dead = true;
	if (ref->atomic) {
		put(ref);
		return;
	}
	ref->atomic = true;
	ref->switching = true;
	call_rcu(&ref->rcu, fold);
}

void percpu_ref_resurrect(struct percpu_ref *ref)
{
	might_sleep();
	if (!ref->dead)
		machine_fail("a percpu_ref is resurrected that lives");
	wait_event(switched, !ref->switching);
	ref->count++;
	ref->dead = false;
	ref->atomic = false;
}

bool percpu_ref_tryget_live(struct percpu_ref *ref)
{
	bool live = true;

	rcu_read_lock();
	if (ref->dead)
		live = false;
	else if (ref->atomic)
		ref->count++;
	else
		this_cpu_inc(*ref->cpu);
	/* An atomic count, unlike that of a CPU, is a full barrier. */
	if (live && ref->atomic)
		weak_mb();
	rcu_read_unlock();
	return live;
}

void percpu_ref_put(struct percpu_ref *ref)
{
	rcu_read_lock();
	if (ref->atomic)
		put(ref);
	else
		this_cpu_dec(*ref->cpu);
	rcu_read_unlock();
}

bool percpu_ref_is_zero(struct percpu_ref *ref)
{
	machine_point();
	return ref->atomic && !ref->switching && !ref->count;
}
