// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the cuts of requests that are too large for the device below
 * (cut.h).
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>

#include "cut.h"
#include "max_io.h"
#include "oracle.h"

/* A disk of 512e, as the kernel limits its requests. */
static const struct align_limits usual = {
	.max_sectors = 2560,
	.physical_sectors = 8,
	.logical_sectors = 1,
};

/* Rows: whether one block, written from a buffer of pages, goes down whole. */
static const struct fits_row {
	u32 physical, offset;
	struct align_limits lim;
	u64 block;
	u32 page;
	bool fits;
} fits_params[] = {
	/* segments: one for each page of the buffer */
	{ 65536, 0, { .max_segments = 16, .max_sectors = 2560 },
	  5, 4096, true },
	{ 65536, 0, { .max_segments = 15, .max_sectors = 2560 },
	  5, 4096, false },
	{ 65536, 0, { .max_segments = 1, .max_sectors = 2560 },
	  5, 65536, true },
	{ 262144, 0, { .max_segments = 64, .max_sectors = 2560 },
	  5, 4096, true },
	{ 262144, 0, { .max_segments = 63, .max_sectors = 2560 },
	  5, 4096, false },
	{ 512, 0, { .max_segments = 1, .max_sectors = 2560 }, 5, 4096, true },
	{ 16384, 0, { .max_segments = 3, .max_sectors = 2560 },
	  5, 4096, false },
	/* size */
	{ 65536, 0, { .max_segments = 126, .max_sectors = 128 },
	  5, 4096, true },
	{ 65536, 0, { .max_segments = 126, .max_sectors = 127 },
	  5, 4096, false },
	{ 262144, 0, { .max_segments = 126, .max_sectors = 512 },
	  5, 4096, true },
	{ 262144, 0, { .max_segments = 126, .max_sectors = 511 },
	  5, 4096, false },
	/* size, where the disk's own blocks lie elsewhere */
	{ 4096, 3584, { .max_segments = 126, .max_sectors = 8 },
	  5, 4096, false },
	{ 4096, 3584, { .max_segments = 126, .max_sectors = 9 },
	  5, 4096, true },
	/* a chunk that ends in block 32, and in no other near it */
	{ 4096, 3584, { .max_segments = 126, .max_sectors = 2560,
			.chunk_sectors = 256 }, 32, 4096, false },
	{ 4096, 3584, { .max_segments = 126, .max_sectors = 2560,
			.chunk_sectors = 256 }, 31, 4096, true },
	{ 4096, 3584, { .max_segments = 126, .max_sectors = 2560,
			.chunk_sectors = 256 }, 33, 4096, true },
	/* chunks are counted from the start of the disk */
	{ 4096, 0, { .max_segments = 126, .max_sectors = 2560,
		     .chunk_sectors = 64, .start = 63 }, 8, 4096, false },
	{ 4096, 512, { .max_segments = 126, .max_sectors = 2560,
		       .chunk_sectors = 64, .start = 63 }, 8, 4096, true },
	/* a stacked device: the worst start */
	{ 4096, 0, { .stacked = true, .max_segments = 126, .max_sectors = 14 },
	  5, 4096, false },
	{ 4096, 0, { .stacked = true, .max_segments = 126, .max_sectors = 15 },
	  5, 4096, true },
};

static void fits_desc(const struct fits_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE,
		 "physical %u offset %u block %llu segments %u max_sectors %u chunk %u%s",
		 row->physical, row->offset, row->block, row->lim.max_segments,
		 row->lim.max_sectors, row->lim.chunk_sectors,
		 row->lim.stacked ? " stacked" : "");
}

KUNIT_ARRAY_PARAM(fits, fits_params, fits_desc);

static void block_fits_in_one_request(struct kunit *test)
{
	const struct fits_row *row = test->param_value;
	struct align_limits lim = row->lim;
	struct align_geometry g;

	lim.logical_sectors = 1;
	lim.physical_sectors = 8;
	whole_device(test, &g, row->physical, 512, row->offset);
	KUNIT_EXPECT_EQ(test, row->fits,
			align_block_fits(&g, &lim, row->block, row->page));
}

/* Cuts */

/* Try every fitting size, up to a little more than two blocks. */
static void cuts_at_last_boundary_that_fits(struct kunit *test)
{
	const struct blocks *b = test->param_value;
	u32 step = b->logical / 512;
	u32 block_sectors = b->physical / 512;
	u32 stride = start_stride(b);
	struct oracle *o = oracle_alloc(test);
	struct align_geometry g;
	u32 offset, sector, fit;

	for (offset = 0; offset < b->physical; offset += offset_stride(b)) {
		oracle_walk(o, b->physical, offset);
		whole_device(test, &g, b->physical, b->logical, offset);
		for (sector = 0; sector < block_sectors; sector += stride) {
			u32 last = 0;	/* boundary passed, none at the start */

			for (fit = 0; fit <= 2 * block_sectors + step;
			     fit += step) {
				if (!o->pos[sector + fit])
					last = fit;
				KUNIT_ASSERT_EQ_MSG(test, last,
						    align_cut(&g, sector, fit,
							      fit + step),
						    "offset %u sector %u fit %u",
						    offset, sector, fit);
			}
		}
	}
}

/* The remaining length does not matter; a fitting request stays whole. */
static void cuts_only_what_does_not_fit(struct kunit *test)
{
	struct align_geometry g;
	u32 sector, fit;

	whole_device(test, &g, 4096, 512, 3584);
	for (sector = 0; sector < 16; sector++) {
		for (fit = 1; fit < 64; fit++) {
			KUNIT_EXPECT_EQ(test, align_cut(&g, sector, fit, fit),
					fit);
			KUNIT_EXPECT_EQ(test,
					align_cut(&g, sector, fit, fit - 1),
					fit - 1);
			KUNIT_EXPECT_EQ(test,
					align_cut(&g, sector, fit, fit + 1),
					align_cut(&g, sector, fit, U64_MAX));
			KUNIT_EXPECT_EQ(test,
					align_cut(&g, sector, U64_MAX, fit),
					fit);
		}
	}
}

#define CUT_BYTES	(2U << 20)
#define CUT_SECTORS	(CUT_BYTES / 512)
#define CUT_PAGE	4096U

/*
 * A write of 2 MiB from a buffer that starts @into bytes into its first page;
 * no two of its pages lie side by side, as a process's do not.
 */
static const struct cut_row {
	u32 segments;
	u32 physical, offset;
	u32 into;
	u32 max_sectors;
	u32 max_segment_size;
	u32 chunk;
	u32 claimed;		/* bytes, as the disk reports */
	u32 first;		/* sectors, the first piece from a boundary */
} cut_params[] = {
	/* 126 segments hold 7 + 125 * 8 = 1007 sectors, 168: 1343, 254: 2031 */
	{ 126, 4096, 0, 512, 2560, 65536, 0, 4096, 1000 },
	{ 126, 4096, 3584, 512, 2560, 65536, 0, 4096, 1000 },
	{ 168, 4096, 0, 512, 2560, 65536, 0, 4096, 1336 },
	{ 168, 4096, 3584, 512, 2560, 65536, 0, 4096, 1336 },
	{ 254, 4096, 0, 512, 2560, 65536, 0, 4096, 2024 },
	{ 254, 4096, 3584, 512, 2560, 65536, 0, 4096, 2024 },
	{ 126, 16384, 0, 512, 2560, U32_MAX, 0, 4096, 992 },
	{ 126, 16384, 3584, 512, 2560, U32_MAX, 0, 4096, 992 },
	{ 168, 65536, 0, 512, 2560, U32_MAX, 0, 4096, 1280 },
	{ 254, 65536, 3584, 512, 2560, U32_MAX, 0, 512, 1920 },
	{ 126, 262144, 0, 512, 2560, U32_MAX, 0, 4096, 512 },
	{ 254, 262144, 3584, 512, 2560, U32_MAX, 0, 512, 1536 },
	/* the page's start, its middle, its last bytes */
	{ 126, 4096, 0, 0, 2560, 65536, 0, 4096, 1008 },
	{ 254, 4096, 3584, 0, 2560, 65536, 0, 4096, 2032 },
	{ 254, 4096, 3584, 2048, 2560, 65536, 0, 4096, 2024 },
	{ 126, 4096, 0, 3584, 2560, 65536, 0, 4096, 1000 },
	/* max_sectors ends the request */
	{ 254, 4096, 0, 512, 1024, 65536, 0, 4096, 1024 },
	{ 254, 4096, 3584, 512, 1024, 65536, 0, 4096, 1016 },
	{ 254, 4096, 3584, 512, 1024, 65536, 0, 512, 1024 },
	{ 254, 4096, 0, 512, 255, 65536, 0, 4096, 248 },
	{ 254, 16384, 8192, 512, 255, 65536, 0, 512, 224 },
	{ 254, 65536, 0, 512, 128, 65536, 0, 4096, 128 },
	/* no cut is needed */
	{ 514, 4096, 0, 512, 8192, 65536, 0, 4096, 4096 },
	/* a disk with chunks of 128 KiB */
	{ 254, 4096, 0, 512, 2560, 65536, 256, 4096, 256 },
	{ 254, 65536, 0, 512, 2560, 65536, 256, 4096, 256 },
	{ 126, 16384, 0, 512, 2560, 65536, 1000 * 32, 4096, 992 },
};

static void cut_desc(const struct cut_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE,
		 "segments %u physical %u offset %u into %u max_sectors %u chunk %u claims %u",
		 row->segments, row->physical, row->offset, row->into,
		 row->max_sectors, row->chunk, row->claimed);
}

KUNIT_ARRAY_PARAM(cut, cut_params, cut_desc);

static struct align_limits cut_limits(const struct cut_row *row)
{
	return (struct align_limits) {
		.max_sectors = row->max_sectors,
		.chunk_sectors = row->chunk,
		.physical_sectors = row->claimed / 512,
		.logical_sectors = 1,
		.max_segments = row->segments,
		.max_segment_size = row->max_segment_size,
		.seg_boundary_mask = U32_MAX,
	};
}

/* Return the sectors that go down as one request from byte @at on. */
static u32 fitting_sectors(const struct cut_row *row,
			   const struct align_limits *lim, u64 sector, u32 at)
{
	u32 segments = lim->max_segments;
	u32 end = CUT_BYTES;
	u32 pos = at;

	while (pos < end && segments) {
		u32 in_page = (row->into + pos) % CUT_PAGE;
		u32 page = (row->into + pos) / CUT_PAGE;
		u64 addr = (u64)page * 2 * CUT_PAGE + in_page;

		pos += align_segment_bytes(lim, addr,
					   min(end - pos, CUT_PAGE - in_page),
					   &segments);
	}
	return min((pos - at) / 512, align_max_io_sectors(lim, sector));
}

/* Return the number of pages under @sectors from byte @at of the buffer. */
static u32 pages_of(const struct cut_row *row, u32 at, u32 sectors)
{
	u32 first = (row->into + at) / CUT_PAGE;
	u32 last = (row->into + at + sectors * 512 - 1) / CUT_PAGE;

	return last - first + 1;
}

/* Return whether the block layer sends @sectors down as one request. */
static bool goes_down_whole(const struct cut_row *row,
			    const struct align_limits *lim, u32 sector, u32 at,
			    u32 sectors)
{
	return pages_of(row, at, sectors) <= row->segments &&
	       sectors <= kernel_max_io(lim, sector);
}

/* Cut a write to its end, from every start in a block. */
static void cuts_large_writes(struct kunit *test)
{
	const struct cut_row *row = test->param_value;
	const struct align_limits lim = cut_limits(row);
	u32 block_sectors = row->physical / 512;
	/* a boundary of blocks, and of chunks if any */
	u32 base = row->chunk + row->offset / 512;
	struct align_geometry g;
	u32 into;

	whole_device(test, &g, row->physical, 512, row->offset);
	for (into = 0; into < block_sectors; into++) {
		u32 start = base + into;
		u32 done = 0;

		while (done < CUT_SECTORS) {
			u32 at = start + done;
			u32 left = CUT_SECTORS - done;
			u32 fit = fitting_sectors(row, &lim, at, done * 512);
			u32 n = align_cut(&g, at, fit, left);
			u32 next = n + block_sectors;

			KUNIT_ASSERT_GT(test, n, 0);
			KUNIT_ASSERT_LE(test, n, left);
			KUNIT_ASSERT_TRUE(test,
					  goes_down_whole(row, &lim, at,
							  done * 512, n));
			if (n < left)
				KUNIT_ASSERT_TRUE(test,
						  is_boundary(row->physical,
							      row->offset,
							      at + n));
			/* and one block more would not fit */
			if (n < left && next <= left)
				KUNIT_ASSERT_FALSE(test,
						   goes_down_whole(row, &lim,
								   at,
								   done * 512,
								   next));
			if (!into && !done)
				KUNIT_EXPECT_EQ(test, n, row->first);
			done += n;
		}
		KUNIT_ASSERT_EQ(test, done, CUT_SECTORS);
	}
}

/* Limits with which a block cannot go down in one piece. */
static void no_cut_where_no_block_fits(struct kunit *test)
{
	struct align_limits lim = usual;
	struct align_geometry g;

	/* max_sectors is less than a block */
	whole_device(test, &g, 65536, 512, 0);
	lim.max_sectors = 64;
	KUNIT_EXPECT_EQ(test, align_max_io_sectors(&lim, 128), 64);
	KUNIT_EXPECT_EQ(test, align_cut(&g, 128, 64, 4096), 0);

	/* a block crosses a chunk's boundary */
	whole_device(test, &g, 4096, 512, 3584);
	lim.max_sectors = 2560;
	lim.chunk_sectors = 256;
	KUNIT_EXPECT_EQ(test, align_max_io_sectors(&lim, 255), 1);
	KUNIT_EXPECT_EQ(test, align_cut(&g, 255, 1, 4096), 0);
}

/* Write-zeroes */

/* Rows: a device below, and the cuts of write-zeroes from a boundary. */
static const struct zeroes_row {
	u32 physical, offset;
	u32 max;		/* sectors, the most write-zeroes of the device */
	u32 claimed;		/* bytes, as the disk reports */
	u32 chunk;
	bool stacked;
	u32 limit;		/* sectors, to advertise */
	u32 first;		/* sectors, the first piece from a boundary */
} zeroes_params[] = {
	/* virtio-blk of QEMU: 2^31 bytes less one sector */
	{ 4096, 0, 4194303, 4096, 0, false, 4194296, 4194296 },
	{ 4096, 3584, 4194303, 4096, 0, false, 4194296, 4194296 },
	{ 65536, 512, 4194303, 4096, 0, false, 4194176, 4194176 },
	{ 262144, 512, 4194303, 4096, 0, false, 4193792, 4193792 },
	{ 16384, 0, 4194303, 512, 0, true, 4194272, 4194272 },
	/* no limit but a bio's, which is no multiple either */
	{ 4096, 0, U32_MAX, 4096, 0, false, 8388600, 8388600 },
	{ 4096, 3584, 8388607, 512, 0, false, 8388600, 8388600 },
	{ 65536, 0, U32_MAX, 65536, 0, true, 8388480, 8388480 },
	/* WRITE SAME (10) */
	{ 4096, 0, 65535, 4096, 0, false, 65528, 65528 },
	{ 4096, 512, 65535, 4096, 0, false, 65528, 65528 },
	/* the block layer splits at 4096 bytes from sector 0: 7 sectors less */
	{ 4096, 3584, 65528, 4096, 0, false, 65528, 65520 },
	{ 4096, 3584, 65528, 512, 0, false, 65528, 65528 },
	/* with chunks */
	{ 4096, 0, 65535, 4096, 256, false, 65528, 248 },
	/* exactly a block, and less */
	{ 4096, 0, 8, 512, 0, false, 8, 8 },
	{ 4096, 0, 7, 512, 0, false, 0, 0 },
	{ 65536, 0, 64, 512, 0, false, 0, 0 },
};

static void zeroes_desc(const struct zeroes_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u+%u max %u on %u chunk %u%s",
		 row->physical, row->offset, row->max, row->claimed,
		 row->chunk, row->stacked ? " stacked" : "");
}

KUNIT_ARRAY_PARAM(zeroes, zeroes_params, zeroes_desc);

/* More than a bio, so that no range fits as a whole. */
#define ZEROES_SECTORS	(20ULL << 20)

/* Each piece is of whole blocks and none that the block layer would split. */
static void cuts_zeroes(struct kunit *test)
{
	const struct zeroes_row *row = test->param_value;
	struct align_limits lim = {
		.stacked = row->stacked,
		.max_zeroes_sectors = row->max,
		.chunk_sectors = row->chunk,
		.physical_sectors = row->claimed / 512,
		.logical_sectors = 1,
	};
	struct align_limits kernel = lim;
	struct align_geometry g;
	u64 start, done;

	kernel.max_sectors = min(row->max, U32_MAX >> 9);
	whole_device(test, &g, row->physical, 512, row->offset);
	KUNIT_EXPECT_EQ(test, align_zeroes_limit(&g, row->max), row->limit);
	start = align_block_start(&g, 1);
	KUNIT_EXPECT_EQ(test,
			align_cut_zeroes(&g, &lim, start, ZEROES_SECTORS),
			row->first);
	if (!row->first)
		return;
	for (done = 0; done < ZEROES_SECTORS && done < 1000ULL * row->first;) {
		u64 left = ZEROES_SECTORS - done;
		u64 n = align_cut_zeroes(&g, &lim, start + done, left);

		KUNIT_ASSERT_GT(test, n, 0);
		KUNIT_ASSERT_LE(test, n, left);
		if (n < left)
			KUNIT_ASSERT_EQ(test, 0,
					align_sector_in_block(&g, start + done +
							      n));
		if (!row->stacked)
			KUNIT_ASSERT_LE(test, n,
					kernel_max_io(&kernel, start + done));
		done += n;
	}
}

/* A range from inside a block has the same boundaries; the rest may fit. */
static void cuts_zeroes_from_anywhere(struct kunit *test)
{
	const struct zeroes_row *row = test->param_value;
	struct align_limits lim = {
		.stacked = row->stacked,
		.max_zeroes_sectors = row->max,
		.chunk_sectors = row->chunk,
		.physical_sectors = row->claimed / 512,
		.logical_sectors = 1,
	};
	struct align_geometry g;
	u64 sector, n;

	whole_device(test, &g, row->physical, 512, row->offset);
	for (sector = 1000; sector < 1000 + 2 * row->physical / 512; sector++) {
		n = align_cut_zeroes(&g, &lim, sector, ZEROES_SECTORS);
		KUNIT_EXPECT_TRUE(test, !n || !align_sector_in_block(&g, sector + n));
		if (n)
			KUNIT_EXPECT_EQ(test,
					align_cut_zeroes(&g, &lim, sector, n),
					n);
	}
}

/* Blocks of 8 sectors; block 0 starts 1 sector before the device. */
static void sends_parts_of_blocks_that_are_zeroed_alone(struct kunit *test)
{
	struct align_limits lim = {
		.max_sectors = 1024, .max_zeroes_sectors = 1 << 20,
		.physical_sectors = 8, .logical_sectors = 1,
	};
	struct align_geometry g;

	KUNIT_ASSERT_NULL(test, align_geometry_init(&g, 4096, 512, 3584, 0,
						    1 << 24));
	/* From inside a block to its end, then whole blocks, then the rest. */
	KUNIT_EXPECT_EQ(test, align_cut_zeroes(&g, &lim, 3, 100), 4);
	KUNIT_EXPECT_EQ(test, align_cut_zeroes(&g, &lim, 7, 96), 96);
	KUNIT_EXPECT_EQ(test, align_cut_zeroes(&g, &lim, 7, 99), 96);
	KUNIT_EXPECT_EQ(test, align_cut_zeroes(&g, &lim, 103, 3), 3);
	/* All within one block. */
	KUNIT_EXPECT_EQ(test, align_cut_zeroes(&g, &lim, 3, 2), 2);
	KUNIT_EXPECT_EQ(test, align_cut_zeroes(&g, &lim, 3, 4), 4);
}

/* A device without write-zeroes fails them itself; pieces gain nothing. */
static void cuts_no_zeroes_that_are_not_taken(struct kunit *test)
{
	struct align_limits lim = usual;
	struct align_geometry g;

	whole_device(test, &g, 4096, 512, 3584);
	KUNIT_EXPECT_EQ(test, align_cut_zeroes(&g, &lim, 3, 8388607), 8388607);
	KUNIT_EXPECT_EQ(test, align_zeroes_limit(&g, 0), 0);
}

/* Borders lie at an alignment, and from there every granule, to both sides. */
static void granules_begin_at_the_alignment(struct kunit *test)
{
	static const u32 granules[] = { 1, 3, 8, 24, 4096 };
	unsigned int i, alignment, sector;

	for (i = 0; i < ARRAY_SIZE(granules); i++) {
		u32 granule = granules[i];

		for (alignment = 0; alignment < 50; alignment += 7) {
			/* Counted up from a border before the first sector. */
			u32 into = (granule - alignment % granule) % granule;

			for (sector = 0; sector < 100; sector++) {
				KUNIT_ASSERT_EQ(test, into,
						align_into_granule(sector, granule,
								   alignment));
				into = into + 1 < granule ? into + 1 : 0;
			}
		}
	}
	/* Worked out by hand: 2^40 is 6 behind a multiple of 10, and 3 behind 13 more of them. */
	KUNIT_EXPECT_EQ(test, align_into_granule(1ULL << 40, 10, 0), 6U);
	KUNIT_EXPECT_EQ(test, align_into_granule(1ULL << 40, 10, 13), 3U);
}

static struct kunit_case cut_cases[] = {
	KUNIT_CASE(granules_begin_at_the_alignment),
	KUNIT_CASE_PARAM(block_fits_in_one_request, fits_gen_params),
	KUNIT_CASE_PARAM(cuts_at_last_boundary_that_fits, blocks_gen_params),
	KUNIT_CASE(cuts_only_what_does_not_fit),
	KUNIT_CASE_PARAM(cuts_large_writes, cut_gen_params),
	KUNIT_CASE(no_cut_where_no_block_fits),
	KUNIT_CASE_PARAM(cuts_zeroes, zeroes_gen_params),
	KUNIT_CASE_PARAM(cuts_zeroes_from_anywhere, zeroes_gen_params),
	KUNIT_CASE(cuts_no_zeroes_that_are_not_taken),
	KUNIT_CASE(sends_parts_of_blocks_that_are_zeroed_alone),
	{}
};

static struct kunit_suite cut_suite = {
	.name = "dm-align-cut",
	.test_cases = cut_cases,
};

kunit_test_suite(cut_suite);

MODULE_DESCRIPTION("KUnit tests for dm-align's cuts at physical boundaries");
MODULE_LICENSE("GPL");
