// SPDX-License-Identifier: GPL-2.0
/* The content of the drive after power cuts, one request at a time. */
#include "../media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap.h"

#define BLOCK 4096u
#define SIZE (UINT64_C(64) * BLOCK)

static struct media *make(bool cache)
{
	struct block_map map = { BLOCK, 0 };

	return media_new(SIZE, &map, cache, NULL);
}

/* Carry out a request, with content @fill if it is a write. */
static bool carry_out(struct media *m, struct request req, int fill)
{
	unsigned char *data = malloc(req.count);
	struct in_flight f;
	bool went, ok;

	memset(data, fill, req.count);
	ok = media_begin(m, &f, &req, data) == BEGUN &&
	     media_end(m, &f, &went) == 0;
	free(data);
	return ok;
}

static bool write_to(struct media *m, uint64_t offset, uint64_t count, int fill)
{
	return carry_out(m, (struct request){ OP_WRITE, offset, count, false },
			 fill);
}

static bool write_fua(struct media *m, uint64_t offset, uint64_t count, int fill)
{
	return carry_out(m, (struct request){ OP_WRITE, offset, count, true },
			 fill);
}

/* Return what all bytes of a sector are; -1: it cannot be read. */
static int sector(struct media *m, uint64_t offset)
{
	unsigned char data[SECTOR_SIZE];

	if (media_read(m, data, offset, sizeof(data)) < 0) {
		CHECK(errno == EIO, "errno %d", errno);
		return -1;
	}
	CHECK(memcmp(data, data + 1, sizeof(data) - 1) == 0, "mixed sector");
	return data[0];
}

/* Cut the power, during a request if @at is 1, and switch it on. */
static void cut_in(struct media *m, struct request req, int fill, uint64_t at,
		   enum tear tear, uint64_t seed)
{
	struct power_cut how = { .at = at, .tear = tear, .seed = seed };

	CHECK(media_cut(m, &how), "the power is off");
	if (at)
		CHECK(!carry_out(m, req, fill), "the request was answered");
	media_power_on(m);
}

static void cut(struct media *m)
{
	cut_in(m, (struct request){ 0 }, 0, 0, TEAR_NONE, 0);
}

/* Make the block at @offset unreadable. */
static void spoil(struct media *m, uint64_t offset)
{
	struct request req = { OP_WRITE, offset, BLOCK, false };

	for (uint64_t seed = 0; sector(m, offset) >= 0; seed++)
		cut_in(m, req, 9, 1, TEAR_BLOCK, seed);
}

static void test_fua_into_a_rewritten_block(void)
{
	struct media *m = make(true);

	spoil(m, 0);
	CHECK(!write_fua(m, 1024, SECTOR_SIZE, 1), "the rest cannot be read");
	CHECK(write_to(m, 0, BLOCK, 2), "refused");
	CHECK(write_fua(m, 1024, SECTOR_SIZE, 3), "refused");
	CHECK(sector(m, 1024) == 3 && sector(m, 0) == 2, "not there");
	cut(m);
	CHECK(sector(m, 1024) == 3, "a write with FUA is lost: %d",
	      sector(m, 1024));
	/* The block could only be written as a whole. */
	CHECK(sector(m, 0) == 2, "%d", sector(m, 0));
	media_free(m);
}

static void test_whole_block_with_fua(void)
{
	struct request flush = { .op = OP_FLUSH };

	for (uint64_t seed = 0; seed < 16; seed++) {
		struct media *m = make(true);

		write_to(m, 0, BLOCK, 1);
		CHECK(write_fua(m, 0, BLOCK, 2), "refused");
		CHECK(media_state(m).volatile_blocks == 0, "still volatile");
		cut_in(m, flush, 0, 1, TEAR_BLOCK, seed);
		CHECK(sector(m, 0) == 2, "seed %ju: %d", (uintmax_t)seed,
		      sector(m, 0));
		media_free(m);
	}
}

static void test_torn_rewrite(void)
{
	struct request req = { OP_WRITE, 0, BLOCK, false };
	unsigned int fresh = 0, unreadable = 0;

	for (uint64_t seed = 0; seed < 64; seed++) {
		struct media *m = make(false);
		bool first;

		spoil(m, 0);
		cut_in(m, req, 1, 1, TEAR_SECTOR, seed);
		first = sector(m, 0) >= 0;
		fresh += first;
		unreadable += !first;
		for (uint64_t at = 0; at < BLOCK; at += SECTOR_SIZE)
			CHECK(sector(m, at) == (first ? 1 : -1),
			      "seed %ju: %d at %ju", (uintmax_t)seed,
			      sector(m, at), (uintmax_t)at);
		media_free(m);
	}
	CHECK(fresh && unreadable, "%u and %u", fresh, unreadable);
}

static void test_failing_request_in_flight(void)
{
	struct request whole = { OP_WRITE, 0, 8 * BLOCK, false };
	struct request partial = { OP_WRITE, 512, 8 * BLOCK, false };

	for (uint64_t seed = 0; seed < 16; seed++) {
		struct media *m = make(false);

		CHECK(media_fail(m, OP_WRITE, 20, 1) == 0, "no memory");
		cut_in(m, whole, 1, 1, TEAR_SECTOR, seed);
		media_heal(m);
		spoil(m, 8 * BLOCK);
		cut_in(m, partial, 2, 1, TEAR_SECTOR, seed);
		for (uint64_t at = 0; at < 8 * BLOCK; at += SECTOR_SIZE)
			CHECK(sector(m, at) == 0, "%d at %ju", sector(m, at),
			      (uintmax_t)at);
		media_free(m);
	}
}

static void test_volatile_blocks(void)
{
	struct request flush = { .op = OP_FLUSH };
	struct media *m = make(true);
	struct in_flight f;
	bool went;

	write_to(m, 0, 2 * BLOCK, 1);
	CHECK(media_begin(m, &f, &flush, NULL) == BEGUN, "no power");
	/* Its content before this write is the flush's, or lost with that. */
	write_to(m, 512, SECTOR_SIZE, 2);
	CHECK(media_state(m).volatile_blocks == 2, "%ju during the flush",
	      (uintmax_t)media_state(m).volatile_blocks);
	CHECK(media_end(m, &f, &went) == 0, "failed");
	CHECK(media_state(m).volatile_blocks == 1, "%ju after it",
	      (uintmax_t)media_state(m).volatile_blocks);
	cut(m);
	CHECK(media_state(m).volatile_blocks == 0 && sector(m, 512) == 1,
	      "after the cut");
	media_free(m);
}

/* mkfs trims a drive of terabytes, nothing of which was ever written. */
static void test_trim_of_what_was_never_written(void)
{
	struct request trim = { OP_TRIM, UINT64_C(1) << 30, 128 << 20, false };
	struct block_map map = { BLOCK, 0 };
	struct media *m = media_new(UINT64_C(4) << 40, &map, true, NULL);
	struct in_flight f;
	bool went;

	write_to(m, 0, BLOCK, 1);
	CHECK(media_begin(m, &f, &trim, NULL) == BEGUN &&
	      media_end(m, &f, &went) == 0, "refused");
	CHECK(media_state(m).volatile_blocks == 1, "%ju",
	      (uintmax_t)media_state(m).volatile_blocks);
	cut(m);
	CHECK(sector(m, 0) == 0, "the trim has driven a write out of the cache");

	/* An unreadable block does change. */
	spoil(m, trim.offset);
	CHECK(media_begin(m, &f, &trim, NULL) == BEGUN &&
	      media_end(m, &f, &went) == 0, "refused");
	CHECK(sector(m, trim.offset) == 0, "not zero");
	cut(m);
	CHECK(sector(m, trim.offset) == -1, "the trim was not flushed");
	media_free(m);
}

/* Compare with a plain set of blocks. */
static void test_set_of_unreadable_blocks(void)
{
	struct media *m = make(false);
	bool bad[SIZE / BLOCK] = { false };

	for (unsigned int i = 0; i < 2000; i++) {
		uint64_t first = tap_random(SIZE / BLOCK);
		uint64_t count = 1 + tap_random(SIZE / BLOCK - first);
		uint64_t n = 0;

		if (tap_random(3)) {
			spoil(m, first * BLOCK);
			bad[first] = true;
		} else {
			CHECK(write_to(m, first * BLOCK, count * BLOCK, 1),
			      "refused");
			memset(bad + first, 0, count);
		}
		for (uint64_t b = 0; b < SIZE / BLOCK; b++) {
			n += bad[b];
			CHECK((sector(m, b * BLOCK + 512) < 0) == bad[b],
			      "block %ju", (uintmax_t)b);
		}
		CHECK(media_state(m).unreadable_blocks == n, "%ju of %ju",
		      (uintmax_t)media_state(m).unreadable_blocks,
		      (uintmax_t)n);
	}
	media_free(m);
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A cut may meet a trim of gigabytes, as mkfs sends them. */
static void test_cut_in_a_large_trim(void)
{
	struct request trim = { OP_TRIM, 0, UINT64_C(2) << 30, false };
	struct block_map map = { BLOCK, 0 };
	struct media *m = media_new(UINT64_C(4) << 40, &map, false, NULL);
	struct power_cut how = { .at = 1, .tear = TEAR_BLOCK };
	struct in_flight f;
	double start = cpu_seconds();
	uint64_t bad;

	CHECK(media_cut(m, &how), "the power is off");
	CHECK(media_begin(m, &f, &trim, NULL) == POWER_WENT, "the power is on");
	bad = media_state(m).unreadable_blocks;
	CHECK(bad > 150000 && bad < 200000, "%ju", (uintmax_t)bad);
	CHECK(cpu_seconds() - start < 20, "%.1f s", cpu_seconds() - start);
	media_free(m);
}

const struct tap_test media_tests[] = {
	{ "a part of a rewritten block is durable with FUA, though the block was "
	  "unreadable", test_fua_into_a_rewritten_block },
	{ "a block that was written whole with FUA is in no later flush",
	  test_whole_block_with_fua },
	{ "an unreadable block stays so if its rewrite is torn",
	  test_torn_rewrite },
	{ "a request that is to fail changes nothing at a power cut either",
	  test_failing_request_in_flight },
	{ "a block is volatile once, however often it was saved",
	  test_volatile_blocks },
	{ "a trim of what was never written changes nothing",
	  test_trim_of_what_was_never_written },
	{ "blocks are unreadable until they are written",
	  test_set_of_unreadable_blocks },
	{ "a power cut in a trim of gigabytes is over soon",
	  test_cut_in_a_large_trim },
	{ 0 },
};
