/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_KTIME_H
#define SHIM_KTIME_H
#include <linux/jiffies.h>
static inline u64 ktime_get_ns(void)
{
	return machine_now();
}

static inline ktime_t ns_to_ktime(u64 ns)
{
	return ns;
}
#endif
