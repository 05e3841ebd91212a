// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/histogram.h"
#include "base/latency.h"
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

/* Against the exact figures of a list, spread over six decades. */
static void as_exact(void)
{
	static const unsigned int ranks[] = { 5000, 9000, 9900, 9990 };
	enum { NR = 19999 };
	CLEANUP_FREE struct histogram *h = calloc(2, sizeof(*h));
	CLEANUP_FREE uint64_t *ns = calloc(NR, sizeof(*ns));
	struct latency_summary exact;
	size_t i;

	srand48(1);
	for (i = 0; i < NR; i++) {
		ns[i] = 1000 * exp(drand48() * log(1e6));
		histogram_add(&h[i % 2], ns[i]);
	}
	histogram_merge(&h[0], &h[1]);
	latency_summarize(ns, NR, &exact);
	CHECK(h->count == NR && h->min == ns[0] && h->max == ns[NR - 1],
	      "%" PRIu64 " from %" PRIu64 " to %" PRIu64, h->count, h->min,
	      h->max);
	CHECK(fabs(histogram_mean(h) / 1000 - exact.mean_us) <
	      1e-9 * exact.mean_us, "mean %f", histogram_mean(h));
	CHECK(fabs(histogram_sd(h) / 1000 - exact.sd_us) < 1e-6 * exact.sd_us,
	      "sd %f for %f", histogram_sd(h) / 1000, exact.sd_us);
	for (i = 0; i < 4; i++) {
		uint64_t right = latency_percentile(ns, NR, ranks[i] / 10);
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

const struct tap_test histogram_tests[] = {
	{ "bins cover all numbers, each within 1/128", bins_meet },
	{ "two merged histograms are as the list of all within 1/128",
	  as_exact },
	{ "the deviation of nearly equal times is right", close_together },
	{ 0 },
};
