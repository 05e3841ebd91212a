// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the arithmetic on physical blocks (geometry.h).
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "geometry.h"
#include "oracle.h"

#define RANDOM_ROUNDS	20000

/* Seed with a constant, so that failures are reproducible. */
static void seed_random(struct rnd_state *rnd)
{
	prandom_seed_state(rnd, 512);
}

static u32 random_below(struct rnd_state *rnd, u32 end)
{
	return prandom_u32_state(rnd) % end;
}

/* Return a number of blocks that moves sectors far, at most FAR_SECTORS / 2. */
static u64 random_far_blocks(struct rnd_state *rnd,
			     const struct align_geometry *g)
{
	u64 n = (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);

	return (n & (FAR_SECTORS / 2 - 1)) >> g->block_shift;
}

/* Sectors */

static void sectors_lie_in_blocks(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	struct oracle *o = oracle_alloc(test);
	struct align_geometry g;
	u32 offset;
	int s;

	for (offset = 0; offset < b->physical; offset += offset_stride(b)) {
		oracle_walk(o, b->physical, offset);
		whole_device(test, &g, b->physical, b->logical, offset);
		KUNIT_ASSERT_EQ(test, align_block_sectors(&g),
				b->physical / 512);
		for (s = 0; s < o->sectors; s++) {
			KUNIT_ASSERT_EQ(test, align_block_of(&g, s),
					o->block[s]);
			KUNIT_ASSERT_EQ(test, align_sector_in_block(&g, s),
					o->pos[s]);
			if (!o->pos[s])
				KUNIT_ASSERT_EQ(test, s,
						align_block_start(&g,
								  o->block[s]));
		}
	}
}

/* A shift by whole blocks changes only the number of the block. */
static void far_sectors_lie_in_blocks(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	struct align_geometry g;
	struct rnd_state rnd;
	int i;

	seed_random(&rnd);
	for (i = 0; i < RANDOM_ROUNDS; i++) {
		u32 near = random_below(&rnd, b->physical / 512);
		u64 blocks, far;

		whole_device(test, &g, b->physical, b->logical,
			     random_below(&rnd, b->physical / b->logical) *
			     b->logical);
		blocks = random_far_blocks(&rnd, &g);
		far = near + blocks * (b->physical / 512);
		KUNIT_ASSERT_EQ(test, align_block_of(&g, far),
				align_block_of(&g, near) + blocks);
		KUNIT_ASSERT_EQ(test, align_sector_in_block(&g, far),
				align_sector_in_block(&g, near));
		/* block 1 always has a start */
		KUNIT_ASSERT_EQ(test, align_block_start(&g, 1 + blocks),
				align_block_start(&g, 1) +
				blocks * (b->physical / 512));
	}
}

/* Splits */

#define MAX_PIECES	4	/* blocks that a write of these tests touches */

/* The blocks that a write covers; grows by a sector at a time. */
struct coverage {
	unsigned int nr;
	struct align_part part[MAX_PIECES];
	u64 start[MAX_PIECES];
};

static void cover_sector(struct coverage *c, const struct oracle *o, u32 s)
{
	if (!c->nr || c->part[c->nr - 1].block != o->block[s]) {
		c->part[c->nr].block = o->block[s];
		c->part[c->nr].first = o->pos[s];
		c->part[c->nr].count = 0;
		c->start[c->nr] = s;
		c->nr++;
	}
	c->part[c->nr - 1].count++;
}

static void split_of_coverage(const struct coverage *c, u32 block_sectors,
			      struct align_split *e)
{
	bool head = c->part[0].count < block_sectors;
	bool tail = c->part[c->nr - 1].count < block_sectors;
	unsigned int i;

	memset(e, 0, sizeof(*e));
	e->first_block = c->part[0].block;
	e->last_block = c->part[c->nr - 1].block;
	for (i = 0; i < c->nr; i++) {
		if (c->part[i].count < block_sectors) {
			e->touch[e->nr_touches++] = c->part[i];
			continue;
		}
		if (!e->remainder_sectors)
			e->remainder_start = c->start[i];
		e->remainder_sectors += block_sectors;
	}
	if (!head && !tail)
		e->class = ALIGN_WHOLE;
	else if (c->nr == 1)
		e->class = ALIGN_SUB_BLOCK;
	else if (head && tail)
		e->class = ALIGN_BOTH;
	else
		e->class = head ? ALIGN_HEAD : ALIGN_TAIL;
}

static bool same_split(const struct align_split *a, const struct align_split *b)
{
	unsigned int i;

	if (a->class != b->class || a->nr_touches != b->nr_touches ||
	    a->remainder_sectors != b->remainder_sectors ||
	    a->first_block != b->first_block || a->last_block != b->last_block)
		return false;
	if (a->remainder_sectors && a->remainder_start != b->remainder_start)
		return false;
	for (i = 0; i < a->nr_touches; i++)
		if (a->touch[i].block != b->touch[i].block ||
		    a->touch[i].first != b->touch[i].first ||
		    a->touch[i].count != b->touch[i].count)
			return false;
	return true;
}

/*
 * Every start in a block, every length up to two blocks and a bit, for every
 * offset. Starts in large blocks take a stride; all offsets together still
 * put a start at every place in a block, but in very large ones, where offsets
 * take a stride as well.
 */
static void splits_every_write(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	u32 step = b->logical / 512;
	u32 block_sectors = b->physical / 512;
	u32 stride = start_stride(b);
	struct oracle *o = oracle_alloc(test);
	struct align_geometry g;
	u32 offset, start, s;

	for (offset = 0; offset < b->physical; offset += offset_stride(b)) {
		oracle_walk(o, b->physical, offset);
		whole_device(test, &g, b->physical, b->logical, offset);
		for (start = 0; start < block_sectors; start += stride) {
			struct coverage c = {};

			for (s = start; s <= start + 2 * block_sectors; s++) {
				struct align_split want, got;
				u32 len = s + 1 - start;

				cover_sector(&c, o, s);
				if (len % step)
					continue;
				split_of_coverage(&c, block_sectors, &want);
				align_split_write(&g, start, len, &got);
				KUNIT_ASSERT_TRUE_MSG(test,
						      same_split(&want, &got),
						      "offset %u start %u len %u",
						      offset, start, len);
				KUNIT_ASSERT_EQ(test, want.class == ALIGN_WHOLE,
						align_is_whole(&g, start, len));
				KUNIT_ASSERT_EQ(test, c.nr * b->physical,
						align_block_bytes(&g, start,
								  len));
			}
		}
	}
}

/*
 * A write that is moved by whole blocks keeps its shape; a write extended by
 * whole blocks gets a longer remainder and keeps its ends.
 */
static void splits_far_and_long_writes(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	u32 block_sectors = b->physical / 512;
	u32 step = b->logical / 512;
	struct align_geometry g;
	struct rnd_state rnd;
	int i;

	seed_random(&rnd);
	for (i = 0; i < RANDOM_ROUNDS; i++) {
		u32 start = random_below(&rnd, block_sectors / step) * step;
		u32 len = (1 + random_below(&rnd, 3 * block_sectors / step)) *
			  step;
		struct align_split near, got;
		u64 far, longer;
		unsigned int t;

		whole_device(test, &g, b->physical, b->logical,
			     random_below(&rnd, b->physical / b->logical) *
			     b->logical);
		align_split_write(&g, start, len, &near);

		far = random_far_blocks(&rnd, &g);
		near.first_block += far;
		near.last_block += far;
		near.remainder_start += far * block_sectors;
		for (t = 0; t < near.nr_touches; t++)
			near.touch[t].block += far;
		start %= block_sectors;
		align_split_write(&g, start + far * block_sectors, len, &got);
		KUNIT_ASSERT_TRUE_MSG(test, same_split(&near, &got),
				      "offset %u start %u len %u blocks %llu",
				      g.offset, start, len, far);

		/* only an existing remainder can get longer */
		if (!near.remainder_sectors)
			continue;
		longer = random_far_blocks(&rnd, &g);
		near.last_block += longer;
		near.remainder_sectors += longer * block_sectors;
		t = near.nr_touches;
		if (near.class == ALIGN_TAIL || near.class == ALIGN_BOTH)
			near.touch[t - 1].block += longer;
		align_split_write(&g, start + far * block_sectors,
				  len + longer * block_sectors, &got);
		KUNIT_ASSERT_TRUE_MSG(test, same_split(&near, &got),
				      "offset %u start %u len %u + %llu blocks",
				      g.offset, start, len, longer);
		KUNIT_ASSERT_EQ(test,
				align_block_bytes(&g,
						  start + far * block_sectors,
						  len + longer * block_sectors),
				align_block_bytes(&g, start, len) +
				longer * b->physical);
	}
}

/* Writes worked out by hand. */
static const struct split_row {
	const char *name;
	u32 physical, offset;
	u64 sector, sectors;
	enum align_class class;
	unsigned int nr_touches;
	struct align_part touch[ALIGN_MAX_TOUCHES];
	u64 remainder_start, remainder_sectors;
	u64 bytes;
} split_params[] = {
	{ "one sector at a boundary", 4096, 0, 16, 1,
	  ALIGN_SUB_BLOCK, 1, { { 2, 0, 1 } }, 0, 0, 4096 },
	{ "last sector of a block", 4096, 0, 23, 1,
	  ALIGN_SUB_BLOCK, 1, { { 2, 7, 1 } }, 0, 0, 4096 },
	{ "two sectors over a boundary", 4096, 0, 23, 2,
	  ALIGN_BOTH, 2, { { 2, 7, 1 }, { 3, 0, 1 } }, 0, 0, 8192 },
	{ "one block", 4096, 0, 16, 8,
	  ALIGN_WHOLE, 0, {}, 16, 8, 4096 },
	{ "one block, 512 bytes late", 4096, 0, 17, 8,
	  ALIGN_BOTH, 2, { { 2, 1, 7 }, { 3, 0, 1 } }, 0, 0, 8192 },
	{ "head and one block", 4096, 0, 15, 9,
	  ALIGN_HEAD, 1, { { 1, 7, 1 } }, 16, 8, 8192 },
	{ "one block and tail", 4096, 0, 16, 15,
	  ALIGN_TAIL, 1, { { 3, 0, 7 } }, 16, 8, 8192 },
	{ "136 KiB from 3584", 4096, 0, 7, 272,
	  ALIGN_BOTH, 2, { { 0, 7, 1 }, { 34, 0, 7 } }, 8, 264, 143360 },
	{ "136 KiB from 3584, shifted", 4096, 3584, 7, 272,
	  ALIGN_WHOLE, 0, {}, 7, 272, 139264 },
	{ "first sectors, shifted", 4096, 3584, 0, 7,
	  ALIGN_SUB_BLOCK, 1, { { 0, 1, 7 } }, 0, 0, 4096 },
	{ "first sectors and a block, shifted", 4096, 3584, 0, 15,
	  ALIGN_HEAD, 1, { { 0, 1, 7 } }, 7, 8, 8192 },
	{ "sector 63 on 64 KiB", 65536, 0, 63, 130,
	  ALIGN_BOTH, 2, { { 0, 63, 65 }, { 1, 0, 65 } }, 0, 0, 131072 },
	{ "odd sectors, P = 512", 512, 0, 13, 7,
	  ALIGN_WHOLE, 0, {}, 13, 7, 3584 },
};

static void split_desc(const struct split_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(split, split_params, split_desc);

static void splits_as_worked_out(struct kunit *test)
{
	const struct split_row *row = test->param_value;
	struct align_geometry g;
	struct align_split s;
	unsigned int i;

	whole_device(test, &g, row->physical, 512, row->offset);
	align_split_write(&g, row->sector, row->sectors, &s);
	KUNIT_EXPECT_EQ(test, s.class, row->class);
	KUNIT_ASSERT_EQ(test, s.nr_touches, row->nr_touches);
	for (i = 0; i < s.nr_touches; i++) {
		KUNIT_EXPECT_EQ(test, s.touch[i].block, row->touch[i].block);
		KUNIT_EXPECT_EQ(test, s.touch[i].first, row->touch[i].first);
		KUNIT_EXPECT_EQ(test, s.touch[i].count, row->touch[i].count);
	}
	KUNIT_EXPECT_EQ(test, s.remainder_sectors, row->remainder_sectors);
	if (s.remainder_sectors)
		KUNIT_EXPECT_EQ(test, s.remainder_start, row->remainder_start);
	KUNIT_EXPECT_EQ(test, row->bytes,
			align_block_bytes(&g, row->sector, row->sectors));
}

/*
 * Published workloads whose partial touches were worked out by hand: count
 * times one write, or two one after the other, of so many sectors.
 */
static const struct workload_row {
	const char *name;
	u32 count;
	u32 first, stride;	/* sectors */
	u32 len[2];		/* sectors, 0: no second write */
	u32 touches;
	u32 distinct;		/* blocks written at least once */
} workload_params[] = {
	{ "w512", 20000, 0, 8, { 1 }, 20000, 20000 },
	{ "w4096", 20000, 0, 16, { 8 }, 0, 20000 },
	{ "w4096_512", 20000, 1, 16, { 8 }, 40000, 40000 },
	{ "w136k", 5000, 7, 272, { 272 }, 10000, 170001 },
	{ "w4k_132k", 5000, 7, 272, { 8, 264 }, 20000, 170001 },
};

static void workload_desc(const struct workload_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(workload, workload_params, workload_desc);

static void counts_touches_of_workloads(struct kunit *test)
{
	const struct workload_row *row = test->param_value;
	u32 touches = 0, distinct = 0, i, n;
	u64 next_block = 0;
	struct align_geometry g;

	whole_device(test, &g, 4096, 512, 0);
	for (i = 0; i < row->count; i++) {
		u64 sector = row->first + (u64)i * row->stride;

		for (n = 0; n < ARRAY_SIZE(row->len) && row->len[n]; n++) {
			struct align_split s;

			align_split_write(&g, sector, row->len[n], &s);
			touches += s.nr_touches;
			/* the writes rise, so a block is old or new */
			next_block = max(next_block, s.first_block);
			distinct += s.last_block + 1 - next_block;
			next_block = s.last_block + 1;
			sector += row->len[n];
		}
	}
	KUNIT_EXPECT_EQ(test, touches, row->touches);
	KUNIT_EXPECT_EQ(test, distinct, row->distinct);
}

/* Overlap */

/*
 * Each range that starts in the first blocks, the first of which may begin before the
 * device, and ends in the next two, against a count of the sectors of each block.
 */
static void overlaps_as_counted(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	u32 block_sectors = b->physical / 512;
	u32 stride = start_stride(b);
	struct oracle *o = oracle_alloc(test);
	u32 offset, start, end, s, from, to;
	struct align_geometry g;
	u64 first;

	for (offset = 0; offset < b->physical; offset += offset_stride(b)) {
		oracle_walk(o, b->physical, offset);
		whole_device(test, &g, b->physical, b->logical, offset);
		for (start = 0; start < offset / 512 + 2 * block_sectors;
		     start += stride) {
			for (end = start + stride; end <= 4 * block_sectors;
			     end += 3 * stride) {
				for (s = start; s < end; s++) {
					if (s > start && o->pos[s])
						continue;
					align_overlap(&g, o->block[s], start, end,
						      &from, &to);
					first = align_first_inside(&g, o->block[s]);
					if (!s || !o->pos[s])
						KUNIT_ASSERT_EQ(test, first, s);
					KUNIT_ASSERT_EQ(test, from, o->pos[s]);
					KUNIT_ASSERT_EQ(test, to - from,
							min(end - s, block_sectors -
							    o->pos[s]));
				}
			}
		}
	}
}

/* Edges */

#define EDGE_BLOCKS	6	/* blocks to check; ranges end in the fourth */

/* Check the edges. @inside: sectors of each block from @start to @end */
static void check_edges(struct kunit *test, const struct blocks *b, u32 offset,
			u32 start, u32 end, const u32 *inside)
{
	struct align_geometry g;
	u32 block;

	KUNIT_ASSERT_NULL(test, align_geometry_init(&g, b->physical, b->logical,
						    offset, start,
						    end - start));
	KUNIT_ASSERT_EQ(test, g.first_sector, start);
	KUNIT_ASSERT_EQ(test, g.end_sector, end);
	for (block = 0; block < EDGE_BLOCKS; block++)
		KUNIT_ASSERT_EQ_MSG(test, align_is_edge(&g, block),
				    inside[block] < b->physical / 512,
				    "offset %u range %u to %u block %u",
				    offset, start, end, block);
}

/*
 * Targets that start at every sector of the first two blocks and end at every
 * sector of the first four: inside one block, in neighbours, with whole blocks
 * between. Large blocks take strides.
 */
static void finds_edges(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	u32 block_sectors = b->physical / 512;
	u32 stride = start_stride(b);
	struct oracle *o = oracle_alloc(test);
	u32 offset, start, end;

	for (offset = 0; offset < b->physical; offset += offset_stride(b)) {
		oracle_walk(o, b->physical, offset);
		for (start = 0; start < 2 * block_sectors; start += stride) {
			u32 inside[EDGE_BLOCKS] = {};

			for (end = start; end < 4 * block_sectors;) {
				inside[o->block[end++]]++;
				if ((end - start) % stride)
					continue;
				check_edges(test, b, offset, start, end,
					    inside);
			}
		}
	}
}

static const struct edge_row {
	u32 physical, offset;
	u64 start, sectors;
	u64 first_whole, end_whole;
} edge_params[] = {
	/* starts 5 sectors into block 12, ends at the start of block 113 */
	{ 4096, 0, 101, 803, 13, 113 },
	/* starts 6 sectors into block 12, ends 1 into block 113 */
	{ 4096, 3584, 101, 803, 13, 113 },
	/* starts at the start of block 13, ends 3 into block 113 */
	{ 4096, 2560, 101, 803, 13, 113 },
	/* 5 sectors into block 3, 8 into block 28 */
	{ 16384, 0, 101, 803, 4, 28 },
	{ 65536, 0, 101, 803, 1, 7 },
	/* 101 sectors into block 0, 376 into block 7; 389 into 0, 152 into 8 */
	{ 262144, 0, 101, 3859, 1, 7 },
	{ 262144, 114688, 101, 3859, 1, 8 },
	{ 1048576, 0, 2047, 4098, 1, 3 },
	/* the whole of a device whose block 0 starts before it */
	{ 4096, 3584, 0, 1953525168, 1, 244190646 },
	{ 4096, 0, 0, 1953525168, 0, 244190646 },
	/* a classic partition */
	{ 4096, 0, 63, 1000000, 8, 125007 },
	{ 512, 0, 101, 803, 101, 904 },
};

static void edge_desc(const struct edge_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE,
		 "physical %u offset %u start %llu sectors %llu",
		 row->physical, row->offset, row->start, row->sectors);
}

KUNIT_ARRAY_PARAM(edge, edge_params, edge_desc);

static void finds_edges_as_worked_out(struct kunit *test)
{
	const struct edge_row *row = test->param_value;
	const u64 far_blocks = FAR_SECTORS / 2 / ALIGN_MAX_BLOCK_SECTORS;
	struct align_geometry g;
	u64 far;

	KUNIT_ASSERT_NULL(test, align_geometry_init(&g, row->physical, 512,
						    row->offset, row->start,
						    row->sectors));
	KUNIT_EXPECT_EQ(test, g.first_whole, row->first_whole);
	KUNIT_EXPECT_EQ(test, g.end_whole, row->end_whole);
	KUNIT_EXPECT_FALSE(test, align_is_edge(&g, row->first_whole));
	KUNIT_EXPECT_FALSE(test, align_is_edge(&g, row->end_whole - 1));
	KUNIT_EXPECT_TRUE(test, align_is_edge(&g, row->end_whole));
	if (row->first_whole)
		KUNIT_EXPECT_TRUE(test, align_is_edge(&g,
						      row->first_whole - 1));

	/* the same range, far out */
	far = far_blocks * (row->physical / 512);
	KUNIT_ASSERT_NULL(test, align_geometry_init(&g, row->physical, 512,
						    row->offset,
						    row->start + far,
						    row->sectors));
	KUNIT_EXPECT_EQ(test, g.first_whole, row->first_whole + far_blocks);
	KUNIT_EXPECT_EQ(test, g.end_whole, row->end_whole + far_blocks);
}

/* Bad figures */

static const struct init_row {
	u32 physical, logical, offset;
	const char *names;	/* word that the reason must have, NULL: no error */
	const char *figure;	/* and the limit that it must give */
} init_params[] = {
	{ 4096, 0, 0, "logical block size", "from 512 to 65536" },
	{ 4096, 256, 0, "logical block size", "from 512 to 65536" },
	{ 4096, 1536, 0, "logical block size", "power of two" },
	{ 131072, 131072, 0, "logical block size", "from 512 to 65536" },
	{ 1048576, 1048576, 0, "logical block size", "from 512 to 65536" },
	{ 0, 512, 0, "physical_block_size", "power of two" },
	{ 4097, 512, 0, "physical_block_size", "power of two" },
	{ 12288, 4096, 0, "physical_block_size", "power of two" },
	{ 256, 512, 0, "physical_block_size", "less than the logical" },
	{ 512, 4096, 0, "physical_block_size", "less than the logical" },
	{ 2048, 4096, 0, "physical_block_size", "less than the logical" },
	{ 2097152, 512, 0, "physical_block_size", "1048576" },
	{ 0x80000000, 4096, 0, "physical_block_size", "1048576" },
	{ 4096, 512, 4096, "alignment_offset", "less than physical_block_size" },
	{ 4096, 512, 4608, "alignment_offset", "less than physical_block_size" },
	{ 512, 512, 512, "alignment_offset", "less than physical_block_size" },
	{ 4096, 512, U32_MAX, "alignment_offset", "less than" },
	{ 4096, 512, 1, "alignment_offset", "multiple of the logical" },
	{ 4096, 512, 3585, "alignment_offset", "multiple of the logical" },
	{ 4096, 512, 256, "alignment_offset", "multiple of the logical" },
	{ 16384, 4096, 3584, "alignment_offset", "multiple of the logical" },
	{ 4096, 512, 3584 },
	{ 512, 512, 0 },
	{ 4096, 4096, 0 },
	{ 65536, 512, 65024 },
	{ 65536, 4096, 61440 },
	{ 4096, 1024, 3072 },
	{ 65536, 8192, 8192 },
	{ 65536, 65536, 0 },
	{ 131072, 512, 130560 },
	{ 262144, 65536, 196608 },
	{ 1048576, 512, 1048064 },
};

static void init_desc(const struct init_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE,
		 "physical %u logical %u offset %u",
		 row->physical, row->logical, row->offset);
}

KUNIT_ARRAY_PARAM(init, init_params, init_desc);

static void checks_figures(struct kunit *test)
{
	const struct init_row *row = test->param_value;
	struct align_geometry g;
	const char *error;

	error = align_geometry_init(&g, row->physical, row->logical,
				    row->offset, 0, 1 << 20);
	if (!row->names) {
		KUNIT_ASSERT_NULL(test, error);
		KUNIT_EXPECT_EQ(test, g.physical, row->physical);
		KUNIT_EXPECT_EQ(test, g.logical, row->logical);
		KUNIT_EXPECT_EQ(test, g.offset, row->offset);
		return;
	}
	KUNIT_ASSERT_NOT_NULL(test, error);
	KUNIT_EXPECT_PTR_EQ_MSG(test, strstr(error, row->names), error,
				"\"%s\" does not start with \"%s\"", error,
				row->names);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(error, row->figure),
				  "\"%s\" lacks \"%s\"", error, row->figure);
}

/* Parts of a disk */

static const struct shift_row {
	u32 offset;
	u64 start;
	u32 physical;
	u32 shifted;
} shift_params[] = {
	{ 0, 0, 4096, 0 },
	{ 0, 63, 4096, 512 },
	{ 3584, 63, 4096, 0 },		/* the purpose of lowest_aligned=7 */
	{ 0, 2048, 4096, 0 },
	{ 3584, 2048, 4096, 3584 },
	{ 0, 2049, 4096, 3584 },
	{ 0, 34, 16384, 15360 },
	{ 0, 0x100000001ULL, 65536, 65024 },
	{ 0, 63, 262144, 229888 },
	{ 512, 5, 512, 0 },
	{ 8192, 0, 4096, 0 },		/* an offset within a larger io_min */
};

static void shift_desc(const struct shift_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE,
		 "offset %u start %llu physical %u", row->offset, row->start,
		 row->physical);
}

KUNIT_ARRAY_PARAM(shift, shift_params, shift_desc);

static void shifts_offset_as_worked_out(struct kunit *test)
{
	const struct shift_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, row->shifted,
			align_shifted_offset(row->offset, row->start,
					     row->physical));
}

/* A sector is a boundary of the part iff it is one of the disk. */
static void part_has_boundaries_of_disk(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	u32 block_sectors = b->physical / 512;
	u32 offset, start, s;

	for (offset = 0; offset < b->physical; offset += offset_stride(b)) {
		for (start = 0; start <= 2 * block_sectors;
		     start += blocks_scale(b)) {
			u32 shifted = align_shifted_offset(offset, start,
							   b->physical);

			KUNIT_ASSERT_LT(test, shifted, b->physical);
			for (s = 0; s < block_sectors; s++)
				if (is_boundary(b->physical, shifted, s))
					break;
			KUNIT_ASSERT_TRUE_MSG(test,
					      is_boundary(b->physical, offset,
							  start + s),
					      "offset %u start %u: %u",
					      offset, start, shifted);
		}
	}
}

/* Bins */

static void phase_bins_count_logical_blocks(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	struct oracle *o = oracle_alloc(test);
	/* at most 128 bins, and none smaller than a logical block */
	u32 bytes = max(b->logical, b->physical / 128);
	struct align_geometry g;
	u32 offset, s;

	for (offset = 0; offset < b->physical; offset += offset_stride(b)) {
		oracle_walk(o, b->physical, offset);
		whole_device(test, &g, b->physical, b->logical, offset);
		for (s = 0; s < o->sectors; s += b->logical / 512) {
			unsigned int bin = align_phase_bin(&g, s);
			u32 byte = o->pos[s] * 512;

			if (b->physical / b->logical <= ALIGN_PHASE_BINS)
				KUNIT_ASSERT_EQ(test, bin * b->logical, byte);
			KUNIT_ASSERT_LE(test, bin * bytes, byte);
			KUNIT_ASSERT_GT(test, (bin + 1) * bytes, byte);
			KUNIT_ASSERT_LT(test, bin, b->physical / b->logical);
			KUNIT_ASSERT_LT(test, bin, ALIGN_PHASE_BINS);
		}
	}
}

/* Bytes of a bin, worked out by hand. */
static const struct bin_row {
	u32 physical, logical;
	u32 bytes;
} bin_params[] = {
	{ 4096, 512, 512 },
	{ 4096, 4096, 4096 },
	{ 65536, 512, 512 },
	{ 131072, 512, 1024 },
	{ 262144, 512, 2048 },
	{ 262144, 4096, 4096 },
	{ 1048576, 512, 8192 },
	{ 1048576, 4096, 8192 },
	{ 1048576, 65536, 65536 },
};

static void bin_desc(const struct bin_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "physical %u logical %u",
		 row->physical, row->logical);
}

KUNIT_ARRAY_PARAM(bin, bin_params, bin_desc);

static void phase_bins_share_large_blocks(struct kunit *test)
{
	const struct bin_row *row = test->param_value;
	struct align_geometry g;

	whole_device(test, &g, row->physical, row->logical, 0);
	KUNIT_EXPECT_EQ(test, align_phase_bin_bytes(&g), row->bytes);
	KUNIT_EXPECT_EQ(test, align_phase_bin(&g, (row->physical - row->logical) / 512),
			row->physical / row->bytes - 1);
}

/* Sizes of blocks, and whether these can be fixed. */
static const struct fix_row {
	u32 physical, logical;
	bool can;
} fix_params[] = {
	{ 4096, 512, true },
	{ 4096, 1024, false },
	{ 65536, 65536, true },
	{ 262144, 512, true },
	{ 262144, 4096, true },
	{ 262144, 8192, false },
	{ 524288, 512, false },
	{ 1048576, 4096, false },
};

static void fix_desc(const struct fix_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "physical %u logical %u",
		 row->physical, row->logical);
}

KUNIT_ARRAY_PARAM(fix, fix_params, fix_desc);

static void fixes_blocks_of_sizes_that_drives_have(struct kunit *test)
{
	const struct fix_row *row = test->param_value;
	struct align_geometry g;

	whole_device(test, &g, row->physical, row->logical, 0);
	KUNIT_EXPECT_EQ(test, align_can_fix(&g), row->can);
}

static void size_bins_are_octaves(struct kunit *test)
{
	u64 low = 1;
	unsigned int bin;

	for (bin = 0; bin < ALIGN_SIZE_BINS; bin++, low *= 2) {
		KUNIT_EXPECT_EQ(test, align_size_bin(low), bin);
		KUNIT_EXPECT_EQ(test, align_size_bin(low + low / 2), bin);
		KUNIT_EXPECT_EQ(test, align_size_bin(2 * low - 1), bin);
	}
	/* no bio is larger than 2^32 bytes, but no size may miss the array */
	KUNIT_EXPECT_EQ(test, low, 1 << 24);
	KUNIT_EXPECT_EQ(test, align_size_bin(low), ALIGN_SIZE_BINS - 1);
	KUNIT_EXPECT_EQ(test, align_size_bin(U32_MAX), ALIGN_SIZE_BINS - 1);
	KUNIT_EXPECT_EQ(test, align_size_bin(U64_MAX), ALIGN_SIZE_BINS - 1);
}

static const struct latency_row {
	u64 ns;
	unsigned int bin;
} latency_params[] = {
	{ 0, 0 },
	{ 255, 0 },
	{ 256, 1 },
	{ 1023, 3 },
	{ 1024, 4 },
	{ 1279, 4 },
	{ 1280, 5 },
	{ 1792, 7 },
	{ 2047, 7 },
	{ 2048, 8 },
	{ 2560, 9 },
	{ 8333333, 55 },		/* a revolution at 7200 rpm */
	{ 120259084287ULL, 110 },
	{ 120259084288ULL, 111 },	/* 120 s */
	{ 240518168576ULL, 111 },
	{ U64_MAX, 111 },
};

static void latency_desc(const struct latency_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu ns", row->ns);
}

KUNIT_ARRAY_PARAM(latency, latency_params, latency_desc);

static void latency_bins_as_worked_out(struct kunit *test)
{
	const struct latency_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, align_latency_bin(row->ns), row->bin);
}

static void latency_bins_end_where_the_next_starts(struct kunit *test)
{
	unsigned int bin;
	u64 start = 0;

	for (bin = 0; bin < ALIGN_LATENCY_BINS - 1; bin++) {
		u64 end = align_latency_bin_end(bin);

		KUNIT_ASSERT_GT(test, end, start);
		KUNIT_EXPECT_EQ(test, align_latency_bin(start), bin);
		KUNIT_EXPECT_EQ(test, align_latency_bin(end - 1), bin);
		KUNIT_EXPECT_EQ(test, align_latency_bin(end), bin + 1);
		/* four an octave: none wider than a quarter of its start */
		if (start >= 1024)
			KUNIT_EXPECT_LE(test, (end - start) * 4, start);
		else
			KUNIT_EXPECT_EQ(test, end - start, 256);
		start = end;
	}
}

static void longer_latency_never_has_lower_bin(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	seed_random(&rnd);
	for (i = 0; i < RANDOM_ROUNDS; i++) {
		u64 a = (u64)prandom_u32_state(&rnd) << random_below(&rnd, 32);
		u64 b = (u64)prandom_u32_state(&rnd) << random_below(&rnd, 32);

		KUNIT_ASSERT_LE(test, align_latency_bin(min(a, b)),
				align_latency_bin(max(a, b)));
		KUNIT_ASSERT_LT(test, align_latency_bin(max(a, b)),
				ALIGN_LATENCY_BINS);
	}
}

static struct kunit_case geometry_cases[] = {
	KUNIT_CASE_PARAM(sectors_lie_in_blocks, blocks_gen_params),
	KUNIT_CASE_PARAM(far_sectors_lie_in_blocks, blocks_gen_params),
	KUNIT_CASE_PARAM(splits_every_write, blocks_gen_params),
	KUNIT_CASE_PARAM(splits_far_and_long_writes, blocks_gen_params),
	KUNIT_CASE_PARAM(splits_as_worked_out, split_gen_params),
	KUNIT_CASE_PARAM(counts_touches_of_workloads, workload_gen_params),
	KUNIT_CASE_PARAM(overlaps_as_counted, blocks_gen_params),
	KUNIT_CASE_PARAM(finds_edges, blocks_gen_params),
	KUNIT_CASE_PARAM(finds_edges_as_worked_out, edge_gen_params),
	KUNIT_CASE_PARAM(checks_figures, init_gen_params),
	KUNIT_CASE_PARAM(shifts_offset_as_worked_out, shift_gen_params),
	KUNIT_CASE_PARAM(part_has_boundaries_of_disk, blocks_gen_params),
	KUNIT_CASE_PARAM(phase_bins_count_logical_blocks, blocks_gen_params),
	KUNIT_CASE_PARAM(phase_bins_share_large_blocks, bin_gen_params),
	KUNIT_CASE_PARAM(fixes_blocks_of_sizes_that_drives_have, fix_gen_params),
	KUNIT_CASE(size_bins_are_octaves),
	KUNIT_CASE_PARAM(latency_bins_as_worked_out, latency_gen_params),
	KUNIT_CASE(latency_bins_end_where_the_next_starts),
	KUNIT_CASE(longer_latency_never_has_lower_bin),
	{}
};

static struct kunit_suite geometry_suite = {
	.name = "dm-align-geometry",
	.test_cases = geometry_cases,
};

kunit_test_suite(geometry_suite);

MODULE_DESCRIPTION("KUnit tests for dm-align's arithmetic on physical blocks");
MODULE_LICENSE("GPL");
