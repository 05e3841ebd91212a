// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the waiters (waiter.c), compared with waiters of which each counts
 * all its blocks by itself.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/prandom.h>

#include "waiter.h"

/* The target exports nothing: a suite that is a module has its own copy. */
#ifdef MODULE
#include "waiter.c"
#endif

#define WAITERS		24
#define BLOCKS		32
#define ROUNDS		20000

/**
 * struct plain - a waiter, and its expected state
 * @waiter: the waiter
 * @left: the blocks that it waits for, each by itself
 * @waits: the waiter has not ended
 * @failed: one of its blocks could not be written
 * @done: how often its done() was called
 */
struct plain {
	struct align_waiter waiter;
	bool left[BLOCKS];
	bool waits;
	bool failed;
	unsigned int done;
};

/**
 * struct scene - waiters and held blocks
 * @waiters: the waiters
 * @plain: each of them
 * @held: number of each block, or 0
 * @seq: the last number
 */
struct scene {
	struct align_waiters waiters;
	struct plain plain[WAITERS];
	u64 held[BLOCKS];
	u64 seq;
};

static void plain_done(struct align_waiter *waiter)
{
	container_of(waiter, struct plain, waiter)->done++;
}

static void hold(struct scene *s, unsigned int block)
{
	s->held[block] = ++s->seq;
	waiters_hold(&s->waiters);
}

static void settle(struct scene *s, unsigned int block)
{
	unsigned int i;

	waiters_settle(&s->waiters, s->held[block]);
	s->held[block] = 0;
	for (i = 0; i < WAITERS; i++)
		s->plain[i].left[block] = false;
}

static void fail(struct scene *s, unsigned int block)
{
	unsigned int i;

	waiters_fail(&s->waiters, s->held[block]);
	s->held[block] = ++s->seq;
	for (i = 0; i < WAITERS; i++) {
		if (s->plain[i].left[block])
			s->plain[i].failed = true;
		s->plain[i].left[block] = false;
	}
}

static void wait(struct scene *s, struct plain *plain)
{
	unsigned int i;

	for (i = 0; i < BLOCKS; i++)
		plain->left[i] = s->held[i];
	plain->waits = true;
	plain->failed = false;
	plain->done = 0;
	plain->waiter.done = plain_done;
	waiters_add(&s->waiters, &plain->waiter, s->seq);
}

/* Whether a waiter waits for no block any more. */
static bool is_over(const struct plain *plain)
{
	unsigned int i;

	for (i = 0; i < BLOCKS; i++)
		if (plain->left[i])
			return false;
	return true;
}

/* Waiters that wait for nothing are done, with the result that they must have. */
static void check(struct kunit *test, struct scene *s)
{
	unsigned int i;

	while (waiters_end(&s->waiters, 2))
		;
	for (i = 0; i < WAITERS; i++) {
		struct plain *plain = &s->plain[i];
		bool done = plain->waits && is_over(plain);

		KUNIT_ASSERT_EQ(test, plain->done, done);
		KUNIT_ASSERT_EQ(test, plain->waiter.waits, plain->waits && !done);
		if (!done)
			continue;
		KUNIT_ASSERT_EQ(test, plain->waiter.failed, plain->failed);
		plain->waits = false;
		plain->done = 0;
	}
}

static void a_waiter_is_done_when_its_blocks_are_settled(struct kunit *test)
{
	struct scene *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct rnd_state rnd;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	waiters_init(&s->waiters);
	prandom_seed_state(&rnd, 1);
	for (i = 0; i < ROUNDS; i++) {
		struct plain *plain = &s->plain[prandom_u32_state(&rnd) % WAITERS];
		unsigned int block = prandom_u32_state(&rnd) % BLOCKS;

		switch (prandom_u32_state(&rnd) % 8) {
		case 0:
		case 1:
			if (!plain->waits)
				wait(s, plain);
			break;
		case 2:
			KUNIT_ASSERT_EQ(test, plain->waits,
					waiters_remove(&s->waiters, &plain->waiter));
			plain->waits = false;
			break;
		case 3:
			if (s->held[block])
				fail(s, block);
			break;
		default:
			if (s->held[block])
				settle(s, block);
			else
				hold(s, block);
		}
		check(test, s);
	}
}

static void all_waiters_fail_in_parts(struct kunit *test)
{
	struct scene *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int i, done = 0;

	KUNIT_ASSERT_NOT_NULL(test, s);
	waiters_init(&s->waiters);
	hold(s, 0);
	for (i = 0; i < 5; i++)
		wait(s, &s->plain[i]);
	KUNIT_EXPECT_TRUE(test, waiters_fail_all(&s->waiters, 3));
	for (i = 0; i < 5; i++)
		done += s->plain[i].done;
	KUNIT_EXPECT_EQ(test, done, 3U);
	KUNIT_EXPECT_FALSE(test, waiters_fail_all(&s->waiters, 2));
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, s->plain[i].done, 1U);
		KUNIT_EXPECT_TRUE(test, s->plain[i].waiter.failed);
	}
	/* The block is still held, and the next waiter waits for it. */
	wait(s, &s->plain[5]);
	KUNIT_EXPECT_FALSE(test, waiters_end(&s->waiters, 1));
	KUNIT_EXPECT_EQ(test, s->plain[5].done, 0U);
	settle(s, 0);
	KUNIT_EXPECT_FALSE(test, waiters_end(&s->waiters, 1));
	KUNIT_EXPECT_EQ(test, s->plain[5].done, 1U);
}

static void settled_waiters_do_not_fail(struct kunit *test)
{
	struct scene *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	waiters_init(&s->waiters);
	hold(s, 0);
	for (i = 0; i < 3; i++)
		wait(s, &s->plain[i]);
	hold(s, 1);
	wait(s, &s->plain[3]);
	settle(s, 0);
	KUNIT_EXPECT_TRUE(test, waiters_end(&s->waiters, 1));
	KUNIT_EXPECT_FALSE(test, waiters_fail_all(&s->waiters, WAITERS));
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, s->plain[i].done, 1U);
		KUNIT_EXPECT_EQ(test, s->plain[i].waiter.failed, i == 3);
	}
}

static struct kunit_case waiter_cases[] = {
	KUNIT_CASE(a_waiter_is_done_when_its_blocks_are_settled),
	KUNIT_CASE(all_waiters_fail_in_parts),
	KUNIT_CASE(settled_waiters_do_not_fail),
	{}
};

static struct kunit_suite waiter_suite = {
	.name = "dm-align-waiter",
	.test_cases = waiter_cases,
};

kunit_test_suite(waiter_suite);

MODULE_DESCRIPTION("KUnit tests of dm-align's waiters");
MODULE_LICENSE("GPL");
