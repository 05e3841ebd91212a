/* SPDX-License-Identifier: GPL-2.0 */
/* The reader of each format, and what readers and trace.c have in common. */
#ifndef ALIGNCTL_TRACE_FORMAT_H
#define ALIGNCTL_TRACE_FORMAT_H

#include "trace/input.h"
#include "trace/disks.h"
#include "trace/names.h"
#include "trace/trace.h"

/* End of what pread() and pwrite() reach. */
#define TRACE_MAX_END	((uint64_t)INT64_MAX)

/**
 * struct trace_place - a place in a trace, for messages
 * @path: path of the file
 * @unit: "line", "byte" or "row"
 * @number: number of the line or row, from 1, or of the byte, from 0
 */
struct trace_place {
	const char *path;
	const char *unit;
	uint64_t number;
};

/**
 * struct trace - a trace that is being read
 * @format: the format's functions
 * @input: the file; a format with several files opens the others itself
 * @facts: facts about the trace, set by @format's open()
 * @state: the format's own data
 * @at: place that @format's next() is reading, kept up to date by next()
 * @returned: place of the request that trace_next() returned last
 * @choice: part of the trace to read
 * @files: names of the files that requests go to, @choice or not
 * @disks: counts of these files, for a message that lists them
 * @disk_found: a request of the disk that @choice names was read
 * @sorter: sorts requests by time; NULL: the format is sorted
 * @last_ns: time of the previous request, as the format has it
 * @base_ns: the format's time that is time 0
 * @has_base: @base_ns is known
 * @left_out: number of entries so far that make no request, by reason
 * @seen_queued: a queued event was read, of a format that has all events
 * @seen_issued: an issued event was read, of such a format
 * @issued: issued events are read, as there are no queued ones
 * @told: the warning about an unfinished trace has been given, and is not
 *	repeated when the trace is read again
 * @told_columns: the warning about ignored columns has been given
 * @told_left_out: the warning about @left_out has been given
 * @told_events: the warning about which events are read has been given
 * @ended: the format has no more requests
 * @broken: last result of trace_next(); after TRACE_BROKEN or TRACE_FAILED no
 *	request follows
 */
struct trace {
	const struct trace_format *format;
	struct trace_input input;
	struct trace_facts facts;
	void *state;
	struct trace_place at;
	struct trace_place returned;
	struct trace_choice choice;
	struct trace_names files;
	struct trace_disks disks;
	bool disk_found;
	struct trace_sorter *sorter;
	uint64_t last_ns;
	uint64_t base_ns;
	bool has_base;
	uint64_t left_out[TRACE_NR_LEFT_OUT];
	bool seen_queued;
	bool seen_issued;
	bool issued;
	bool told;
	bool told_columns;
	bool told_left_out;
	bool told_events;
	bool ended;
	enum trace_next broken;
};

/**
 * struct trace_format - the reader of a format
 * @no_op: why an entry whose operation is TRACE_NR_OPS makes no request
 * @recognize: check whether a file that begins with these bytes has the format;
 *	the bytes end with a 0
 * @open: read all of the header, set facts and state. Return: enum
 *	alignctl_exit; reported. The state is released also after a failure
 * @next: read a request, as trace_next(), whose caller checks the request; its
 *	operation is TRACE_NR_OPS if it makes none
 * @rewind: begin again, as @open, with the state as it is; NULL: the state is
 *	freed, and the trace opened again
 * @close: release what the state holds, and the state, if there is one; NULL: free
 *	the state, which holds nothing
 * @unsorted: times may decrease a little from one request to the next
 * @foreign: times are those of a clock, of which the first becomes 0, and
 *	requests without a length are left out
 * @by_name: other formats look alike, so that the user's word for it counts
 */
struct trace_format {
	enum trace_left_out no_op;
	bool (*recognize)(const char *head, size_t length);
	int (*open)(struct trace *trace);
	enum trace_next (*next)(struct trace *trace,
				struct trace_request *request);
	int (*rewind)(struct trace *trace);
	void (*close)(struct trace *trace);
	bool unsorted;
	bool foreign;
	bool by_name;
};

extern const struct trace_format trace_recording, trace_iolog,
	trace_blktrace, trace_blkparse, trace_csv, trace_msr, trace_alibaba,
	trace_tencent, trace_systor, trace_fiu, trace_spc, trace_mqsim,
	trace_blkreplay, trace_vscsi, trace_ftrace, trace_parquet;

/* The format of a table whose columns trace->choice names. */
extern const struct trace_format trace_columns_format;

/* Release the state of the format, if there is one. */
void trace_end(struct trace *trace);

/*
 * Begin a pass over the trace @by its format's open() or rewind(). Return: enum
 * alignctl_exit; reported.
 */
int trace_begin(struct trace *trace, int (*by)(struct trace *trace));

/* Report why the trace cannot be read at @trace->at. Return: TRACE_BROKEN. */
enum trace_next trace_refuse(struct trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Read the next line and set @trace->at to it. */
enum trace_next trace_line(struct trace *trace, char **line);

/* Read a line that must be there. Return: enum alignctl_exit; reported. */
int trace_first_line(struct trace *trace, char **line);

/* Return why a request is invalid; NULL: it is valid. */
const char *trace_request_fault(const struct trace_request *request);

/*
 * Find the number of the file named @name, or add the file; TRACE_OTHER_FILE if
 * there are too many.
 */
enum trace_next trace_find_file(struct trace *trace, const char *name,
				uint32_t *file);

/*
 * End the reading of queued events, for the next() of a format that has all
 * events: if there are issued events only, go back and read these. Return: the
 * first of them, as next().
 */
enum trace_next trace_end_queued(struct trace *trace,
				 struct trace_request *request);

/* Set a request's comm to @name, truncated as the kernel truncates it. */
void trace_set_comm(struct trace_request *request, const char *name);

#endif
