/* SPDX-License-Identifier: GPL-2.0 */
/* KUnit, as far as the suites of the shim use it; runner.c. */
#ifndef CONFORM_KUNIT_TEST_H
#define CONFORM_KUNIT_TEST_H

#include <linux/slab.h>

#define KUNIT_MOST_MEMORY	32

/**
 * struct kunit - a case that runs
 * @memory: memory to free at its end
 * @nr_memory: number of @memory
 */
struct kunit {
	void *memory[KUNIT_MOST_MEMORY];
	unsigned int nr_memory;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
};

void *kunit_kzalloc(struct kunit *test, size_t bytes, gfp_t gfp);

#define KUNIT_CASE(function)	{ .run_case = function, .name = #function }
/* The linker puts all suites in a row. */
#define kunit_test_suite(suite) \
	static struct kunit_suite *const conform_##suite \
	__attribute__((used, section("conform_suites"))) = &(suite)

/* A failed expectation is a violation: the run ends. */
#define KUNIT_EXPECT_TRUE(test, condition) \
	do { \
		(void)(test); \
		if (!(condition)) \
			machine_fail("expectation failed at %s:%d: %s", \
				     __FILE__, __LINE__, #condition); \
	} while (0)
#define KUNIT_EXPECT_FALSE(test, condition) KUNIT_EXPECT_TRUE(test, !(condition))
#define CONFORM_COMPARE(test, a, operator, b) \
	do { \
		typeof(a) _left = (a); \
		typeof(b) _right = (b); \
		(void)(test); \
		if (!(_left operator _right)) \
			machine_fail("expectation failed at %s:%d: %s %s %s, but they are %lld and %lld", \
				     __FILE__, __LINE__, #a, #operator, #b, \
				     (long long)_left, (long long)_right); \
	} while (0)
#define KUNIT_EXPECT_EQ(test, a, b)	CONFORM_COMPARE(test, a, ==, b)
#define KUNIT_EXPECT_GT(test, a, b)	CONFORM_COMPARE(test, a, >, b)
#define KUNIT_EXPECT_GE(test, a, b)	CONFORM_COMPARE(test, a, >=, b)
#define KUNIT_EXPECT_LE(test, a, b)	CONFORM_COMPARE(test, a, <=, b)
#define KUNIT_EXPECT_PTR_EQ(test, a, b)	KUNIT_EXPECT_TRUE(test, (a) == (b))
#define KUNIT_EXPECT_NULL(test, p)	KUNIT_EXPECT_TRUE(test, !(p))
#define KUNIT_EXPECT_NOT_NULL(test, p)	KUNIT_EXPECT_TRUE(test, !!(p))
#define KUNIT_EXPECT_NOT_ERR_OR_NULL(test, p) \
	KUNIT_EXPECT_TRUE(test, !!(p))
#define KUNIT_ASSERT_EQ(test, a, b)	KUNIT_EXPECT_EQ(test, a, b)
#define KUNIT_ASSERT_TRUE(test, c)	KUNIT_EXPECT_TRUE(test, c)
#define KUNIT_ASSERT_NOT_NULL(test, p)	KUNIT_EXPECT_TRUE(test, !!(p))

#endif
