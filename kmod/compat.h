/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows how kernel versions differ.
 */
#ifndef DM_ALIGN_COMPAT_H
#define DM_ALIGN_COMPAT_H

#include <linux/blkdev.h>

/* The limits say whether a stacked device is misaligned: a byte, then a flag. */
static inline void compat_clear_misaligned(struct queue_limits *limits)
{
#ifdef BLK_FLAG_MISALIGNED
	limits->flags &= ~BLK_FLAG_MISALIGNED;
#else
	limits->misaligned = 0;
#endif
}

#endif
