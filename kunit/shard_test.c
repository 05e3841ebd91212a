// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the shards (shard.h): the lock of a block, and the locks of a
 * range of blocks. The expected results are worked out block by block, from
 * bytes on the device.
 */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "shard.h"

#define REGION_BYTES	SZ_64M
#define SECTORS		BIT_ULL(40)	/* of the device: 512 TiB */

static const struct shard_row {
	u32 physical;
	u32 logical;
	u32 offset;
} shard_params[] = {
	{ 1024, 512, 0 },
	{ 4096, 512, 0 },
	{ 4096, 512, 3584 },
	{ 4096, 4096, 0 },
	{ 16384, 512, 512 },
	{ 65536, 512, 0 },
	{ 65536, 4096, 61440 },
	{ 262144, 512, 261632 },
};

static void shard_desc(const struct shard_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "physical %u logical %u offset %u",
		 row->physical, row->logical, row->offset);
}

KUNIT_ARRAY_PARAM(shard, shard_params, shard_desc);

/* Make a target that has only a geometry. */
static struct align_target *target_alloc(struct kunit *test)
{
	const struct shard_row *row = test->param_value;
	struct align_target *at = kunit_kzalloc(test, sizeof(*at), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, at);
	KUNIT_ASSERT_NULL(test,
			  align_geometry_init(&at->geometry, row->physical,
					      row->logical, row->offset, 0,
					      SECTORS));
	return at;
}

/* Return the index of a block's shard, from the definition. */
static unsigned int index_by_definition(const struct align_target *at, u64 number)
{
	return number * at->geometry.physical / REGION_BYTES % ALIGN_SHARDS;
}

/* Return the number of blocks in a region. */
static u32 region_blocks(const struct align_target *at)
{
	return REGION_BYTES / at->geometry.physical;
}

/* Regions of 64 MiB take turns, from the first block of each to its last. */
static void blocks_of_a_region_share_a_shard(struct kunit *test)
{
	struct align_target *at = target_alloc(test);
	u64 blocks = region_blocks(at);
	u64 region;

	for (region = 0; region < 3 * ALIGN_SHARDS; region++) {
		struct align_shard *want =
			&at->engine.blocks.shard[region % ALIGN_SHARDS];
		u64 first = region * blocks;

		KUNIT_EXPECT_PTR_EQ(test, shard_of(at, first), want);
		KUNIT_EXPECT_PTR_EQ(test, shard_of(at, first + 1), want);
		KUNIT_EXPECT_PTR_EQ(test, shard_of(at, first + blocks / 2),
				    want);
		KUNIT_EXPECT_PTR_EQ(test, shard_of(at, first + blocks - 1),
				    want);
	}
}

/* A region ends where the first block of the next one begins. */
static void regions_end_where_the_next_begins(struct kunit *test)
{
	struct align_target *at = target_alloc(test);
	u64 blocks = region_blocks(at);
	u64 region;

	for (region = 0; region < 3 * ALIGN_SHARDS; region++) {
		u64 end = align_block_start(&at->geometry,
					    (region + 1) * blocks);
		/* the first block may begin before the device does */
		u64 start = region ?
			align_block_start(&at->geometry, region * blocks) : 0;

		KUNIT_EXPECT_EQ(test, shard_region_end(at, start), end);
		KUNIT_EXPECT_EQ(test, shard_region_end(at, end - 1), end);
		KUNIT_EXPECT_EQ(test, shard_region_end(at, start / 2 + end / 2),
				end);
	}
}

/* Return the shards of a range, as bits, found region by region. */
static unsigned long shards_needed(const struct align_target *at, u64 first,
				   u64 last)
{
	u32 blocks = region_blocks(at);
	unsigned long shards = 0;
	u64 number;

	for (number = first; number <= last;
	     number = (div_u64(number, blocks) + 1) * blocks)
		__set_bit(index_by_definition(at, number), &shards);
	return shards;
}

/*
 * Check that every shard of a range is in its span, by rising index, each once,
 * which is the order of the locks. A range of up to two regions takes no
 * needless lock.
 */
static void check_span(struct kunit *test, const struct align_target *at,
		       u64 first, u64 last)
{
	u32 blocks = region_blocks(at);
	unsigned long needed = shards_needed(at, first, last);
	struct shard_span span = shard_span(at, first, last);
	unsigned long found = 0;
	unsigned int i, before = 0;

	for (i = shard_first(&span); i < ALIGN_SHARDS;
	     i = shard_next(&span, i)) {
		if (found)
			KUNIT_ASSERT_GT(test, i, before);
		before = i;
		__set_bit(i, &found);
	}
	KUNIT_ASSERT_EQ_MSG(test, found & needed, needed, "blocks %llu to %llu",
			    first, last);
	if (hweight_long(needed) <= 2 &&
	    div_u64(last, blocks) - div_u64(first, blocks) < 2)
		KUNIT_ASSERT_EQ_MSG(test, found, needed, "blocks %llu to %llu",
				    first, last);
	for (i = 0; i < ALIGN_SHARDS; i++)
		KUNIT_ASSERT_EQ(test, shard_in_span(&span, i),
				test_bit(i, &found));
}

static void spans_have_the_shards_of_their_blocks(struct kunit *test)
{
	struct align_target *at = target_alloc(test);
	u64 blocks = region_blocks(at);
	u64 from, regions;
	int begin, end;

	/* near the borders of regions, and where the shards start over */
	for (from = 0; from < 2 * ALIGN_SHARDS; from++) {
		for (regions = 0; regions < ALIGN_SHARDS + 2; regions++) {
			u64 border = (from + 1) * blocks;

			for (begin = -2; begin < 2; begin++) {
				for (end = -2; end < 2; end++) {
					u64 first = border + begin;
					u64 last = border + regions * blocks +
						   end;

					if (first <= last)
						check_span(test, at, first,
							   last);
				}
			}
		}
	}
}

static struct kunit_case shard_cases[] = {
	KUNIT_CASE_PARAM(blocks_of_a_region_share_a_shard, shard_gen_params),
	KUNIT_CASE_PARAM(regions_end_where_the_next_begins, shard_gen_params),
	KUNIT_CASE_PARAM(spans_have_the_shards_of_their_blocks,
			 shard_gen_params),
	{}
};

static struct kunit_suite shard_suite = {
	.name = "dm-align-shard",
	.test_cases = shard_cases,
};

kunit_test_suite(shard_suite);

MODULE_DESCRIPTION("KUnit tests for the shards of dm-align's blocks");
MODULE_LICENSE("GPL");
