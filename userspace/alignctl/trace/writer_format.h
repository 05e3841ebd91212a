/* SPDX-License-Identifier: GPL-2.0 */
/* Between writer.c, which all formats share, and the file of each. */
#ifndef ALIGNCTL_TRACE_WRITER_FORMAT_H
#define ALIGNCTL_TRACE_WRITER_FORMAT_H

#include <stdio.h>

#include "trace/names.h"
#include "trace/writer.h"

/**
 * struct trace_writer - a trace that is being written
 * @format: how
 * @path: where it will be
 * @draft: where it is until then
 * @buffer: of @stream
 * @stream: the file; whether writing fails is seen by the caller
 * @origin: where it was taken; its device's name is a copy
 * @files: names of the files that have been named
 * @used: files that requests went to
 * @flushed: bytes that have gone to the file, up to an end of line; not kept for a
 *	format with checkpoints of its own
 * @nr: requests so far
 * @end: byte after the last one that they reach
 * @last_ns: time of the last one
 * @lost: how often something could not be expressed
 * @state: @format's own, given back with free()
 */
struct trace_writer {
	const struct trace_written_format *format;
	char *path;
	char *draft;
	char *buffer;
	FILE *stream;
	struct trace_origin origin;
	struct trace_names files;
	bool used[TRACE_MAX_FILES];
	uint64_t flushed;
	uint64_t nr;
	uint64_t end;
	uint64_t last_ns;
	uint64_t lost[TRACE_NR_LOST];
	void *state;
};

/**
 * struct trace_written_format - how to write a format
 * @begin: writes what comes first
 * @file: a file has been named; NULL: nothing to do
 * @add: writes a request; false: it cannot be expressed, which was reported
 * @checkpoint: makes what is in the file a trace; NULL: whole lines are one
 * @end: writes what comes last; NULL: nothing does
 * @release: gives back what the state holds; NULL: nothing
 */
struct trace_written_format {
	void (*begin)(struct trace_writer *writer);
	void (*file)(struct trace_writer *writer, uint32_t file);
	bool (*add)(struct trace_writer *writer,
		    const struct trace_request *request);
	void (*checkpoint)(struct trace_writer *writer);
	void (*end)(struct trace_writer *writer);
	void (*release)(struct trace_writer *writer);
};

extern const struct trace_written_format trace_written_recording,
					 trace_written_iolog,
					 trace_written_csv;

#endif
