// SPDX-License-Identifier: GPL-2.0
#include "../mechanics.h"

#include "../read_buffer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Seek from each of 1000 places to each. */
static double mean_seek(const struct seek_curve *c, double cylinders)
{
	const int places = 1000;
	double sum = 0;

	for (int from = 0; from < places; from++) {
		for (int to = 0; to < places; to++)
			sum += curve(c, abs(to - from) * cylinders / places);
	}
	return sum / places / places;
}

static void test_seek_points(void)
{
	struct mechanics m = disk();
	double n = m.cylinders;

	CHECK(fabs(curve(&m.read, 1) - 0.23) < 1e-3, "%f", curve(&m.read, 1));
	CHECK(fabs(mean_seek(&m.read, n) - 7.5) < 0.05, "%f",
	      mean_seek(&m.read, n));
	CHECK(fabs(curve(&m.read, n) - 17) < 1e-3, "%f", curve(&m.read, n));
	CHECK(fabs(curve(&m.write, 1) - 0.44) < 1e-3, "%f", curve(&m.write, 1));
	CHECK(fabs(mean_seek(&m.write, n) - 8.5) < 0.05, "%f",
	      mean_seek(&m.write, n));
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

/* From any position the head arrives together with the byte. */
static void test_angle(void)
{
	struct mechanics m = disk();

	for (unsigned int i = 0; i < 10000; i++) {
		uint64_t from = (uint64_t)tap_random(1 << 30) * 512;
		uint64_t to = i % 2 ? from : (uint64_t)tap_random(1 << 30) * 512;
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
	      "the next bytes in a row are not free");
	CHECK(mechanics_sweep(&m, now, 8192, 16384, true) ==
	      now + mechanics_travel(&m, 8192, 16384), "a gap costs its length");
	CHECK(mechanics_sweep(&m, now, 8192, 4096, true) ==
	      now + m.revolution - mechanics_travel(&m, 4096, 8192),
	      "bytes just passed do not cost a revolution");
}

/* ---- the read buffer ---- */

#define KIB UINT64_C(1024)

static bool covers(struct read_buffer *b, uint64_t start, uint64_t end)
{
	return read_buffer_covers(b, start) >= end;
}

static void test_buffer_grows(void)
{
	struct read_buffer b;

	memset(&b, 0, sizeof(b));
	CHECK(!covers(&b, 0, 4 * KIB), "empty");
	read_buffer_add(&b, 64 * KIB, 128 * KIB);
	CHECK(covers(&b, 64 * KIB, 128 * KIB), "added");
	CHECK(!covers(&b, 60 * KIB, 64 * KIB), "before it");
	CHECK(!covers(&b, 128 * KIB, 132 * KIB), "behind it");
	read_buffer_add(&b, 128 * KIB, 256 * KIB);
	CHECK(covers(&b, 64 * KIB, 256 * KIB), "grown at its end");
	read_buffer_add(&b, 32 * KIB, 100 * KIB);
	CHECK(covers(&b, 32 * KIB, 256 * KIB), "grown at its start");
}

static void test_buffer_is_bounded(void)
{
	struct read_buffer b;
	uint64_t held = 0;

	memset(&b, 0, sizeof(b));
	for (uint64_t at = 0; at < 4 * SEGMENT_BYTES; at += 64 * KIB)
		read_buffer_add(&b, at, at + 64 * KIB);
	CHECK(!covers(&b, 0, 4 * KIB), "the front is still there");
	CHECK(covers(&b, 3 * SEGMENT_BYTES, 4 * SEGMENT_BYTES), "the end is not");

	for (unsigned int i = 0; i < 10000; i++) {
		uint64_t at = tap_random(1000) * 4 * SEGMENT_BYTES;

		read_buffer_add(&b, at, at + 4 * KIB * (1 + tap_random(100)));
	}
	for (unsigned int i = 0; i < SEGMENTS; i++)
		held += b.segments[i].end - b.segments[i].start;
	CHECK(held <= SEGMENTS * SEGMENT_BYTES, "%ju", (uintmax_t)held);
}

static void test_buffer_keeps_what_is_used(void)
{
	struct read_buffer b;

	memset(&b, 0, sizeof(b));
	read_buffer_add(&b, 0, 4 * KIB);
	read_buffer_add(&b, 64 * KIB, 68 * KIB);
	for (unsigned int i = 2; i < 3 * SEGMENTS; i++) {
		CHECK(covers(&b, 0, 4 * KIB), "lost after %u more", i);
		read_buffer_add(&b, i * 64 * KIB, i * 64 * KIB + 4 * KIB);
	}
	CHECK(!covers(&b, 64 * KIB, 68 * KIB), "an unused segment is still there");
}

const struct tap_test mechanics_tests[] = {
	{ "the seek curves go through the published times and rise",
	  test_seek_points },
	{ "zones have the published rates", test_rates },
	{ "a track passes in a revolution and holds whole blocks", test_track },
	{ "bytes passed and time to pass agree", test_passed_inverts_travel },
	{ "a head arrives when the byte does, after the seek", test_angle },
	{ "a sweep goes on without a seek", test_sweep },
	{ "the read buffer joins runs that meet", test_buffer_grows },
	{ "the read buffer is bounded", test_buffer_is_bounded },
	{ "the read buffer drops the least recently used segment",
	  test_buffer_keeps_what_is_used },
	{ 0 },
};
