/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Weak memory of the simulated CPUs, in the build sim-weak; nothing in the others.
 *
 * The engine is compiled with the hooks of ThreadSanitizer, which weak.c defines.
 * Its stores, and its atomic operations that return nothing, go to a store buffer of
 * their CPU and become visible to others one by one, in any order that no barrier
 * forbids. Its loads may be early: a CPU may go on to see the older value of a word
 * whose newer one became visible since its last barrier for loads.
 *
 * Stores of the kernel's own functions, here those of the shim, are seen by all CPUs
 * at once, and each point of the shim is a full barrier. Where the kernel promises
 * less, the shim has machine_bare_point() and says what it orders.
 *
 * SIM_WEAK is set for all of that build, SIM_WEAK_CODE for instrumented code.
 */
#ifndef SIM_WEAK_H
#define SIM_WEAK_H

#ifdef SIM_WEAK

enum weak_order {
	WEAK_RELAXED,
	WEAK_ACQUIRE,
	WEAK_RELEASE,
	WEAK_FULL,
};

/* The CPU's stores are visible, and it sees those of the other CPUs. */
void weak_mb(void);
/* Loads from here on are no earlier. */
void weak_rmb(void);
/* Stores from here on become visible after those so far. */
void weak_wmb(void);
/* A lock is taken: all that was stored before a lock was released is visible. */
void weak_acquire(void);
/* A lock is released. */
void weak_release(void);
/* The next store is a release. */
void weak_store_release(void);
/* All CPUs have passed a full barrier, as in a grace period of RCU. */
void weak_mb_all(void);

/* Atomic operations on @bytes bytes at @at. */
void weak_add(void *at, unsigned int bytes, unsigned long long n);
unsigned long long weak_add_return(void *at, unsigned int bytes,
				   unsigned long long n, enum weak_order order);
/* Return: the value before; it is @new now if that was @old. */
unsigned long long weak_cmpxchg(void *at, unsigned int bytes,
				unsigned long long old, unsigned long long new);
/* Add to this CPU's copy: a plain load and store that no interrupt divides. */
void weak_add_this_cpu(void *first, unsigned long distance, unsigned int bytes,
		       unsigned long long n);
void weak_copy(void *to, const void *from, unsigned long bytes);
void weak_fill(void *to, int byte, unsigned long bytes);

/* Called by machine.c only. */
void weak_reset(unsigned int cpus);
void weak_enter(int cpu);	/* memory is as the CPU sees it; -1: as all do */
void weak_leave(void);		/* time goes on */
void weak_settle(unsigned int cpu);	/* a CPU that has been left changes its thread */
void weak_free(void *memory, unsigned long bytes);

#else

static inline void weak_mb(void) {}
static inline void weak_rmb(void) {}
static inline void weak_wmb(void) {}
static inline void weak_acquire(void) {}
static inline void weak_release(void) {}
static inline void weak_mb_all(void) {}
static inline void weak_enter(int cpu) { (void)cpu; }
static inline void weak_leave(void) {}
static inline void weak_settle(unsigned int cpu) { (void)cpu; }
static inline void weak_free(void *memory, unsigned long bytes)
{
	(void)memory;
	(void)bytes;
}
static inline void weak_reset(unsigned int cpus) { (void)cpus; }

#endif
#endif
