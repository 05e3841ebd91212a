/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_JIFFIES_H
#define SHIM_JIFFIES_H

#include <linux/types.h>

#define HZ			250
#define NSEC_PER_JIFFY		(1000000000ULL / HZ)
#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define MAX_SCHEDULE_TIMEOUT	((long)(~0UL >> 1))
#define MAX_JIFFY_OFFSET	((~0UL >> 1) - 1)

#define jiffies			((unsigned long)(machine_now() / NSEC_PER_JIFFY))
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)

static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return ((u64)ms * HZ + 999) / 1000;
}

/* The time when @timeout jiffies are over; and the jiffies until then. */
static inline u64 shim_jiffies_until(unsigned long timeout)
{
	if (timeout >= MAX_JIFFY_OFFSET)
		return ~0ULL;
	return (machine_now() / NSEC_PER_JIFFY + timeout) * NSEC_PER_JIFFY;
}

static inline long shim_jiffies_left(u64 until_ns)
{
	u64 now = machine_now();

	if (until_ns == ~0ULL)
		return MAX_SCHEDULE_TIMEOUT;
	return until_ns <= now ? 0 :
	       (long)((until_ns - now + NSEC_PER_JIFFY - 1) / NSEC_PER_JIFFY);
}

#endif
