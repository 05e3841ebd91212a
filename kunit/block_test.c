// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the decisions of the block engine (decide.h): what a block
 * does for the touches that it collected, and how they are booked.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "decide.h"

static const char * const step_names[] = {
	[BLOCK_READ] = "read",
	[BLOCK_WRITE] = "write",
	[BLOCK_PASS] = "pass",
};

static const struct first_row {
	bool known, full;
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
		 row->known ? "known" : "unknown", row->full ? "full" : "open",
		 step_names[row->step]);
}

KUNIT_ARRAY_PARAM(first, first_params, first_desc);

static void reads_only_what_is_open(struct kunit *test)
{
	const struct first_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, block_first_step(row->known, row->full),
			row->step);
}

static const struct after_row {
	bool failed, full;
	enum block_step step;
} after_params[] = {
	{ false, false, BLOCK_WRITE },
	{ false, true, BLOCK_WRITE },
	{ true, false, BLOCK_PASS },
	{ true, true, BLOCK_WRITE },
};

static void after_desc(const struct after_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "read %s, %s: %s",
		 row->failed ? "failed" : "succeeded",
		 row->full ? "full" : "open", step_names[row->step]);
}

KUNIT_ARRAY_PARAM(after, after_params, after_desc);

static void passes_what_cannot_be_completed(struct kunit *test)
{
	const struct after_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, block_step_after_read(row->failed, row->full),
			row->step);
}

static const struct how_row {
	bool failed, known, read;
	enum rmw_how first, later;	/* touch 0, and any other */
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
		 row->known ? "known" : "unknown",
		 row->read ? "read" : "not read");
}

KUNIT_ARRAY_PARAM(how, how_params, how_desc);

static void books_each_touch(struct kunit *test)
{
	const struct how_row *row = test->param_value;
	unsigned int nth;

	KUNIT_EXPECT_EQ(test, row->first,
			block_how(row->failed, row->known, row->read, 0));
	for (nth = 1; nth < 1000; nth++)
		KUNIT_EXPECT_EQ(test, row->later,
				block_how(row->failed, row->known, row->read,
					  nth));
	KUNIT_EXPECT_EQ(test, row->later,
			block_how(row->failed, row->known, row->read, ~0U));
}

/*
 * One turn of a block of eight sectors, from its first touch to the end of its
 * write, led by the decisions alone.
 */
#define TURN_SECTORS	8
#define TURN_FULL	(BIT(TURN_SECTORS) - 1)

/* What a sector of the buffer, or of the disk, holds. */
enum content {
	GARBAGE,		/* what the memory held before */
	OLD,			/* what the disk held when the touches came */
	NEW,			/* what a touch brought */
};

/**
 * struct turn - what happens to a block, and what comes of it
 * @before: sectors that touches cover when the block starts
 * @during: sectors of the touches that join while it is read
 * @known: the buffer holds what the disk holds
 * @read_fails: if it is read
 * @write_fails: if it is written
 * @buffer: what the buffer holds
 * @disk: what the disk holds
 * @read: it was read
 * @booked: how many touches were resolved in which way
 */
struct turn {
	unsigned int before;
	unsigned int during;
	bool known;
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

/* Each stretch of sectors that lie side by side is one touch. */
static unsigned int nr_touches(unsigned int sectors)
{
	return hweight32(sectors & ~(sectors << 1));
}

/* The engine's order of events; every choice in it is a decision. */
static void turn_run(struct turn *t)
{
	unsigned int covered = t->before;
	unsigned int touches = nr_touches(t->before);
	enum block_step step;
	unsigned int nth;
	int s;

	for (s = 0; s < TURN_SECTORS; s++) {
		t->disk[s] = OLD;
		t->buffer[s] = t->known ? OLD : GARBAGE;
	}

	step = block_first_step(t->known, covered == TURN_FULL);
	if (step == BLOCK_READ) {
		t->read = true;
		covered |= t->during;
		touches += nr_touches(t->during);
		if (!t->read_fails)
			memcpy(t->buffer, t->disk, sizeof(t->buffer));
		step = block_step_after_read(t->read_fails,
					     covered == TURN_FULL);
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
		t->booked[block_how(t->write_fails, t->known,
				    t->read && !t->read_fails, nth)]++;
}

/* What must be true of every turn. */
static void turn_check(struct kunit *test, const struct turn *t)
{
	unsigned int covered = t->before | (t->read ? t->during : 0);
	unsigned int touches = nr_touches(t->before) +
			       (t->read ? nr_touches(t->during) : 0);
	bool passed = t->booked[RMW_DRIVE_READ_ERROR];
	unsigned int sum = 0;
	int i;

	/* the disk holds what the writes brought, the rest is untouched */
	for (i = 0; i < TURN_SECTORS; i++) {
		enum content want = covered & BIT(i) ? NEW : OLD;

		if (t->write_fails && !passed)
			want = OLD;
		KUNIT_ASSERT_EQ(test, t->disk[i], want);
		/* not even a write that fails may carry garbage */
		if (!passed)
			KUNIT_ASSERT_NE(test, t->buffer[i], GARBAGE);
	}

	/* no read without need, none left out, and no fallback without error */
	KUNIT_ASSERT_EQ(test, t->read, !t->known && t->before != TURN_FULL);
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
	/* what is neither lost nor passed nor the host's was avoided */
	KUNIT_ASSERT_EQ(test, t->booked[RMW_MERGED] + t->booked[RMW_COMPLETE] +
			t->booked[RMW_KNOWN],
			passed || t->write_fails ? 0 :
			touches - t->booked[RMW_HOST]);
	if (t->known && !t->write_fails)
		KUNIT_ASSERT_EQ(test, t->booked[RMW_KNOWN], touches);
}

/* Every set of sectors before and during the read, and every way to fail. */
static void turns_keep_the_contract(struct kunit *test)
{
	unsigned int before, during, ways;

	for (before = 1; before <= TURN_FULL; before++) {
		for (during = 0; during <= TURN_FULL; during++) {
			for (ways = 0; ways < 8; ways++) {
				struct turn t = {
					.before = before,
					.during = during,
					.known = ways & 1,
					.read_fails = ways & 2,
					.write_fails = ways & 4,
				};

				turn_run(&t);
				turn_check(test, &t);
			}
		}
	}
}

static struct kunit_case block_cases[] = {
	KUNIT_CASE_PARAM(reads_only_what_is_open, first_gen_params),
	KUNIT_CASE_PARAM(passes_what_cannot_be_completed, after_gen_params),
	KUNIT_CASE_PARAM(books_each_touch, how_gen_params),
	KUNIT_CASE(turns_keep_the_contract),
	{}
};

static struct kunit_suite block_suite = {
	.name = "dm-align-block",
	.test_cases = block_cases,
};

kunit_test_suite(block_suite);

MODULE_DESCRIPTION("KUnit tests for the decisions of dm-align's block engine");
MODULE_LICENSE("GPL");
