// SPDX-License-Identifier: GPL-2.0
#include "../pace.h"

#include "tap.h"

#define MS INT64_C(1000000)

static void test_on_time(void)
{
	struct pace p = { 0 };

	CHECK(pace_arrival(&p, 1000 * MS, 0) == 1000 * MS, "first");
	pace_answered(&p, 1005 * MS, 1005 * MS);
	CHECK(pace_arrival(&p, 1006 * MS, 0) == 1006 * MS, "second");
}

static void test_late_answer(void)
{
	struct pace p = { 0 };

	pace_arrival(&p, 1000 * MS, 0);
	pace_answered(&p, 1005 * MS, 1008 * MS);
	CHECK(pace_arrival(&p, 1009 * MS, 0) == 1006 * MS,
	      "a client that took 1 ms did not arrive 1 ms after the due time");
}

/* Answers 0.1 ms late each: the model's time must not drift from the clock. */
static void test_no_drift(void)
{
	struct pace p = { 0 };
	int64_t now = 1000 * MS, due = 0;

	for (unsigned int i = 0; i < 10000; i++) {
		due = pace_arrival(&p, now, 0) + 5 * MS;
		now = due + MS / 10;		/* woken late */
		pace_answered(&p, due, now);
		now += MS / 20;			/* the client's own time */
	}
	CHECK(now - due == MS / 10 + MS / 20, "off by %jd ns",
	      (intmax_t)(now - due));
	CHECK(due == 1000 * MS + 10000 * 5 * MS + 9999 * (MS / 20),
	      "%jd: lateness has added up", (intmax_t)due);
}

static void test_lead(void)
{
	struct pace p = { 0 };

	CHECK(pace_arrival(&p, 1000 * MS, 2 * MS) == 998 * MS, "first");
	pace_answered(&p, 1005 * MS, 1005 * MS);
	CHECK(pace_arrival(&p, 1006 * MS, 2 * MS) == 1005 * MS,
	      "came before the last answer was due");
	pace_answered(&p, 1010 * MS, 1013 * MS);
	CHECK(pace_arrival(&p, 1016 * MS, 2 * MS) == 1011 * MS,
	      "neither lag nor lead may be forgotten");
}

static void test_ceiling(void)
{
	struct pace p = { 0 };
	int64_t now = 1000 * MS;

	pace_arrival(&p, now, 0);
	pace_answered(&p, now, now + PACE_CEILING_NS + 1);
	now += PACE_CEILING_NS + 2;
	CHECK(pace_arrival(&p, now, 0) == now, "a stopped machine is no lag");

	pace_answered(&p, now, now + MS);
	now += MS + PACE_CEILING_NS + 1;
	CHECK(pace_arrival(&p, now, 0) == now, "an idle client keeps no lag");
}

static void test_forward(void)
{
	struct pace p = { 0 };
	int64_t last = 0, now = 1000 * MS;

	for (unsigned int i = 0; i < 10000; i++) {
		int64_t at;

		now += tap_random(3 * MS);
		at = pace_arrival(&p, now, 0);
		CHECK(at >= last, "%jd after %jd", (intmax_t)at, (intmax_t)last);
		CHECK(at <= now, "in the future");
		last = at;
		pace_answered(&p, now - tap_random(5 * MS), now);
	}
}

const struct tap_test pace_tests[] = {
	{ "without lag the model's clock is the machine's", test_on_time },
	{ "a late answer does not make the next request late", test_late_answer },
	{ "lateness never adds up", test_no_drift },
	{ "a write's command comes before its data, not before the last answer",
	  test_lead },
	{ "lag is forgiven beyond a ceiling and after a pause", test_ceiling },
	{ "the model's clock never runs backwards", test_forward },
	{ 0 },
};
