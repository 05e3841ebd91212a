// SPDX-License-Identifier: GPL-2.0
/* Merge histograms, and compute mean, deviation and percentiles from their bins. */
#include <inttypes.h>
#include <math.h>

#include "base/histogram.h"

uint64_t histogram_low(unsigned int bin)
{
	uint64_t step = bin % HISTOGRAM_STEPS;

	if (bin < HISTOGRAM_STEPS)
		return bin;
	return (HISTOGRAM_STEPS + step) << (bin / HISTOGRAM_STEPS - 1);
}

uint64_t histogram_high(unsigned int bin)
{
	return bin + 1 < HISTOGRAM_BINS ? histogram_low(bin + 1) - 1 :
					  UINT64_MAX;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	unsigned int i;

	if (!other->count)
		return;
	if (!h->count || other->min < h->min)
		h->min = other->min;
	if (other->max > h->max)
		h->max = other->max;
	h->count += other->count;
	h->sum += other->sum;
	h->squares += other->squares;
	for (i = 0; i < HISTOGRAM_BINS; i++)
		h->bin[i] += other->bin[i];
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? (double)h->sum / h->count : 0;
}

double histogram_sd(const struct histogram *h)
{
	unsigned __int128 sum = h->sum;

	if (h->count < 2)
		return 0;
	/* as integers: so nothing is lost where all are nearly the same */
	return sqrt((double)(h->squares - sum * sum / h->count) /
		    (h->count - 1));
}

uint64_t histogram_percentile(const struct histogram *h, unsigned int rank)
{
	uint64_t wanted = (h->count * (unsigned __int128)rank + 9999) / 10000;
	uint64_t seen = 0;
	unsigned int i;

	if (!wanted)
		wanted = 1;
	for (i = 0; i < HISTOGRAM_BINS; i++) {
		seen += h->bin[i];
		if (seen >= wanted)
			return histogram_high(i) < h->max ? histogram_high(i) :
							    h->max;
	}
	return h->max;
}

void histogram_write(const struct histogram *h, const char *name, FILE *file)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BINS; i++)
		if (h->bin[i])
			fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64
				"\n", name, histogram_low(i),
				histogram_high(i), h->bin[i]);
}
