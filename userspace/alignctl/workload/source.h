/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources of requests for replay and plan: a built-in workload or a trace,
 * whose requests are read one by one and can be read again from the start.
 */
#ifndef ALIGNCTL_SOURCE_H
#define ALIGNCTL_SOURCE_H

#include "trace/trace.h"
#include "workload/plan.h"

/**
 * struct source - a workload or a trace
 * @name: name of the workload, or path of the trace
 * @plan: plan of the workload; plan.workload is NULL for a trace, of which only
 *	plan.fdatasync is used
 * @trace: the trace; NULL for a workload
 * @issued: number of requests that source_next() has returned, without the
 *	flushes that the plan adds to writes
 * @window: offsets of the requests in the workload's window, rising
 * @flush_due: @flush is the next request
 * @flush: the flush that the plan adds after the last write
 */
struct source {
	const char *name;
	struct plan plan;
	struct trace *trace;
	uint64_t issued;
	uint64_t window[WORKLOAD_MAX_WINDOW];
	bool flush_due;
	struct trace_request flush;
};

/*
 * Open the workload of that name, or else a trace; "./NAME" is always a file.
 * Return: enum alignctl_exit; errors have been reported.
 */
int source_open(struct source *source, const char *name);

/* Open a source; read of a trace what @choice says, which outlives the source. */
int source_open_as(struct source *source, const char *name,
		   const struct trace_choice *choice);

/* Open a trace, whose name is never that of a workload; as source_open_as(). */
int source_open_trace(struct source *source, const char *path,
		      const struct trace_choice *choice);
void source_close(struct source *source);

/* Return facts as trace_facts(); of a workload, after its plan is complete. */
struct trace_facts source_facts(const struct source *source);

/* Check whether a source only reads, which is not known of traces. */
bool source_reads(const struct source *source);

/* Read what is needed before the first request; as trace_read_ahead(). */
void source_read_ahead(struct source *source);

/* Read the next request; as trace_next(). */
enum trace_next source_next(struct source *source,
			    struct trace_request *request);
/* Go back to the first request; as trace_rewind(). */
int source_rewind(struct source *source);

/* Check whether source_rewind() is possible, which it is not for a pipe. */
bool source_has_way_back(const struct source *source);

/* Name the blocks for a list of a trace's disks; as trace_set_blocks(). */
void source_set_blocks(struct source *source, uint32_t physical,
		       uint32_t offset);

/* Refuse a trace of several disks; as trace_refuse_disks(). Return: USAGE. */
int source_refuse_disks(struct source *source);

/* Return "NAME: request 17", or trace_position() of a trace; for free(). */
char *source_position(const struct source *source);

#endif
