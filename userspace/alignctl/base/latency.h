/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics of a list of latencies: exact, from every sample. */
#ifndef ALIGNCTL_LATENCY_H
#define ALIGNCTL_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry.h"

/**
 * struct latency_summary - a list of latencies in figures
 * @count: samples; all else is 0 if there are none
 * @mean_us: arithmetic mean, microseconds
 * @sd_us: standard deviation of the sample (n - 1), 0 for a single one
 * @min_us: the least
 * @p50_us: percentiles by nearest rank: the least sample that at least so
 *	many per cent of all samples do not exceed
 * @p90_us: same
 * @p98_us: same
 * @p99_us: same
 * @p99_9_us: same
 * @max_us: the greatest
 * @histogram: samples by align_latency_bin() of kmod/geometry.h
 */
struct latency_summary {
	uint64_t count;
	double mean_us;
	double sd_us;
	double min_us;
	double p50_us;
	double p90_us;
	double p98_us;
	double p99_us;
	double p99_9_us;
	double max_us;
	uint64_t histogram[ALIGN_LATENCY_BINS];
};

/* Percentile of a sorted list by nearest rank; @per_mille 1 to 1000. */
uint64_t latency_percentile(const uint64_t *sorted, size_t count,
			    unsigned int per_mille);

/* Summary of @count samples in nanoseconds; sorts @ns. */
void latency_summarize(uint64_t *ns, size_t count,
		       struct latency_summary *summary);

/*
 * Percentile of a histogram with align_latency_bin() bins, in microseconds:
 * the upper end of the bin that holds it; for the last bin, which has none,
 * its lower end, with @open set if it is not NULL. 0 if the histogram is empty.
 * So it is a bound, not a time that anything took.
 */
double latency_histogram_percentile(const uint64_t *bins,
				    unsigned int per_mille, bool *open);

#endif
