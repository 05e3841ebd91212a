// SPDX-License-Identifier: GPL-2.0
#include "../mechanics.h"

#include <math.h>

#include "tap.h"

static struct mechanics disk(void)
{
	struct mechanics m;

	mechanics_init(&m, profile_find("hdd-nocache"), 4096);
	return m;
}

static double curve(const struct seek_curve *c, double cylinders)
{
	return (c->base + c->root * sqrt(cylinders) + c->linear * cylinders) / 1e6;
}

static void test_seek_points(void)
{
	struct mechanics m = disk();
	double n = profile_find("hdd-nocache")->cylinders;

	CHECK(fabs(curve(&m.read, 1) - 0.23) < 1e-3, "%f", curve(&m.read, 1));
	CHECK(fabs(curve(&m.read, n / 3) - 7.5) < 1e-3, "%f",
	      curve(&m.read, n / 3));
	CHECK(fabs(curve(&m.read, n) - 17) < 1e-3, "%f", curve(&m.read, n));
	CHECK(fabs(curve(&m.write, 1) - 0.44) < 1e-3, "%f", curve(&m.write, 1));
	CHECK(fabs(curve(&m.write, n / 3) - 8.5) < 1e-3, "%f",
	      curve(&m.write, n / 3));
	CHECK(fabs(curve(&m.write, n) - 18) < 1e-3, "%f", curve(&m.write, n));
	for (double d = 1; d < n; d += 1000)
		CHECK(curve(&m.read, d + 1000) > curve(&m.read, d), "at %f", d);
}

static void test_rates(void)
{
	struct mechanics m = disk();
	double outer = 220e6 / (double)(16 << 20) * 1e-9;
	double inner = outer * 83 / 175;
	uint64_t far = UINT64_C(990000000000);
	double t;

	t = 1 / (double)mechanics_travel(&m, 0, 16 << 20);
	CHECK(fabs(t / outer - 1) < 0.01, "outer %g", t / outer);
	t = 1 / (double)mechanics_travel(&m, far, far + (16 << 20));
	CHECK(fabs(t / inner - 1) < 0.01, "inner %g", t / inner);
	CHECK(m.revolution == 8333333, "%jd", (intmax_t)m.revolution);
}

static void test_track(void)
{
	struct mechanics m = disk();
	uint64_t track = m.zones[0].track_bytes;

	CHECK(track % 4096 == 0, "%ju", (uintmax_t)track);
	CHECK(mechanics_travel(&m, 0, track) == m.revolution, "a track");
	CHECK(mechanics_travel(&m, track / 2, track / 2 + 3 * track) ==
	      3 * m.revolution, "three tracks");
}

static void test_passed_inverts_travel(void)
{
	struct mechanics m = disk();

	for (unsigned int i = 0; i < 10000; i++) {
		uint64_t from = (uint64_t)tap_random(1 << 30) * 4;
		uint64_t bytes = tap_random(1 << 22);
		int64_t time = mechanics_travel(&m, from, from + bytes);
		double passed = (double)mechanics_passed(&m, from, time);

		CHECK(fabs(passed - (double)bytes) < 300,
		      "%f of %ju", passed, (uintmax_t)bytes);
	}
}

/* Wherever the head comes from, the byte is under it on arrival. */
static void test_angle(void)
{
	struct mechanics m = disk();

	for (unsigned int i = 0; i < 10000; i++) {
		uint64_t from = (uint64_t)tap_random(1 << 30) * 512;
		uint64_t to = (uint64_t)tap_random(1 << 30) * 512;
		int64_t now = INT64_C(1000) * tap_random(1 << 30);
		bool write = tap_random(2);
		int64_t at = mechanics_reach(&m, now, from, to, write);
		int64_t turns = at - mechanics_travel(&m, 0, to);

		CHECK(turns % m.revolution == 0, "%jd",
		      (intmax_t)(turns % m.revolution));
		CHECK(at - now >= (write ? 440000 : 230000) - 1, "too early");
		CHECK(at - now <= 18000000 + m.revolution, "too late");
	}
}

static void test_sweep(void)
{
	struct mechanics m = disk();
	int64_t now = mechanics_reach(&m, 12345, 0, 8192, true);

	CHECK(mechanics_sweep(&m, now, 8192, 8192, true) == now,
	      "what follows at once costs nothing");
	CHECK(mechanics_sweep(&m, now, 8192, 16384, true) ==
	      now + mechanics_travel(&m, 8192, 16384), "a gap costs its length");
	CHECK(mechanics_sweep(&m, now, 8192, 4096, true) ==
	      now + m.revolution - mechanics_travel(&m, 4096, 8192),
	      "what was just passed costs a turn");
}

const struct tap_test mechanics_tests[] = {
	{ "the seek curves go through the published times and rise",
	  test_seek_points },
	{ "zones have the published rates", test_rates },
	{ "a track passes in a revolution and holds whole blocks", test_track },
	{ "bytes passed and time to pass agree", test_passed_inverts_travel },
	{ "a head arrives when the byte does, after the seek", test_angle },
	{ "a sweep goes on without a seek", test_sweep },
	{ 0 },
};
