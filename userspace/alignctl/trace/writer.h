/* SPDX-License-Identifier: GPL-2.0 */
/* Writes traces: our own recordings, fio's iolog version 3, and CSV. */
#ifndef ALIGNCTL_TRACE_WRITER_H
#define ALIGNCTL_TRACE_WRITER_H

#include "trace/trace.h"

enum trace_written {
	TRACE_WRITE_RECORDING,	/* compact; knows its extent and its number */
	TRACE_WRITE_IOLOG,	/* fio iolog version 3 */
	TRACE_WRITE_CSV,
	TRACE_NR_WRITTEN,
};

/* "recording", "fio", "csv": as options name them. */
extern const char *const trace_written_names[TRACE_NR_WRITTEN];

/* What a format cannot express. */
enum trace_lost {
	TRACE_LOST_FUA,
	TRACE_LOST_PREFLUSH,
	TRACE_LOST_ZEROES,
	TRACE_LOST_PROCESS,
	TRACE_LOST_LINE_END,	/* in the name of a process */
	TRACE_NR_LOST,
};

/* "fua", "preflush", "write_zeroes", "process", "line_end": in JSON. */
extern const char *const trace_lost_names[TRACE_NR_LOST];

struct trace_writer;

/*
 * A new file, which appears under its name at trace_writer_end() only: half a
 * trace is never taken for a whole one. @origin is copied. Return: enum alignctl_exit; errors have been reported.
 */
int trace_writer_begin(struct trace_writer **writer, const char *path,
		       enum trace_written format,
		       const struct trace_origin *origin);

/*
 * Names a file, before the first request that goes to it; one without a name is
 * the device that the trace was taken on. Return: as above.
 */
int trace_writer_file(struct trace_writer *writer, uint32_t file,
		      const char *name);

/*
 * Adds a request; times may not fall. What the format cannot express is said
 * once for each kind at the end, with how often. Return: as above.
 */
int trace_writer_add(struct trace_writer *writer,
		     const struct trace_request *request);

/*
 * Write out what has been added, so that PATH.new, the file until trace_writer_end(),
 * can be read as far as that if this process is killed. Return: as above.
 */
int trace_writer_checkpoint(struct trace_writer *writer);

/* Number of requests so far that have something which the format cannot express. */
uint64_t trace_writer_not_expressed(const struct trace_writer *writer,
				    enum trace_lost what);

/* Bytes that the file has so far. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);

/* Notes that so many requests are missing, where the format can. */
void trace_writer_lost(struct trace_writer *writer, uint64_t requests);

/* Writes what is left, completes the header, gives the file its name. */
int trace_writer_end(struct trace_writer *writer);

/* Leaves nothing behind, in place of trace_writer_end(). */
void trace_writer_abandon(struct trace_writer *writer);

#endif
