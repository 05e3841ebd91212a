// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of submission to disks, as the target uses it: the disk that gets a
 * bio, when, and the callback of its end. The same file runs in the simulated machine
 * of kmod/tests/sim, as interfaces_test.c does.
 *
 * These stay out, as no such expectation is the same in both:
 * - the order of the requests of a plug, which Linux 6.13 turned round;
 * - a bio behind the end of its disk, which ends the simulation.
 */
#include <kunit/test.h>
#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "disks.h"

#define BIOS	4

/**
 * struct scene - state that a case shares with its disks
 * @test: the case
 * @upper: a disk
 * @lower: another one, below it
 * @page: memory of the bios
 * @bio: bios
 * @order: bios that have come to a disk without requests, in that order
 * @nr: number of @order
 * @flags: flags of the last one
 * @ends: bios that have ended
 * @status: status of the last one
 * @begun: completed by the callback that the case waits for
 * @hrtimer: ends a bio in an interrupt
 * @in_interrupt: the last one ended there
 */
struct scene {
	struct kunit *test;
	struct disk upper;
	struct disk lower;
	struct page *page;
	struct bio *bio[BIOS];
	struct bio *order[BIOS];
	unsigned int nr;
	blk_opf_t flags;
	atomic_t ends;
	blk_status_t status;
	struct completion begun;
	struct hrtimer hrtimer;
	bool in_interrupt;
};

/* Wait until a number is reached, but not for ever; return whether it is. */
static bool reaches(atomic_t *number, int wanted)
{
	int left = 10 * HZ;

	while (atomic_read(number) != wanted && left--)
		schedule_timeout_uninterruptible(1);
	return atomic_read(number) == wanted;
}

static struct scene *scene_new(struct kunit *test)
{
	struct scene *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	s->upper.owner = s;
	s->lower.owner = s;
	init_completion(&s->begun);
	s->page = alloc_pages(GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, s->page);
	return s;
}

static void bio_ends(struct bio *bio)
{
	struct scene *s = bio->bi_private;

	s->status = bio->bi_status;
	s->in_interrupt = in_hardirq();
	atomic_inc(&s->ends);
}

/* Make the @nr-th bio, for a disk: of one sector, or of none. */
static struct bio *make_bio(struct scene *s, int nr, struct disk *disk,
			    blk_opf_t opf, bool empty)
{
	struct bio *bio = bio_alloc(disk->gendisk->part0, 1, opf, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(s->test, bio);
	bio->bi_private = s;
	bio->bi_end_io = bio_ends;
	bio->bi_iter.bi_sector = empty ? 0 : 100 * nr;
	if (!empty)
		__bio_add_page(bio, s->page, SECTOR_SIZE, 0);
	s->bio[nr] = bio;
	return bio;
}

static void note(struct scene *s, struct bio *bio)
{
	if (s->nr < BIOS)
		s->order[s->nr++] = bio;
	s->flags = bio->bi_opf;
}

static void take_and_fail(struct disk *disk, struct bio *bio)
{
	note(disk->owner, bio);
	bio_io_error(bio);
}

static void take(struct disk *disk, struct bio *bio)
{
	note(disk->owner, bio);
	bio_endio(bio);
}

static void scene_end(struct scene *s)
{
	int i;

	for (i = 0; i < BIOS; i++)
		if (s->bio[i])
			bio_put(s->bio[i]);
	if (s->upper.gendisk)
		disk_remove(&s->upper);
	if (s->lower.gendisk)
		disk_remove(&s->lower);
	__free_pages(s->page, 0);
}

static void bio_goes_to_its_disk(struct kunit *test)
{
	struct scene *s = scene_new(test);

	KUNIT_ASSERT_EQ(test, disk_add(&s->lower, false, true, 0), 0);
	KUNIT_ASSERT_EQ(test, disk_add(&s->upper, false, true, 1), 0);
	s->lower.take = take_and_fail;
	s->upper.take = take;
	make_bio(s, 0, &s->lower, REQ_OP_WRITE, false);
	make_bio(s, 1, &s->upper, REQ_OP_READ, false);
	submit_bio(s->bio[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	KUNIT_EXPECT_EQ(test, (int)s->status, (int)BLK_STS_IOERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 1);
	submit_bio(s->bio[1]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 2);
	KUNIT_EXPECT_EQ(test, (int)s->status, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->upper.taken), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 1);
	scene_end(s);
}

/* The first bio sends one more to the same disk, and two below it. */
static void take_and_send(struct disk *disk, struct bio *bio)
{
	struct scene *s = disk->owner;

	note(s, bio);
	if (bio == s->bio[0]) {
		submit_bio_noacct(s->bio[1]);
		submit_bio_noacct(s->bio[2]);
		submit_bio_noacct(s->bio[3]);
		KUNIT_EXPECT_EQ(s->test, s->nr, 1U);
	}
	bio_endio(bio);
}

static void bios_sent_on_the_way_down_wait_and_go_lowest_first(struct kunit *test)
{
	static const int order[BIOS] = { 0, 2, 3, 1 };
	struct scene *s = scene_new(test);
	int i;

	KUNIT_ASSERT_EQ(test, disk_add(&s->lower, false, true, 0), 0);
	KUNIT_ASSERT_EQ(test, disk_add(&s->upper, false, true, 1), 0);
	s->lower.take = take;
	s->upper.take = take_and_send;
	for (i = 0; i < BIOS; i++)
		make_bio(s, i, i < 2 ? &s->upper : &s->lower, REQ_OP_WRITE,
			 false);
	submit_bio_noacct(s->bio[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), BIOS);
	KUNIT_EXPECT_EQ(test, s->nr, (unsigned int)BIOS);
	for (i = 0; i < BIOS; i++)
		KUNIT_EXPECT_PTR_EQ(test, s->order[i], s->bio[order[i]]);
	scene_end(s);
}

static enum hrtimer_restart drive_interrupts(struct hrtimer *timer)
{
	struct scene *s = container_of(timer, struct scene, hrtimer);

	bio_endio(s->bio[0]);
	return HRTIMER_NORESTART;
}

static void take_and_end_later(struct disk *disk, struct bio *bio)
{
	struct scene *s = disk->owner;

	hrtimer_start(&s->hrtimer, ns_to_ktime(100000), HRTIMER_MODE_REL);
}

static void bio_ends_in_the_interrupt_of_its_drive(struct kunit *test)
{
	struct scene *s = scene_new(test);

	hrtimer_setup(&s->hrtimer, drive_interrupts, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	KUNIT_ASSERT_EQ(test, disk_add(&s->lower, false, true, 0), 0);
	s->lower.take = take_and_end_later;
	make_bio(s, 0, &s->lower, REQ_OP_READ, false);
	submit_bio(s->bio[0]);
	KUNIT_EXPECT_TRUE(test, reaches(&s->ends, 1));
	KUNIT_EXPECT_TRUE(test, s->in_interrupt);
	hrtimer_cancel(&s->hrtimer);
	scene_end(s);
}

/* A disk of requests, and two bios for it. */
static struct scene *scene_with_requests(struct kunit *test)
{
	struct scene *s = scene_new(test);

	KUNIT_ASSERT_EQ(test, disk_add(&s->lower, true, true, 0), 0);
	make_bio(s, 0, &s->lower, REQ_OP_WRITE, false);
	make_bio(s, 1, &s->lower, REQ_OP_WRITE, false);
	return s;
}

static void requests_of_a_plug_are_sent_at_its_end(struct kunit *test)
{
	struct scene *s = scene_with_requests(test);
	struct blk_plug plug, inner;

	blk_start_plug(&plug);
	submit_bio(s->bio[0]);
	blk_start_plug(&inner);
	submit_bio(s->bio[1]);
	blk_finish_plug(&inner);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 0);
	blk_finish_plug(&plug);
	KUNIT_EXPECT_TRUE(test, reaches(&s->ends, 2));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 2);
	scene_end(s);
}

static int task_completes(void *data)
{
	struct scene *s = data;

	/* Only when the plug is flushed: the waiting task has gone to sleep. */
	KUNIT_EXPECT_TRUE(s->test, reaches(&s->lower.taken, 2));
	complete(&s->begun);
	return 0;
}

static void requests_of_a_plug_are_sent_when_its_task_sleeps(struct kunit *test)
{
	struct scene *s = scene_with_requests(test);
	struct blk_plug plug;

	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, kthread_run(task_completes, s,
						       "task"));
	blk_start_plug(&plug);
	submit_bio(s->bio[0]);
	submit_bio(s->bio[1]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 0);
	wait_for_completion(&s->begun);
	KUNIT_EXPECT_TRUE(test, reaches(&s->ends, 2));
	blk_finish_plug(&plug);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 2);
	scene_end(s);
}

static void plug_sends(struct blk_plug_cb *cb, bool from_schedule)
{
	struct scene *s = cb->data;

	KUNIT_EXPECT_EQ(s->test, atomic_read(&s->lower.taken), 0);
	submit_bio(s->bio[1]);
	KUNIT_EXPECT_EQ(s->test, atomic_read(&s->lower.taken), 0);
	kfree(cb);
}

static void bios_of_a_callback_go_with_its_plug(struct kunit *test)
{
	struct scene *s = scene_with_requests(test);
	struct blk_plug plug;

	blk_start_plug(&plug);
	KUNIT_EXPECT_NOT_NULL(test,
			      blk_check_plugged(plug_sends, s,
						sizeof(struct blk_plug_cb)));
	submit_bio(s->bio[0]);
	blk_finish_plug(&plug);
	KUNIT_EXPECT_TRUE(test, reaches(&s->ends, 2));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 2);
	scene_end(s);
}

static void disk_without_requests_gets_bios_at_once(struct kunit *test)
{
	struct scene *s = scene_new(test);
	struct blk_plug plug;

	KUNIT_ASSERT_EQ(test, disk_add(&s->lower, false, true, 0), 0);
	make_bio(s, 0, &s->lower, REQ_OP_WRITE, false);
	blk_start_plug(&plug);
	submit_bio(s->bio[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	blk_finish_plug(&plug);
	scene_end(s);
}

#define FLUSHES	(REQ_PREFLUSH | REQ_FUA)

static void disk_without_a_cache_gets_no_flush(struct kunit *test)
{
	struct scene *s = scene_new(test);

	KUNIT_ASSERT_EQ(test, disk_add(&s->lower, false, false, 0), 0);
	s->lower.take = take;
	make_bio(s, 0, &s->lower, REQ_OP_WRITE | REQ_PREFLUSH, true);
	make_bio(s, 1, &s->lower, REQ_OP_WRITE | FLUSHES, false);
	submit_bio(s->bio[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	KUNIT_EXPECT_EQ(test, (int)s->status, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 0);
	submit_bio(s->bio[1]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 1);
	KUNIT_EXPECT_FALSE(test, s->flags & FLUSHES);
	scene_end(s);
}

static void disk_with_a_cache_gets_flushes(struct kunit *test)
{
	struct scene *s = scene_new(test);

	KUNIT_ASSERT_EQ(test, disk_add(&s->lower, false, true, 0), 0);
	s->lower.take = take;
	make_bio(s, 0, &s->lower, REQ_OP_WRITE | REQ_PREFLUSH, true);
	make_bio(s, 1, &s->lower, REQ_OP_WRITE | REQ_FUA, false);
	submit_bio(s->bio[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 1);
	KUNIT_EXPECT_TRUE(test, s->flags & REQ_PREFLUSH);
	submit_bio(s->bio[1]);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->lower.taken), 2);
	KUNIT_EXPECT_TRUE(test, s->flags & REQ_FUA);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 2);
	scene_end(s);
}

static struct kunit_case disks_cases[] = {
	KUNIT_CASE(bio_goes_to_its_disk),
	KUNIT_CASE(bios_sent_on_the_way_down_wait_and_go_lowest_first),
	KUNIT_CASE(bio_ends_in_the_interrupt_of_its_drive),
	KUNIT_CASE(requests_of_a_plug_are_sent_at_its_end),
	KUNIT_CASE(requests_of_a_plug_are_sent_when_its_task_sleeps),
	KUNIT_CASE(bios_of_a_callback_go_with_its_plug),
	KUNIT_CASE(disk_without_requests_gets_bios_at_once),
	KUNIT_CASE(disk_without_a_cache_gets_no_flush),
	KUNIT_CASE(disk_with_a_cache_gets_flushes),
	{}
};

static struct kunit_suite disks_suite = {
	.name = "dm-align-disks",
	.test_cases = disks_cases,
};

kunit_test_suite(disks_suite);

MODULE_DESCRIPTION("KUnit tests of submission to disks, as dm-align uses it");
MODULE_LICENSE("GPL");
