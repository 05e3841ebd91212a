/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that interfaces_test.c needs of a kernel, or of the simulation, beside
 * interfaces.
 */
#ifndef INTERFACES_H
#define INTERFACES_H

#include <linux/bio.h>
#include <linux/hrtimer.h>

#ifdef CONFORM_KUNIT_TEST_H

/* Have a set find no memory for bios but its reserve, or some again. */
void lacks_memory(struct bio_set *set, bool lacks);

#else

#include <linux/mempool.h>

static bool no_memory;

static inline void *slab_or_nothing(gfp_t gfp, void *slab)
{
	return no_memory ? NULL : mempool_alloc_slab(gfp, slab);
}

static inline void lacks_memory(struct bio_set *set, bool lacks)
{
	/* A pool with a function of its own from the start: KASAN tells them apart. */
	if (set->bio_pool.alloc != slab_or_nothing) {
		mempool_exit(&set->bio_pool);
		WARN_ON(mempool_init(&set->bio_pool, BIO_POOL_SIZE,
				     slab_or_nothing, mempool_free_slab,
				     set->bio_slab));
	}
	no_memory = lacks;
}

#ifdef LACKS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*end)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = end;
}
#endif

#endif

#endif
