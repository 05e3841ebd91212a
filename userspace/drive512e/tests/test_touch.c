// SPDX-License-Identifier: GPL-2.0
#include "../touch.h"

#include "../counters.h"
#include "tap.h"

#define SECTORS_MAX 1024

/*
 * The oracle: mark the request's sectors one by one, and count the marked
 * sectors of each block.
 */
static unsigned int partial_by_sectors(const struct block_map *map,
				       uint64_t sector, uint64_t sectors)
{
	unsigned int per_block = map->physical / SECTOR_SIZE;
	unsigned int shift = map->alignment / SECTOR_SIZE;
	unsigned int partial = 0;

	/* Begin with the block at "shift" sectors, or the one before. */
	for (int64_t block = (int64_t)shift - per_block;
	     block < (int64_t)(sector + sectors); block += per_block) {
		unsigned int marked = 0;

		for (int64_t s = block; s < block + (int64_t)per_block; s++)
			marked += s >= (int64_t)sector &&
				  s < (int64_t)(sector + sectors);
		partial += marked > 0 && marked < per_block;
	}
	return partial;
}

static void check_one(const struct block_map *map, uint64_t sector,
		      uint64_t sectors)
{
	struct touch t = touch_of(map, sector * SECTOR_SIZE,
				  sectors * SECTOR_SIZE);
	unsigned int expect = partial_by_sectors(map, sector, sectors);

	CHECK(t.partial == expect,
	      "%u and not %u at sector %ju, %ju sectors, P=%u A=%u", t.partial,
	      expect, (uintmax_t)sector, (uintmax_t)sectors, map->physical,
	      map->alignment);
}

static void test_small_blocks(void)
{
	struct block_map map;

	for (map.physical = 512; map.physical <= 8192; map.physical *= 2) {
		unsigned int per_block = map.physical / SECTOR_SIZE;

		for (map.alignment = 0; map.alignment < map.physical;
		     map.alignment += SECTOR_SIZE)
			for (unsigned int at = 0; at <= 2 * per_block; at++)
				for (unsigned int n = 1; n <= 3 * per_block; n++)
					check_one(&map, at, n);
	}
}

static void test_large_blocks(void)
{
	struct block_map map;

	for (map.physical = 16384; map.physical <= 65536; map.physical *= 2) {
		unsigned int per_block = map.physical / SECTOR_SIZE;

		for (unsigned int i = 0; i < 3000; i++) {
			map.alignment = tap_random(per_block) * SECTOR_SIZE;
			check_one(&map, tap_random(SECTORS_MAX),
				  1 + tap_random(SECTORS_MAX));
		}
	}
}

static void test_by_hand(void)
{
	static const struct {
		uint32_t physical, alignment;
		uint64_t offset, count;
		unsigned int partial;
	} rows[] = {
		{ 4096, 0, 0, 4096, 0 },
		{ 4096, 0, 0, 512, 1 },
		{ 4096, 0, 512, 4096, 2 },
		{ 4096, 0, 3584, 139264, 2 },
		{ 4096, 0, 3584, 512, 1 },
		{ 4096, 0, 3584, 4608, 1 },
		{ 4096, 3584, 3584, 4096, 0 },
		{ 4096, 3584, 0, 3584, 1 },	/* the rest is out of reach */
		{ 4096, 3584, 0, 4096, 2 },
		{ 16384, 0, 4096, 4096, 1 },
		{ 512, 0, 512, 512, 0 },
		{ 65536, 0, 65024, 66560, 2 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct block_map map = { rows[i].physical, rows[i].alignment };
		struct touch t = touch_of(&map, rows[i].offset, rows[i].count);

		CHECK(t.partial == rows[i].partial, "%u in row %u", t.partial, i);
	}
}

static void test_counting(void)
{
	struct block_map map = { 4096, 0 };
	struct host_counters c = { 0 };
	static const struct request requests[] = {
		{ OP_WRITE, 512, 4096, true }, { OP_WRITE, 4096, 8192, false },
		{ OP_READ, 512, 1024, false }, { OP_TRIM, 512, 4096, false },
		{ OP_ZERO, 0, 512, false }, { OP_ZERO, 4096, 4096, false },
		{ OP_FLUSH, 0, 0, false },
	};

	for (unsigned int i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		struct touch t = { 0 };

		if (requests[i].op != OP_FLUSH)
			t = touch_of(&map, requests[i].offset, requests[i].count);
		count_request(&c, &requests[i], &t);
	}
	CHECK(c.touches == 3 && c.write_touches == 2 && c.zero_touches == 1,
	      "%ju", (uintmax_t)c.touches);
	CHECK(c.writes == 2 && c.write_bytes == 12288 &&
	      c.writes_misaligned == 1, "writes");
	CHECK(c.reads == 1 && c.read_bytes == 1024, "reads");
	CHECK(c.trims == 1 && c.trim_bytes == 4096 && c.partial_trims == 2,
	      "trims");
	CHECK(c.zeroes == 2 && c.zero_bytes == 4608 &&
	      c.zeroes_misaligned == 1, "zeroes");
	CHECK(c.flushes == 1 && c.fua == 1, "flushes");
}

const struct tap_test touch_tests[] = {
	{ "touches match those worked out by hand", test_by_hand },
	{ "touches match a count by sectors: every start, length and alignment, "
	  "P to 8192", test_small_blocks },
	{ "touches match a count by sectors: random requests, P to 65536",
	  test_large_blocks },
	{ "each request is counted in its own class, touches of writes and of zeroes "
	  "apart and together",
	  test_counting },
	{ 0 },
};
