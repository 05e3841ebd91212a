// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "trace/blktrace.h"
#include "trace/format.h"
#include "trace/sorter.h"

#define INPUT_BYTES	(64U << 10)

/* Bytes by which a file's format is recognized. */
#define HEAD_BYTES	4096U

const char *const trace_op_names[TRACE_NR_OPS] = {
	[TRACE_READ] = "read",
	[TRACE_WRITE] = "write",
	[TRACE_FLUSH] = "flush",
	[TRACE_DISCARD] = "discard",
	[TRACE_WRITE_ZEROES] = "write-zeroes",
};

const char *const trace_readable_names[TRACE_NR_READABLE] = {
	[TRACE_READABLE_RECORDING] = "recording",
	[TRACE_READABLE_IOLOG] = "fio",
	[TRACE_READABLE_BLKTRACE] = "blktrace",
	[TRACE_READABLE_BLKPARSE] = "blkparse",
	[TRACE_READABLE_CSV] = "csv",
};

static const struct trace_format *const formats[TRACE_NR_READABLE] = {
	[TRACE_READABLE_RECORDING] = &trace_recording,
	[TRACE_READABLE_IOLOG] = &trace_iolog,
	[TRACE_READABLE_BLKTRACE] = &trace_blktrace,
	[TRACE_READABLE_BLKPARSE] = &trace_blkparse,
	[TRACE_READABLE_CSV] = &trace_csv,
};

/* Return the format of a file's first bytes; TRACE_NR_READABLE: unknown. */
static enum trace_readable recognize(const char *head, size_t length)
{
	enum trace_readable i;

	for (i = 0; i < TRACE_NR_READABLE; i++)
		if (formats[i]->recognize(head, length))
			break;
	return i;
}

/* Find the format of the open file. Return: enum alignctl_exit; reported. */
static int find_format(struct trace *trace, enum trace_readable *found)
{
	char head[HEAD_BYTES + 1];
	ssize_t length = trace_input_peek(&trace->input, HEAD_BYTES);

	if (length < 0)
		return trace_next_status(trace_input_failure(&trace->input));
	/* blktrace leaves an empty file for a processor without events */
	if (!length && blktrace_is_member(trace->input.path)) {
		*found = TRACE_READABLE_BLKTRACE;
		return ALIGNCTL_FINE;
	}
	if (!length) {
		message_error("%s: is empty; a trace has at least a header or a request",
			      trace->input.path);
		return ALIGNCTL_USAGE;
	}
	memcpy(head, trace->input.buffer + trace->input.start, (size_t)length);
	head[length] = '\0';
	*found = recognize(head, (size_t)length);
	if (*found == TRACE_NR_READABLE) {
		message_error("%s: unknown format; known are recording, fio iolog v2 and v3, blktrace, blkparse, CSV with column names",
			      trace->input.path);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* Set trace->format to the open file's format, which must be @wanted. */
static int set_format(struct trace *trace, enum trace_readable wanted)
{
	enum trace_readable found;
	int failed = find_format(trace, &found);

	if (failed)
		return failed;
	if (wanted != TRACE_NR_READABLE && wanted != found) {
		message_error("%s: is in format %s, not %s",
			      trace->input.path, trace_readable_names[found],
			      trace_readable_names[wanted]);
		return ALIGNCTL_USAGE;
	}
	trace->format = formats[found];
	return ALIGNCTL_FINE;
}

static int open_format(struct trace *trace)
{
	trace->at = (struct trace_place) { trace->input.path, "byte", 0 };
	trace->returned = trace->at;
	trace->last_ns = 0;
	trace->left_out = 0;
	trace->ended = false;
	trace->broken = TRACE_GOT;
	return trace->format->open(trace);
}

int trace_open(struct trace **opened, const char *path)
{
	return trace_open_as(opened, path, TRACE_NR_READABLE);
}

int trace_open_as(struct trace **opened, const char *path,
		  enum trace_readable format)
{
	CLEANUP_FREE char *member = NULL;
	struct trace *trace;
	int failed;

	*opened = NULL;
	if (!*path) {
		message_error("SOURCE \"\": is empty; give a trace's path or, where allowed, a workload's name");
		return ALIGNCTL_USAGE;
	}
	if (access(path, F_OK))
		member = blktrace_member(path);
	trace = memory_or_exit(calloc(1, sizeof(*trace)));
	failed = trace_input_open(&trace->input, member ? member : path,
				  INPUT_BYTES);
	if (!failed)
		failed = set_format(trace, format);
	if (!failed)
		failed = open_format(trace);
	if (failed) {
		trace_close(trace);
		return failed;
	}
	if (trace->format->unsorted)
		trace->sorter = trace_sorter_new();
	*opened = trace;
	return ALIGNCTL_FINE;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->format)
		trace->format->close(trace);
	trace_input_close(&trace->input);
	trace_names_free(&trace->files);
	trace_sorter_free(trace->sorter);
	free(trace);
}

const struct trace_facts *trace_facts(const struct trace *trace)
{
	return &trace->facts;
}

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

int trace_rewind(struct trace *trace)
{
	int failed = trace_input_rewind(&trace->input);

	if (failed)
		return failed;
	if (trace->sorter)
		trace_sorter_clear(trace->sorter);
	trace->format->close(trace);
	return open_format(trace);
}

bool trace_has_way_back(const struct trace *trace)
{
	return trace_input_has_way_back(&trace->input);
}

uint64_t trace_left_out(const struct trace *trace)
{
	return trace->left_out;
}

const char *trace_file(const struct trace *trace, uint32_t file)
{
	const char *name = trace_names_get(&trace->files, file);

	return name && *name ? name : NULL;
}

char *trace_position(const struct trace *trace)
{
	return message_format("%s: %s %" PRIu64, trace->returned.path,
			      trace->returned.unit, trace->returned.number);
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
	if (vasprintf(&reason, format, args) < 0)
		reason = NULL;
	va_end(args);
	return refuse_at(&trace->at, memory_or_exit(reason));
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
	*file = trace->files.nr;
	fault = trace_names_set(&trace->files, *file, name);
	return fault ? trace_refuse(trace, "%s", fault) : TRACE_GOT;
}

void trace_set_comm(struct trace_request *request, const char *name)
{
	size_t length = strnlen(name, sizeof(request->comm) - 1);

	memcpy(request->comm, name, length);
	request->comm[length] = '\0';
}

/* Read a request in the order of the file, and check it. */
static enum trace_next next_of_format(struct trace *trace,
				      struct trace_request *request)
{
	enum trace_next next;
	const char *fault;

	if (trace->ended)
		return TRACE_END;
	*request = (struct trace_request) { 0 };
	next = trace->format->next(trace, request);
	trace->ended = next == TRACE_END;
	if (next != TRACE_GOT)
		return next;
	fault = trace_request_fault(request);
	if (fault)
		return trace_refuse(trace, "%s", fault);
	if (request->time_ns >= trace->last_ns)
		return TRACE_GOT;
	return trace_refuse(trace, "time %" PRIu64 " ns is before the %" PRIu64 " ns of %s; sort the trace by time",
			    request->time_ns, trace->last_ns,
			    trace->sorter ? "over 8192 previous requests" :
					    "the previous request");
}

static enum trace_next next_in_order(struct trace *trace,
				     struct trace_request *request)
{
	enum trace_next next;

	if (!trace->sorter) {
		next = next_of_format(trace, request);
		trace->returned = trace->at;
		return next;
	}
	while (!trace_sorter_full(trace->sorter)) {
		next = next_of_format(trace, request);
		if (next == TRACE_END)
			break;
		if (next != TRACE_GOT)
			return next;
		trace_sorter_add(trace->sorter, request, &trace->at);
	}
	if (trace_sorter_empty(trace->sorter))
		return TRACE_END;
	trace_sorter_take(trace->sorter, request, &trace->returned);
	return TRACE_GOT;
}

/* Warn of entries left out, once even if the trace is read several times. */
static void tell_left_out(struct trace *trace)
{
	if (trace->left_out && !trace->told)
		message_warning("%s: entries left out: %" PRIu64 " (%s)",
				trace->input.path, trace->left_out,
				trace->format->left_out);
	trace->told = true;
}

enum trace_next trace_next(struct trace *trace, struct trace_request *request)
{
	enum trace_next next;

	if (trace_next_status(trace->broken))
		return trace->broken;
	next = next_in_order(trace, request);
	trace->broken = next;
	if (next == TRACE_GOT)
		trace->last_ns = request->time_ns;
	if (next == TRACE_END)
		tell_left_out(trace);
	return next;
}
