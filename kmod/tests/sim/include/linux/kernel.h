/* SPDX-License-Identifier: GPL-2.0 */
/* Small macros, numbers from text, the kernel's log and its warnings. */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#define min(a, b) \
	({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) \
	({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(v, lo, hi)	min((typeof(v))max(v, lo), hi)
#define swap(a, b) \
	do { typeof(a) _t = (a); (a) = (b); (b) = _t; } while (0)
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define __ALIGN_KERNEL_MASK(x, mask) (((x) + (mask)) & ~(mask))
#define __ALIGN_MASK(x, mask)	__ALIGN_KERNEL_MASK(x, mask)
#define round_up(x, y)		((((x) - 1) | ((typeof(x))(y) - 1)) + 1)
#define round_down(x, y)	((x) & ~((typeof(x))(y) - 1))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define static_assert(condition)	_Static_assert(condition, #condition)
#define BUILD_BUG_ON(condition)	_Static_assert(!(condition), #condition)
#define BUILD_BUG_ON_ZERO(e)	((int)sizeof(struct { int : (-!!(e)); }))
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof(*(p)->member) * (n))
#define array_size(a, b)	((size_t)(a) * (b))

#define IS_ALIGNED(x, a)	(!((x) & ((typeof(x))(a) - 1)))

#define UINT_MAX		(~0U)
#define INT_MAX			((int)(~0U >> 1))
#define U64_MAX			(~0ULL)
#define UL(x)			x##UL
#define ULL(x)			x##ULL

/* A warning is a violation. */
#define WARN_ON(condition) \
	({ \
		bool _warn = (condition); \
		if (_warn) \
			machine_fail("WARNING: %s, %s:%d", #condition, \
				     __FILE__, __LINE__); \
		_warn; \
	})
#define WARN_ON_ONCE(condition)	WARN_ON(condition)
#define WARN_ONCE(condition, ...) WARN_ON(condition)
#define BUG_ON(condition)	WARN_ON(condition)

int kstrtouint(const char *text, unsigned int base, unsigned int *number);
int kstrtoull(const char *text, unsigned int base, unsigned long long *number);
int scnprintf(char *buffer, size_t size, const char *format, ...) __printf(3, 4);

/* Log lines; the simulation keeps how many of them there were. */
void shim_log(const char *format, ...) __printf(1, 2);

#define capable(capability)	true
#define CAP_SYS_RAWIO		17

#endif
