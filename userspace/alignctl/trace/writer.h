/* SPDX-License-Identifier: GPL-2.0 */
/* Write traces: our own recordings, fio's iolog version 3, CSV, and Parquet. */
#ifndef ALIGNCTL_TRACE_WRITER_H
#define ALIGNCTL_TRACE_WRITER_H

#include "trace/trace.h"

enum trace_written {
	TRACE_WRITE_RECORDING,	/* compact, with end and number of requests */
	TRACE_WRITE_IOLOG,	/* fio iolog version 3 */
	TRACE_WRITE_CSV,
	TRACE_NR_WRITTEN_AS_FILE,
	TRACE_WRITE_PARQUET = TRACE_NR_WRITTEN_AS_FILE,	/* a folder; by DuckDB */
	TRACE_NR_WRITTEN,
};

/*
 * The formats' names in options: recording, fio, csv, parquet; the first
 * TRACE_NR_WRITTEN_AS_FILE can be written while requests arrive.
 */
extern const char *const trace_written_names[TRACE_NR_WRITTEN];

/* Properties of requests that a format may be unable to express. */
enum trace_lost {
	TRACE_LOST_FUA,
	TRACE_LOST_PREFLUSH,
	TRACE_LOST_ZEROES,
	TRACE_LOST_PROCESS,
	TRACE_LOST_LINE_END,	/* in the name of a process */
	TRACE_NR_LOST,
};

/* Their names in JSON: fua, preflush, write_zeroes, process, line_end. */
extern const char *const trace_lost_names[TRACE_NR_LOST];

struct trace_writer;

/*
 * Begin a new trace. @path gets its name only at trace_writer_end(), so that
 * a partial trace is never taken for a whole one; a file that another program has
 * made there meanwhile stays, and so does the draft. @origin is copied. Return:
 * enum alignctl_exit; errors have been reported.
 */
int trace_writer_begin(struct trace_writer **writer, const char *path,
		       enum trace_written format,
		       const struct trace_origin *origin);

/* Note the format that the requests come from, and whether they have times. */
void trace_writer_source(struct trace_writer *writer,
			 const struct trace_facts *facts);

/*
 * Name a file before its first request; a file without a name stands for the
 * device that the trace was taken on. Return: as trace_writer_begin().
 */
int trace_writer_file(struct trace_writer *writer, uint32_t file,
		      const char *name);

/*
 * Add a request; times must not decrease. trace_writer_end() warns of what the
 * format cannot express. Return: as trace_writer_begin().
 */
int trace_writer_add(struct trace_writer *writer,
		     const struct trace_request *request);

/*
 * Write all requests so far, so that they can be read from PATH.new, the file's
 * name until trace_writer_end(), if this process is killed. Return: as
 * trace_writer_begin().
 */
int trace_writer_checkpoint(struct trace_writer *writer);

/* Return how many requests so far have @what, which the format lacks. */
uint64_t trace_writer_not_expressed(const struct trace_writer *writer,
				    enum trace_lost what);

/* Return the size of the file so far, in bytes. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);

/*
 * Keep PATH.new with the requests that have been written, and say so, if a write
 * fails: for a trace that cannot be made again.
 */
void trace_writer_keep(struct trace_writer *writer);

/* Note the number of missing requests, if the format can. */
void trace_writer_lost(struct trace_writer *writer, uint64_t requests);

/*
 * Complete the file, sync it, give it its name and free the writer. Return: as
 * trace_writer_begin().
 */
int trace_writer_end(struct trace_writer *writer);

/*
 * Remove the file, unless it is to be kept after a failed write, and free the writer,
 * in place of trace_writer_end().
 */
void trace_writer_abandon(struct trace_writer *writer);

#endif
