/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The request engine: makes the requests of a trace or workload on a device, at
 * a given depth and in the order that order.h keeps. Only requests under way
 * are in memory.
 */
#ifndef ALIGNCTL_ENGINE_H
#define ALIGNCTL_ENGINE_H

#include "engine/each.h"
#include "engine/measures.h"
#include "engine/placement.h"
#include "engine/probes.h"
#include "sysfs/device.h"
#include "workload/source.h"

/* Limit of requests in flight, of all threads together. */
#define ENGINE_MAX_DEPTH	256U
/* Limit of requests that wait for earlier ones. */
#define ENGINE_MAX_WAITING	1024U

enum engine_timing {
	/*
	 * As from @depth x @threads callers that each make a request when their
	 * previous one has ended: a request that waits for another one keeps
	 * its caller busy.
	 */
	ENGINE_CLOSED,
	/*
	 * Keep @depth requests of each thread in flight wherever order allows.
	 */
	ENGINE_FAST,
	/*
	 * Each request at its time in the trace, counted from the first request
	 * and divided by @speed.
	 */
	ENGINE_OPEN,
	ENGINE_NR_TIMINGS,
};

/* Their names in options and JSON: closed, fast, open. */
extern const char *const engine_timing_names[ENGINE_NR_TIMINGS];

/**
 * struct engine_setup - what a run of the engine does
 * @source: source of the requests, at its first request
 * @device: the device
 * @fd: descriptor of the device, with O_DIRECT unless placement->buffered
 * @placement: placement of requests on the device
 * @geometry: blocks of the device, for figures by class and phase; NULL: none
 * @timing: when requests start
 * @speed: ENGINE_OPEN: factor by which the run is faster than the trace
 * @depth: limit of requests in flight of each thread
 * @threads: number of threads; @depth x @threads is at most ENGINE_MAX_DEPTH
 * @warmup_ns: requests that start, or are due, within this time are not
 *	measured
 * @pause_after: number of requests after which, once all have ended, there is a
 *	pause, except after the last request and for ENGINE_OPEN
 * @pause_ns: length of a pause; 0: no pauses
 * @run: run number, written into every sector
 * @total: number of requests of the source, for the progress line; 0: not known
 * @probes: probes to measure, or NULL
 * @each: service times to keep, or NULL
 * @durable: called when a flush has ended, with the number of requests from the
 *	start, the flush included, whose writes are durable now, or NULL; never after
 *	a write or flush that failed
 * @context: passed to @durable
 */
struct engine_setup {
	struct source *source;
	const struct device *device;
	int fd;
	const struct placement *placement;
	const struct align_geometry *geometry;
	enum engine_timing timing;
	double speed;
	unsigned int depth;
	unsigned int threads;
	uint64_t warmup_ns;
	uint64_t pause_after;
	uint64_t pause_ns;
	uint64_t run;
	uint64_t total;
	struct probes *probes;
	struct each *each;
	void (*durable)(void *context, uint64_t requests);
	void *context;
};

/**
 * struct engine_done - the result of a run of the engine
 * @method: name of the method by which requests were issued
 * @issued: number of requests from the start of the source, as source->issued,
 *	that were made and have ended
 * @nr_failed: number of requests that failed; a flush that the plan adds after a
 *	write is none of them
 * @failed: numbers of the failed requests, from 0
 * @flush_s: time of the flush after all requests, seconds
 */
struct engine_done {
	const char *method;
	uint64_t issued;
	uint32_t nr_failed;
	uint64_t failed[ENGINE_MAX_DEPTH + ENGINE_MAX_WAITING];
	double flush_s;
};

/*
 * Check that threads x depth is within ENGINE_MAX_DEPTH. Return: enum
 * alignctl_exit; errors have been reported.
 */
int engine_check_depth(unsigned int threads, unsigned int depth);

/*
 * Make the requests until none is left, one fails, or interrupt_seen(), and
 * wait for those in flight. Free @m with measures_free(). Return: enum
 * alignctl_exit; errors have been reported.
 */
int engine_run(const struct engine_setup *setup, struct measures *m,
	       struct engine_done *done);

#endif
