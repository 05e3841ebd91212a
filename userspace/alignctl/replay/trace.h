/* SPDX-License-Identifier: GPL-2.0 */
/* Replaying a trace: finding out whether it fits, doing it, and the report. */
#ifndef ALIGNCTL_REPLAY_TRACE_H
#define ALIGNCTL_REPLAY_TRACE_H

#include "engine/engine.h"
#include "replay/content.h"
#include "replay/replay.h"
#include "replay/trace_state.h"

/**
 * struct trace_scan - what reading a trace once tells
 * @requests: by enum trace_op
 * @bytes: same
 * @end: byte after the last one that any request reaches
 * @longest: the longest request that is not a discard
 * @last_ns: time of the last request
 * @moved: requests that go elsewhere on the device than they went in the trace
 */
struct trace_scan {
	uint64_t requests[TRACE_NR_OPS];
	uint64_t bytes[TRACE_NR_OPS];
	uint64_t end;
	uint64_t longest;
	uint64_t last_ns;
	uint64_t moved;
};

/**
 * struct replay_trace_options - what the command line says
 * @timing: when requests start; ENGINE_NR_TIMINGS: as the trace can
 * @speed: 0: 1
 * @depth: 0: what suits @timing
 * @threads: 0: 1
 * @warmup_ns: what is to start before it is left out of all figures
 * @think_s: pause after each think_writes of a workload, seconds; 0: none
 * @how: where requests go
 * @buffered: through the page cache
 * @scan: read all of the trace first
 * @dry_run: only say what would be done
 * @histogram: file for the histograms, or NULL
 * @no_check: do not compare what was written
 * @state: file that says after a crash what was to be there, or NULL
 * @verify_below: device to compare on in place of the one replayed on, or NULL
 * @json: print one JSON object
 */
struct replay_trace_options {
	enum engine_timing timing;
	double speed;
	uint64_t depth;
	uint64_t threads;
	uint64_t warmup_ns;
	double think_s;
	enum placement_how how;
	bool buffered;
	bool scan;
	bool dry_run;
	const char *histogram;
	bool no_check;
	const char *state;
	const char *verify_below;
	bool json;
};

/**
 * struct replay_trace - a trace on a device
 * @options: what was asked for
 * @source: the trace
 * @device: where
 * @geometry: its blocks
 * @offset_known: false if the kernel cannot say where they start
 * @placement: where requests go
 * @timing: when they start
 * @speed: how much faster than the trace
 * @depth: most in flight of each thread
 * @threads: how many make requests
 * @scanned: is @scan set?
 * @scan: what the trace has
 * @done: what was done
 * @measures: what it took
 * @probes: what each probe took; NULL unless the source is of those
 * @check: what comparing found
 * @stopped: NULL, or what ended the run early: "signal" or "error"
 */
struct replay_trace {
	const struct replay_trace_options *options;
	struct source source;
	const struct device *device;
	const struct align_geometry *geometry;
	bool offset_known;
	struct placement placement;
	enum engine_timing timing;
	double speed;
	unsigned int depth;
	unsigned int threads;
	bool scanned;
	struct trace_scan scan;
	struct engine_done done;
	struct measures measures;
	struct probes *probes;
	struct content_check check;
	const char *stopped;
};

/* Each returns enum alignctl_exit; errors have been reported. */

/* Opens a trace by its path, or a workload, for replay_trace_close(). */
int replay_trace_open(struct replay_trace *trace, const char *path);
void replay_trace_close(struct replay_trace *trace);

/*
 * Settles what was left open, and refuses what is known not to fit; reads all
 * of the trace where that is needed to know. Nothing is written.
 */
int replay_trace_fit(struct replay_trace *trace);

/* Makes the requests, and prints the report. */
int replay_trace_run(struct replay_trace *trace, int fd);

/* Says what a crash left, on the device @on or, if NULL, that of the state. */
int replay_trace_crash(const char *state, const char *on, bool json);

/* What would be done. */
void trace_report_plan(const struct replay_trace *trace);
/* What a crash left. */
void trace_report_crash(const struct trace_state *state,
			const struct device *device,
			const struct content_crash *crash, bool json);
/* What was done. */
void trace_report(const struct replay_trace *trace);

#endif
