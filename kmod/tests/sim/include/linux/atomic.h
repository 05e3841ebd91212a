/* SPDX-License-Identifier: GPL-2.0 */
/* Atomic operations: other threads may go on before each of them. */
#ifndef SHIM_ATOMIC_H
#define SHIM_ATOMIC_H

#include <linux/types.h>

#define ATOMIC_INIT(value)	{ (value) }
#define ATOMIC64_INIT(value)	{ (value) }

/* The operations themselves, on memory as it is in this build. */
#ifdef SIM_WEAK
#define shim_add(p, n)		weak_add(p, sizeof(*(p)), (u64)(n))
#define shim_add_return(p, n, order) \
	((typeof(*(p)))weak_add_return(p, sizeof(*(p)), (u64)(n), order))
#define shim_cmpxchg(p, old, new) \
	((typeof(*(p)))weak_cmpxchg(p, sizeof(*(p)), (u64)(old), (u64)(new)))
#else
#define shim_add(p, n)		((void)(*(p) += (n)))
#define shim_add_return(p, n, order) (*(p) += (n))
#define shim_cmpxchg(p, old, new) \
	({ \
		typeof(*(p)) _there = *(p); \
		if (_there == (old)) \
			*(p) = (new); \
		_there; \
	})
#endif

static inline int atomic_read(const atomic_t *v)
{
	machine_point();
	return v->counter;
}

static inline void atomic_set(atomic_t *v, int value)
{
	machine_point();
	v->counter = value;
}

static inline void atomic_add(int change, atomic_t *v)
{
	machine_point();
	shim_add(&v->counter, change);
}

static inline int atomic_add_return(int change, atomic_t *v)
{
	machine_point();
	return shim_add_return(&v->counter, change, WEAK_FULL);
}

static inline int atomic_add_return_relaxed(int change, atomic_t *v)
{
	machine_point();
	return shim_add_return(&v->counter, change, WEAK_RELAXED);
}

static inline int atomic_add_return_acquire(int change, atomic_t *v)
{
	machine_point();
	return shim_add_return(&v->counter, change, WEAK_ACQUIRE);
}

static inline int atomic_add_return_release(int change, atomic_t *v)
{
	machine_point();
	return shim_add_return(&v->counter, change, WEAK_RELEASE);
}

static inline void atomic_inc(atomic_t *v)
{
	atomic_add(1, v);
}

static inline void atomic_dec(atomic_t *v)
{
	atomic_add(-1, v);
}

static inline int atomic_dec_return(atomic_t *v)
{
	return atomic_add_return(-1, v);
}

static inline bool atomic_dec_and_test(atomic_t *v)
{
	return !atomic_add_return(-1, v);
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	int was;

	machine_point();
	was = shim_cmpxchg(&v->counter, *old, new);
	if (was == *old)
		return true;
	*old = was;
	return false;
}

static inline int atomic_dec_if_positive(atomic_t *v)
{
	int now = atomic_read(v);

	do {
		if (now <= 0)
			return now - 1;
	} while (!atomic_try_cmpxchg(v, &now, now - 1));
	return now - 1;
}

static inline s64 atomic64_read(const atomic64_t *v)
{
	machine_point();
	return v->counter;
}

static inline void atomic64_add(s64 change, atomic64_t *v)
{
	machine_point();
	shim_add(&v->counter, change);
}

static inline void atomic64_inc(atomic64_t *v)
{
	atomic64_add(1, v);
}

static inline void atomic64_sub(s64 change, atomic64_t *v)
{
	machine_point();
	shim_add(&v->counter, -change);
}

/*
 * A watched counter, and its largest value. The code that notes it lies in the shim:
 * here its stores would be as weak as the engine's.
 */
extern const atomic64_t *shim_watched;
extern s64 shim_watched_most;
void shim_watch(s64 now);

static inline s64 atomic64_add_return(s64 change, atomic64_t *v)
{
	s64 now;

	machine_point();
	now = shim_add_return(&v->counter, change, WEAK_FULL);
	if (v == shim_watched)
		shim_watch(now);
	return now;
}

static inline s64 atomic64_inc_return(atomic64_t *v)
{
	return atomic64_add_return(1, v);
}

static inline bool atomic64_try_cmpxchg(atomic64_t *v, s64 *old, s64 new)
{
	s64 was;

	machine_point();
	was = shim_cmpxchg(&v->counter, *old, new);
	if (was == *old)
		return true;
	*old = was;
	return false;
}

#define xchg(p, new) \
	({ \
		typeof(*(p)) _was; \
		machine_point(); \
		do \
			_was = *(p); \
		while (shim_cmpxchg(p, _was, new) != _was); \
		_was; \
	})

#define cmpxchg(p, old, new) \
	({ \
		typeof(*(p)) _old = (old); \
		machine_point(); \
		shim_cmpxchg(p, _old, new); \
	})

#endif
