// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/latency.h"
#include "base/units.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Rank, from 1, of a percentile by nearest rank. */
static uint64_t nearest_rank(uint64_t count, unsigned int per_mille)
{
	uint64_t rank = (count * per_mille + 999) / 1000;

	return rank ? rank : 1;
}

uint64_t latency_percentile(const uint64_t *sorted, size_t count,
			    unsigned int per_mille)
{
	return sorted[nearest_rank(count, per_mille) - 1];
}

void latency_summarize(uint64_t *ns, size_t count,
		       struct latency_summary *summary)
{
	double sum = 0, squares = 0, mean;
	size_t i;

	memset(summary, 0, sizeof(*summary));
	if (!count)
		return;
	qsort(ns, count, sizeof(*ns), compare);
	for (i = 0; i < count; i++) {
		sum += ns[i];
		summary->histogram[align_latency_bin(ns[i])]++;
	}
	mean = sum / count;
	for (i = 0; i < count; i++)
		squares += (ns[i] - mean) * (ns[i] - mean);
	summary->count = count;
	summary->mean_us = ns_to_us(mean);
	summary->sd_us = count > 1 ? ns_to_us(sqrt(squares / (count - 1))) : 0;
	summary->min_us = ns_to_us(ns[0]);
	summary->p50_us = ns_to_us(latency_percentile(ns, count, 500));
	summary->p90_us = ns_to_us(latency_percentile(ns, count, 900));
	summary->p98_us = ns_to_us(latency_percentile(ns, count, 980));
	summary->p99_us = ns_to_us(latency_percentile(ns, count, 990));
	summary->p99_9_us = ns_to_us(latency_percentile(ns, count, 999));
	summary->max_us = ns_to_us(ns[count - 1]);
}

double latency_histogram_percentile(const uint64_t *bins,
				    unsigned int per_mille, bool *open)
{
	uint64_t count = 0, rank, seen = 0;
	unsigned int i;

	if (open)
		*open = false;
	for (i = 0; i < ALIGN_LATENCY_BINS; i++)
		count += bins[i];
	if (!count)
		return 0;
	rank = nearest_rank(count, per_mille);
	for (i = 0; i < ALIGN_LATENCY_BINS - 1; i++) {
		seen += bins[i];
		if (seen >= rank)
			return ns_to_us(align_latency_bin_end(i));
	}
	if (open)
		*open = true;
	return ns_to_us(align_latency_bin_end(ALIGN_LATENCY_BINS - 2));
}
