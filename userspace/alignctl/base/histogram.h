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
 * @count: number of times
 * @sum: sum of all times, nanoseconds
 * @squares: sum of the squares of all times
 * @min: least time; not set if @count is 0
 * @max: greatest time; 0 if @count is 0
 * @bin: number of times in each bin
 */
struct histogram {
	uint64_t count;
	uint64_t sum;
	unsigned __int128 squares;
	uint64_t min;
	uint64_t max;
	uint64_t bin[HISTOGRAM_BINS];
};

/* Return the bin that holds @ns. */
static inline unsigned int histogram_bin(uint64_t ns)
{
	unsigned int octave;

	if (ns < HISTOGRAM_STEPS)
		return ns;
	octave = align_log2(ns) - HISTOGRAM_SHIFT;
	return (octave + 1) * HISTOGRAM_STEPS +
	       ((ns >> octave) & (HISTOGRAM_STEPS - 1));
}

/* Return the least and the greatest value of a bin. */
uint64_t histogram_low(unsigned int bin);
uint64_t histogram_high(unsigned int bin);

/*
 * Add a time. Inline: several histograms get the same @ns, whose bin and square
 * are computed once then.
 */
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

/* Add all times of @other. */
void histogram_merge(struct histogram *h, const struct histogram *other);

/* Return mean and standard deviation of the sample (n - 1); 0 if there are no times. */
double histogram_mean(const struct histogram *h);
double histogram_sd(const struct histogram *h);

/*
 * Return a percentile by nearest rank, @rank of 10000: the greatest value of the
 * bin that holds it, but no more than the greatest value of all.
 */
uint64_t histogram_percentile(const struct histogram *h, unsigned int rank);

/* Write a line "@name LOW HIGH COUNT" for each bin that is not empty. */
void histogram_write(const struct histogram *h, const char *name, FILE *file);

#endif
