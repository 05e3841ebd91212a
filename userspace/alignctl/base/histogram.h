/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times in nanoseconds, of any number in fixed memory: counts in bins of a
 * fixed relative width, as HDR histograms have them. Below 128 ns each value has
 * a bin; above, each power of two has 128 of them, so a bin is at most 1/128 of
 * the values in it wide. Count, mean, deviation, least and greatest are exact.
 *
 * Bins are the same in every histogram: adding the counts of two merges them.
 */
#ifndef ALIGNCTL_HISTOGRAM_H
#define ALIGNCTL_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "geometry.h"

#define HISTOGRAM_SHIFT		7U
#define HISTOGRAM_STEPS		(1U << HISTOGRAM_SHIFT)
#define HISTOGRAM_BINS		((64 - HISTOGRAM_SHIFT + 1) * HISTOGRAM_STEPS)

/**
 * struct histogram - times
 * @count: how many
 * @sum: of them
 * @squares: sum of their squares
 * @min: the least; not set if there are none
 * @max: the greatest; 0 if there are none
 * @bin: how many in each bin
 */
struct histogram {
	uint64_t count;
	uint64_t sum;
	unsigned __int128 squares;
	uint64_t min;
	uint64_t max;
	uint64_t bin[HISTOGRAM_BINS];
};

/* The bin that holds @ns. */
static inline unsigned int histogram_bin(uint64_t ns)
{
	unsigned int octave;

	if (ns < HISTOGRAM_STEPS)
		return ns;
	octave = align_log2(ns) - HISTOGRAM_SHIFT;
	return (octave + 1) * HISTOGRAM_STEPS +
	       ((ns >> octave) & (HISTOGRAM_STEPS - 1));
}

/* Its least and its greatest value. */
uint64_t histogram_low(unsigned int bin);
uint64_t histogram_high(unsigned int bin);

/* Inline, for several get the same @ns: its bin and its square are found once. */
static inline void histogram_add(struct histogram *h, uint64_t ns)
{
	if (!h->count || ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->count++;
	h->sum += ns;
	h->squares += (unsigned __int128)ns * ns;
	h->bin[histogram_bin(ns)]++;
}

/* Adds all that @other has. */
void histogram_merge(struct histogram *h, const struct histogram *other);

/* All 0 if there are none; the deviation is that of a sample (n - 1). */
double histogram_mean(const struct histogram *h);
double histogram_sd(const struct histogram *h);

/*
 * Percentile by nearest rank, @rank of 10000: the greatest value of the bin
 * that holds it, but no more than the greatest value of all.
 */
uint64_t histogram_percentile(const struct histogram *h, unsigned int rank);

/* Lines "@name LOW HIGH COUNT" of the bins that hold anything. */
void histogram_write(const struct histogram *h, const char *name, FILE *file);

#endif
