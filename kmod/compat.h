/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows a kernel version.
 */
#ifndef DM_ALIGN_COMPAT_H
#define DM_ALIGN_COMPAT_H

#include <linux/blkdev.h>
#include <linux/version.h>

/* The limits say whether a stacked device is misaligned: a byte, then a flag. */
static inline void compat_clear_misaligned(struct queue_limits *limits)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	limits->flags &= ~BLK_FLAG_MISALIGNED;
#else
	limits->misaligned = 0;
#endif
}

#endif
