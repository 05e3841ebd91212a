/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows that kernels differ. The interfaces of a kernel are found
 * out by compiling: each DM_ALIGN_HAVE_<FEATURE> is the answer to a question in
 * compat_probes.c.
 */
#ifndef DM_ALIGN_COMPAT_H
#define DM_ALIGN_COMPAT_H

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/hrtimer.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/timer.h>

/* Made by Kbuild. */
#include "compat_probes.h"

#if !DM_ALIGN_HAVE_HEADERS
#error "the kernel's headers do not compile; probe_HEADERS.h.log says why"
#endif

/* dm passes no atomic writes on, though the block layer may know them. */
#if !DM_ALIGN_HAVE_ATOMIC_WRITES
#undef DM_TARGET_ATOMIC_WRITES
#define DM_TARGET_ATOMIC_WRITES 0
#undef REQ_ATOMIC
#define REQ_ATOMIC 0
#endif

#if !DM_ALIGN_HAVE_BDEV_ROT
static inline bool bdev_rot(struct block_device *bdev)
{
	return !bdev_nonrot(bdev);
}
#endif

#if !DM_ALIGN_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*end)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = end;
}
#endif

#if !DM_ALIGN_HAVE_TIMER_DELETE_SYNC
static inline int timer_delete_sync(struct timer_list *timer)
{
	return del_timer_sync(timer);
}
#endif

/* A shrinker was memory of its owner, and its registration could fail. */
#if !DM_ALIGN_HAVE_SHRINKER_ALLOC
static inline void shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#endif

/*
 * A disk has data of blk-throttle as soon as a cgroup has a limit there, and not before,
 * since 6.10. Nothing that can be compiled tells that; limits have flags since 6.11.
 */
#define COMPAT_THROTTLE_TELLS DM_ALIGN_HAVE_LIMITS_FLAGS

/* Register a shrinker with these callbacks. Return: NULL without memory. */
static inline struct shrinker *
compat_shrinker(const char *name,
		unsigned long (*count)(struct shrinker *shrinker,
				       struct shrink_control *sc),
		unsigned long (*scan)(struct shrinker *shrinker,
				      struct shrink_control *sc))
{
	struct shrinker *shrinker;

#if DM_ALIGN_HAVE_SHRINKER_ALLOC
	shrinker = shrinker_alloc(0, "%s", name);
#else
	shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);
#endif
	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->seeks = DEFAULT_SEEKS;
#if DM_ALIGN_HAVE_SHRINKER_ALLOC
	shrinker_register(shrinker);
#else
	if (register_shrinker(shrinker, "%s", name)) {
		kfree(shrinker);
		return NULL;
	}
#endif
	return shrinker;
}

/*
 * The arguments of prepare_ioctl: the given two, and the later ones; and the command,
 * which is 0, no command of any driver, where the kernel does not tell it.
 */
#if DM_ALIGN_HAVE_PREPARE_IOCTL_CMD
#define COMPAT_IOCTL_ARGS(...) \
	__VA_ARGS__, unsigned int cmd, unsigned long arg, bool *forward
#define COMPAT_IOCTL_CMD cmd
#else
#define COMPAT_IOCTL_ARGS(...) __VA_ARGS__
#define COMPAT_IOCTL_CMD 0
#endif

/* The limits say whether a stacked device is misaligned. */
static inline void compat_clear_misaligned(struct queue_limits *limits)
{
#if DM_ALIGN_HAVE_LIMITS_FLAGS
	limits->flags &= ~BLK_FLAG_MISALIGNED;
#else
	limits->misaligned = 0;
#endif
}

/*
 * Set the limit for write-zeroes. The one for those that unmap has to be the
 * same, or 0 where the device below does not unmap.
 */
static inline void compat_limit_write_zeroes(struct queue_limits *limits,
					     unsigned int sectors)
{
	limits->max_write_zeroes_sectors = sectors;
#if DM_ALIGN_HAVE_HW_WZEROES_UNMAP
	limits->max_hw_wzeroes_unmap_sectors =
		min(limits->max_hw_wzeroes_unmap_sectors, sectors);
#endif
}

/**
 * struct align_placement - where a drive puts the data of a write
 * @hint: the expected lifetime, an enum rw_hint
 * @stream: the write stream, 0 for none
 */
struct align_placement {
	u8 hint;
	u8 stream;
};

/* Return the placement that a write asks for. */
static inline struct align_placement align_placement(const struct bio *bio)
{
	struct align_placement place = {};

#if DM_ALIGN_HAVE_BIO_WRITE_HINT
	place.hint = bio->bi_write_hint;
#endif
#if DM_ALIGN_HAVE_BIO_WRITE_STREAM
	place.stream = bio->bi_write_stream;
#endif
	return place;
}

/* Ask for a placement of the data of a write. */
static inline void align_set_placement(struct bio *bio,
				       struct align_placement place)
{
#if DM_ALIGN_HAVE_BIO_WRITE_HINT
	bio->bi_write_hint = place.hint;
#endif
#if DM_ALIGN_HAVE_BIO_WRITE_STREAM
	bio->bi_write_stream = place.stream;
#endif
}

#endif
