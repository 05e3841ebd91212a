// SPDX-License-Identifier: GPL-2.0
/* The command queue of a disk. */
#include "player.h"

#include <string.h>

#include "tap.h"

#define BLOCK 4096u
#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define GB UINT64_C(1000000000)

static void start(struct player *p, bool cache)
{
	player_start(p, "hdd7200", cache);
}

/* Queue a request of a block at the player's time. */
static void queue(struct player *p, struct queued *q, enum op op,
		  uint64_t offset)
{
	struct request req = { op, offset, BLOCK, false };

	memset(q, 0xff, sizeof(*q));
	model_queue(p->clock.model, q, &req, p->clock.now);
}

/* Decide all; return when the last choice was made. */
static void decide_all(struct player *p)
{
	int64_t next = p->clock.now;

	while (next != INT64_MAX)
		next = model_decide(p->clock.model, next);
}

static void test_reorders(void)
{
	static const uint64_t places[] = { 900, 10, 600, 300 };
	struct queued q[4], first;
	struct player p;

	start(&p, true);
	/* While the head is on its way to byte 0, four others arrive. */
	player_send(&p, OP_READ, 500 * GB, BLOCK);
	queue(&p, &first, OP_READ, 0);
	player_pause(&p, MS);
	model_decide(p.clock.model, p.clock.now);
	for (unsigned int i = 0; i < 4; i++)
		queue(&p, &q[i], OP_READ, places[i] * GB);
	decide_all(&p);
	CHECK(first.when < q[1].when && q[1].when < q[3].when &&
	      q[3].when < q[2].when && q[2].when < q[0].when,
	      "%jd, then %jd, %jd, %jd, %jd", (intmax_t)first.when,
	      (intmax_t)q[0].when, (intmax_t)q[1].when, (intmax_t)q[2].when,
	      (intmax_t)q[3].when);
	player_stop(&p);
}

/* Compare with the same requests one at a time. */
static void check_gain(bool cache, enum op op)
{
	struct player one, many;
	int64_t single, together;

	start(&one, cache);
	start(&many, cache);
	single = player_together(&one, op, 1);
	together = player_together(&many, op, 32);
	CHECK(together * 2 < single, "%jd ms and %jd ms",
	      (intmax_t)(together / MS), (intmax_t)(single / MS));
	player_stop(&one);
	player_stop(&many);
}

static void test_gain(void)
{
	check_gain(true, OP_READ);
	check_gain(false, OP_READ);
	check_gain(false, OP_WRITE);
}

/* One at a time there is nothing to choose: as without a queue. */
static void test_same_as_in_order(void)
{
	struct profile without = *profile_find("hdd7200");
	struct model_config config;
	struct model *in_order;
	struct player p;

	without.queue = 0;
	for (unsigned int cache = 0; cache < 2; cache++) {
		start(&p, cache);
		config = p.config;
		config.profile = &without;
		in_order = model_new(&config);
		for (unsigned int i = 0; i < 5000; i++) {
			struct request req = player_anywhere(&p, tap_random(3) ?
							     OP_READ : OP_WRITE);
			int64_t expected;

			if (tap_random(4) == 0)
				req.offset = tap_random(1000) * 512u;
			if (tap_random(20) == 0)
				req = (struct request){ .op = OP_FLUSH };
			player_pause(&p, tap_random(300) * US);
			expected = model_submit(in_order, &req, p.clock.now);
			player_send(&p, req.op, req.offset, req.count);
			CHECK(p.clock.now == expected, "request %u: %jd and %jd", i,
			      (intmax_t)p.clock.now, (intmax_t)expected);
		}
		model_free(in_order);
		player_stop(&p);
	}
}

/* A far request among near ones is served in the end. */
static void test_nobody_starves(void)
{
	struct queued far, near[8];
	int64_t sent;
	struct player p;

	start(&p, true);
	player_send(&p, OP_READ, 0, BLOCK);
	for (unsigned int i = 0; i < 8; i++)
		queue(&p, &near[i], OP_READ, (1 + i) * 20000000u);
	sent = p.clock.now;
	queue(&p, &far, OP_READ, 990 * GB);
	for (unsigned int i = 0; !far.decided && i < 10000; i++) {
		p.clock.now = model_decide(p.clock.model, p.clock.now);
		model_decide(p.clock.model, p.clock.now);
		for (unsigned int j = 0; j < 8; j++) {
			if (near[j].decided)
				queue(&p, &near[j], OP_READ, (1 + i % 50) *
				      20000000u + tap_random(1000) * 8192u);
		}
	}
	CHECK(far.decided && far.when - sent > 100 * MS &&
	      far.when - sent < 600 * MS, "%d, %jd ms", far.decided,
	      (intmax_t)((far.when - sent) / MS));
	decide_all(&p);
	player_stop(&p);
}

/* The drive sees as many requests as it has tags. */
static void test_tags(void)
{
	struct queued q[40];
	unsigned int decided = 0;
	struct player p;

	start(&p, true);
	player_send(&p, OP_READ, 0, BLOCK);
	/* The head goes to the first at once; 32 lie far away, 7 near it. */
	for (unsigned int i = 0; i < 40; i++)
		queue(&p, &q[i], OP_READ, i == 0 ? GB : i <= 32 ? (900 + i) * GB
						 : GB + (i - 32) * 20000000u);
	while (decided < 2) {
		p.clock.now = model_decide(p.clock.model, p.clock.now);
		model_decide(p.clock.model, p.clock.now);
		decided = 0;
		for (unsigned int i = 0; i < 40; i++) {
			decided += q[i].decided;
			CHECK(i <= 32 || !q[i].decided || decided > 2,
			      "request %u has no tag, and was second", i);
		}
	}
	decide_all(&p);
	player_stop(&p);
}

static void test_flush_waits(void)
{
	for (unsigned int cache = 0; cache < 2; cache++) {
		struct queued q[8], flush;
		struct request req = { .op = OP_FLUSH };
		struct player p;

		start(&p, cache);
		for (unsigned int i = 0; i < 8; i++)
			queue(&p, &q[i], cache ? OP_READ : OP_WRITE,
			      (100 + i * 100) * GB);
		model_queue(p.clock.model, &flush, &req, p.clock.now);
		CHECK(flush.decided, "not decided");
		for (unsigned int i = 0; i < 8; i++)
			CHECK(q[i].decided && q[i].when <= flush.when,
			      "request %u at %jd, flush at %jd", i,
			      (intmax_t)q[i].when, (intmax_t)flush.when);
		player_stop(&p);
	}
}

static void test_power_cut_ends_all(void)
{
	struct queued q[8];
	struct player p;

	start(&p, false);
	for (unsigned int i = 0; i < 8; i++)
		queue(&p, &q[i], OP_WRITE, (100 + i * 100) * GB);
	player_pause(&p, MS);
	model_lose_power(p.clock.model, p.clock.now);
	for (unsigned int i = 0; i < 8; i++)
		CHECK(q[i].decided && q[i].when <= p.clock.now + 30 * MS,
		      "request %u is still there", i);
	CHECK(model_decide(p.clock.model, p.clock.now) == INT64_MAX, "something waits");
	CHECK(player_send(&p, OP_READ, 0, BLOCK) < 40 * MS, "it does not serve");
	player_stop(&p);
}

/* Queue eight uncached writes that have 12 touches. */
static void queue_touches(struct player *p, struct queued q[8])
{
	start(p, false);
	for (unsigned int i = 0; i < 8; i++)
		queue(p, &q[i], i % 2 ? OP_WRITE : OP_ZERO,
		      (100 + i * 100) * GB / BLOCK * BLOCK + (i < 6) * 512u);
}

static void check_touches(struct player *p, uint64_t rmws, uint64_t pending,
			  uint64_t lost)
{
	struct media_counters c = model_counters(p->clock.model, p->clock.now);

	CHECK(c.rmws == rmws && c.touches_pending == pending &&
	      c.touches_lost == lost && !c.rmws_saved_by_cache,
	      "%ju RMWs, %ju pending, %ju lost", (uintmax_t)c.rmws,
	      (uintmax_t)c.touches_pending, (uintmax_t)c.touches_lost);
}

static void test_queued_touches_are_pending(void)
{
	struct queued q[8];
	struct player p;

	queue_touches(&p, q);
	check_touches(&p, 0, 12, 0);
	player_pause(&p, MS);
	check_touches(&p, 2, 10, 0);
	model_lose_power(p.clock.model, p.clock.now);
	check_touches(&p, 2, 0, 10);
	player_stop(&p);
}

static void test_reset_leaves_out_the_queue(void)
{
	struct queued q[8];
	struct player p;

	queue_touches(&p, q);
	player_pause(&p, MS);
	model_reset_counters(p.clock.model, p.clock.now);
	check_touches(&p, 0, 0, 0);
	decide_all(&p);
	player_pause(&p, 1000 * MS);
	check_touches(&p, 0, 0, 0);
	player_stop(&p);
}

/* However often a query is repeated, the answer is the same. */
static void test_asking_changes_nothing(void)
{
	struct queued a[16], b[16];
	struct player p, other;

	start(&p, false);
	start(&other, false);
	for (unsigned int i = 0; i < 16; i++) {
		uint64_t at = player_anywhere(&p, OP_READ).offset;

		queue(&p, &a[i], i % 2 ? OP_READ : OP_WRITE, at);
		queue(&other, &b[i], i % 2 ? OP_READ : OP_WRITE, at);
		for (unsigned int j = 0; j < 20; j++) {
			model_decide(p.clock.model, p.clock.now);
			model_counters(p.clock.model, p.clock.now);
			player_pause(&p, 50 * US);
		}
		other.clock.now = p.clock.now;
	}
	decide_all(&p);
	decide_all(&other);
	for (unsigned int i = 0; i < 16; i++)
		CHECK(a[i].when == b[i].when, "request %u", i);
	player_stop(&p);
	player_stop(&other);
}

const struct tap_test queue_tests[] = {
	{ "the head serves what it reaches first", test_reorders },
	{ "with 32 requests in flight a disk serves twice as many", test_gain },
	{ "one at a time a queue changes nothing", test_same_as_in_order },
	{ "a request that is passed over is served after half a second",
	  test_nobody_starves },
	{ "a request without a tag is not chosen", test_tags },
	{ "a flush waits for what is queued", test_flush_waits },
	{ "a power cut ends what is queued", test_power_cut_ends_all },
	{ "touches of writes that wait are pending, and a power cut loses them",
	  test_queued_touches_are_pending },
	{ "a reset leaves out writes that wait", test_reset_leaves_out_the_queue },
	{ "asking early does not change what is chosen",
	  test_asking_changes_nothing },
	{ 0 },
};
