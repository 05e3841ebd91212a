// SPDX-License-Identifier: GPL-2.0
#include "player.h"

#include <stdlib.h>

#include "tap.h"

#define BLOCK 4096u
#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define IDLE (1000 * MS)

/* Time a write on an idle drive. */
static int64_t one_write(const char *profile, uint64_t offset, uint64_t bytes,
			 uint64_t *rmws)
{
	struct player p;
	int64_t took;

	player_start(&p, profile, true);
	took = player_send(&p, OP_WRITE, offset, bytes);
	if (rmws)
		*rmws = model_counters(p.clock.model, p.clock.now).rmws;
	player_stop(&p);
	return took;
}

/* Check that a write costs @reads page reads more than one of whole units. */
static void check_rmw(const char *profile, uint64_t offset, uint64_t bytes,
		      unsigned int reads, unsigned int rmws)
{
	const struct profile *p = profile_find(profile);
	uint64_t counted;
	int64_t took = one_write(profile, offset, bytes, &counted);
	int64_t whole = one_write(profile, 0, p->blocks.physical, NULL);
	int64_t transfer = (int64_t)(((double)bytes - p->blocks.physical) /
				     p->bus_rate * 1e9);
	struct touch t = touch_of(&p->blocks, offset, bytes);
	int64_t extra = took - whole - transfer -
			(int64_t)((t.last - t.first) * p->unit_ns);

	CHECK(llabs(extra - (int64_t)reads * p->page_read_ns) < 10,
	      "%s, %ju at %ju: %jd ns", profile, (uintmax_t)bytes,
	      (uintmax_t)offset, (intmax_t)extra);
	CHECK(counted == rmws, "%s: %ju RMWs", profile, (uintmax_t)counted);
}

static void test_rmw_costs_page_read(void)
{
	check_rmw("nvme-512e", 8192, 8192, 0, 0);
	check_rmw("nvme-512e", 8192, 512, 1, 1);
	check_rmw("nvme-512e", 8192 + 512, 512, 1, 1);
	/* Two units, on two dies. */
	check_rmw("nvme-512e", 4096 + 512, 4096, 1, 2);
	check_rmw("qlc-16k", 16384 + 512, 32768, 1, 2);
	check_rmw("qlc-16k", 16384, 4096, 1, 1);
	/* The rest of a unit of four pages, each on a die of its own. */
	check_rmw("qlc-64k", 0, 4096, 1, 1);
	check_rmw("qlc-64k", 131072, 65536, 0, 0);
}

/* A page that the write covers is not read, though its unit is. */
static void test_reads_only_the_rest(void)
{
	struct player p;
	struct media_counters c;

	player_start(&p, "qlc-64k", true);
	player_send(&p, OP_WRITE, 0, 3 * 16384);
	c = model_counters(p.clock.model, p.clock.now);
	/* One page is read, and three are programmed as four. */
	CHECK(c.busy_ns == 120 * US + 4 * 1310 * US, "%ju us",
	      (uintmax_t)(c.busy_ns / US));
	CHECK(c.blocks_written == 1 && c.rmws == 1, "%ju, %ju",
	      (uintmax_t)c.blocks_written, (uintmax_t)c.rmws);
	player_stop(&p);
}

static void test_parallel_reads(void)
{
	struct player one, many;
	int64_t single, together;

	player_start(&one, "nvme-512e", true);
	player_start(&many, "nvme-512e", true);
	single = player_together(&one, OP_READ, 1);
	together = player_together(&many, OP_READ, 16);
	CHECK(together * 8 < single && together * 16 > single,
	      "%jd us and %jd us", (intmax_t)(together / US),
	      (intmax_t)(single / US));
	player_stop(&one);
	player_stop(&many);
}

/* Time a read on an idle drive, beyond its page and its data. */
static int64_t read_extra(const char *profile, uint64_t offset, uint64_t bytes)
{
	struct player p;
	int64_t took;

	player_start(&p, profile, true);
	took = player_send(&p, OP_READ, offset, bytes) -
	       p.config.profile->command_ns - p.config.profile->latency_ns -
	       p.config.profile->page_read_ns -
	       (int64_t)((double)bytes / p.config.profile->bus_rate * 1e9);
	player_stop(&p);
	return took;
}

static void test_units_are_looked_up(void)
{
	CHECK(llabs(read_extra("nvme-512e", 8192, 4096)) < 10 &&
	      llabs(read_extra("nvme-512e", 8192 + 512, 4096) - 2000) < 10,
	      "4 KiB units: %jd, %jd",
	      (intmax_t)read_extra("nvme-512e", 8192, 4096),
	      (intmax_t)read_extra("nvme-512e", 8192 + 512, 4096));
	CHECK(llabs(read_extra("qlc-64k", 16384 - 512, 1024)) < 10 &&
	      llabs(read_extra("qlc-64k", 65536 - 512, 1024) - 2000) < 10,
	      "64 KiB units: %jd, %jd",
	      (intmax_t)read_extra("qlc-64k", 16384 - 512, 1024),
	      (intmax_t)read_extra("qlc-64k", 65536 - 512, 1024));
}

/* Reads of the same page wait for each other. */
static void test_one_die(void)
{
	const struct profile *profile = profile_find("nvme-512e");
	struct request req = { OP_READ, 0, BLOCK, false };
	struct player p;
	int64_t first, second;

	player_start(&p, "nvme-512e", true);
	first = model_submit(p.clock.model, &req, p.clock.now);
	second = model_submit(p.clock.model, &req, p.clock.now);
	CHECK(second - first >= profile->page_read_ns - 10 * US, "%jd ns",
	      (intmax_t)(second - first));
	player_stop(&p);
}

static void test_buffer_fills(void)
{
	const struct profile *profile = profile_find("nvme-512e");
	double rate = (double)profile->dies * profile->page /
		      (double)profile->program_ns * 1e9;
	int64_t sum = 0, start;
	struct player p;

	player_start(&p, "nvme-512e", true);
	CHECK(player_send(&p, OP_WRITE, 0, 1 << 20) < MS, "not buffered");
	for (unsigned int i = 1; i < 64; i++)
		player_send(&p, OP_WRITE, (uint64_t)i << 20, 1 << 20);
	start = p.clock.now;
	for (unsigned int i = 64; i < 256; i++)
		sum += player_send(&p, OP_WRITE, (uint64_t)i << 20, 1 << 20);
	CHECK((double)(192 << 20) / (double)(p.clock.now - start) * 1e9 < rate * 1.05 &&
	      (double)(192 << 20) / (double)sum * 1e9 > rate * 0.9,
	      "%.0f MB/s", (double)(192 << 20) / (double)sum * 1e3);
	player_stop(&p);
}

static void test_flush_and_fua(void)
{
	const struct profile *profile = profile_find("nvme-512e");
	struct request fua = { OP_WRITE, 8192, BLOCK, true };
	struct player p;
	int64_t took;

	player_start(&p, "nvme-512e", true);
	CHECK(player_send(&p, OP_WRITE, 0, BLOCK) < 30 * US, "not buffered");
	took = player_send(&p, OP_FLUSH, 0, 0);
	CHECK(took > profile->program_ns && took < 2 * profile->program_ns,
	      "%jd us", (intmax_t)(took / US));
	took = player_send(&p, OP_FLUSH, 0, 0);
	CHECK(took < 30 * US, "nothing to flush takes %jd us",
	      (intmax_t)(took / US));
	/* Whole pages are being programmed without the flush, and it waits. */
	player_send(&p, OP_WRITE, 0, 1 << 20);
	took = player_send(&p, OP_FLUSH, 0, 0);
	CHECK(took > profile->program_ns, "%jd us", (intmax_t)(took / US));
	took = model_submit(p.clock.model, &fua, p.clock.now) - p.clock.now;
	CHECK(took > profile->program_ns, "%jd us", (intmax_t)(took / US));
	player_stop(&p);
}

static void test_without_cache(void)
{
	const struct profile *profile = profile_find("nvme-512e");
	struct player p;
	int64_t took;

	player_start(&p, "nvme-512e", false);
	took = player_send(&p, OP_WRITE, 0, BLOCK);
	CHECK(took > profile->program_ns, "%jd us", (intmax_t)(took / US));
	took = player_send(&p, OP_FLUSH, 0, 0);
	CHECK(took < 30 * US, "%jd us", (intmax_t)(took / US));
	player_stop(&p);
}

/* Reading does not wait for programming. */
static void test_reads_go_first(void)
{
	struct player p;
	int64_t idle, busy;

	player_start(&p, "nvme-512e", true);
	idle = player_send(&p, OP_READ, 0, BLOCK);
	player_send(&p, OP_WRITE, 1 << 20, 8 << 20);
	player_pause(&p, 100 * US);
	busy = player_send(&p, OP_READ, 0, BLOCK);
	CHECK(busy == idle, "%jd ns and %jd ns", (intmax_t)busy, (intmax_t)idle);
	player_stop(&p);
}

static void test_power_cut(void)
{
	struct player p;
	int64_t took;

	player_start(&p, "nvme-512e", true);
	player_send(&p, OP_WRITE, 0, (8 << 20) + BLOCK);
	model_lose_power(p.clock.model, p.clock.now);
	took = player_send(&p, OP_FLUSH, 0, 0);
	CHECK(took < 30 * US, "%jd us for what was lost", (intmax_t)(took / US));
	player_stop(&p);
}

static void test_balance(void)
{
	for (const struct profile *const *at = profiles, *profile; (profile = *at);
	     at++) {
		uint64_t touches = 0, blocks = 0;
		struct media_counters c;
		struct player p;

		if (profile->kind != PROFILE_FLASH)
			continue;
		player_start(&p, profile->name, true);
		for (unsigned int i = 0; i < 20000; i++) {
			static const enum op ops[] = {
				OP_WRITE, OP_READ, OP_ZERO, OP_TRIM, OP_FLUSH,
			};
			struct request req = {
				.op = ops[tap_random(tap_random(10) ? 3 : 5)],
				.offset = tap_random(100000) * UINT64_C(512),
				.count = (1 + tap_random(300)) * UINT64_C(512),
				.fua = tap_random(50) == 0,
			};
			int64_t done = model_submit(p.clock.model, &req, p.clock.now);

			CHECK(done > p.clock.now && done - p.clock.now < IDLE, "%jd us",
			      (intmax_t)((done - p.clock.now) / US));
			p.clock.now += tap_random(200) * US;
			/* The host waits for a drive that is far behind. */
			if (done - p.clock.now > 50 * MS)
				p.clock.now = done - 50 * MS;
			if (req.op == OP_WRITE || req.op == OP_ZERO) {
				struct touch t = touch_of(&p.config.map,
							  req.offset, req.count);

				touches += t.partial;
				blocks += t.last - t.first + 1;
			}
		}
		c = model_counters(p.clock.model, p.clock.now);
		CHECK(c.rmws == touches && c.blocks_written == blocks,
		      "%s: %ju of %ju, %ju of %ju", profile->name, (uintmax_t)c.rmws,
		      (uintmax_t)touches, (uintmax_t)c.blocks_written,
		      (uintmax_t)blocks);
		CHECK(model_revolution(p.clock.model) == 0, "it turns");
		player_stop(&p);
	}
}

const struct tap_test ssd_tests[] = {
	{ "an RMW costs a page read, however many units and pages",
	  test_rmw_costs_page_read },
	{ "an RMW reads only what the write leaves", test_reads_only_the_rest },
	{ "a read of two units takes longer than one within a unit",
	  test_units_are_looked_up },
	{ "dies read at the same time", test_parallel_reads },
	{ "reads of one die wait for each other", test_one_die },
	{ "a full buffer takes writes at the rate of programming",
	  test_buffer_fills },
	{ "a flush and a FUA write wait for programming", test_flush_and_fua },
	{ "without a cache each write waits for programming",
	  test_without_cache },
	{ "a read interrupts programming", test_reads_go_first },
	{ "a power cut empties the buffer", test_power_cut },
	{ "every touch is an RMW, for any requests", test_balance },
	{ 0 },
};
