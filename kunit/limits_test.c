// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the size of requests that fit the device below (geometry.h).
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>

#include "geometry.h"
#include "max_io.h"

/* Sizes below */

/*
 * Find by a walk the longest request from @sector that ends at a physical block
 * of the disk, counted from sector 0, or, if there is none, the longest that
 * ends at a logical block.
 */
static u32 naive_max_io(const struct align_limits *lim, u32 sector)
{
	u32 at_physical = 0, at_logical = 0;
	u32 disk = lim->start + sector;
	u32 n;

	for (n = 1; n <= lim->max_sectors; n++) {
		if ((disk + n) % lim->physical_sectors == 0)
			at_physical = n;
		if (n % lim->logical_sectors == 0)
			at_logical = n;
		if (lim->chunk_sectors && (disk + n) % lim->chunk_sectors == 0)
			break;
	}
	return at_physical ?: at_logical;
}

static const u32 claimed_params[] = { 1, 2, 4, 8, 16, 32, 64, 128 };

static void claimed_desc(const u32 *sectors, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "disk claims %u", *sectors * 512);
}

KUNIT_ARRAY_PARAM(claimed, claimed_params, claimed_desc);

static void check_max_io(struct kunit *test, const struct align_limits *lim)
{
	u32 sector;

	for (sector = 0; sector < 150; sector += lim->logical_sectors) {
		u32 got = align_max_io_sectors(lim, sector);

		KUNIT_ASSERT_EQ_MSG(test, got, kernel_max_io(lim, sector),
				    "max %u chunk %u start %llu sector %u",
				    lim->max_sectors, lim->chunk_sectors,
				    lim->start, sector);
		if (lim->max_sectors > 300)
			continue;
		KUNIT_ASSERT_EQ_MSG(test, got, naive_max_io(lim, sector),
				    "max %u chunk %u start %llu sector %u",
				    lim->max_sectors, lim->chunk_sectors,
				    lim->start, sector);
	}
}

static void max_io_is_the_block_layers(struct kunit *test)
{
	static const u32 max_sectors[] = { 8, 15, 16, 127, 128, 255, 256, 300,
					   1007, 2560, U32_MAX - 7, U32_MAX };
	static const u32 chunks[] = { 0, 8, 24, 128, 256, 1000 };
	static const u32 starts[] = { 0, 63, 2048 };
	u32 claimed = *(const u32 *)test->param_value;
	struct align_limits lim = { .physical_sectors = claimed };
	u32 m, c, s;

	for (m = 0; m < ARRAY_SIZE(max_sectors); m++) {
		for (c = 0; c < ARRAY_SIZE(chunks); c++) {
			for (s = 0; s < ARRAY_SIZE(starts); s++) {
				lim.max_sectors = max_sectors[m];
				lim.chunk_sectors = chunks[c];
				lim.start = starts[s];
				lim.logical_sectors = 1;
				check_max_io(test, &lim);
				lim.logical_sectors = min(claimed, 8U);
				check_max_io(test, &lim);
			}
		}
	}
}

/* For far sectors, only the position within a chunk and a block matters. */
static void max_io_far_out(struct kunit *test)
{
	static const u32 chunks[] = { 0, 24, 256, 1000 };
	struct align_limits lim = {
		.max_sectors = 2560,
		.physical_sectors = 8,
		.logical_sectors = 1,
	};
	u32 c, sector;

	for (c = 0; c < ARRAY_SIZE(chunks); c++) {
		/* a multiple of all sizes here, unless truncated to 32 bits */
		u64 far = 12345678901ULL * 96000;

		lim.chunk_sectors = chunks[c];
		for (sector = 0; sector < 3000; sector++)
			KUNIT_ASSERT_EQ(test, kernel_max_io(&lim, sector),
					align_max_io_sectors(&lim,
							     far + sector));
		lim.start = far;
		for (sector = 0; sector < 3000; sector++)
			KUNIT_ASSERT_EQ(test,
					align_max_io_sectors(&lim, sector),
					align_max_io_sectors(&lim,
							     far + sector));
		lim.start = 0;
	}
}

/*
 * Return the least result over all starts of the device below, as its start on
 * the disk is unknown. Chunks are the device's own, as are its sectors.
 */
static u32 kernel_max_io_anywhere(const struct align_limits *lim, u32 sector)
{
	struct align_limits place = *lim;
	u32 least = U32_MAX;

	place.chunk_sectors = 0;
	if (lim->chunk_sectors)
		place.max_sectors = min(lim->max_sectors, lim->chunk_sectors -
					((u32)lim->start + sector) %
					lim->chunk_sectors);
	for (place.start = 0; place.start < lim->physical_sectors;
	     place.start += lim->logical_sectors)
		least = min(least, kernel_max_io(&place, sector));
	return least;
}

static void check_max_io_anywhere(struct kunit *test,
				  const struct align_limits *lim)
{
	u32 sector;

	for (sector = 0; sector < 150; sector += lim->logical_sectors)
		KUNIT_ASSERT_EQ_MSG(test, align_max_io_sectors(lim, sector),
				    kernel_max_io_anywhere(lim, sector),
				    "max %u chunk %u start %llu sector %u",
				    lim->max_sectors, lim->chunk_sectors,
				    lim->start, sector);
}

static void max_io_of_stacked_device_is_the_least(struct kunit *test)
{
	/* the kernel rounds max_sectors down to logical blocks */
	static const u32 max_sectors[] = { 8, 16, 120, 128, 136, 256, 1000,
					   2560, U32_MAX - 7 };
	static const u32 chunks[] = { 0, 8, 24, 128, 256, 1000 };
	u32 claimed = *(const u32 *)test->param_value;
	struct align_limits lim = {
		.stacked = true,
		.physical_sectors = claimed,
	};
	u32 m, c;

	for (m = 0; m < ARRAY_SIZE(max_sectors); m++) {
		for (c = 0; c < ARRAY_SIZE(chunks); c++) {
			lim.max_sectors = max_sectors[m];
			lim.chunk_sectors = chunks[c];
			lim.logical_sectors = 1;
			lim.start = 63;
			check_max_io_anywhere(test, &lim);
			lim.logical_sectors = min(claimed, 8U);
			lim.start = 64;
			check_max_io_anywhere(test, &lim);
		}
	}
}

/* Segments */

/*
 * Count byte by byte: a new segment begins where the last one is full, or where
 * the address enters a new window of seg_boundary_mask.
 */
static u32 naive_segment_bytes(const struct align_limits *lim, u64 addr,
			       u32 len, u32 *segments)
{
	u32 in_segment = 0;
	u32 done;

	for (done = 0; done < len; done++) {
		if (!done || in_segment == lim->max_segment_size ||
		    !((addr + done) & lim->seg_boundary_mask)) {
			if (!*segments)
				break;
			--*segments;
			in_segment = 0;
		}
		in_segment++;
	}
	return done;
}

static const struct segment_row {
	u32 max_size;
	u64 boundary_mask;
} segment_params[] = {
	{ 4096, U32_MAX },
	{ 4096, 0xfff },
	{ 5120, 0xfff },
	{ 5120, 0x1fff },
	{ 65536, 0xffff },
	{ 65536, U32_MAX },
	{ 65536, U64_MAX },
	{ U32_MAX, 0xfff },
	{ U32_MAX, 0xffff },
	{ U32_MAX, U32_MAX },
	{ U32_MAX, 0x1ffffffff },
	{ U32_MAX, U64_MAX },
};

static void segment_desc(const struct segment_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "max %u boundary 0x%llx",
		 row->max_size, row->boundary_mask);
}

KUNIT_ARRAY_PARAM(segment, segment_params, segment_desc);

static void check_segments(struct kunit *test, const struct align_limits *lim,
			   u64 addr, u32 len)
{
	static const u32 segments[] = { 0, 1, 2, 3, 16, 126 };
	u32 s;

	for (s = 0; s < ARRAY_SIZE(segments); s++) {
		u32 want_left = segments[s], got_left = segments[s];
		u32 want, got;

		want = naive_segment_bytes(lim, addr, len, &want_left);
		got = align_segment_bytes(lim, addr, len, &got_left);
		KUNIT_ASSERT_EQ_MSG(test, got, want,
				    "addr 0x%llx len %u segments %u",
				    addr, len, segments[s]);
		KUNIT_ASSERT_EQ_MSG(test, got_left, want_left,
				    "addr 0x%llx len %u segments %u",
				    addr, len, segments[s]);
	}
}

static void segments_hold_bytes(struct kunit *test)
{
	static const u64 addrs[] = { 0, 4, 512, 3584, 4095, 0xfe00,
				     0xfffffe00, 0xfffff000, 0x123456000,
				     0x1fffffe00 };
	static const u32 lens[] = { 1, 512, 4095, 4096, 4097, 10240, 69632 };
	const struct segment_row *row = test->param_value;
	const struct align_limits lim = {
		.max_segment_size = row->max_size,
		.seg_boundary_mask = row->boundary_mask,
	};
	u32 a, l;

	for (a = 0; a < ARRAY_SIZE(addrs); a++)
		for (l = 0; l < ARRAY_SIZE(lens); l++)
			check_segments(test, &lim, addrs[a], lens[l]);
}

/* Stretches of nearly 4 GiB, the limit of a bio. */
static void segments_hold_long_stretches(struct kunit *test)
{
	const u32 len = U32_MAX - 511;
	struct align_limits lim = {
		.max_segment_size = U32_MAX,
		.seg_boundary_mask = U64_MAX,
	};
	u32 left = 3;

	KUNIT_EXPECT_EQ(test, align_segment_bytes(&lim, 512, len, &left), len);
	KUNIT_EXPECT_EQ(test, left, 2);

	/* 4 GiB less 512 bytes that start 512 bytes into a window of 4 GiB */
	lim.seg_boundary_mask = U32_MAX;
	KUNIT_EXPECT_EQ(test, align_segment_bytes(&lim, 512, len, &left), len);
	KUNIT_EXPECT_EQ(test, left, 1);

	/* one sector later, the last sector is in the next window */
	left = 3;
	KUNIT_EXPECT_EQ(test, align_segment_bytes(&lim, 1024, len, &left), len);
	KUNIT_EXPECT_EQ(test, left, 1);
	left = 1;
	KUNIT_EXPECT_EQ(test, align_segment_bytes(&lim, 1024, len, &left),
			len - 512);
	KUNIT_EXPECT_EQ(test, left, 0);
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE_PARAM(max_io_is_the_block_layers, claimed_gen_params),
	KUNIT_CASE(max_io_far_out),
	KUNIT_CASE_PARAM(max_io_of_stacked_device_is_the_least,
			 claimed_gen_params),
	KUNIT_CASE_PARAM(segments_hold_bytes, segment_gen_params),
	KUNIT_CASE(segments_hold_long_stretches),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "dm-align-limits",
	.test_cases = limits_cases,
};

kunit_test_suite(limits_suite);

MODULE_DESCRIPTION("KUnit tests for dm-align's sizes of requests");
MODULE_LICENSE("GPL");
