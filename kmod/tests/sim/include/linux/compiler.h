/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes, accesses that other CPUs see, and barriers. */
#ifndef SHIM_COMPILER_H
#define SHIM_COMPILER_H

#include "../../machine.h"

#define __maybe_unused		__attribute__((unused))
#define __always_unused		__attribute__((unused))
#define __always_inline		inline __attribute__((always_inline))
#define __must_check		__attribute__((warn_unused_result))
#define __packed		__attribute__((packed))
#define __aligned(n)		__attribute__((aligned(n)))
#define __attribute_const__	__attribute__((const))
#define __pure			__attribute__((pure))
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define __cold
#define __visible
#define noinline		__attribute__((noinline))
#define notrace
#define __percpu
#define __rcu
#define __user
#define __force
#define __init
#define __exit
#define __acquires(x)
#define __releases(x)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)
#define ____cacheline_aligned_in_smp __attribute__((aligned(64)))
#define fallthrough		__attribute__((fallthrough))
#define unreachable()		__builtin_unreachable()
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ __volatile__("" : : : "memory")
#define ___PASTE(a, b)		a##b
#define __PASTE(a, b)		___PASTE(a, b)
#define __UNIQUE_ID(prefix)	__PASTE(__PASTE(prefix, _), __COUNTER__)
#define __same_type(a, b)	__builtin_types_compatible_p(typeof(a), typeof(b))
#define __is_constexpr(x) \
	(sizeof(int) == sizeof(*(8 ? ((void *)((long)(x) * 0l)) : (int *)8)))
#define OPTIMIZER_HIDE_VAR(var)	__asm__("" : "=r"(var) : "0"(var))
#define data_race(x)		(x)

/*
 * The shim's own lists stand for lists that the kernel guards by a lock: no other
 * thread goes on while the shim changes one.
 */
#ifdef SHIM_SOURCE
#define shim_point()		((void)0)
#else
#define shim_point()		machine_point()
#endif

#define READ_ONCE(x) \
	({ shim_point(); *(const volatile typeof(x) *)&(x); })
#define WRITE_ONCE(x, value) \
	do { \
		shim_point(); \
		*(volatile typeof(x) *)&(x) = (value); \
	} while (0)

#define shim_barrier(kind) \
	do { machine_point(); kind(); barrier(); } while (0)
#define smp_mb()		shim_barrier(weak_mb)
#define smp_rmb()		shim_barrier(weak_rmb)
#define smp_wmb()		shim_barrier(weak_wmb)
#define smp_mb__before_atomic()	smp_mb()
#define smp_mb__after_atomic()	smp_mb()
#ifdef SIM_WEAK_CODE
#define smp_load_acquire(p) \
	({ \
		typeof(*(p)) _loaded = READ_ONCE(*(p)); \
		weak_rmb(); \
		_loaded; \
	})
#define smp_store_release(p, v) \
	do { \
		typeof(*(p)) _stored = (v); \
		shim_point(); \
		weak_store_release(); \
		*(volatile typeof(*(p)) *)(p) = _stored; \
	} while (0)
#else
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#endif

#endif
