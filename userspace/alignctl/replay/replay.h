/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A replay does the requests of a source, a workload or a trace, on a device:
 * fit settles what the command line leaves open and refuses what cannot work,
 * run makes the requests, check compares what the device holds then. Before a
 * workload, prepare may write every sector around its writes, in whole physical
 * blocks, so that check sees the sectors beside the writes too.
 */
#ifndef ALIGNCTL_REPLAY_H
#define ALIGNCTL_REPLAY_H

#include "base/schema.h"
#include "engine/engine.h"
#include "replay/content.h"

/**
 * struct replay_options - the command line; 0 or NULL: not given
 * @timing: when requests start; ENGINE_NR_TIMINGS: as the source can
 * @speed: factor on the speed of a trace's clock; 0: 1
 * @depth: most requests in flight of each thread; 0: what suits @timing
 * @threads: threads that make requests; 0: 1
 * @warmup_ns: time whose requests are left out of all figures, nanoseconds
 * @think_s: pause after each think_writes of a workload, seconds; 0: none
 * @how: where requests go
 * @prepare: write the sectors around a workload first, see replay_prepare()
 * @scan: read all of the source first
 * @dry_run: only say what would be done
 * @histogram: path of a file for the histograms
 * @each: keep the service time of each request
 * @no_check: do not compare the written data
 * @state: path of the state file, see state.h
 * @verify_below: path of a device to compare on in place of the one replayed on
 * @json: print one JSON object
 */
struct replay_options {
	enum engine_timing timing;
	double speed;
	uint64_t depth;
	uint64_t threads;
	uint64_t warmup_ns;
	double think_s;
	enum placement_how how;
	bool prepare;
	bool scan;
	bool dry_run;
	const char *histogram;
	bool each;
	bool no_check;
	const char *state;
	const char *verify_below;
	bool json;
};

/**
 * struct replay_scan - what reading a source once tells
 * @requests: number of requests, by enum trace_op
 * @bytes: bytes of these requests, by enum trace_op
 * @end: byte after the last one that any request reaches
 * @longest: bytes of the longest request that is not a discard
 * @first_ns: time of the first request, nanoseconds, of any clock
 * @last_ns: time of the last request
 * @moved: requests that go elsewhere on the device than they went in the trace
 */
struct replay_scan {
	uint64_t requests[TRACE_NR_OPS];
	uint64_t bytes[TRACE_NR_OPS];
	uint64_t end;
	uint64_t longest;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t moved;
};

/**
 * struct replay - a source on a device
 * @options: the command line
 * @source: the source of requests; its plan says whether they are buffered
 * @device: the device
 * @geometry: physical blocks of the device, for the figures
 * @offset_known: false if the kernel cannot tell the alignment offset
 * @fd: the device for the requests, open with O_DIRECT unless they are buffered
 * @direct_fd: the device open with O_DIRECT, for preparing
 * @placement: where requests go
 * @timing: when requests start
 * @speed: factor on the speed of the trace's clock
 * @depth: most requests in flight of each thread
 * @threads: threads that make requests
 * @scanned: @scan is set
 * @scan: totals of the source
 * @counted: @figures are set
 * @figures: expected cost of a workload that writes
 * @prepared: the sectors around the writes held the filler before the run
 * @blocks: geometry that these sectors were chosen by, if @prepared
 * @mark: random number of this run, in each sector that it writes
 * @done: the requests that were made
 * @ran: @measures are set
 * @measures: what the requests took
 * @probes: what each probe took; NULL unless the source consists of probes
 * @each: service time of each request, if @options->each
 * @check: what comparing found
 * @stopped: NULL, or what ended the run early: "signal" or "error"
 * @saved: enum alignctl_exit of the files that the run leaves
 */
struct replay {
	const struct replay_options *options;
	struct source source;
	const struct device *device;
	struct align_geometry geometry;
	bool offset_known;
	int fd;
	int direct_fd;
	struct placement placement;
	enum engine_timing timing;
	double speed;
	unsigned int depth;
	unsigned int threads;
	bool scanned;
	struct replay_scan scan;
	bool counted;
	struct plan_figures figures;
	bool prepared;
	struct align_geometry blocks;
	uint64_t mark;
	struct engine_done done;
	bool ran;
	struct measures measures;
	struct probes *probes;
	struct each each;
	struct content_check check;
	const char *stopped;
	int saved;
};

/* Each returns enum alignctl_exit; errors have been reported. */

/*
 * Settle what was left open, and refuse what is known not to fit; read all of
 * the source where that is needed to know. Writes nothing. @source, @device and
 * @geometry are set.
 */
int replay_fit(struct replay *replay);

/*
 * Write every sector around the writes of a workload, in whole physical blocks,
 * and flush. Stops early, with ALIGNCTL_FINE, when interrupt_seen().
 */
int replay_prepare(struct replay *replay);

/*
 * Check that the range is still the one that replay_prepare() wrote. Reads the
 * last logical block only, which no write of the workload touches: reading more,
 * or near the first write, would fill the drive's buffers and change what is
 * measured. Return: ALIGNCTL_BUSY if the block holds anything else.
 */
int replay_still_prepared(const struct replay *replay);

/*
 * Make the requests, and leave the files that were asked for. Stops early, with
 * ALIGNCTL_FINE and @stopped set, when interrupt_seen().
 */
int replay_run(struct replay *replay);

/*
 * Compare what the device holds with what the requests, as far as they were made,
 * must have left. Return: ALIGNCTL_FINDINGS if a sector differs.
 */
int replay_check(struct replay *replay);

/* Free what the functions above allocated, and close the source. */
void replay_close(struct replay *replay);

/*
 * Say what a crash left of the replay with this state, on the device @on or, if
 * NULL, on the state's own. Return: ALIGNCTL_FINDINGS if writes were lost or torn.
 */
int replay_crash(const char *state, const char *on, bool json);

/* What its document holds. */
extern const struct schema_document replay_crash_schema;

#endif
