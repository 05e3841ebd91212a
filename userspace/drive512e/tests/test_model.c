// SPDX-License-Identifier: GPL-2.0
#include "../model.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define SIZE (UINT64_C(1) << 30)
#define BLOCK 4096u
#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define IDLE (1000 * MS)	/* enough for every cache to empty itself */

static struct model *make(const char *profile, bool cache)
{
	struct model_config config = {
		.profile = profile_find(profile),
		.map = { BLOCK, 0 },
		.size = SIZE,
		.cache = cache,
	};

	return model_new(&config);
}

static int64_t submit(struct model *m, enum op op, uint64_t offset,
		      uint64_t count, int64_t now)
{
	struct request req = { .op = op, .offset = offset, .count = count };

	return model_submit(m, &req, now);
}

/* ---- instant and fixed ---- */

static void test_instant(void)
{
	struct model *m = make("instant", true);
	struct media_counters c;

	CHECK(submit(m, OP_WRITE, 512, 4096, 77) == 77, "took time");
	submit(m, OP_WRITE, 8192, 8192, 78);
	submit(m, OP_ZERO, 0, 512, 79);
	submit(m, OP_TRIM, 512, 512, 80);
	submit(m, OP_READ, 512, 512, 81);
	c = model_counters(m, 82);
	CHECK(c.rmws == 3 && c.blocks_written == 5, "%ju, %ju",
	      (uintmax_t)c.rmws, (uintmax_t)c.blocks_written);
	model_reset_counters(m, 83);
	c = model_counters(m, 84);
	CHECK(c.rmws == 0 && c.blocks_written == 0, "not reset");
	model_free(m);
}

static void check_fixed(unsigned int depth, int64_t expect)
{
	struct model_config config = {
		.profile = profile_find("fixed"),
		.map = { BLOCK, 0 },
		.size = SIZE,
		.latency_ns = 2 * MS,
		.depth = depth,
	};
	struct model *m = model_new(&config);
	int64_t last = 0;

	for (unsigned int i = 0; i < 12; i++)
		last = submit(m, OP_READ, 0, 512, 100);
	CHECK(last == 100 + expect, "depth %u: %jd", depth, (intmax_t)last);
	last = submit(m, OP_READ, 0, 512, IDLE);
	CHECK(last == IDLE + 2 * MS, "depth %u does not recover", depth);
	model_free(m);
}

static void test_fixed(void)
{
	check_fixed(0, 2 * MS);
	check_fixed(1, 24 * MS);
	check_fixed(4, 6 * MS);
	check_fixed(MODEL_DEPTH_MAX, 2 * MS);
}

/* Requests that a power cut ends keep no later one waiting. */
static void test_fixed_power_cut(void)
{
	struct model_config config = {
		.profile = profile_find("fixed"),
		.map = { BLOCK, 0 },
		.size = SIZE,
		.latency_ns = 2 * MS,
		.depth = 2,
	};
	struct model *m = model_new(&config);
	int64_t done;

	for (unsigned int i = 0; i < 12; i++)
		submit(m, OP_WRITE, 0, 512, 100);
	model_lose_power(m, MS);
	done = submit(m, OP_READ, 0, 512, MS);
	CHECK(done == 3 * MS, "%jd", (intmax_t)done);
	model_free(m);
}

/* ---- without a cache ---- */

/* Time one write on an idle disk, at an angle chosen by @i. */
static int64_t one_write(uint64_t offset, uint64_t count, unsigned int i)
{
	struct model *m = make("hdd-nocache", false);
	int64_t now = IDLE + (int64_t)i * 123457;
	int64_t took = submit(m, OP_WRITE, offset, count, now) - now;

	model_free(m);
	return took;
}

static void test_rmw_costs_revolution(void)
{
	struct model *m = make("hdd-nocache", false);
	int64_t revolution = model_revolution(m);

	model_free(m);
	for (unsigned int i = 0; i < 200; i++) {
		int64_t whole = one_write(81920, 8192, i);
		int64_t head = one_write(81920 + 512, 8192 - 512, i);
		int64_t tail = one_write(81920, 8192 - 512, i);
		int64_t both = one_write(81920 + 512, 4096, i);

		/* The interface's time, 1.7 us per KiB, shortens the wait. */
		CHECK(llabs(head - whole - revolution) < 10, "head %jd",
		      (intmax_t)(head - whole));
		CHECK(llabs(tail - whole - revolution) < 10, "tail %jd",
		      (intmax_t)(tail - whole));
		CHECK(llabs(both - whole - revolution) < 10, "both %jd",
		      (intmax_t)(both - whole));
	}
}

static void test_nocache_counts(void)
{
	struct model *m = make("hdd-nocache", false);
	struct media_counters c;
	int64_t now = 0;

	for (unsigned int i = 0; i < 8; i++)	/* one block, in 8 pieces */
		now = submit(m, OP_WRITE, i * 512, 512, now);
	now = submit(m, OP_WRITE, 512, 8192, now);
	c = model_counters(m, now);
	CHECK(c.rmws == 10 && c.rmws_saved_by_cache == 0, "%ju and %ju",
	      (uintmax_t)c.rmws, (uintmax_t)c.rmws_saved_by_cache);
	CHECK(c.blocks_written == 11, "%ju", (uintmax_t)c.blocks_written);
	CHECK(c.lost_ns / (double)model_revolution(m) > 8.99 &&
	      c.lost_ns / (double)model_revolution(m) < 9.01, "%ju",
	      (uintmax_t)c.lost_ns);
	model_free(m);
}

/* ---- reading ---- */

static void test_read_ahead(void)
{
	struct model *m = make("hdd-nocache", false);
	int64_t now = IDLE, start;

	now = submit(m, OP_READ, 0, 4096, now);
	start = now;
	for (unsigned int i = 1; i < 100; i++)
		now = submit(m, OP_READ, i * 4096, 4096, now + 50 * US);
	CHECK((now - start) / 99 < 150 * US, "%jd us each: each missed",
	      (intmax_t)((now - start) / 99 / US));

	/* The media's rate holds for requests of any size. */
	start = now;
	for (unsigned int i = 1; i <= 200; i++)
		now = submit(m, OP_READ, (i + 10) * UINT64_C(262144), 262144,
			     now + 50 * US);
	CHECK((double)(200 * 262144) / (double)(now - start) * 1e9 > 180e6 &&
	      (double)(200 * 262144) / (double)(now - start) * 1e9 < 225e6,
	      "%.0f MB/s", (double)(200 * 262144) / (double)(now - start) * 1e3);
	model_free(m);
}

/* A reader slower than the disk finds all but the first block in the buffer. */
static void test_slow_reader(void)
{
	struct model *m = make("hdd-nocache", false);
	int64_t now = submit(m, OP_READ, 0, 65536, IDLE), waited = 0;

	for (unsigned int i = 1; i <= 300; i++) {
		int64_t done = submit(m, OP_READ, i * UINT64_C(65536), 65536,
				      now + 2 * MS);

		waited += done - (now + 2 * MS);
		now = done;
	}
	CHECK(waited / 300 < 600 * US, "%jd us each",
	      (intmax_t)(waited / 300 / US));
	model_free(m);
}

/* The head does not leave an unfinished read. */
static void test_reads_in_turn(void)
{
	for (unsigned int i = 0; i < 50; i++) {
		struct model *m = make("hdd-nocache", false);
		int64_t now = submit(m, OP_READ, 0, 4096, IDLE), first, second;

		first = submit(m, OP_READ, 400 << 10, 4096, now);
		second = submit(m, OP_READ, (20 << 20) + i * 40960, 4096, now);
		CHECK(first - now > MS, "look-ahead was there at once");
		CHECK(second - first > 230 * US, "%jd us after the first",
		      (intmax_t)((second - first) / US));
		model_free(m);
	}
}

static void test_random_reads(void)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = IDLE, start = now;
	double mean;

	for (unsigned int i = 0; i < 1000; i++)
		now = submit(m, OP_READ, tap_random(SIZE / BLOCK) *
			     (uint64_t)BLOCK, BLOCK, now);
	/* Half a revolution, and a seek over the emulated part of the disk. */
	mean = (double)(now - start) / 1000 / 1e6;
	CHECK(mean > 4.1 && mean < 6, "%f ms", mean);
	model_free(m);
}

static void test_read_own_writes(void)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = submit(m, OP_WRITE, 8192, 4096, IDLE);
	int64_t at = submit(m, OP_READ, 8192, 4096, now);

	CHECK(at - now < MS, "%jd us for data in the cache",
	      (intmax_t)((at - now) / US));
	model_free(m);
}

/* ---- with a cache ---- */

static void test_cache_absorbs(void)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = IDLE, flushed;

	for (unsigned int i = 0; i < 16; i++) {
		int64_t done = submit(m, OP_WRITE, i * UINT64_C(999424), 4096,
				      now);

		CHECK(done - now < 100 * US, "%jd us", (intmax_t)((done - now) / US));
		now = done;
	}
	flushed = submit(m, OP_FLUSH, 0, 0, now);
	CHECK(flushed - now > 8 * MS, "16 places in %jd us",
	      (intmax_t)((flushed - now) / US));
	now = submit(m, OP_FLUSH, 0, 0, flushed);
	CHECK(now - flushed < 100 * US, "an empty cache takes %jd us",
	      (intmax_t)((now - flushed) / US));
	model_free(m);
}

static void test_cache_joins(void)
{
	struct model *m = make("st1000dm003", true);
	struct media_counters c;
	int64_t now = IDLE;

	for (unsigned int i = 0; i < 8; i++)
		now = submit(m, OP_WRITE, 40960 + i * 512, 512, now);
	submit(m, OP_FLUSH, 0, 0, now);
	c = model_counters(m, now + IDLE);
	CHECK(c.rmws == 0 && c.rmws_saved_by_cache == 8 && c.blocks_written == 1,
	      "%ju, %ju, %ju", (uintmax_t)c.rmws,
	      (uintmax_t)c.rmws_saved_by_cache, (uintmax_t)c.blocks_written);
	model_free(m);
}

/* A block that was read for an RMW stays known. */
static void test_block_stays_known(void)
{
	struct model *m = make("st1000dm003", true);
	struct media_counters c;
	int64_t now = IDLE;

	for (unsigned int i = 0; i < 8; i++) {
		now = submit(m, OP_WRITE, 40960 + i * 512, 512, now);
		now = submit(m, OP_FLUSH, 0, 0, now);
	}
	c = model_counters(m, now);
	CHECK(c.rmws == 1 && c.rmws_saved_by_cache == 7, "%ju and %ju",
	      (uintmax_t)c.rmws, (uintmax_t)c.rmws_saved_by_cache);
	model_free(m);
}

/* The joins of two cache runs that a write bridges add up. */
static void test_joins_are_limited(void)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = IDLE, done;
	unsigned int joined = 0;

	/* 40960 to 43008, then 43520 to 44544, then the gap between. */
	for (uint64_t at = 40960; at < 43008; at += 1024)
		now = submit(m, OP_WRITE, at, 1024, now);
	now = submit(m, OP_WRITE, 45056 + 512, 512, now);
	now = submit(m, OP_WRITE, 45056 + 1024, 512, now);
	now = submit(m, OP_WRITE, 43008, 45568 - 43008, now);
	/* 1 + 1 + 1 + 1 joins so far. */
	for (uint64_t at = 45056 + 1536; ; at += 512) {
		done = submit(m, OP_WRITE, at, 512, now);
		if (done - now > MS)
			break;
		joined++;
		now = done;
	}
	CHECK(joined == 4, "%u more joined", joined);
	model_free(m);
}

/* A flush writes a stream of whole blocks to its end without a revolution. */
static void test_flush_of_stream(void)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = IDLE, flushed;

	for (unsigned int i = 0; i < 100; i++)
		now = submit(m, OP_WRITE, i * UINT64_C(131072), 131072, now);
	flushed = submit(m, OP_FLUSH, 0, 0, now);
	/* 4 MiB at 220 MB/s are 19.1 ms. */
	CHECK(flushed - now < 21 * MS, "%jd us", (intmax_t)((flushed - now) / US));
	model_free(m);
}

/* Cache runs on both sides of the head are written in one sweep. */
static void test_sweep_order(void)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = IDLE, took = 0;

	for (unsigned int i = 0; i < 100; i++) {
		int64_t start;

		submit(m, OP_WRITE, 512 << 20, 4096, now);
		start = submit(m, OP_FLUSH, 0, 0, now);
		start += tap_random(8333) * US;
		submit(m, OP_WRITE, (900 << 20) + i * 4096, 4096, start);
		submit(m, OP_WRITE, 100 << 20, 4096, start);
		now = submit(m, OP_FLUSH, 0, 0, start);
		took += now - start;
	}
	/* Two seeks and two waits of half a revolution, 10.8 ms: not three. */
	CHECK(took / 100 < 12 * MS, "%jd us each",
	      (intmax_t)(took / 100 / US));
	model_free(m);
}

/* Padded writes, each after a read just ahead, cost no revolution each. */
static void test_reads_beside_a_stream(void)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = IDLE;

	for (unsigned int i = 0; i < 500; i++) {
		uint64_t at = i * UINT64_C(139264);

		now = submit(m, OP_READ, at + 139264, 4096, now + 100 * US);
		now = submit(m, OP_WRITE, at, 143360, now + 100 * US);
	}
	CHECK((now - IDLE) / 500 < model_revolution(m) / 2, "%jd us each",
	      (intmax_t)((now - IDLE) / 500 / US));
	model_free(m);
}

static void test_fua(void)
{
	struct model *m = make("st1000dm003", true);
	struct request req = { OP_WRITE, 40960, 4096, true };
	struct media_counters c;
	int64_t now = model_submit(m, &req, IDLE);

	c = model_counters(m, now);
	CHECK(c.blocks_written == 1, "not on the media");
	model_free(m);
}

static void test_locked_block(void)
{
	struct model *m = make("st1000dm003", true);
	struct media_counters c;
	int64_t now = submit(m, OP_WRITE, 40960, 512, IDLE);
	int64_t there = now;

	/* Until the head has begun to read the block. */
	do {
		there += 100 * US;
		c = model_counters(m, there);
	} while (c.rmws == 0);
	now = submit(m, OP_WRITE, 40960 + 1024, 512, there);
	CHECK(now - there > model_revolution(m) - MS, "%jd us",
	      (intmax_t)((now - there) / US));
	model_free(m);
}

static void test_reset_with_full_cache(void)
{
	struct model *m = make("st1000dm003", true);
	struct media_counters c;
	int64_t now = IDLE;

	for (unsigned int i = 0; i < 20; i++)
		now = submit(m, OP_WRITE, i * 8192 + 512, 512, now);
	now = submit(m, OP_WRITE, (2 << 20) + 512, 4096, now);
	model_reset_counters(m, now);
	now = submit(m, OP_WRITE, (2 << 20) + 4608, 512, now);
	c = model_counters(m, now + IDLE);
	CHECK(c.rmws == 1 && c.rmws_saved_by_cache == 0 && !c.touches_pending,
	      "%ju, %ju", (uintmax_t)c.rmws, (uintmax_t)c.rmws_saved_by_cache);
	model_free(m);
}

/* ---- what sets the other disks apart ---- */

/* Time an uncached write on an idle disk. */
static int64_t through(const char *profile, uint64_t offset, uint64_t count)
{
	struct model *m = make(profile, false);
	int64_t took = submit(m, OP_WRITE, offset, count, IDLE) - IDLE;

	model_free(m);
	return took;
}

static void test_each_block_in_its_turn(void)
{
	static const char *const names[] = {
		"hdd7200", "hdd5400", "wd20ears", "usb-liar",
	};

	for (unsigned int i = 0; i < 4; i++) {
		struct model *m = make(names[i], false);
		int64_t turn = model_revolution(m);
		int64_t whole = through(names[i], 81920, 4096);
		int64_t one = through(names[i], 81920, 3584);
		int64_t two = through(names[i], 81920 + 512, 4096);
		/* A smaller write is there earlier: it waits for longer. */
		int64_t early = turn / 100;

		CHECK(llabs(one - whole - turn) < early, "%s: 1 touch %jd us",
		      names[i], (intmax_t)((one - whole) / US));
		CHECK(llabs(two - whole - 2 * turn) < early,
		      "%s: 2 touches %jd us", names[i],
		      (intmax_t)((two - whole) / US));
		model_free(m);
	}
}

static void test_cache_hides_rmws(void)
{
	struct model *cached = make("hdd7200", true);
	struct model *plain = make("hdd7200", false);
	int64_t a = IDLE, b = IDLE;

	for (unsigned int i = 0; i < 320; i++) {
		a = submit(cached, OP_WRITE, i * 16384 + 512, 4096, a);
		b = submit(plain, OP_WRITE, i * 16384 + 512, 4096, b);
	}
	a = submit(cached, OP_FLUSH, 0, 0, a);
	/* Three turns for 32 writes, and three for each. */
	CHECK((b - IDLE) > 20 * (a - IDLE), "%jd ms and %jd ms",
	      (intmax_t)((a - IDLE) / MS), (intmax_t)((b - IDLE) / MS));
	CHECK(model_counters(plain, b).rmws == 640 &&
	      model_counters(cached, a).rmws == 640, "RMWs");
	model_free(cached);
	model_free(plain);
}

/* A drive that completes one block at a time gathers whole blocks only. */
static void test_one_partial_run(void)
{
	struct model *m = make("wd20ears", true);
	int64_t turn = model_revolution(m), now = IDLE, start;

	for (unsigned int i = 0; i < 20; i++)
		now = submit(m, OP_WRITE, i * UINT64_C(999424), 4096, now);
	CHECK(now - IDLE < 2 * MS, "20 whole blocks in %jd us",
	      (intmax_t)((now - IDLE) / US));
	now = submit(m, OP_FLUSH, 0, 0, now);

	start = now;
	for (unsigned int i = 0; i < 20; i++)
		now = submit(m, OP_WRITE, i * UINT64_C(16384) + 512, 4096, now);
	now = submit(m, OP_FLUSH, 0, 0, now);
	CHECK(now - start > 20 * 5 * turn / 2, "20 RMWs in %jd turns",
	      (intmax_t)((now - start) / turn));
	model_free(m);
}

/* Rewriting the end of a stream leaves it a stream. */
static void test_rewritten_end_of_stream(void)
{
	struct model *m = make("st1000dm003", true);
	struct media_counters c;
	int64_t now = IDLE;
	uint64_t at = 0;

	for (unsigned int i = 0; i < 500; i++) {
		now = submit(m, OP_WRITE, at, 131072, now);
		now = submit(m, OP_WRITE, at + 131072 - 512, 512, now);
		at += 131072;
	}
	/* 64 MB at 220 MB/s, and a start. */
	CHECK(now - IDLE < 320 * MS, "%jd ms", (intmax_t)((now - IDLE) / MS));
	submit(m, OP_FLUSH, 0, 0, now);
	c = model_counters(m, now + IDLE);
	CHECK(c.rmws == 0 && c.rmws_saved_by_cache == 500, "%ju and %ju",
	      (uintmax_t)c.rmws, (uintmax_t)c.rmws_saved_by_cache);
	model_free(m);
}

/* Time 500 pairs of neighbouring writes, in MB/s. */
static double pairs_mb_s(uint64_t start, bool together)
{
	struct model *m = make("st1000dm003", true);
	int64_t now = IDLE;
	double mb_s;

	for (unsigned int i = 0; i < 500; i++) {
		uint64_t at = start + i * (UINT64_C(1) << 20);
		int64_t first = submit(m, OP_WRITE, at, 1 << 19, now);

		now = submit(m, OP_WRITE, at + (1 << 19), 1 << 19,
			     together ? now : first);
		now = first > now ? first : now;
	}
	mb_s = 500.0 * (1 << 20) / (double)(now - IDLE) * 1e3;
	model_free(m);
	return mb_s;
}

static void test_stream_in_turn(void)
{
	CHECK(pairs_mb_s(0, false) > 215 && pairs_mb_s(0, true) > 215,
	      "aligned: %f and %f", pairs_mb_s(0, false), pairs_mb_s(0, true));
	CHECK(pairs_mb_s(3584, false) > 215, "one by one: %f",
	      pairs_mb_s(3584, false));
	CHECK(pairs_mb_s(3584, true) < 170, "together: %f",
	      pairs_mb_s(3584, true));
}

/* A bridge takes the next command when the last one is answered. */
static void test_one_command_at_a_time(void)
{
	struct model *liar = make("usb-liar", true);
	struct model *ears = make("wd20ears", true);
	int64_t first, second;

	submit(liar, OP_READ, 0, 4096, IDLE);
	submit(ears, OP_READ, 0, 4096, IDLE);
	/* The second read is in the cache, but its command waits. */
	submit(liar, OP_WRITE, 400 << 20, 4096, 2 * IDLE);
	submit(ears, OP_WRITE, 400 << 20, 4096, 2 * IDLE);
	first = submit(liar, OP_READ, 800 << 20, 4096, 2 * IDLE + MS);
	second = submit(liar, OP_READ, 400 << 20, 4096, 2 * IDLE + MS);
	CHECK(second > first, "answered %jd us before the first",
	      (intmax_t)((first - second) / US));
	first = submit(ears, OP_READ, 800 << 20, 4096, 2 * IDLE + MS);
	second = submit(ears, OP_READ, 400 << 20, 4096, 2 * IDLE + MS);
	CHECK(second < first, "it waits without a bridge");
	model_free(liar);
	model_free(ears);
}

/* ---- any stream of requests ---- */

struct outcome {
	struct media_counters media;
	uint64_t touches;		/* of writes and zeroes */
	uint64_t blocks;		/* sum over writes and zeroes */
	int64_t end;
};

/* Requests near each other, so that they meet; @depth of them at once. */
static struct outcome play_random(const char *profile, bool cache,
				  unsigned int depth, unsigned int count)
{
	struct model *m = make(profile, cache);
	struct block_map map = { BLOCK, 0 };
	struct outcome out = { 0 };
	int64_t in_flight[16] = { 0 }, now = IDLE;

	for (unsigned int i = 0; i < count; i++) {
		static const enum op ops[] = {
			OP_WRITE, OP_WRITE, OP_WRITE, OP_READ, OP_ZERO,
			OP_TRIM, OP_FLUSH,
		};
		struct request req = {
			.op = ops[tap_random(tap_random(10) ? 4 : 7)],
			.offset = tap_random(4096) * UINT64_C(512),
			.count = (1 + tap_random(tap_random(4) ? 16 : 600)) *
				 UINT64_C(512),
			.fua = tap_random(50) == 0,
		};
		int64_t *slot = &in_flight[i % depth];
		int64_t done;

		/* A request arrives when the one it replaces is done. */
		if (*slot > now)
			now = *slot;
		now += tap_random(300) * US;
		if (tap_random(500) == 0)
			now += 200 * MS;
		done = model_submit(m, &req, now);
		CHECK(done >= now, "%jd ns before it arrived",
		      (intmax_t)(now - done));
		CHECK(done - now < 5000 * MS, "%jd ms",
		      (intmax_t)((done - now) / MS));
		*slot = done;
		if (done > out.end)
			out.end = done;
		if (req.op == OP_WRITE || req.op == OP_ZERO) {
			struct touch t = touch_of(&map, req.offset, req.count);

			out.touches += t.partial;
			out.blocks += t.last - t.first + 1;
		}
	}
	out.end = submit(m, OP_FLUSH, 0, 0, out.end > now ? out.end : now);
	out.media = model_counters(m, out.end + IDLE);
	model_free(m);
	return out;
}

static void check_balance(const char *profile, bool cache)
{
	for (unsigned int depth = 1; depth <= 16; depth *= 4) {
		struct outcome o = play_random(profile, cache, depth, 20000);

		CHECK(o.media.rmws + o.media.rmws_saved_by_cache == o.touches,
		      "%s, depth %u: %ju + %ju of %ju", profile, depth,
		      (uintmax_t)o.media.rmws,
		      (uintmax_t)o.media.rmws_saved_by_cache,
		      (uintmax_t)o.touches);
		CHECK(o.media.touches_pending == 0, "%ju pending",
		      (uintmax_t)o.media.touches_pending);
		CHECK(cache || o.media.rmws == o.touches,
		      "without a cache %ju of %ju", (uintmax_t)o.media.rmws,
		      (uintmax_t)o.touches);
		CHECK(o.media.blocks_written >= 1 &&
		      (cache || o.media.blocks_written == o.blocks), "blocks");
		CHECK(o.media.busy_ns <= (uint64_t)(o.end + IDLE),
		      "busy for longer than it ran");
	}
}

static void test_balance(void)
{
	check_balance("st1000dm003", true);
	check_balance("st1000dm003", false);
	check_balance("hdd-nocache", false);
	check_balance("hdd7200", true);
	check_balance("hdd7200", false);
	check_balance("wd20ears", true);
	check_balance("usb-liar", true);
}

static void test_same_again(void)
{
	struct model *a = make("st1000dm003", true);
	struct model *b = make("st1000dm003", true);
	int64_t now = IDLE;

	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t offset = tap_random(8192) * UINT64_C(512);
		uint64_t count = (1 + tap_random(300)) * UINT64_C(512);
		enum op op = tap_random(3) ? OP_WRITE : OP_READ;
		int64_t done = submit(a, op, offset, count, now);

		/* Reading the counters changes nothing. */
		model_counters(b, now);
		CHECK(submit(b, op, offset, count, now) == done, "request %u", i);
		now = done + tap_random(1000) * US;
	}
	model_free(a);
	model_free(b);
}

/* Compare with a padding host, which reads a block, then writes it whole. */
static void test_padding_pays(void)
{
	struct model *raw = make("hdd-nocache", false);
	struct model *padded = make("hdd-nocache", false);
	int64_t raw_at = IDLE, padded_at = IDLE;
	struct media_counters c;

	for (unsigned int i = 0; i < 100; i++) {
		raw_at = submit(raw, OP_WRITE, i * 4096, 512, raw_at + 50 * US);
		padded_at = submit(padded, OP_READ, i * 4096, 4096,
				   padded_at + 50 * US);
		padded_at = submit(padded, OP_WRITE, i * 4096, 4096,
				   padded_at + 50 * US);
	}
	c = model_counters(padded, padded_at);
	CHECK(c.rmws == 0, "%ju", (uintmax_t)c.rmws);
	CHECK((padded_at - IDLE) * 1.5 < raw_at - IDLE, "%jd us against %jd",
	      (intmax_t)((padded_at - IDLE) / 100 / US),
	      (intmax_t)((raw_at - IDLE) / 100 / US));
	model_free(raw);
	model_free(padded);
}

const struct tap_test model_tests[] = {
	{ "instant takes no time and charges an RMW for every touch",
	  test_instant },
	{ "fixed serves as many at once as its depth", test_fixed },
	{ "fixed forgets what it served when the power goes",
	  test_fixed_power_cut },
	{ "without a cache an RMW costs exactly a revolution",
	  test_rmw_costs_revolution },
	{ "without a cache every touch is an RMW", test_nocache_counts },
	{ "sequential reads run at the media's rate", test_read_ahead },
	{ "a reader slower than the disk is kept supplied", test_slow_reader },
	{ "a read is done before the head leaves", test_reads_in_turn },
	{ "random reads seek and wait half a revolution", test_random_reads },
	{ "data in the cache is read from there", test_read_own_writes },
	{ "the cache absorbs writes and a flush waits for the media",
	  test_cache_absorbs },
	{ "touches that join in the cache are no RMWs", test_cache_joins },
	{ "a block that was read to be completed stays known",
	  test_block_stays_known },
	{ "a run takes so many joins, bridges included", test_joins_are_limited },
	{ "a flush writes a stream to its end without a turn",
	  test_flush_of_stream },
	{ "a sweep goes on from where the head is", test_sweep_order },
	{ "reads beside a full stream do not cost a turn each",
	  test_reads_beside_a_stream },
	{ "a FUA write is on the media when it completes", test_fua },
	{ "a write waits for the RMW of its block", test_locked_block },
	{ "a reset leaves out data in the cache", test_reset_with_full_cache },
	{ "a disk that completes blocks alone needs a turn for each",
	  test_each_block_in_its_turn },
	{ "a cache gathers RMWs that cost turns each without it",
	  test_cache_hides_rmws },
	{ "a drive that completes one block at a time gathers none",
	  test_one_partial_run },
	{ "a stream whose end is rewritten goes on",
	  test_rewritten_end_of_stream },
	{ "misaligned writes sent together are no stream",
	  test_stream_in_turn },
	{ "a bridge takes one command at a time", test_one_command_at_a_time },
	{ "every touch is an RMW or saved, for any requests", test_balance },
	{ "the same arrivals give the same completions", test_same_again },
	{ "reading and writing whole blocks beats the drive's own RMW",
	  test_padding_pays },
	{ 0 },
};
