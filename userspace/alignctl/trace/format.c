// SPDX-License-Identifier: GPL-2.0
/*
 * What the readers of all formats share: passes, lines, refusals, names of
 * files.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "trace/format.h"
#include "trace/sorter.h"

const char *const trace_op_names[TRACE_NR_OPS] = {
	[TRACE_READ] = "read",
	[TRACE_WRITE] = "write",
	[TRACE_FLUSH] = "flush",
	[TRACE_DISCARD] = "discard",
	[TRACE_WRITE_ZEROES] = "write-zeroes",
};

int trace_next_status(enum trace_next next)
{
	switch (next) {
	case TRACE_GOT:
	case TRACE_END:
		break;
	case TRACE_BROKEN:
		return ALIGNCTL_USAGE;
	case TRACE_FAILED:
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

int trace_begin(struct trace *trace, int (*by)(struct trace *trace))
{
	int failed;

	trace->at = (struct trace_place) { trace->input.path, "byte", 0 };
	trace->returned = trace->at;
	trace->last_ns = 0;
	trace->has_base = false;
	memset(trace->left_out, 0, sizeof(trace->left_out));
	trace_disks_clear(&trace->disks);
	trace->ended = false;
	trace->broken = TRACE_GOT;
	failed = by(trace);
	/* of one disk alone nothing is known before all is read */
	if (trace->choice.disk)
		trace->facts.nr_known = trace->facts.end_known = false;
	return failed;
}

void trace_end(struct trace *trace)
{
	if (trace->format->close)
		trace->format->close(trace);
	else
		free(trace->state);
	trace->state = NULL;
}

int trace_rewind(struct trace *trace)
{
	int failed = trace_input_rewind(&trace->input);

	if (failed)
		return failed;
	if (trace->sorter)
		trace_sorter_clear(trace->sorter);
	if (trace->format->rewind)
		return trace_begin(trace, trace->format->rewind);
	trace_end(trace);
	return trace_begin(trace, trace->format->open);
}

bool trace_has_way_back(const struct trace *trace)
{
	return trace_input_has_way_back(&trace->input);
}

static enum trace_next refuse_at(const struct trace_place *place,
				 const char *reason)
{
	message_error("%s: %s %" PRIu64 ": %s", place->path, place->unit,
		      place->number, reason);
	return TRACE_BROKEN;
}

enum trace_next trace_refuse(struct trace *trace, const char *format, ...)
{
	CLEANUP_FREE char *reason = NULL;
	va_list args;

	va_start(args, format);
	reason = message_format_list(format, args);
	va_end(args);
	return refuse_at(&trace->at, reason);
}

enum trace_next trace_line(struct trace *trace, char **line)
{
	enum trace_next next = trace_input_line(&trace->input, line);

	trace->at = (struct trace_place) { trace->input.path, "line",
					   trace->input.line };
	return next;
}

int trace_first_line(struct trace *trace, char **line)
{
	enum trace_next next = trace_line(trace, line);

	if (next == TRACE_END)
		next = trace_refuse(trace, "the file ends before its first line");
	return trace_next_status(next);
}

const char *trace_request_fault(const struct trace_request *request)
{
	if (request->op == TRACE_FLUSH)
		return request->offset || request->bytes ?
		       "a flush has no offset and no length" : NULL;
	if (!request->bytes)
		return "length is 0";
	if (request->offset > TRACE_MAX_END ||
	    request->bytes > TRACE_MAX_END - request->offset)
		return "ends beyond byte 9223372036854775807, the last of any file";
	return NULL;
}

enum trace_next trace_find_file(struct trace *trace, const char *name,
				uint32_t *file)
{
	const char *fault;

	if (trace_names_find(&trace->files, name, file))
		return TRACE_GOT;
	if (trace_names_full(&trace->files)) {
		*file = TRACE_OTHER_FILE;
		return TRACE_GOT;
	}
	*file = trace->files.nr;
	fault = trace_names_set(&trace->files, *file, name);
	return fault ? trace_refuse(trace, "%s", fault) : TRACE_GOT;
}

enum trace_next trace_end_queued(struct trace *trace,
				 struct trace_request *request)
{
	int failed;

	if (trace->issued || trace->seen_queued || !trace->seen_issued)
		return TRACE_END;
	if (!trace_has_way_back(trace)) {
		message_error("%s: has issued (D) events and no queued (Q) ones: save the trace to a file, which can be read twice",
			      trace->input.path);
		return TRACE_BROKEN;
	}
	trace->issued = true;
	message_warning("%s: has no queued (Q) events; its issued (D) ones are read: requests, not writes as issued",
			trace->input.path);
	failed = trace_rewind(trace);
	if (failed)
		return failed == ALIGNCTL_IO ? TRACE_FAILED : TRACE_BROKEN;
	return trace->format->next(trace, request);
}

void trace_set_comm(struct trace_request *request, const char *name)
{
	size_t length = strnlen(name, sizeof(request->comm) - 1);

	memcpy(request->comm, name, length);
	request->comm[length] = '\0';
}
