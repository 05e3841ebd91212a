/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between writer.c and the writer of each format. */
#ifndef ALIGNCTL_TRACE_WRITER_FORMAT_H
#define ALIGNCTL_TRACE_WRITER_FORMAT_H

#include <stdio.h>

#include "trace/names.h"
#include "trace/writer.h"

/**
 * struct trace_writer - a trace that is being written
 * @format: the format's functions
 * @path: final path of the file
 * @draft: path of the file until trace_writer_end()
 * @lock: descriptor of the draft, which is locked as long as it is open; -1: none
 * @buffer: buffer of @stream
 * @stream: the file; the caller checks for errors
 * @origin: origin of the trace; the device's name is a copy
 * @source: name of the format that the requests come from, a copy; "": none
 * @untimed: the requests come from a trace without times
 * @files: names of the files that have been named
 * @used: files that requests so far went to
 * @keep: the draft stays if the file cannot be written
 * @replaces: the file was there at the begin, and is replaced
 * @flushed: bytes that have been written to the file and are a readable trace
 * @nr_flushed: number of requests in these
 * @nr: number of requests so far
 * @end: byte after the last byte that requests so far reach
 * @last_ns: time of the last request
 * @lost: number of requests not expressed in full, by enum trace_lost
 * @state: the format's own data, freed with free()
 */
struct trace_writer {
	const struct trace_written_format *format;
	char *path;
	char *draft;
	int lock;
	char *buffer;
	FILE *stream;
	struct trace_origin origin;
	char *source;
	bool untimed;
	struct trace_names files;
	bool used[TRACE_MAX_FILES];
	bool keep;
	bool replaces;
	uint64_t flushed;
	uint64_t nr_flushed;
	uint64_t nr;
	uint64_t end;
	uint64_t last_ns;
	uint64_t lost[TRACE_NR_LOST];
	void *state;
};

/**
 * struct trace_written_format - the writer of a format
 * @begin: write the head of the file
 * @file: write the name of a file; NULL: the format has none
 * @add: write a request; false, after reporting it, if the format cannot
 * @checkpoint: make the file readable as a trace; NULL: whole lines suffice
 * @end: write the end of the file; NULL: the format has none
 * @finish: make @path of the draft, which is complete and is removed afterwards.
 *	Return: enum alignctl_exit; reported. NULL: the draft is renamed
 * @release: free what the state points to; NULL: nothing
 */
struct trace_written_format {
	void (*begin)(struct trace_writer *writer);
	void (*file)(struct trace_writer *writer, uint32_t file);
	bool (*add)(struct trace_writer *writer,
		    const struct trace_request *request);
	void (*checkpoint)(struct trace_writer *writer);
	void (*end)(struct trace_writer *writer);
	int (*finish)(struct trace_writer *writer);
	void (*release)(struct trace_writer *writer);
};

extern const struct trace_written_format trace_written_recording,
					 trace_written_iolog,
					 trace_written_csv,
					 trace_written_parquet;

#endif
