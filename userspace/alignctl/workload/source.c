// SPDX-License-Identifier: GPL-2.0
/* One interface over a plan and a trace: open, next, rewind, facts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/nearest.h"
#include "workload/method.h"
#include "workload/source.h"

/* Report that @name is neither a file nor something built in. */
static void report_unknown(const char *name)
{
	struct nearest nearest = { .word = name };
	CLEANUP_FREE char *hint = NULL;
	const struct workload *w;
	const struct method *m;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++)
		nearest_try(&nearest, w->name);
	for (i = 0; (m = method_at(i)); i++)
		nearest_try(&nearest, m->name);
	hint = nearest_hint(&nearest, ";");
	message_error("no workload '%s' either%s 'alignctl workloads' lists them",
		      name, hint);
}

int source_open_trace(struct source *source, const char *path,
		      const struct trace_choice *choice)
{
	int result;

	*source = (struct source) { .name = path };
	result = trace_open_as(&source->trace, path, choice);
	if (!result && trace_facts(source->trace)->origin.lost)
		message_warning("%s: incomplete: %" PRIu64
				" requests were lost while recording",
				path, trace_facts(source->trace)->origin.lost);
	return result;
}

int source_open(struct source *source, const char *name)
{
	return source_open_as(source, name, &TRACE_ANY);
}

int source_open_as(struct source *source, const char *name,
		   const struct trace_choice *choice)
{
	const struct workload *w = workload_find(name);
	int result;

	if (w) {
		*source = (struct source) { .name = name };
		plan_init(&source->plan, w);
		return ALIGNCTL_FINE;
	}
	result = source_open_trace(source, name, choice);
	/* only after it, which finds a trace without its ending */
	if (result && *name && strcmp(name, "-") && access(name, F_OK))
		report_unknown(name);
	return result;
}

void source_close(struct source *source)
{
	trace_close(source->trace);
	source->trace = NULL;
}

struct trace_facts source_facts(const struct source *source)
{
	if (source->trace)
		return *trace_facts(source->trace);
	return (struct trace_facts) {
		.format = "workload",
		.end_known = true, .end = plan_end(&source->plan),
		.nr_known = true, .nr = plan_requests(&source->plan),
	};
}

bool source_reads(const struct source *source)
{
	return !source->trace && source->plan.workload->reads;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Return the next request's offset; sort the offsets of its window first. */
static uint64_t next_offset(struct source *source, uint32_t *bytes)
{
	const struct plan *plan = &source->plan;
	uint64_t n = source->issued++, nr = plan->workload->window, i;
	uint64_t offset = plan_request(plan, n, bytes);

	if (nr < 2)
		return offset;
	if (n % nr == 0) {
		if (nr > plan_requests(plan) - n)
			nr = plan_requests(plan) - n;
		for (i = 0; i < nr; i++)
			source->window[i] = plan_request(plan, n + i, bytes);
		qsort(source->window, nr, sizeof(source->window[0]), by_number);
	}
	return source->window[n % plan->workload->window];
}

/* Make a flush the next request, with the write's time, file and process. */
static void flush_after(struct source *source,
			const struct trace_request *write)
{
	source->flush_due = true;
	source->flush = *write;
	source->flush.op = TRACE_FLUSH;
	source->flush.offset = source->flush.bytes = 0;
	source->flush.preflush = source->flush.fua = false;
}

void source_read_ahead(struct source *source)
{
	if (source->trace)
		trace_read_ahead(source->trace);
}

enum trace_next source_next(struct source *source,
			    struct trace_request *request)
{
	enum trace_next next;
	uint32_t bytes;

	if (source->flush_due) {
		source->flush_due = false;
		*request = source->flush;
		return TRACE_GOT;
	}
	if (source->trace) {
		next = trace_next(source->trace, request);
		source->issued += next == TRACE_GOT;
		if (next == TRACE_GOT && source->plan.fdatasync &&
		    request->op == TRACE_WRITE)
			flush_after(source, request);
		return next;
	}
	if (source->issued == plan_requests(&source->plan))
		return TRACE_END;
	*request = (struct trace_request) {
		.op = source->plan.workload->reads ? TRACE_READ : TRACE_WRITE,
		.offset = next_offset(source, &bytes),
		.fua = source->plan.workload->sync == WORKLOAD_DSYNC,
	};
	request->bytes = bytes;
	if (plan_syncs(&source->plan, source->issued - 1))
		flush_after(source, request);
	return TRACE_GOT;
}

int source_rewind(struct source *source)
{
	source->issued = 0;
	source->flush_due = false;
	return source->trace ? trace_rewind(source->trace) : ALIGNCTL_FINE;
}

bool source_has_way_back(const struct source *source)
{
	return !source->trace || trace_has_way_back(source->trace);
}

void source_set_blocks(struct source *source, uint32_t physical,
		       uint32_t offset)
{
	if (source->trace)
		trace_set_blocks(source->trace, physical, offset);
}

int source_refuse_disks(struct source *source)
{
	trace_refuse_disks(source->trace);
	return ALIGNCTL_USAGE;
}

char *source_position(const struct source *source)
{
	if (source->trace)
		return trace_position(source->trace);
	return message_format("%s: request %" PRIu64, source->name,
			      source->issued);
}
