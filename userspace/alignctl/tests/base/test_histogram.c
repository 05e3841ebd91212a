// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/histogram.h"
#include "base/units.h"
#include "tests/tap.h"

static void bins_meet(void)
{
	unsigned int i;

	CHECK(histogram_low(0) == 0, "%" PRIu64, histogram_low(0));
	for (i = 0; i < HISTOGRAM_BINS; i++) {
		uint64_t low = histogram_low(i), high = histogram_high(i);

		CHECK(histogram_bin(low) == i && histogram_bin(high) == i,
		      "bin %u", i);
		CHECK((high - low) <= low / 128, "bin %u is too wide", i);
		if (i)
			CHECK(low == histogram_high(i - 1) + 1, "bin %u", i);
	}
	CHECK(histogram_high(HISTOGRAM_BINS - 1) == UINT64_MAX, "the last bin");
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Against the exact figures of a list, spread over six decades. */
static void as_exact(void)
{
	static const unsigned int ranks[] = { 5000, 9000, 9900, 9990 };
	enum { NR = 19999 };
	CLEANUP_FREE struct histogram *h = calloc(2, sizeof(*h));
	CLEANUP_FREE uint64_t *ns = calloc(NR, sizeof(*ns));
	double sum = 0, squares = 0, mean, sd;
	size_t i;

	srand48(1);
	for (i = 0; i < NR; i++) {
		ns[i] = 1000 * exp(drand48() * log(1e6));
		histogram_add(&h[i % 2], ns[i]);
	}
	histogram_merge(&h[0], &h[1]);
	qsort(ns, NR, sizeof(*ns), compare);
	for (i = 0; i < NR; i++)
		sum += ns[i];
	mean = sum / NR;
	for (i = 0; i < NR; i++)
		squares += (ns[i] - mean) * (ns[i] - mean);
	sd = sqrt(squares / (NR - 1));
	CHECK(h->count == NR && h->min == ns[0] && h->max == ns[NR - 1],
	      "%" PRIu64 " from %" PRIu64 " to %" PRIu64, h->count, h->min,
	      h->max);
	CHECK(fabs(histogram_mean(h) - mean) < 1e-9 * mean, "mean %f for %f",
	      histogram_mean(h), mean);
	CHECK(fabs(histogram_sd(h) - sd) < 1e-6 * sd, "sd %f for %f",
	      histogram_sd(h), sd);
	for (i = 0; i < 4; i++) {
		/* nearest rank: the least that so many do not exceed */
		uint64_t right = ns[(NR * ranks[i] + 9999) / 10000 - 1];
		uint64_t got = histogram_percentile(h, ranks[i]);

		CHECK(got >= right && got - right <= right / 128,
		      "rank %u: %" PRIu64 " for %" PRIu64, ranks[i], got,
		      right);
	}
	CHECK(histogram_percentile(h, 10000) == h->max, "the greatest");
}

static void close_together(void)
{
	CLEANUP_FREE struct histogram *h = calloc(1, sizeof(*h));
	uint64_t day = 86400ULL * 1000000000;

	CHECK(histogram_mean(h) == 0 && histogram_sd(h) == 0 &&
	      !histogram_percentile(h, 5000), "of nothing");
	histogram_add(h, day);
	CHECK(histogram_sd(h) == 0 && histogram_percentile(h, 1) == day,
	      "of one");
	histogram_add(h, day + 2);
	CHECK(fabs(histogram_sd(h) - sqrt(2)) < 1e-6, "sd %f",
	      histogram_sd(h));
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
		CLEANUP_FREE struct histogram *h = calloc(1, sizeof(*h));
		double p90;

		for (k = 0; k < 10; k++)
			histogram_add(h, lists[i].us[k] * NS_PER_US);
		p90 = ns_to_us(histogram_percentile(h, 9000));
		CHECK(fabs(histogram_mean(h) - 25e3) < 1e-6, "list %zu: mean %f",
		      i, histogram_mean(h));
		CHECK(p90 >= lists[i].p90 && p90 <= lists[i].p90 * 129 / 128,
		      "list %zu: p90 %f", i, p90);
	}
}

/* So the target's bins can be filled from these. */
static void nest_in_the_targets_bins(void)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BINS; i++)
		CHECK(align_latency_bin(histogram_low(i)) ==
		      align_latency_bin(histogram_high(i)), "bin %u", i);
}

const struct tap_test histogram_tests[] = {
	{ "bins cover all numbers, each within 1/128", bins_meet },
	{ "two merged histograms are as the list of all within 1/128",
	  as_exact },
	{ "three lists with the same mean have their own 90th percentile",
	  same_mean },
	{ "each bin lies in one of the target's bins",
	  nest_in_the_targets_bins },
	{ "the deviation of nearly equal times is right", close_together },
	{ 0 },
};
