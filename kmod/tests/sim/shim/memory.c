// SPDX-License-Identifier: GPL-2.0
/* Memory of the simulated kernel, and its lack. */
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../bounds.h"
#include "../shim.h"

struct shim_faults shim_faults;
unsigned int shim_nr_allocations;
unsigned int shim_nr_locked;
unsigned int shim_nr_pages_flushed;
const atomic64_t *shim_watched;
s64 shim_watched_most;
void shim_watch(s64 now)
{
	shim_watched_most = max(shim_watched_most, now);
}

/* Allocations that may not sleep so far. */
static unsigned int nr_nowait;
/* An allocation has failed, in a search. */
static bool has_failed;

/*
 * Check that the caller may ask so; return whether there is no memory. An allocation
 * that starts I/O may wait for a suspended device, whose resume may wait for a mutex.
 */
static bool is_refused(gfp_t gfp)
{
	if (gfp & __GFP_DIRECT_RECLAIM) {
		might_sleep();
		if (gfp & __GFP_MAY_FAIL && current->nr_mutexes &&
		    !(current->flags & PF_MEMALLOC_NOIO))
			machine_fail("an allocation under a mutex may wait for I/O");
		machine_point();
		return gfp & __GFP_MAY_FAIL &&
		       ++shim_nr_allocations == shim_faults.nth;
	}
	return ++nr_nowait == shim_faults.nowait_nth ||
	       machine_once(shim_faults.nowait_one_in, &has_failed);
}

void *kmalloc(size_t bytes, gfp_t gfp)
{
	void *memory;

	if (is_refused(gfp))
		return NULL;
	/* The buffer of a small block is a power of two, and little else is. */
	shim_nr_locked += current->nr_held && bytes >= 1024 &&
			  !(bytes & (bytes - 1));
	/* A power of two is aligned to itself, a large allocation to a cache line. */
	memory = machine_alloc(bytes, !(bytes & (bytes - 1)) ? bytes :
				      bytes < 64 ? 16 : 64);
	bounds_allocated(memory, bytes, __builtin_return_address(0));
	if (gfp & __GFP_ZERO)
		memset(memory, 0, bytes);
	return memory;
}

void kfree(const void *memory)
{
	if (!memory)
		return;
	bounds_freed(memory);
	shim_work_freed(memory, machine_size(memory));
	if (!machine_is_search() && machine_has_timer(memory, machine_size(memory)))
		machine_fail("memory is freed, and a timer in it is set");
	machine_free((void *)memory);
}

size_t ksize(const void *memory)
{
	return machine_size(memory);
}

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	if (is_refused(gfp))
		return NULL;
	shim_nr_locked += !!current->nr_held;
	return machine_alloc(PAGE_SIZE << order, PAGE_SIZE);
}

void __free_pages(struct page *page, unsigned int order)
{
	machine_free(page);
}

void *shim_alloc_percpu(size_t bytes)
{
	void *data;

	if (bytes > SHIM_PERCPU_BYTES)
		machine_fail("data of each CPU has %zu bytes, the shim's most is %lu",
			     bytes, SHIM_PERCPU_BYTES);
	if (is_refused(GFP_KERNEL))
		return NULL;
	data = machine_alloc(MACHINE_CPUS * SHIM_PERCPU_BYTES, PAGE_SIZE);
	memset(data, 0, MACHINE_CPUS * SHIM_PERCPU_BYTES);
	return data;
}

void free_percpu(void *data)
{
	kfree(data);
}
