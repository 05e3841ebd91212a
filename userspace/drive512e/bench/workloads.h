/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Five published write workloads, measured on an ST1000DM003-1ER162 (7200 rpm,
 * 512-byte sectors in 4096-byte blocks, write cache on, Linux 5.0), each with
 * one write at a time.  Documentation/develop/drive512e.rst derives the model from
 * these measurements.
 */
#ifndef DRIVE512E_WORKLOADS_H
#define DRIVE512E_WORKLOADS_H

#include <stdint.h>

#define WORKLOADS 5
#define PARTS_MAX 2

struct workload {
	const char *name;
	unsigned int count;		/* measured rounds */
	uint64_t first;			/* byte at which the first round starts */
	uint64_t stride;		/* bytes from round to round */
	unsigned int parts;		/* sequential writes of a round */
	uint64_t bytes[PARTS_MAX];
	double mean_us[PARTS_MAX];	/* published mean latency of a write */
	double wall_s;			/* published time of all rounds */
	unsigned int touches;		/* partial touches of a round */
};

static const struct workload workloads[WORKLOADS] = {
	{ "w512", 20000, 0, 4096, 1, { 512 }, { 532 }, 11.799, 1 },
	{ "w4096", 20000, 0, 8192, 1, { 4096 }, { 272 }, 5.902, 0 },
	{ "w4096_512", 20000, 512, 8192, 1, { 4096 }, { 718 }, 15.536, 2 },
	{ "w136k", 5000, 3584, 139264, 1, { 139264 }, { 551 }, 3.166, 2 },
	{ "w4k_132k", 5000, 3584, 139264, 2, { 4096, 135168 }, { 1925, 2133 },
	  21.262, 4 },
};

/* Published ratios of the last one's times to those of w136k. */
#define WALL_RATIO 6.7
#define MEAN_RATIO 7.4

static inline double workload_mean_us(const struct workload *w)
{
	double sum = 0;

	for (unsigned int i = 0; i < w->parts; i++)
		sum += w->mean_us[i];
	return sum;
}

/*
 * Return the host's own time between an answer and the next write: the
 * published wall time less the latencies.
 */
static inline double workload_host_us(const struct workload *w)
{
	return (w->wall_s / w->count * 1e6 - workload_mean_us(w)) / w->parts;
}

#endif
