/* SPDX-License-Identifier: GPL-2.0 */
/* The phase of replay that is measured: the writes of the workload. */
#ifndef ALIGNCTL_REPLAY_RUN_H
#define ALIGNCTL_REPLAY_RUN_H

#include "base/latency.h"
#include "engine/measures.h"
#include "engine/probes.h"
#include "replay/replay.h"

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
 * @measures: what the engine measured, flushes after single writes included
 * @requests: writes acknowledged, but those of the warm-up
 * @warmup_requests: those
 * @flush_s: the fdatasync() after all writes, seconds
 * @latency: of the writes, from every one of them
 * @flush_latency: of the flushes after single writes, not of the last one
 * @probes: what each probe took; NULL unless the workload is of those
 * @slice: the writes in the order in which they ended, in equal parts
 */
struct replay_run {
	const char *method;
	struct measures measures;
	uint64_t requests;
	uint64_t warmup_requests;
	double flush_s;
	struct latency_summary latency;
	struct latency_summary flush_latency;
	struct probes *probes;
	struct replay_slice slice[REPLAY_SLICES];
};

/*
 * Does the writes that have not been issued. @run is for replay_run_free().
 * Return: enum alignctl_exit; errors have been reported. Stops early, with
 * ALIGNCTL_FINE, when interrupt_seen().
 */
int replay_run(struct replay *replay, struct replay_run *run);
void replay_run_free(struct replay_run *run);

#endif
