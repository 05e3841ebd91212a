/* SPDX-License-Identifier: GPL-2.0 */
/* kmod/geometry.h for programs in the kernel, which decide by it as the target does. */
#ifndef ALIGNCTL_GEOMETRY_BPF_H
#define ALIGNCTL_GEOMETRY_BPF_H

#include <linux/types.h>

/*
 * Count the zeroes above the highest bit of @n, which is not 0. clang 14 has no
 * instructions of BPF for its builtin, which kmod/geometry.h uses.
 */
static inline int leading_zeroes(__u64 n)
{
	int zeroes = 63;

#define HALVE(bits)				\
	do {					\
		if (n >> (bits)) {		\
			n >>= (bits);		\
			zeroes -= (bits);	\
		}				\
	} while (0)
	HALVE(32);
	HALVE(16);
	HALVE(8);
	HALVE(4);
	HALVE(2);
	HALVE(1);
#undef HALVE
	return zeroes;
}
#define __builtin_clzll	leading_zeroes

#include "geometry.h"

#endif
