/* SPDX-License-Identifier: GPL-2.0 */
/* The latency histograms of the target, in the bins of kmod/geometry.h. */
#ifndef ALIGNCTL_LATENCY_H
#define ALIGNCTL_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"

/*
 * Return a percentile by nearest rank, microseconds, of ALIGN_LATENCY_BINS @bins;
 * @per_mille 1 to 1000. It is a bound, no time that anything took: the upper end
 * of the bin that holds the percentile. The last bin has none: its lower end is
 * returned, and @open set if it is not NULL. 0 if the histogram is empty.
 */
double latency_histogram_percentile(const uint64_t *bins,
				    unsigned int per_mille, bool *open);

/* Return how many times the @bins count. */
uint64_t latency_histogram_count(const uint64_t *bins);

/*
 * Return the sum of the times, microseconds, each as the middle of its bin: at
 * most an eighth off, below 1024 ns at most 128 ns each. A time in the last bin,
 * which has no end, is taken for its start, so the sum may be too low by more.
 */
double latency_histogram_sum(const uint64_t *bins);

#endif
