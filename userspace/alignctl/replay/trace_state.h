/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must be known after a crash to tell what it left: a JSON file that is
 * written before the first request, and kept up while the trace is replayed.
 */
#ifndef ALIGNCTL_TRACE_STATE_H
#define ALIGNCTL_TRACE_STATE_H

#include "replay/content.h"

/* Of struct engine_done.issued: the run did not come to its end. */
#define TRACE_STATE_NOT_KNOWN	UINT64_MAX

/**
 * struct trace_state - a replay of a trace
 * @path: the state file
 * @trace: the trace's absolute path; load makes it, for free()
 * @trace_bytes: its length
 * @trace_mtime_ns: when it was last changed, as stat() has it
 * @device: the device's absolute path; likewise
 * @placement: where the requests went
 * @run: mark of the run
 * @durable: requests from the start that are durable
 * @done: those made; only issued, nr_failed and failed are kept
 * @fd: the file, while it is kept up
 * @figures: byte in it where @durable stands
 */
struct trace_state {
	const char *path;
	char *trace;
	uint64_t trace_bytes;
	uint64_t trace_mtime_ns;
	char *device;
	struct placement placement;
	uint64_t run;
	uint64_t durable;
	struct engine_done done;
	int fd;
	long figures;
};

/* Each returns enum alignctl_exit; errors have been reported. */

/* Writes the file, and sees that it is on its disk. */
int trace_state_begin(struct trace_state *state);
/* Notes that so many are durable, for struct engine_setup. */
void trace_state_durable(void *state, uint64_t requests);
/* Notes what was done. */
int trace_state_end(struct trace_state *state, const struct engine_done *done);

int trace_state_load(struct trace_state *state, const char *path);

/* Frees what load made. */
void trace_state_free(struct trace_state *state);

#endif
