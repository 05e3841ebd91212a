// SPDX-License-Identifier: GPL-2.0
/* The published rows, in virtual time: no noise, no transport. */
#include <math.h>

#include "../bench/workloads.h"
#include "../model.h"
#include "tap.h"

struct row {
	double mean_us[PARTS_MAX];
	double wall_s;
	struct media_counters media;
};

static struct row play(const struct workload *w)
{
	struct model_config config = {
		.profile = profile_find("st1000dm003"),
		.map = { 4096, 0 },
		.size = UINT64_C(1) << 30,
		.cache = true,
	};
	struct model *m = model_new(&config);
	int64_t start = 1000000000, now = start;
	struct request flush = { .op = OP_FLUSH };
	struct row row = { 0 };

	for (unsigned int i = 0; i < w->count; i++) {
		uint64_t offset = w->first + i * w->stride;

		for (unsigned int part = 0; part < w->parts; part++) {
			struct request req = { OP_WRITE, offset, w->bytes[part],
					       false };
			int64_t done = model_submit(m, &req, now);

			row.mean_us[part] += (double)(done - now) / 1e3 / w->count;
			now = done + (int64_t)(workload_host_us(w) * 1e3);
			offset += w->bytes[part];
		}
	}
	row.wall_s = (double)(now - start) / 1e9;
	now = model_submit(m, &flush, now);
	row.media = model_counters(m, now);
	model_free(m);
	return row;
}

static double deviation(double measured, double published)
{
	return measured / published - 1;
}

static void test_rows(void)
{
	for (const struct workload *w = workloads; w < workloads + WORKLOADS; w++) {
		struct row row = play(w);

		for (unsigned int i = 0; i < w->parts; i++)
			CHECK(fabs(deviation(row.mean_us[i], w->mean_us[i])) <
			      TOLERANCE, "%s: %.0f us", w->name, row.mean_us[i]);
		CHECK(fabs(deviation(row.wall_s, w->wall_s)) < TOLERANCE,
		      "%s: %.3f s", w->name, row.wall_s);
		CHECK(row.media.rmws + row.media.rmws_saved_by_cache ==
		      (uint64_t)w->count * w->touches, "%s: %ju + %ju", w->name,
		      (uintmax_t)row.media.rmws,
		      (uintmax_t)row.media.rmws_saved_by_cache);
	}
}

static void test_ratios(void)
{
	struct row fast = play(WORKLOAD_W136K), slow = play(WORKLOAD_W4K_132K);
	double wall = slow.wall_s / fast.wall_s;
	double mean = (slow.mean_us[0] + slow.mean_us[1]) / fast.mean_us[0];

	CHECK(fabs(deviation(wall, WALL_RATIO)) < TOLERANCE, "%f", wall);
	CHECK(fabs(deviation(mean, MEAN_RATIO)) < TOLERANCE, "%f", mean);
}

static void test_streams_need_two_reads(void)
{
	struct row row = play(WORKLOAD_W136K);

	CHECK(row.media.rmws == 2, "%ju", (uintmax_t)row.media.rmws);
	CHECK(row.media.blocks_written == 170001, "%ju",
	      (uintmax_t)row.media.blocks_written);
}

const struct tap_test rows_tests[] = {
	{ "the five published rows within 15 %", test_rows },
	{ "the ratio between the two ways to write the same bytes within 15 %",
	  test_ratios },
	{ "a misaligned stream needs two RMWs whatever its length",
	  test_streams_need_two_reads },
	{ 0 },
};
