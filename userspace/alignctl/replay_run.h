/* SPDX-License-Identifier: GPL-2.0 */
/* The phase of replay that is measured: the writes of the workload. */
#ifndef ALIGNCTL_REPLAY_RUN_H
#define ALIGNCTL_REPLAY_RUN_H

#include "latency.h"
#include "probes.h"
#include "replay.h"

#define REPLAY_MAX_SIZES	(WORKLOAD_MAX_PARTS + 1)

/**
 * struct replay_size - the writes of one length
 * @bytes: that length
 * @count: how many there were
 * @sum_ns: their latencies together
 */
struct replay_size {
	uint32_t bytes;
	uint64_t count;
	uint64_t sum_ns;
};

/* How finely a run is shown in time. */
#define REPLAY_SLICES		100U

/**
 * struct replay_slice - writes that ended one after the other
 * @end_ns: when the last of them had ended, since the run began
 * @count: how many they are
 * @sum_ns: their latencies together
 * @max_ns: the longest of those
 */
struct replay_slice {
	uint64_t end_ns;
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
};

/**
 * struct replay_run - what running took
 * @method: how writes were issued
 * @requests: writes acknowledged
 * @bytes: their bytes
 * @wall_s: from the first issue to the last acknowledgement, seconds; with
 *	WORKLOAD_FDATASYNC the flushes in between are in it
 * @pauses: rests between writes; they are in @wall_s
 * @pause_s: those together, seconds
 * @flush_s: the fdatasync() after all writes, seconds
 * @latency: of the writes
 * @flush_latency: of the flushes after single writes, not of the last one
 * @nr_sizes: lengths that occurred
 * @by_size: figures for each of them, as they first occurred
 * @probes: what each probe took; NULL unless the workload is of those; for
 *	probes_free()
 * @slice: the writes in the order in which they ended, in equal parts
 */
struct replay_run {
	const char *method;
	uint64_t requests;
	uint64_t bytes;
	double wall_s;
	uint64_t pauses;
	double pause_s;
	double flush_s;
	struct latency_summary latency;
	struct latency_summary flush_latency;
	uint32_t nr_sizes;
	struct replay_size by_size[REPLAY_MAX_SIZES];
	struct probes *probes;
	struct replay_slice slice[REPLAY_SLICES];
};

/*
 * Does the writes that have not been issued, at most @depth of them at a time.
 * Return: enum alignctl_exit; errors have been reported. Stops early, with
 * ALIGNCTL_FINE, when interrupt_seen().
 */
int replay_run(struct replay *replay, unsigned int depth,
	       struct replay_run *run);

#endif
