/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_MATH64_H
#define SHIM_MATH64_H
#include <linux/types.h>
static inline u64 div_u64_rem(u64 n, u32 divisor, u32 *rest)
{
	*rest = n % divisor;
	return n / divisor;
}

static inline u64 div_u64(u64 n, u32 divisor)
{
	return n / divisor;
}

static inline u64 div64_u64(u64 n, u64 divisor)
{
	return n / divisor;
}
#endif
