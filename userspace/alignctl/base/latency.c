// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "base/latency.h"
#include "base/units.h"

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
