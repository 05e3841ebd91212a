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

/*
 * The expected lifetime of what a write brings, an enum rw_hint. A bio has had
 * none for some releases; the header came with its return.
 */
static inline u8 compat_write_hint(const struct bio *bio)
{
#ifdef _LINUX_RW_HINT_H
	return bio->bi_write_hint;
#else
	return 0;
#endif
}

static inline void compat_set_write_hint(struct bio *bio, u8 hint)
{
#ifdef _LINUX_RW_HINT_H
	bio->bi_write_hint = hint;
#endif
}

#endif
