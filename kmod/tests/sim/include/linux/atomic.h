/* SPDX-License-Identifier: GPL-2.0 */
/* Atomic operations: others may go on before each of them. */
#ifndef SHIM_ATOMIC_H
#define SHIM_ATOMIC_H

#include <linux/types.h>

#define ATOMIC_INIT(value)	{ (value) }

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
	v->counter += change;
}

static inline int atomic_add_return(int change, atomic_t *v)
{
	machine_point();
	return v->counter += change;
}

static inline void atomic_inc(atomic_t *v)
{
	atomic_add(1, v);
}

static inline void atomic_dec(atomic_t *v)
{
	atomic_add(-1, v);
}

static inline bool atomic_dec_and_test(atomic_t *v)
{
	return !atomic_add_return(-1, v);
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	machine_point();
	if (v->counter == *old) {
		v->counter = new;
		return true;
	}
	*old = v->counter;
	return false;
}

static inline s64 atomic64_read(const atomic64_t *v)
{
	machine_point();
	return v->counter;
}

static inline s64 atomic64_add_return(s64 change, atomic64_t *v)
{
	machine_point();
	return v->counter += change;
}

static inline bool atomic64_try_cmpxchg(atomic64_t *v, s64 *old, s64 new)
{
	machine_point();
	if (v->counter == *old) {
		v->counter = new;
		return true;
	}
	*old = v->counter;
	return false;
}

#define cmpxchg(p, old, new) \
	({ \
		typeof(*(p)) _old = (old), _was; \
		machine_point(); \
		_was = *(p); \
		if (_was == _old) \
			*(p) = (new); \
		_was; \
	})

#endif
