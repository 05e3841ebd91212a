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

const struct tap_test latency_tests[] = {
	{ "a percentile from a histogram is the upper end of its bin",
	  from_histogram },
	{ 0 },
};
