// SPDX-License-Identifier: GPL-2.0
/*
 * Counts, sums and percentiles of the kernel's latency histograms, by the bins of
 * kmod/geometry.h.
 */
#include <stddef.h>

#include "base/latency.h"
#include "base/units.h"

uint64_t latency_histogram_count(const uint64_t *bins)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < ALIGN_LATENCY_BINS; i++)
		count += bins[i];
	return count;
}

double latency_histogram_sum(const uint64_t *bins)
{
	double sum = 0, start = 0, end;
	unsigned int i;

	for (i = 0; i < ALIGN_LATENCY_BINS - 1; i++) {
		end = (double)align_latency_bin_end(i);
		sum += (double)bins[i] * (start + end) / 2;
		start = end;
	}
	return ns_to_us(sum + (double)bins[i] * start);
}

double latency_histogram_percentile(const uint64_t *bins,
				    unsigned int per_mille, bool *open)
{
	uint64_t count = latency_histogram_count(bins), rank, seen = 0;
	unsigned int i;

	if (open)
		*open = false;
	if (!count)
		return 0;
	rank = (count * per_mille + 999) / 1000;
	for (i = 0; i < ALIGN_LATENCY_BINS - 1; i++) {
		seen += bins[i];
		if (seen >= rank)
			return ns_to_us(align_latency_bin_end(i));
	}
	if (open)
		*open = true;
	return ns_to_us(align_latency_bin_end(ALIGN_LATENCY_BINS - 2));
}
