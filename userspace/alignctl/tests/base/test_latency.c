// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>

#include "base/latency.h"
#include "base/units.h"
#include "tests/tap.h"

static int near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* Three lists of ten, all with mean 25, that a mean alone cannot tell apart. */
static void same_mean(void)
{
	static const struct { uint64_t us[10]; double p90; } lists[] = {
		{ { 25, 25, 25, 25, 25, 25, 25, 25, 25, 25 }, 25 },
		{ { 5, 45, 5, 45, 5, 45, 5, 45, 5, 45 }, 45 },
		{ { 5, 5, 5, 5, 205, 5, 5, 5, 5, 5 }, 5 },
	};
	size_t i, k;

	for (i = 0; i < 3; i++) {
		struct latency_summary s;
		uint64_t ns[10];

		for (k = 0; k < 10; k++)
			ns[k] = lists[i].us[k] * NS_PER_US;
		latency_summarize(ns, 10, &s);
		CHECK(near(s.mean_us, 25), "list %zu: mean %f", i, s.mean_us);
		CHECK(near(s.p90_us, lists[i].p90), "list %zu: p90 %f", i,
		      s.p90_us);
	}
}

static void thousand(void)
{
	struct latency_summary s;
	uint64_t ns[1000];
	size_t i;

	/* 1 to 1000 us, in an order that is not sorted */
	for (i = 0; i < 1000; i++)
		ns[i] = (i * 387 % 1000 + 1) * NS_PER_US;
	latency_summarize(ns, 1000, &s);
	CHECK(s.count == 1000, "count %llu", (unsigned long long)s.count);
	CHECK(near(s.min_us, 1) && near(s.max_us, 1000), "min %f max %f",
	      s.min_us, s.max_us);
	CHECK(near(s.p50_us, 500) && near(s.p90_us, 900), "p50 %f p90 %f",
	      s.p50_us, s.p90_us);
	CHECK(near(s.p98_us, 980), "p98 %f", s.p98_us);
	CHECK(near(s.p99_us, 990) && near(s.p99_9_us, 999), "p99 %f p99.9 %f",
	      s.p99_us, s.p99_9_us);
	/* sqrt(n(n + 1) / 12), of the numbers 1 to n */
	CHECK(near(s.sd_us, sqrt(1000.0 * 1001 / 12)), "sd %f", s.sd_us);
}

static void few(void)
{
	struct latency_summary s;
	uint64_t ns[] = { 7 * NS_PER_US };

	latency_summarize(ns, 1, &s);
	CHECK(near(s.mean_us, 7) && near(s.p50_us, 7) && near(s.p99_9_us, 7) &&
	      near(s.sd_us, 0), "mean %f sd %f", s.mean_us, s.sd_us);
	latency_summarize(ns, 0, &s);
	CHECK(!s.count && near(s.max_us, 0), "max %f", s.max_us);
}

static void bins(void)
{
	struct latency_summary s;
	uint64_t ns[] = { 255, 256, 1023, 1024, 272 * NS_PER_US,
			  130000000 * NS_PER_US };
	uint64_t total = 0;
	unsigned int i;

	latency_summarize(ns, 6, &s);
	for (i = 0; i < ALIGN_LATENCY_BINS; i++)
		total += s.histogram[i];
	CHECK(total == 6, "%llu samples in bins", (unsigned long long)total);
	CHECK(s.histogram[0] == 1 && s.histogram[1] == 1 &&
	      s.histogram[3] == 1 && s.histogram[4] == 1, "first bins");
	CHECK(s.histogram[ALIGN_LATENCY_BINS - 1] == 1,
	      "130 s is not in the last bin");
}

static void from_histogram(void)
{
	uint64_t counts[ALIGN_LATENCY_BINS] = { 0 };
	unsigned int bin = align_latency_bin(100 * NS_PER_US);
	double p50, p99;
	bool open = true;

	CHECK(near(latency_histogram_percentile(counts, 500, NULL), 0), "empty");
	counts[bin] = 98;
	counts[ALIGN_LATENCY_BINS - 1] = 2;
	p50 = latency_histogram_percentile(counts, 500, &open);
	CHECK(!open, "that bin has an end");
	p99 = latency_histogram_percentile(counts, 990, &open);
	CHECK(p50 >= 100 && p50 <= 125, "p50 %f", p50);
	CHECK(p99 > 100e6 && open, "p99 %f", p99);
}

const struct tap_test latency_tests[] = {
	{ "three lists with the same mean have their own 90th percentile",
	  same_mean },
	{ "mean, deviation and percentiles of 1 to 1000 are exact", thousand },
	{ "one sample is its own percentiles, none are all 0", few },
	{ "each sample is in the bin that holds it", bins },
	{ "a percentile from a histogram is the upper end of its bin",
	  from_histogram },
	{ 0 },
};
