// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the decisions of the block engine (decide.h): the next step of
 * touches and ranges that come to a block, and of the block at the end of its turn;
 * the steps of a block with collected touches, and how the touches are booked. And
 * for those about the ceiling of all targets' memory (ceiling.h).
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "ceiling.h"
#include "decide.h"

static const char * const step_names[] = {
	[BLOCK_READ] = "read",
	[BLOCK_WRITE] = "write",
	[BLOCK_PASS] = "pass",
	[BLOCK_FAIL] = "fail",
};

static const struct first_row {
	bool cached, full;
	enum block_step step;
} first_params[] = {
	{ false, false, BLOCK_READ },
	{ false, true, BLOCK_WRITE },
	{ true, false, BLOCK_WRITE },
	{ true, true, BLOCK_WRITE },
};

static void first_desc(const struct first_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s: %s",
		 row->cached ? "cached" : "uncached", row->full ? "full" : "open",
		 step_names[row->step]);
}

KUNIT_ARRAY_PARAM(first, first_params, first_desc);

static void reads_only_what_is_open(struct kunit *test)
{
	const struct first_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, block_first_step(row->cached, row->full),
			row->step);
}

static const struct after_row {
	bool failed, full, may_pass;
	enum block_step step;
} after_params[] = {
	{ false, false, true, BLOCK_WRITE },
	{ false, true, true, BLOCK_WRITE },
	{ true, false, true, BLOCK_PASS },
	{ true, true, true, BLOCK_WRITE },
	{ false, false, false, BLOCK_WRITE },
	{ false, true, false, BLOCK_WRITE },
	{ true, false, false, BLOCK_FAIL },
	{ true, true, false, BLOCK_WRITE },
};

static void after_desc(const struct after_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "read %s, %s, %s: %s",
		 row->failed ? "failed" : "succeeded",
		 row->full ? "full" : "open",
		 row->may_pass ? "may pass" : "goes whole",
		 step_names[row->step]);
}

KUNIT_ARRAY_PARAM(after, after_params, after_desc);

static void passes_what_cannot_be_completed(struct kunit *test)
{
	const struct after_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, row->step,
			block_step_after_read(row->failed, row->full, row->may_pass));
}

static const struct how_row {
	bool failed, cached, read;
	enum rmw_how first, later;	/* of touch 0, and of any other */
} how_params[] = {
	{ false, false, false, RMW_COMPLETE, RMW_COMPLETE },
	{ false, false, true, RMW_HOST, RMW_MERGED },
	{ false, true, false, RMW_KNOWN, RMW_KNOWN },
	{ false, true, true, RMW_KNOWN, RMW_KNOWN },
	{ true, false, false, RMW_LOST, RMW_LOST },
	{ true, false, true, RMW_LOST, RMW_LOST },
	{ true, true, false, RMW_LOST, RMW_LOST },
	{ true, true, true, RMW_LOST, RMW_LOST },
};

static void how_desc(const struct how_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s, %s",
		 row->failed ? "write failed" : "written",
		 row->cached ? "cached" : "uncached",
		 row->read ? "read" : "not read");
}

KUNIT_ARRAY_PARAM(how, how_params, how_desc);

static void books_each_touch(struct kunit *test)
{
	const struct how_row *row = test->param_value;
	unsigned int nth;

	KUNIT_EXPECT_EQ(test, row->first,
			block_how(row->failed, row->cached, row->read, 0));
	for (nth = 1; nth < 1000; nth++)
		KUNIT_EXPECT_EQ(test, row->later,
				block_how(row->failed, row->cached, row->read,
					  nth));
	KUNIT_EXPECT_EQ(test, row->later,
			block_how(row->failed, row->cached, row->read, ~0U));
}

/*
 * One turn of a block of eight sectors, from its first touch to the end of its
 * write, led by the decisions alone.
 */
#define TURN_SECTORS	8
#define TURN_FULL	(BIT(TURN_SECTORS) - 1)

/* Content of a sector of the buffer, or of the disk. */
enum content {
	GARBAGE,		/* uninitialised memory */
	OLD,			/* on the disk when the touches arrived */
	ACKED,			/* of a held touch, acknowledged long ago */
	NEW,			/* of a touch or a range */
};

/**
 * struct turn - the events of a block's turn, and their result
 * @before: sectors that touches cover when the block starts
 * @during: sectors of the touches that join while it is read
 * @cached: the buffer has the disk's content
 * @read_fails: a read of the block fails
 * @write_fails: a write of the block fails
 * @buffer: content of the buffer
 * @disk: content of the disk
 * @read: the block was read
 * @booked: number of touches resolved in each way
 */
struct turn {
	unsigned int before;
	unsigned int during;
	bool cached;
	bool read_fails;
	bool write_fails;
	enum content buffer[TURN_SECTORS];
	enum content disk[TURN_SECTORS];
	bool read;
	unsigned int booked[RMW_HOW_NR];
};

static void turn_patch(enum content *to, unsigned int sectors)
{
	int s;

	for (s = 0; s < TURN_SECTORS; s++)
		if (sectors & BIT(s))
			to[s] = NEW;
}

/* Count the touches: each stretch of adjacent sectors is one. */
static unsigned int nr_touches(unsigned int sectors)
{
	return hweight32(sectors & ~(sectors << 1));
}

/* Run a turn in the engine's order of events; every choice is a decision. */
static void turn_run(struct turn *t)
{
	unsigned int covered = t->before;
	unsigned int touches = nr_touches(t->before);
	enum block_step step;
	unsigned int nth;
	int s;

	for (s = 0; s < TURN_SECTORS; s++) {
		t->disk[s] = OLD;
		t->buffer[s] = t->cached ? OLD : GARBAGE;
	}

	step = block_first_step(t->cached, covered == TURN_FULL);
	if (step == BLOCK_READ) {
		t->read = true;
		covered |= t->during;
		touches += nr_touches(t->during);
		if (!t->read_fails)
			memcpy(t->buffer, t->disk, sizeof(t->buffer));
		step = block_step_after_read(t->read_fails,
					     covered == TURN_FULL, true);
	}

	if (step == BLOCK_PASS) {
		turn_patch(t->disk, covered);
		t->booked[RMW_DRIVE_READ_ERROR] += touches;
		return;
	}
	turn_patch(t->buffer, covered);
	if (!t->write_fails)
		memcpy(t->disk, t->buffer, sizeof(t->disk));
	for (nth = 0; nth < touches; nth++)
		t->booked[block_how(t->write_fails, t->cached,
				    t->read && !t->read_fails, nth)]++;
}

/* Check the contract of every turn. */
static void turn_check(struct kunit *test, const struct turn *t)
{
	unsigned int covered = t->before | (t->read ? t->during : 0);
	unsigned int touches = nr_touches(t->before) +
			       (t->read ? nr_touches(t->during) : 0);
	bool passed = t->booked[RMW_DRIVE_READ_ERROR];
	unsigned int sum = 0;
	int i;

	/* the disk has the written content, other sectors are unmodified */
	for (i = 0; i < TURN_SECTORS; i++) {
		enum content want = covered & BIT(i) ? NEW : OLD;

		if (t->write_fails && !passed)
			want = OLD;
		KUNIT_ASSERT_EQ(test, t->disk[i], want);
		/* not even a failed write may carry garbage */
		if (!passed)
			KUNIT_ASSERT_NE(test, t->buffer[i], GARBAGE);
	}

	/* no needless or missing read, and no fallback without an error */
	KUNIT_ASSERT_EQ(test, t->read, !t->cached && t->before != TURN_FULL);
	KUNIT_ASSERT_EQ(test, passed, t->read && t->read_fails &&
			covered != TURN_FULL);

	/* each touch is booked once */
	for (i = 0; i < RMW_HOW_NR; i++)
		sum += t->booked[i];
	KUNIT_ASSERT_EQ(test, sum, touches);

	/* the host is booked once for a block that was padded, else never */
	KUNIT_ASSERT_EQ(test, t->booked[RMW_HOST],
			t->read && !t->read_fails && !t->write_fails);
	KUNIT_ASSERT_EQ(test, t->booked[RMW_LOST],
			t->write_fails && !passed ? touches : 0);
	/* a touch neither lost nor passed nor the host's was avoided */
	KUNIT_ASSERT_EQ(test, t->booked[RMW_MERGED] + t->booked[RMW_COMPLETE] +
			t->booked[RMW_KNOWN],
			passed || t->write_fails ? 0 :
			touches - t->booked[RMW_HOST]);
	if (t->cached && !t->write_fails)
		KUNIT_ASSERT_EQ(test, t->booked[RMW_KNOWN], touches);
}

/* Try every set of sectors before and during the read, with every failure. */
static void turns_keep_the_contract(struct kunit *test)
{
	unsigned int before, during, ways;

	for (before = 1; before <= TURN_FULL; before++) {
		for (during = 0; during <= TURN_FULL; during++) {
			for (ways = 0; ways < 8; ways++) {
				struct turn t = {
					.before = before,
					.during = during,
					.cached = ways & 1,
					.read_fails = ways & 2,
					.write_fails = ways & 4,
				};

				turn_run(&t);
				turn_check(test, &t);
			}
		}
	}
}

/*
 * A block with held touches, over as many turns as its write needs. In each
 * turn touches may join, a range may come before, and reads and writes may
 * fail.
 */
#define HELD_TURNS	4
#define HELD_ROUNDS	100000

/**
 * struct held - a held block, and its fate
 * @held_map: sectors of the buffer with acknowledged touches
 * @touches: number of held touches; 0 once they are settled
 * @valid: the buffer has the content that a read would return
 * @cached: @valid at the begin of the turn that is booked
 * @has_read: the block was read for that turn
 * @failed: a turn has failed
 * @reads: number of successful pad reads
 * @buffer: content of the buffer
 * @disk: content of the disk
 * @booked: number of touches resolved in each way
 * @came: number of touches that arrived
 */
struct held {
	unsigned int held_map;
	unsigned int touches;
	bool valid;
	bool cached;
	bool has_read;
	bool failed;
	unsigned int reads;
	enum content buffer[TURN_SECTORS];
	enum content disk[TURN_SECTORS];
	unsigned int booked[RMW_HOW_NR];
	unsigned int came;
};

static void held_settle(struct held *h, enum rmw_how first, enum rmw_how later)
{
	h->booked[first]++;
	h->booked[later] += h->touches - 1;
	h->touches = 0;
	h->held_map = 0;
}

/* Return up to @most of the sectors of a block, at random. */
static unsigned int some_sectors(struct rnd_state *rnd, unsigned int most)
{
	unsigned int sectors = prandom_u32_state(rnd) & TURN_FULL;

	while (hweight32(sectors) > most)
		sectors &= sectors - 1;
	return sectors;
}

/* Begin with a block in memory, maybe cached, that holds a touch or more. */
static void held_begin(struct held *h, struct rnd_state *rnd)
{
	int s;

	memset(h, 0, sizeof(*h));
	h->valid = prandom_u32_state(rnd) & 1;
	while (!h->held_map)
		h->held_map = some_sectors(rnd, TURN_SECTORS);
	/* two held touches may cover the same sectors */
	h->touches = nr_touches(h->held_map) + (prandom_u32_state(rnd) & 1);
	h->came = h->touches;
	for (s = 0; s < TURN_SECTORS; s++) {
		h->disk[s] = OLD;
		h->buffer[s] = h->held_map & BIT(s) ? ACKED :
			       h->valid ? OLD : GARBAGE;
	}
}

/* Let a range reach the disk, which ends the held and cached sectors there. */
static void held_range(struct held *h, unsigned int sectors)
{
	turn_patch(h->disk, sectors);
	h->valid = false;
	h->held_map &= ~sectors;
	if (!h->held_map)
		held_settle(h, RMW_SUPERSEDED, RMW_SUPERSEDED);
}

/* Run one turn in the engine's order of events; every choice is a decision. */
static void held_turn(struct held *h, unsigned int before, unsigned int during,
		      bool read_fails, bool write_fails)
{
	unsigned int joined = nr_touches(before);
	unsigned int covered = h->held_map | before;
	enum rmw_how first, later;
	enum block_step step;
	int s;

	step = block_first_step(h->valid, covered == TURN_FULL);
	/* a turn without a read continues where a failed one has ended */
	if (!h->failed || step == BLOCK_READ) {
		h->cached = h->valid;
		h->has_read = step == BLOCK_READ;
	}
	if (step == BLOCK_READ) {
		covered |= during;
		joined += nr_touches(during);
		before |= during;
		h->has_read = !read_fails;
		h->reads += !read_fails;
		/* read elsewhere; held sectors stay unmodified */
		for (s = 0; s < TURN_SECTORS && !read_fails; s++)
			if (!(h->held_map & BIT(s)))
				h->buffer[s] = h->disk[s];
		step = block_step_after_read(read_fails, covered == TURN_FULL, true);
	}

	turn_patch(h->buffer, before);
	h->came += joined;
	for (s = 0; s < TURN_SECTORS && !write_fails; s++)
		if (step == BLOCK_WRITE || covered & BIT(s))
			h->disk[s] = h->buffer[s];
	first = block_how(write_fails, h->cached, h->has_read, 0);
	later = block_how(write_fails, h->cached, h->has_read, 1);
	if (step == BLOCK_PASS) {
		first = RMW_DRIVE_READ_ERROR;
		later = RMW_DRIVE_READ_ERROR;
	}
	h->booked[later] += joined;

	h->valid = step == BLOCK_WRITE;
	h->failed = write_fails;
	if (!write_fails)
		held_settle(h, first, later);
}

/* Check the contract at the end of a turn; @new: sectors ever written. */
static void held_check(struct kunit *test, const struct held *h,
		       unsigned int held_map, unsigned int new)
{
	unsigned int sum = 0;
	int i;

	for (i = 0; i < TURN_SECTORS; i++) {
		enum content seen = h->held_map & BIT(i) ? h->buffer[i] : h->disk[i];

		/* a read returns all acknowledged content */
		if (held_map & BIT(i))
			KUNIT_ASSERT_GE(test, seen, ACKED);
		/* and no content that was never written */
		if (!((held_map | new) & BIT(i)))
			KUNIT_ASSERT_EQ(test, seen, OLD);
		KUNIT_ASSERT_NE(test, h->disk[i], GARBAGE);
		/* a second turn may write the buffer with no read before */
		if (h->valid)
			KUNIT_ASSERT_NE(test, h->buffer[i], GARBAGE);
	}

	for (i = 0; i < RMW_HOW_NR; i++)
		sum += h->booked[i];
	KUNIT_ASSERT_EQ(test, sum + h->touches, h->came);
	KUNIT_ASSERT_LE(test, h->booked[RMW_HOST], h->reads);
	/* the content read by a failed turn stays cached */
	if (h->reads)
		KUNIT_ASSERT_EQ(test, h->booked[RMW_KNOWN], 0);
}

static void held_data_survives_failed_turns(struct kunit *test)
{
	unsigned int settled[RMW_HOW_NR] = {};
	struct rnd_state rnd;
	unsigned int round;
	int i;

	prandom_seed_state(&rnd, 512);
	for (round = 0; round < HELD_ROUNDS; round++) {
		unsigned int held_map, overwritten = 0, new = 0, turn;
		struct held h;

		held_begin(&h, &rnd);
		held_map = h.held_map;
		for (turn = 1; h.touches; turn++) {
			u32 ways = prandom_u32_state(&rnd);
			unsigned int before = some_sectors(&rnd, 3);
			unsigned int during = some_sectors(&rnd, 3);
			unsigned int range = some_sectors(&rnd, 6);

			new |= before | during;
			if (!(ways & 12)) {
				new |= range;
				overwritten |= range;
				held_range(&h, range);
				held_check(test, &h, held_map, new);
				if (!h.touches)
					break;
			}
			/* in the end the drive works again */
			held_turn(&h, before, during,
				  turn < HELD_TURNS && ways & 1,
				  turn < HELD_TURNS && ways & 2);
			held_check(test, &h, held_map, new);
		}
		/* and then has all content, the newest on top */
		for (i = 0; i < TURN_SECTORS; i++) {
			if (held_map & BIT(i))
				KUNIT_ASSERT_GE(test, h.disk[i], ACKED);
			if (overwritten & BIT(i))
				KUNIT_ASSERT_EQ(test, h.disk[i], NEW);
		}
		for (i = 0; i < RMW_HOW_NR; i++)
			settled[i] += h.booked[i];
	}
	/* the rounds covered all kinds */
	for (i = 0; i < RMW_DRIVE_REPORT; i++)
		KUNIT_EXPECT_GT(test, settled[i], 1000);
	KUNIT_EXPECT_GT(test, settled[RMW_DRIVE_READ_ERROR], 1000);
}

/*
 * The drain's choice, looked up in the shards: the first kind from the turn on of
 * which there is a block; the oldest of all, or the first shard from the cursor on.
 * Return: @nr if there is nothing.
 */
static unsigned int drain_expect(const struct drain_cursor *cursor,
				 const struct drain_shard *shards,
				 unsigned int nr, unsigned int *turn)
{
	unsigned int i, j, at, other;

	for (i = cursor->turn; i < cursor->turn + DRAIN_TURNS; i++) {
		*turn = i % DRAIN_TURNS;
		for (j = 0; j < nr; j++) {
			at = (cursor->shard[*turn] + j) % nr;
			if (!shards[at].has[*turn])
				continue;
			for (other = 0; other < nr; other++)
				if (*turn == DRAIN_OLDEST &&
				    shards[other].has[*turn] &&
				    shards[other].seq < shards[at].seq)
					break;
			if (other == nr)
				return at;
		}
	}
	return nr;
}

#define DRAIN_SHARDS	3

/* Compare the choice among a set of blocks, as bits, from a turn and a shard on. */
static void drain_check(struct kunit *test, unsigned int has, const u64 *seqs,
			unsigned int begin)
{
	struct drain_cursor cursor = { .turn = begin / DRAIN_SHARDS };
	struct drain_shard shards[DRAIN_SHARDS];
	unsigned int i, j, found, expected;
	enum drain_turn got;

	for (i = 0; i < DRAIN_TURNS; i++)
		cursor.shard[i] = begin % DRAIN_SHARDS;
	for (i = 0; i < DRAIN_SHARDS; i++) {
		shards[i].seq = seqs[i];
		for (j = 0; j < DRAIN_TURNS; j++)
			shards[i].has[j] = has & BIT(i * DRAIN_TURNS + j);
	}
	found = drain_expect(&cursor, shards, DRAIN_SHARDS, &expected);
	KUNIT_ASSERT_EQ(test, found,
			drain_next(&cursor, shards, DRAIN_SHARDS, &got));
	if (found == DRAIN_SHARDS)
		return;
	KUNIT_ASSERT_EQ(test, expected, (unsigned int)got);
	KUNIT_ASSERT_EQ(test, cursor.turn, (got + 1) % DRAIN_TURNS);
	KUNIT_ASSERT_EQ(test, cursor.shard[got], (found + 1) % DRAIN_SHARDS);
}

/* All sets of blocks in three shards, from each turn and each shard. */
static void drains_in_turn(struct kunit *test)
{
	static const u64 orders[][DRAIN_SHARDS] = {
		{ 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 },
		{ 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 },
	};
	unsigned int has, order, begin;

	for (has = 0; has < BIT(DRAIN_SHARDS * DRAIN_TURNS); has++)
		for (order = 0; order < ARRAY_SIZE(orders); order++)
			for (begin = 0; begin < DRAIN_TURNS * DRAIN_SHARDS; begin++)
				drain_check(test, has, orders[order], begin);
}

#define DRAIN_ROUNDS	20000

/* Other blocks come and go, and a block that stays is taken within the bound. */
static void drain_starves_nothing(struct kunit *test)
{
	static unsigned int waits[DRAIN_SHARDS][DRAIN_TURNS];
	struct drain_shard shards[DRAIN_SHARDS] = {};
	struct drain_cursor cursor = {};
	unsigned int round, i, j, found;
	struct rnd_state rnd;
	enum drain_turn turn;
	u64 seq = 0;

	prandom_seed_state(&rnd, 1);
	memset(waits, 0, sizeof(waits));
	for (round = 0; round < DRAIN_ROUNDS; round++) {
		/* Blocks come, and never go but by being taken. */
		for (i = 0; i < DRAIN_SHARDS; i++)
			for (j = 0; j < DRAIN_TURNS; j++) {
				if (shards[i].has[j] ||
				    prandom_u32_state(&rnd) % 4 == 0)
					continue;
				shards[i].has[j] = true;
				waits[i][j] = 0;
				if (j == DRAIN_OLDEST)
					shards[i].seq = ++seq;
			}
		found = drain_next(&cursor, shards, DRAIN_SHARDS, &turn);
		if (found == DRAIN_SHARDS)
			continue;
		shards[found].has[turn] = false;
		for (i = 0; i < DRAIN_SHARDS; i++)
			for (j = 0; j < DRAIN_TURNS; j++)
				if (shards[i].has[j])
					KUNIT_ASSERT_LT(test, ++waits[i][j],
							DRAIN_TURNS * DRAIN_SHARDS);
	}
}

/* The facts of a block by the bits of a number. */
#define FACTS	BIT(7)

static struct block_facts facts_of(enum block_state state, unsigned int bits)
{
	return (struct block_facts) {
		.state = state,
		.touches = bits & BIT(0),
		.next = bits & BIT(1),
		.waiting = bits & BIT(2),
		.held = bits & BIT(3),
		.failed = bits & BIT(4),
		.over = bits & BIT(5),
		.valid = bits & BIT(6),
	};
}

static bool is_active(enum block_state state)
{
	return state == BLOCK_IS_COLLECT || state == BLOCK_IS_READ ||
	       state == BLOCK_IS_WRITE || state == BLOCK_IS_PASS;
}

/* Rules 1, 3 and 5 of turn.c, and rule 7 of held.c but for discards. */
static void check_range_step(struct kunit *test, struct block_facts b)
{
	enum range_step step = block_range_step(&b, false);

	KUNIT_EXPECT_EQ(test, step == RANGE_EVICTS, b.state == BLOCK_IS_CACHED);
	if (is_active(b.state))
		KUNIT_EXPECT_EQ(test, step, RANGE_WAITS);
	if (b.state == BLOCK_IS_WAIT && (b.touches || b.waiting))
		KUNIT_EXPECT_EQ(test, step, RANGE_WAITS);
	if (b.state == BLOCK_IS_REST && (b.failed || !b.over))
		KUNIT_EXPECT_EQ(test, step, RANGE_PASSES);
	if (b.state == BLOCK_IS_REST && b.over && !b.failed)
		KUNIT_EXPECT_EQ(test, step, RANGE_WAITS);
	/* A block in WAIT that has touches or ranges, or is over, lets no range pass. */
	if (step == RANGE_PASSES && b.state == BLOCK_IS_WAIT)
		KUNIT_EXPECT_FALSE(test, b.touches || b.waiting || b.over);
}

/* Rule 7 of discards: no held data that can be written are given up. */
static void check_discard_step(struct kunit *test, struct block_facts b)
{
	enum range_step step = block_range_step(&b, true);

	if (b.held && !b.failed)
		KUNIT_EXPECT_EQ(test, step, RANGE_WAITS);
	else
		KUNIT_EXPECT_EQ(test, step, block_range_step(&b, false));
}

static void ranges_keep_the_order(struct kunit *test)
{
	unsigned int state, bits;

	for (state = 0; state < BLOCK_STATES; state++) {
		for (bits = 0; bits < FACTS; bits++) {
			struct block_facts b = facts_of(state, bits);

			check_range_step(test, b);
			check_discard_step(test, b);
		}
	}
}

/* A touch joins only a block that is not being written, and no range that came before. */
static void touches_keep_the_order(struct kunit *test)
{
	unsigned int state;

	for (state = 0; state < BLOCK_STATES; state++) {
		bool rests = state == BLOCK_IS_REST || state == BLOCK_IS_CACHED;
		bool sent = state == BLOCK_IS_WRITE || state == BLOCK_IS_PASS;

		KUNIT_EXPECT_EQ(test, block_touch_step(state, false),
				rests ? TOUCH_MAY_REST :
				sent ? TOUCH_WAITS : TOUCH_JOINS);
		/*
		 * No range waits for a block of which only the content is
		 * cached.
		 */
		if (state != BLOCK_IS_CACHED)
			KUNIT_EXPECT_EQ(test, block_touch_step(state, true),
					TOUCH_WAITS);
	}
}

/* Rule 4 of turn.c: ranges that wait go first, then touches; nothing is left behind. */
static void turns_end_in_order(struct kunit *test)
{
	unsigned int bits;

	for (bits = 0; bits < FACTS; bits++) {
		struct block_facts b = facts_of(BLOCK_IS_WRITE, bits);
		enum block_next next = block_after_turn(&b);

		if (b.waiting)
			KUNIT_EXPECT_TRUE(test, next == BLOCK_WAITS ||
					  next == BLOCK_LEAVES);
		else if (b.next)
			KUNIT_EXPECT_EQ(test, next, BLOCK_COLLECTS);
		else if (b.held)
			KUNIT_EXPECT_EQ(test, next, BLOCK_RESTS);
		if (next == BLOCK_LEAVES)
			KUNIT_EXPECT_FALSE(test, b.next || b.held ||
					   (b.valid && !b.waiting));
		/* A range evicts a cached block. */
		if (next == BLOCK_STAYS)
			KUNIT_EXPECT_TRUE(test, b.valid && !b.waiting);
	}
}

/* When no range is in flight, touches are served, and nothing is left behind. */
static void ranges_end_in_order(struct kunit *test)
{
	unsigned int bits;

	for (bits = 0; bits < FACTS; bits++) {
		struct block_facts b = facts_of(BLOCK_IS_WAIT, bits);
		enum block_next next = block_after_ranges(&b);

		KUNIT_EXPECT_EQ(test, next == BLOCK_COLLECTS,
				b.touches || (b.failed && b.waiting));
		KUNIT_EXPECT_EQ(test, next == BLOCK_LEAVES,
				!b.touches && !b.held && !b.waiting);
		if (next == BLOCK_RESTS)
			KUNIT_EXPECT_TRUE(test, b.held && !b.touches);
		if (next == BLOCK_ENDS_TURN)
			KUNIT_EXPECT_TRUE(test, b.waiting && !b.held &&
					  !b.touches);
	}
}

/* From more than three quarters of the limit down to half of it. */
static void pressure_has_two_thresholds(struct kunit *test)
{
	unsigned int max, resting;

	for (max = 1; max < 40; max++) {
		for (resting = 0; resting <= max; resting++) {
			bool above = 4 * resting > 3 * max + 3;

			if (above)
				KUNIT_EXPECT_TRUE(test, held_is_pressed(false, resting, max));
			if (resting <= max / 2)
				KUNIT_EXPECT_FALSE(test, held_is_pressed(true, resting, max));
			/* In between the pressure stays as it is. */
			if (resting > max / 2 && resting <= max - max / 4) {
				KUNIT_EXPECT_TRUE(test, held_is_pressed(true, resting, max));
				KUNIT_EXPECT_FALSE(test, held_is_pressed(false, resting, max));
			}
		}
	}
}

static const u64 ceilings[] = { 1, 3, 4, 4607, 4608, 1 << 20, 1ULL << 40 };

/*
 * The parts of a ceiling are the ceiling, so that blocks which keep to them keep to it; a
 * quarter is divided equally, as far as that goes.
 */
static void parts_are_the_ceiling(struct kunit *test)
{
	unsigned int i, targets;

	for (i = 0; i < ARRAY_SIZE(ceilings); i++) {
		u64 max = ceilings[i];

		for (targets = 1; targets < 2000; targets += 13) {
			struct ceiling_parts parts =
				ceiling_divide(max, targets);

			KUNIT_EXPECT_EQ(test, max,
					parts.own * targets + parts.common);
			KUNIT_EXPECT_LE(test, parts.own * targets, max / 4);
			KUNIT_EXPECT_GT(test, (parts.own + 1) * targets, max / 4);
		}
		/* Without a target there is nothing to keep for one. */
		KUNIT_EXPECT_EQ(test, ceiling_divide(max, 0).common, max);
	}
}

/*
 * The limit of held blocks never exceeds max_blocks or the ceiling; while the common
 * part is nearly full, neither do the limits of all targets together exceed the
 * ceiling.
 */
static void holding_keeps_to_the_ceiling(struct kunit *test)
{
	const u64 cost = 4608;
	unsigned int i, targets;

	for (i = 0; i < ARRAY_SIZE(ceilings); i++) {
		u64 max = ceilings[i];

		for (targets = 1; targets < 100; targets += 7) {
			struct ceiling_parts parts =
				ceiling_divide(max, targets);
			u64 far = ceiling_most_held(max, targets, cost, 0, ~0U);
			u64 near = ceiling_most_held(max, targets, cost,
						     parts.common, ~0U);

			KUNIT_EXPECT_GE(test, near, (u64)1);
			KUNIT_EXPECT_LE(test, near, far);
			if (far > 1)
				KUNIT_EXPECT_LE(test, far * cost,
						parts.own + parts.common);
			if (near > 1)
				KUNIT_EXPECT_LE(test, near * cost * targets, max);
			KUNIT_EXPECT_EQ(test, 1U,
					ceiling_most_held(max, targets, cost,
							  0, 1));
		}
	}
	KUNIT_EXPECT_FALSE(test, ceiling_is_near(700, 800));
	KUNIT_EXPECT_TRUE(test, ceiling_is_near(701, 800));
	KUNIT_EXPECT_EQ(test, ceiling_excess(600, 800), (u64)0);
	KUNIT_EXPECT_EQ(test, ceiling_excess(601, 800), (u64)1);
	KUNIT_EXPECT_EQ(test, ceiling_excess(800, 800), (u64)200);
	/* A ceiling that was lowered. */
	KUNIT_EXPECT_EQ(test, ceiling_excess(10, 0), (u64)10);
}

static void the_young_and_open_wait(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, held_goes_along(true, false, 0, 100));
	KUNIT_EXPECT_TRUE(test, held_goes_along(false, true, 0, 100));
	KUNIT_EXPECT_FALSE(test, held_goes_along(false, false, 49, 100));
	KUNIT_EXPECT_TRUE(test, held_goes_along(false, false, 50, 100));
}

static struct kunit_case block_cases[] = {
	KUNIT_CASE(ranges_keep_the_order),
	KUNIT_CASE(touches_keep_the_order),
	KUNIT_CASE(turns_end_in_order),
	KUNIT_CASE(ranges_end_in_order),
	KUNIT_CASE(pressure_has_two_thresholds),
	KUNIT_CASE(parts_are_the_ceiling),
	KUNIT_CASE(holding_keeps_to_the_ceiling),
	KUNIT_CASE(the_young_and_open_wait),
	KUNIT_CASE_PARAM(reads_only_what_is_open, first_gen_params),
	KUNIT_CASE_PARAM(passes_what_cannot_be_completed, after_gen_params),
	KUNIT_CASE_PARAM(books_each_touch, how_gen_params),
	KUNIT_CASE(turns_keep_the_contract),
	KUNIT_CASE(held_data_survives_failed_turns),
	KUNIT_CASE(drains_in_turn),
	KUNIT_CASE(drain_starves_nothing),
	{}
};

static struct kunit_suite block_suite = {
	.name = "dm-align-block",
	.test_cases = block_cases,
};

kunit_test_suite(block_suite);

MODULE_DESCRIPTION("KUnit tests for the decisions of dm-align's block engine");
MODULE_LICENSE("GPL");
