/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work on requests by several threads at a time, while one thread reads them. What
 * is given to a lane is worked on by one thread, in its order: a disk has one lane.
 */
#ifndef ALIGNCTL_LANES_H
#define ALIGNCTL_LANES_H

#include <stdint.h>

#include "trace/trace.h"

/* Most threads; reading the trace keeps up with no more of them. */
#define LANES_MOST	16U

/**
 * struct lane_item - a request that is given to a lane
 * @disk: what it is for, with all that the work on it changes
 * @request: the request
 * @clock_ns: its time on the clock of the trace
 * @first: its first sector
 * @end: the sector behind it
 */
struct lane_item {
	void *disk;
	struct trace_request request;
	uint64_t clock_ns;
	uint64_t first;
	uint64_t end;
};

struct lanes;

/* Return the number of processors that the program may use. */
unsigned int lanes_processors(void);

/*
 * Start @nr threads, at most LANES_MOST, that call @work for what they are given, or
 * fewer if the system refuses. With 0 or 1 the work is done in lanes_give().
 */
struct lanes *lanes_new(unsigned int nr,
			void (*work)(const struct lane_item *item));

/* Give a request to lane @lane modulo their number; wait while it is behind. */
void lanes_give(struct lanes *lanes, uint32_t lane,
		const struct lane_item *item);

/* Wait until all is done, and end the threads. */
void lanes_end(struct lanes *lanes);

#endif
