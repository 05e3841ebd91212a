/* SPDX-License-Identifier: GPL-2.0 */
/* Counters that one CPU changes, in one step to its interrupts, and other CPUs read. */
#ifndef SHIM_LOCAL64_H
#define SHIM_LOCAL64_H

#include <linux/atomic.h>

typedef struct {
	atomic64_t a;
} local64_t;

static inline s64 local64_read(const local64_t *l)
{
	return atomic64_read(&l->a);
}

static inline void local64_add(s64 change, local64_t *l)
{
#ifdef SIM_WEAK
	weak_add_this_cpu(&l->a.counter, 0, sizeof(l->a.counter), (u64)change);
#else
	l->a.counter += change;
#endif
}

#endif
