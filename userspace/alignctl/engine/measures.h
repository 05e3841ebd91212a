/* SPDX-License-Identifier: GPL-2.0 */
/* What the engine measures, in memory that does not grow with the requests. */
#ifndef ALIGNCTL_MEASURES_H
#define ALIGNCTL_MEASURES_H

#include "base/histogram.h"
#include "geometry.h"
#include "trace/trace.h"

/* Lengths with a row of their own; those that come later share one. */
#define MEASURES_SIZES		32U
#define MEASURES_CLASSES	(ALIGN_BOTH + 1)
/* A run is shown in time in at least this many slices, if it has the requests. */
#define MEASURES_SLICES		100U

/* "whole", "sub-block", "head", "tail", "both": by enum align_class. */
extern const char *const measures_class_names[MEASURES_CLASSES];

/**
 * struct measures_size - service times of the requests of one length
 * @bytes: that length
 * @service: their times
 */
struct measures_size {
	uint64_t bytes;
	struct histogram *service;
};

/**
 * struct measures_samples - rates of seconds, one after the other from the start
 * @second: the one under way
 * @requests: that ended in it
 * @bytes: of those
 * @busy: whole seconds in which requests ended
 * @idle: whole seconds in which none did
 * @sum: of the requests of busy seconds
 * @squares: of the same, squared
 * @sum_bytes: of the bytes of busy seconds
 * @min: least requests of a busy second
 * @max: most
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
 * @geometry: the blocks that classes and phases are of; NULL: there are none
 * @begin_ns: when the run, or what of it is measured, began
 * @end_ns: when the last request ended
 * @warmup_requests: requests of the source that were to start before @begin_ns,
 *	and are in no other figure
 * @requests: requests of the source that are measured
 * @pauses: of the run that were over since then
 * @pause_ns: how long they were together
 * @bytes: read and written
 * @service: issue to completion, by enum trace_op; NULL where there is none
 * @added: service times of the flushes that the plan adds after writes, which are
 *	in no other histogram but @response and @lag; NULL where there is none
 * @response: intended start to completion; NULL unless a clock says when each
 *	request is to start: without a schedule nothing is late
 * @lag: intended start to issue; NULL likewise
 * @nr_sizes: rows of @by_size
 * @by_size: by length, as they first occurred; the last row is of all others
 * @by_class: writes by how they lie on the blocks
 * @by_phase: writes by the logical block of a physical one at which they start
 * @samples: one-second samples
 * @nr_slices: slices in use
 * @slice: @requests in the order in which they ended, @per_slice in each but the
 *	last; when all slices are full, neighbours are joined and @per_slice doubles
 * @per_slice: requests of a full slice
 * @unsupported: discards that the device does not know
 * @waited: requests that had to wait for one before them
 * @most_in_flight: at any time
 * @last_lag_ns: intended start to issue, of the last request
 * @last_intended_ns: from the begin to the intended start of the last request
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
 * struct measures_times - of one request, on the monotonic clock
 * @intended_ns: when it was to start
 * @issued_ns: when it was handed to the kernel
 * @ended_ns: when its end was seen
 */
struct measures_times {
	uint64_t intended_ns;
	uint64_t issued_ns;
	uint64_t ended_ns;
};

/*
 * What was to start less than @warmup_ns from now is left out. @clocked: a clock
 * says when each request is to start.
 */
void measures_begin(struct measures *m, const struct align_geometry *geometry,
		    uint64_t warmup_ns, bool clocked);
void measures_free(struct measures *m);

/* Is what was to start then left out? */
bool measures_warming_up(const struct measures *m, uint64_t intended_ns);

/*
 * Count a request that succeeded, at the place where it was issued. @added: it is
 * a flush that the plan adds after a write, and no request of the source.
 */
void measures_add(struct measures *m, const struct trace_request *request,
		  const struct measures_times *times, bool added);

/* There was a pause from @begin_ns to @end_ns. */
void measures_pause(struct measures *m, uint64_t begin_ns, uint64_t end_ns);

/* After the last one: the samples are complete. */
void measures_end(struct measures *m);

/* How long it took, seconds: until the last request ended, pauses included. */
double measures_wall_s(const struct measures *m);

/* Return the service times of all requests of the source in one, for free(). */
struct histogram *measures_service(const struct measures *m);

/*
 * Writes a histogram file: comments with "#", then lines "NAME LOW HIGH COUNT";
 * see alignctl(8). Return: enum alignctl_exit; errors have been reported.
 */
int measures_write(const struct measures *m, const char *path);

#endif
