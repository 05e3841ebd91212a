// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the counted writes (quiet.c), compared with a plain count of each
 * area.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>

#include "quiet.h"

/* The target exports nothing: a suite that is a module has its own copy. */
#ifdef MODULE
#include "quiet.c"
#endif

#define ROUNDS		20000

/**
 * struct plain - the expected state of an area
 * @writes: writes that are counted in the area
 * @busy: the area is busy
 */
struct plain {
	unsigned int writes;
	bool busy;
};

static struct align_quiet *new_quiet(struct kunit *test)
{
	struct align_quiet *quiet =
		kunit_kzalloc(test, sizeof(*quiet), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, quiet);
	KUNIT_ASSERT_EQ(test, quiet_init(quiet), 0);
	return quiet;
}

static void a_busy_area_counts_no_write(struct kunit *test)
{
	struct align_quiet *quiet = new_quiet(test);
	bool left = true;

	KUNIT_EXPECT_TRUE(test, quiet_enter(quiet, 7, &left));
	KUNIT_EXPECT_FALSE(test, left);
	KUNIT_EXPECT_TRUE(test, quiet_end(quiet, 7));
	KUNIT_EXPECT_FALSE(test, quiet_enter(quiet, 7, &left));
	KUNIT_EXPECT_FALSE(test, left);
	KUNIT_EXPECT_FALSE(test, quiet_is_empty(quiet, 7));
	KUNIT_EXPECT_TRUE(test, quiet_leave(quiet, 7));
	KUNIT_EXPECT_TRUE(test, quiet_is_empty(quiet, 7));
	quiet_begin(quiet, 7);
	KUNIT_EXPECT_TRUE(test, quiet_enter(quiet, 7, &left));
	KUNIT_EXPECT_FALSE(test, quiet_leave(quiet, 7));
	KUNIT_EXPECT_FALSE(test, quiet_end(quiet, 7));
	quiet_exit(quiet);
}

static void areas_count_apart(struct kunit *test)
{
	struct align_quiet *quiet = new_quiet(test);
	struct plain *plain =
		kunit_kcalloc(test, ALIGN_AREAS, sizeof(*plain), GFP_KERNEL);
	struct rnd_state rnd;
	unsigned int round;
	bool left;

	KUNIT_ASSERT_NOT_NULL(test, plain);
	prandom_seed_state(&rnd, 1);
	for (round = 0; round < ROUNDS; round++) {
		unsigned int area = prandom_u32_state(&rnd) % ALIGN_AREAS;
		struct plain *p = &plain[area];

		switch (prandom_u32_state(&rnd) % 4) {
		case 0:
			if (p->busy) {
				quiet_begin(quiet, area);
				p->busy = false;
			} else {
				p->busy = true;
				KUNIT_ASSERT_EQ(test, quiet_end(quiet, area),
						p->writes > 0);
			}
			break;
		case 1:
			if (!p->writes)
				break;
			p->writes--;
			KUNIT_ASSERT_EQ(test, quiet_leave(quiet, area), p->busy);
			break;
		default:
			KUNIT_ASSERT_EQ(test, quiet_enter(quiet, area, &left),
					!p->busy);
			p->writes += !p->busy;
		}
		KUNIT_ASSERT_EQ(test, quiet_is_empty(quiet, area), !p->writes);
		KUNIT_ASSERT_EQ(test, quiet_is_over(quiet, area), p->busy);
	}
	quiet_exit(quiet);
}

static struct kunit_case quiet_cases[] = {
	KUNIT_CASE(a_busy_area_counts_no_write),
	KUNIT_CASE(areas_count_apart),
	{}
};

static struct kunit_suite quiet_suite = {
	.name = "dm-align-quiet",
	.test_cases = quiet_cases,
};

kunit_test_suite(quiet_suite);

MODULE_DESCRIPTION("KUnit tests of dm-align's counted writes");
MODULE_LICENSE("GPL");
