// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the registered ranges (range.c): the ranges that cover a
 * block, compared with a linear search of a list.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/prandom.h>

#include "range.h"

/* The target exports nothing: a suite that is a module has its own copy. */
#ifdef MODULE
#include "range.c"
#endif

#define RANGES		48
#define BLOCKS		64
#define ROUNDS		4000

/**
 * struct ranges - a tree of ranges, and an array of the same ranges
 * @tree: the tree
 * @range: the ranges
 * @first: first block of each
 * @last: last block of each
 * @in: the ranges that are in the tree
 */
struct ranges {
	struct rb_root_cached tree;
	struct align_range range[RANGES];
	u64 first[RANGES];
	u64 last[RANGES];
	bool in[RANGES];
};

static struct ranges *ranges_alloc(struct kunit *test)
{
	struct ranges *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->tree = RB_ROOT_CACHED;
	return r;
}

static void ranges_add(struct ranges *r, int i, u64 first, u64 last)
{
	r->range[i].first = first;
	r->range[i].last = last;
	r->first[i] = first;
	r->last[i] = last;
	range_insert(&r->range[i], &r->tree);
	r->in[i] = true;
}

/* Check that the walk finds each range over the block once, and no other. */
static void check_block(struct kunit *test, struct ranges *r, u64 block)
{
	struct align_range *range;
	bool found[RANGES] = {};
	int i;

	for (range = range_first(&r->tree, block); range;
	     range = range_next(range, block)) {
		i = range - r->range;
		KUNIT_ASSERT_GE(test, i, 0);
		KUNIT_ASSERT_LT(test, i, RANGES);
		KUNIT_ASSERT_FALSE(test, found[i]);
		found[i] = true;
	}
	for (i = 0; i < RANGES; i++)
		KUNIT_ASSERT_EQ_MSG(test, found[i],
				    r->in[i] && r->first[i] <= block &&
				    block <= r->last[i],
				    "block %llu range %llu to %llu", block,
				    r->first[i], r->last[i]);
}

static void empty_tree_has_no_range(struct kunit *test)
{
	struct ranges *r = ranges_alloc(test);

	KUNIT_EXPECT_NULL(test, range_first(&r->tree, 0));
	KUNIT_EXPECT_NULL(test, range_first(&r->tree, U64_MAX));
}

/* A range covers its last block, but not the one after it or before it. */
static void range_touches_its_ends(struct kunit *test)
{
	static const struct { u64 first, last; } rows[] = {
		{ 0, 0 },
		{ 0, 5 },
		{ 7, 7 },
		{ 8, 9 },
		{ 0xffffffff, 0x100000000 },
		{ 0x100000005, 0x3fffffffffff },
		{ 0x3fffffffffffff, 0x3fffffffffffff },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ranges *r = ranges_alloc(test);

		ranges_add(r, 0, rows[i].first, rows[i].last);
		check_block(test, r, rows[i].first);
		check_block(test, r, rows[i].last);
		check_block(test, r, rows[i].last + 1);
		if (rows[i].first)
			check_block(test, r, rows[i].first - 1);
		range_remove(&r->range[0], &r->tree);
		r->in[0] = false;
		check_block(test, r, rows[i].first);
	}
}

/* Two writes may be in flight on the same blocks: each is found. */
static void equal_ranges_are_all_found(struct kunit *test)
{
	struct ranges *r = ranges_alloc(test);
	int i;

	for (i = 0; i < RANGES; i++)
		ranges_add(r, i, 10, 20);
	check_block(test, r, 9);
	check_block(test, r, 10);
	check_block(test, r, 20);
	check_block(test, r, 21);
	for (i = 0; i < RANGES; i += 2) {
		range_remove(&r->range[i], &r->tree);
		r->in[i] = false;
		check_block(test, r, 15);
	}
}

static void ranges_come_and_go(struct kunit *test)
{
	struct ranges *r = ranges_alloc(test);
	struct rnd_state rnd;
	int round;

	prandom_seed_state(&rnd, 803);
	for (round = 0; round < ROUNDS; round++) {
		int i = prandom_u32_state(&rnd) % RANGES;

		if (r->in[i]) {
			range_remove(&r->range[i], &r->tree);
			r->in[i] = false;
		} else {
			u64 first = prandom_u32_state(&rnd) % BLOCKS;
			u32 most = prandom_u32_state(&rnd) % BLOCKS + 1;

			/* mostly short ranges, like writes */
			ranges_add(r, i, first,
				   first + prandom_u32_state(&rnd) % most);
		}
		check_block(test, r, prandom_u32_state(&rnd) % (2 * BLOCKS));
		check_block(test, r, r->first[i]);
		check_block(test, r, r->last[i]);
	}
}

static struct kunit_case range_cases[] = {
	KUNIT_CASE(empty_tree_has_no_range),
	KUNIT_CASE(range_touches_its_ends),
	KUNIT_CASE(equal_ranges_are_all_found),
	KUNIT_CASE(ranges_come_and_go),
	{}
};

static struct kunit_suite range_suite = {
	.name = "dm-align-range",
	.test_cases = range_cases,
};

kunit_test_suite(range_suite);

MODULE_DESCRIPTION("KUnit tests for dm-align's registered ranges");
MODULE_LICENSE("GPL");
