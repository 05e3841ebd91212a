// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stddef.h>

#include "base/latency.h"
#include "base/units.h"
#include "tests/tap.h"

static int near(double a, double b)
{
	return fabs(a - b) < 1e-6;
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

static void sum(void)
{
	uint64_t counts[ALIGN_LATENCY_BINS] = { 0 };
	uint64_t ns = 100;
	double of_one, start;

	CHECK(near(latency_histogram_sum(counts), 0), "empty");
	for (; align_latency_bin(ns) < ALIGN_LATENCY_BINS - 1; ns += ns / 3) {
		unsigned int bin = align_latency_bin(ns);

		counts[bin] = 1;
		of_one = latency_histogram_sum(counts) * 1000;
		CHECK(fabs(of_one - (double)ns) <=
		      (ns < 1024 ? 128 : (double)ns / 8), "%f for %f", of_one,
		      (double)ns);
		counts[bin] = 0;
	}
	start = (double)align_latency_bin_end(ALIGN_LATENCY_BINS - 2);
	counts[ALIGN_LATENCY_BINS - 1] = 3;
	CHECK(near(latency_histogram_sum(counts), 3 * ns_to_us(start)) &&
	      latency_histogram_count(counts) == 3, "%f",
	      latency_histogram_sum(counts));
}

const struct tap_test latency_tests[] = {
	{ "a percentile from a histogram is the upper end of its bin",
	  from_histogram },
	{ "a sum from a histogram is an eighth off at most, and its last bin open",
	  sum },
	{ 0 },
};
