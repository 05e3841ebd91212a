// SPDX-License-Identifier: GPL-2.0
#include "base/exit_codes.h"
#include "trace/convert.h"
#include "trace/names.h"

/* Names the request's file to the writer when it is the first one that goes there. */
static int name_file(struct trace *trace, struct trace_writer *writer,
		     uint32_t file, bool *named)
{
	const char *name = trace_file(trace, file);

	if (!name || named[file])
		return ALIGNCTL_FINE;
	named[file] = true;
	return trace_writer_file(writer, file, name);
}

static int copy(struct trace *trace, struct trace_writer *writer)
{
	bool named[TRACE_MAX_FILES] = { false };
	struct trace_request request;
	enum trace_next next;
	int failed;

	while ((next = trace_next(trace, &request)) == TRACE_GOT) {
		failed = name_file(trace, writer, request.file, named);
		if (!failed)
			failed = trace_writer_add(writer, &request);
		if (failed)
			return failed;
	}
	return trace_next_status(next);
}

int trace_convert(const char *source, const char *output,
		  enum trace_written format)
{
	struct trace_writer *writer;
	struct trace *trace;
	int failed;

	failed = trace_open(&trace, source);
	if (failed)
		return failed;
	failed = trace_writer_begin(&writer, output, format,
				    &trace_facts(trace)->origin);
	if (!failed) {
		failed = copy(trace, writer);
		if (failed)
			trace_writer_abandon(writer);
		else
			failed = trace_writer_end(writer);
	}
	trace_close(trace);
	return failed;
}
