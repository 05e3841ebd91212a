/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a replay, in a small JSON file: what was to be done where, what
 * was prepared, which requests are durable, and which were made. One phase
 * leaves it for the next; after a crash it tells what must still be there. It is
 * written before the first request, and kept up while requests are made.
 */
#ifndef ALIGNCTL_REPLAY_STATE_H
#define ALIGNCTL_REPLAY_STATE_H

#include "engine/engine.h"

/* Of struct engine_done.issued: the run did not come to its end. */
#define REPLAY_STATE_NOT_KNOWN	UINT64_MAX

/**
 * struct replay_state - the state of a replay
 * @path: path of the state file
 * @source: name of the workload, or the trace's absolute path; allocated
 * @choice: part of the trace that was read; its texts are allocated
 * @trace_bytes: length of the trace
 * @trace_mtime_ns: time of its last change, as stat() has it, nanoseconds
 * @plan: plan of a workload; plan.workload is NULL for a trace
 * @device: absolute path of the device; allocated
 * @placement: where the requests went
 * @prepared: the sectors around the writes were written first
 * @blocks: physical blocks of the device
 * @mark: random number of the run, in each sector that it wrote
 * @durable: number of requests from the start that are durable
 * @done: requests that were made; only issued, nr_failed and failed are kept
 * @fd: the file, while it is kept up
 * @figures: position in it, in bytes, of @durable
 */
struct replay_state {
	const char *path;
	char *source;
	struct trace_choice choice;
	uint64_t trace_bytes;
	uint64_t trace_mtime_ns;
	struct plan plan;
	char *device;
	struct placement placement;
	bool prepared;
	struct align_geometry blocks;
	uint64_t mark;
	uint64_t durable;
	struct engine_done done;
	int fd;
	long figures;
};

/* Each returns enum alignctl_exit; errors have been reported. */

/*
 * Write the file for requests that are about to be made, and see that it is on
 * its disk; for replay_state_end().
 */
int replay_state_begin(struct replay_state *state);
/* Note that @requests from the start are durable, for struct engine_setup. */
void replay_state_durable(void *state, uint64_t requests);
/* Note which requests were made, as @state->done says, and close the file. */
int replay_state_end(struct replay_state *state);

/* Write the file for a later phase. */
int replay_state_save(struct replay_state *state);

/* Read a file; for replay_state_free(). */
int replay_state_load(struct replay_state *state, const char *path);

/*
 * Set the members that tell which source it is. The trace has to be a file.
 * Return: enum alignctl_exit; errors have been reported.
 */
int replay_state_name_source(struct replay_state *state,
			     const struct source *source);

/* Return whether the trace is still there, and was not changed since. */
bool replay_state_trace_unchanged(const struct replay_state *state);

/* Return whether the sectors that the requests wrote say which one wrote them. */
bool replay_state_labelled(const struct replay_state *state);

/* Free the allocated members. */
void replay_state_free(struct replay_state *state);

#endif
