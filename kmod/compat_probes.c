// SPDX-License-Identifier: GPL-2.0
/*
 * Questions about the kernel's interfaces, one probe each: Kbuild compiles
 * this file once for every PROBE_<FEATURE>, and DM_ALIGN_HAVE_<FEATURE> is 1 if
 * that compiles, else 0. A version number would be no answer: vendors bring
 * interfaces to older kernels. Nothing here ever runs.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/hrtimer.h>
#include <linux/shrinker.h>
#include <linux/timer.h>

/* Nothing: whether the headers above compile at all. */
#if defined(PROBE_HEADERS)

/* DM_TARGET_ATOMIC_WRITES: dm passes REQ_ATOMIC on to a target. */
#elif defined(PROBE_ATOMIC_WRITES)
static bool __maybe_unused probe(struct target_type *type, struct bio *bio)
{
	return dm_target_supports_atomic_writes(type) &&
	       bio->bi_opf & REQ_ATOMIC;
}

/* bdev_rot(); it was bdev_nonrot(). */
#elif defined(PROBE_BDEV_ROT)
static bool __maybe_unused probe(struct block_device *bdev)
{
	return bdev_rot(bdev);
}

/* The expected lifetime of the data of a bio; not in every release. */
#elif defined(PROBE_BIO_WRITE_HINT)
static void __maybe_unused probe(struct bio *bio)
{
	bio->bi_write_hint = 0;
}

/* The stream of a drive into which a bio writes. */
#elif defined(PROBE_BIO_WRITE_STREAM)
static void __maybe_unused probe(struct bio *bio)
{
	bio->bi_write_stream = 0;
}

/* hrtimer_setup(); it was hrtimer_init() and an assignment. */
#elif defined(PROBE_HRTIMER_SETUP)
static void __maybe_unused probe(struct hrtimer *timer,
				 enum hrtimer_restart (*end)(struct hrtimer *))
{
	hrtimer_setup(timer, end, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

/* A limit for write-zeroes that unmap; the other one, or 0. */
#elif defined(PROBE_HW_WZEROES_UNMAP)
static void __maybe_unused probe(struct queue_limits *limits)
{
	limits->max_hw_wzeroes_unmap_sectors = 0;
}

/* The limits' flags; each was a byte of its own before. */
#elif defined(PROBE_LIMITS_FLAGS)
static void __maybe_unused probe(struct queue_limits *limits)
{
	limits->flags &= ~BLK_FLAG_MISALIGNED;
}

/* prepare_ioctl knows the command, and can do it itself. */
#elif defined(PROBE_PREPARE_IOCTL_CMD)
static int prepare(struct dm_target *ti, struct block_device **bdev,
		   unsigned int cmd, unsigned long arg, bool *forward)
{
	return 0;
}

static void __maybe_unused probe(struct target_type *type)
{
	type->prepare_ioctl = prepare;
}

/* Shrinkers are allocated, and freed behind the last that runs. */
#elif defined(PROBE_SHRINKER_ALLOC)
static void __maybe_unused probe(void)
{
	shrinker_register(shrinker_alloc(0, "name"));
}

/* timer_delete_sync(); it was del_timer_sync(). */
#elif defined(PROBE_TIMER_DELETE_SYNC)
static int __maybe_unused probe(struct timer_list *timer)
{
	return timer_delete_sync(timer);
}

#else
#error "no such probe"
#endif
