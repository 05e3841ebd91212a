/* SPDX-License-Identifier: GPL-2.0 */
/* Measures of a run, in memory that does not grow with the requests. */
#ifndef ALIGNCTL_MEASURES_H
#define ALIGNCTL_MEASURES_H

#include "base/histogram.h"
#include "geometry.h"
#include "trace/trace.h"

/* Number of lengths with a row of their own; later ones share a row. */
#define MEASURES_SIZES		32U
#define MEASURES_CLASSES	(ALIGN_BOTH + 1)
/* Least number of slices of a run that has as many requests. */
#define MEASURES_SLICES		100U

/* "whole", "sub-block", "head", "tail", "both": by enum align_class. */
extern const char *const measures_class_names[MEASURES_CLASSES];

/**
 * struct measures_size - service times of the requests of one length
 * @bytes: the length, bytes
 * @service: the service times
 */
struct measures_size {
	uint64_t bytes;
	struct histogram *service;
};

/**
 * struct measures_samples - rates of one-second samples from the start
 * @second: number of the second under way
 * @requests: requests that ended in this second
 * @bytes: bytes of these requests
 * @busy: number of whole seconds in which requests ended
 * @idle: number of whole seconds in which no request ended
 * @sum: sum over busy seconds of requests
 * @squares: sum over busy seconds of requests squared
 * @sum_bytes: sum over busy seconds of bytes
 * @min: least requests of a busy second
 * @max: most requests of a busy second
 */
struct measures_samples {
	uint64_t second;
	uint64_t requests;
	uint64_t bytes;
	uint64_t busy;
	uint64_t idle;
	double sum;
	double squares;
	double sum_bytes;
	uint64_t min;
	uint64_t max;
};

/**
 * struct measures_slice - requests that ended one after the other
 * @end_ns: when the last of them had ended, nanoseconds since the run began
 * @count: number of requests
 * @sum_ns: sum of their service times
 * @max_ns: longest of their service times
 */
struct measures_slice {
	uint64_t end_ns;
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
};

/**
 * struct measures - of one run
 * @geometry: blocks that classes and phases refer to; NULL: neither is measured
 * @begin_ns: time at which the run, or its measured part, began
 * @end_ns: time at which the last request ended
 * @warmup_requests: requests of the source that were to start before @begin_ns,
 *	and are in no other figure
 * @requests: requests of the source that are measured
 * @pauses: number of pauses that ended since @begin_ns
 * @pause_ns: total length of these pauses
 * @bytes: bytes read and written
 * @service: times from issue to completion, by enum trace_op; NULL: no request
 * @added: service times of the flushes that the plan adds after writes, which are
 *	in no other histogram but @response and @lag; NULL where there is none
 * @response: times from intended start to completion; NULL unless a clock says
 *	when each request is to start: without a schedule nothing is late
 * @lag: times from intended start to issue; NULL where @response is
 * @nr_sizes: rows of @by_size
 * @by_size: service times by length, as lengths first occurred; the last row has
 *	all other lengths
 * @by_class: service times of writes, by enum align_class
 * @by_phase: service times of writes, by align_phase_bin()
 * @samples: one-second samples
 * @nr_slices: slices in use
 * @slice: @requests in the order in which they ended, @per_slice in each but the
 *	last; when all slices are full, neighbours are joined and @per_slice doubles
 * @per_slice: requests of a full slice
 * @unsupported: discards that the device does not support
 * @waited: requests that waited for an earlier one
 * @most_in_flight: most requests in flight at any time
 * @last_lag_ns: lag of the last request
 * @last_intended_ns: intended start of the last request, from @begin_ns
 */
struct measures {
	const struct align_geometry *geometry;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t warmup_requests;
	uint64_t requests;
	uint64_t pauses;
	uint64_t pause_ns;
	uint64_t bytes;
	struct histogram *service[TRACE_NR_OPS];
	struct histogram *added;
	struct histogram *response;
	struct histogram *lag;
	uint32_t nr_sizes;
	struct measures_size by_size[MEASURES_SIZES + 1];
	struct histogram *by_class[MEASURES_CLASSES];
	struct histogram *by_phase[ALIGN_PHASE_BINS];
	struct measures_samples samples;
	uint32_t nr_slices;
	struct measures_slice slice[2 * MEASURES_SLICES];
	uint64_t per_slice;
	uint64_t unsupported;
	uint64_t waited;
	uint32_t most_in_flight;
	uint64_t last_lag_ns;
	uint64_t last_intended_ns;
};

/**
 * struct measures_times - times of one request, on the monotonic clock
 * @intended_ns: time at which the request was due
 * @issued_ns: time at which it was handed to the kernel
 * @ended_ns: time at which its completion was seen
 */
struct measures_times {
	uint64_t intended_ns;
	uint64_t issued_ns;
	uint64_t ended_ns;
};

/*
 * Begin to measure. Requests that are due less than @warmup_ns from now are left
 * out. @clocked: a clock says when each request is to start.
 */
void measures_begin(struct measures *m, const struct align_geometry *geometry,
		    uint64_t warmup_ns, bool clocked);
void measures_free(struct measures *m);

/* Return whether a request that was due at @intended_ns is left out. */
bool measures_warming_up(const struct measures *m, uint64_t intended_ns);

/*
 * Count a request that succeeded, at the place where it was issued. @added: it is
 * a flush that the plan adds after a write, and no request of the source.
 */
void measures_add(struct measures *m, const struct trace_request *request,
		  const struct measures_times *times, bool added);

/* Count a pause from @begin_ns to @end_ns. */
void measures_pause(struct measures *m, uint64_t begin_ns, uint64_t end_ns);

/* End the measures after the last request: complete the samples. */
void measures_end(struct measures *m);

/* Return the seconds until the last request ended, pauses included. */
double measures_wall_s(const struct measures *m);

/* Return the service times of all requests of the source in one, for free(). */
struct histogram *measures_service(const struct measures *m);

/*
 * Write a histogram file: comments with "#", then lines "NAME LOW HIGH COUNT";
 * see alignctl-replay(8). Return: enum alignctl_exit; errors have been reported.
 */
int measures_write(const struct measures *m, const char *path);

#endif
