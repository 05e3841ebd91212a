/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the requests of replay and plan come from: a built-in workload, or a
 * trace. Both are read one by one, and again from the start.
 */
#ifndef ALIGNCTL_SOURCE_H
#define ALIGNCTL_SOURCE_H

#include "trace/trace.h"
#include "workload/plan.h"

/**
 * struct source - requests to be made
 * @name: of the workload, or the path of the trace
 * @plan: a workload's; plan.workload is NULL for a trace, for which nothing but
 *	plan.fdatasync counts
 * @trace: NULL for a workload
 * @issued: requests that source_next() has returned, but for the flushes that
 *	the plan adds to writes
 * @window: where those of the workload's window go, by rising offset
 * @flush_due: the flush after the last of those comes next
 * @flush: it
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
 * A workload if one has that name, else a trace; "./NAME" is always a file.
 * Return: enum alignctl_exit; errors have been reported.
 */
int source_open(struct source *source, const char *name);
void source_close(struct source *source);

/* As trace_facts(); a workload's once its plan is complete. */
struct trace_facts source_facts(const struct source *source);

/* Does it only read, as far as is known before the first request? */
bool source_reads(const struct source *source);

/* As trace_next() and trace_rewind(). */
enum trace_next source_next(struct source *source,
			    struct trace_request *request);
int source_rewind(struct source *source);

/* Can source_rewind() succeed? Not for a pipe. */
bool source_has_way_back(const struct source *source);

/* "NAME: request 17" or as trace_position() has it; for free(). */
char *source_position(const struct source *source);

#endif
