/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes the requests of a trace or a workload on a device, with as many in flight
 * as is asked for, and in the order that order.h keeps. Only what is under way is
 * in memory.
 */
#ifndef ALIGNCTL_ENGINE_H
#define ALIGNCTL_ENGINE_H

#include "device/device.h"
#include "engine/measures.h"
#include "engine/placement.h"
#include "engine/probes.h"
#include "workload/source.h"

/* Most requests in flight, of all threads. */
#define ENGINE_MAX_DEPTH	256U
/* Requests that may wait for one before them. */
#define ENGINE_MAX_WAITING	1024U

enum engine_timing {
	/*
	 * As from @depth x @threads callers that each make a request when their
	 * last one ended: one that waits for another request keeps its caller
	 * busy.
	 */
	ENGINE_CLOSED,
	/* @depth requests of each thread in flight wherever order allows. */
	ENGINE_FAST,
	/*
	 * Each at its time: after begin by the time that the trace has it after
	 * its first request, divided by @speed.
	 */
	ENGINE_OPEN,
	ENGINE_NR_TIMINGS,
};

/* "closed", "fast", "open": as options and JSON name them. */
extern const char *const engine_timing_names[ENGINE_NR_TIMINGS];

/**
 * struct engine_setup - what to do
 * @source: the trace, at its first request
 * @device: where
 * @fd: the device, open with O_DIRECT unless placement->buffered
 * @placement: where on it
 * @geometry: its blocks, which figures by class and phase are for; NULL: none are
 * @timing: when
 * @speed: ENGINE_OPEN: how much faster than the trace
 * @depth: most in flight of each thread
 * @threads: that make requests; @depth x @threads is at most ENGINE_MAX_DEPTH
 * @warmup_ns: what starts, or is to start, before it is over is not measured
 * @pause_after: after so many requests, once all have ended, there is a pause,
 *	but for ENGINE_OPEN, and not after the last one
 * @pause_ns: its length; 0: there is none
 * @run: mark of this run, in every sector that is written
 * @total: requests of the trace, for the progress line; 0: not known
 * @probes: what probes take, or NULL
 * @durable: called when a flush has ended, with the number of requests from the
 *	start, it included, whose writes are durable now; may be NULL
 * @context: argument of @durable
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
	void (*durable)(void *context, uint64_t requests);
	void *context;
};

/**
 * struct engine_done - what was done
 * @method: how requests were issued
 * @issued: requests from the start of the source, as it counts them, that were
 *	made; each has ended
 * @nr_failed: number of these that failed; a flush that the plan adds after a
 *	write is none of them
 * @failed: their numbers in the source, from 0
 * @flush_s: the flush after all of them, seconds
 */
struct engine_done {
	const char *method;
	uint64_t issued;
	uint32_t nr_failed;
	uint64_t failed[ENGINE_MAX_DEPTH + ENGINE_MAX_WAITING];
	double flush_s;
};

/*
 * Are there so many in flight at most as there may be? Return: enum
 * alignctl_exit; errors have been reported.
 */
int engine_check_depth(unsigned int threads, unsigned int depth);

/*
 * Makes the requests until there are no more, one fails, or interrupt_seen();
 * what is under way is waited for. @m is for measures_free().
 * Return: enum alignctl_exit; errors have been reported.
 */
int engine_run(const struct engine_setup *setup, struct measures *m,
	       struct engine_done *done);

#endif
