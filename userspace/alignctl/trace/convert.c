// SPDX-License-Identifier: GPL-2.0
/* Copy requests from a reader to a writer, with the names of their files. */
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/signals.h"
#include "trace/convert.h"
#include "trace/names.h"
#include "trace/unfinished.h"
#include "trace/writer_format.h"

/* Report that the trace has more files than can be told apart. */
static int refuse_files(const struct trace *trace)
{
	CLEANUP_FREE char *position = trace_position(trace);

	message_error("%s: more than 1024 files or disks; choose one with --disk",
		      position);
	return ALIGNCTL_USAGE;
}

/* Give the writer the name of a file before the file's first request. */
static int name_file(struct trace *trace, struct trace_writer *writer,
		     uint32_t file, bool *named)
{
	const char *name = trace_file(trace, file);

	if (!name || named[file])
		return ALIGNCTL_FINE;
	named[file] = true;
	return trace_writer_file(writer, file, name);
}

static int copy_requests(struct trace *trace, struct trace_writer *writer,
			 struct trace_converted *done)
{
	bool named[TRACE_MAX_FILES] = { false };
	struct trace_request request;
	enum trace_next next;
	int failed;

	while ((next = trace_next(trace, &request)) == TRACE_GOT) {
		if (request.file >= TRACE_MAX_FILES)
			return refuse_files(trace);
		failed = name_file(trace, writer, request.file, named);
		if (!failed)
			failed = trace_writer_add(writer, &request);
		if (failed)
			return failed;
		done->count[request.op]++;
		done->bytes[request.op] += request.bytes;
		done->disks[request.file]++;
	}
	/* text says only as it is read what is missing */
	trace_writer_lost(writer, trace_facts(trace)->origin.lost);
	return trace_next_status(next);
}

/* Note the results before trace and writer are closed. */
static void note_results(struct trace_converted *done, const struct trace *trace,
			 const struct trace_writer *writer)
{
	enum trace_left_out why;
	enum trace_lost what;
	const char *name;
	uint32_t file;

	done->format = trace_facts(trace)->format;
	done->lost = trace_facts(trace)->origin.lost;
	for (why = 0; why < TRACE_NR_LEFT_OUT; why++)
		done->left_out[why] = trace_left_out(trace, why);
	for (file = 0; file < TRACE_MAX_FILES; file++) {
		name = trace_file(trace, file);
		if (name && done->disks[file])
			trace_names_set(&done->names, file, name);
	}
	for (what = 0; what < TRACE_NR_LOST; what++)
		done->not_expressed[what] =
			trace_writer_not_expressed(writer, what);
}

/* Begin the output, which a signal removes from now on until unfinished_end(). */
static int begin_output(struct trace_writer **writer,
			const struct trace_conversion *conversion,
			const struct trace *trace)
{
	CLEANUP_SIGNALS sigset_t before = signals_block();
	int failed;

	failed = trace_writer_begin(writer, conversion->output, conversion->to,
				    &trace_facts(trace)->origin);
	if (!failed)
		unfinished_begin((*writer)->draft);
	return failed;
}

int trace_convert(const struct trace_conversion *conversion,
		  struct trace_converted *done)
{
	struct trace_writer *writer;
	struct trace *trace;
	int failed;

	*done = (struct trace_converted) { 0 };
	failed = trace_open_as(&trace, conversion->source, &conversion->choice);
	if (failed)
		return failed;
	failed = begin_output(&writer, conversion, trace);
	if (!failed) {
		trace_writer_source(writer, trace_facts(trace));
		failed = copy_requests(trace, writer, done);
		if (failed) {
			trace_writer_abandon(writer);
		} else {
			note_results(done, trace, writer);
			failed = trace_writer_end(writer);
		}
		unfinished_end();
	}
	trace_close(trace);
	return failed;
}
