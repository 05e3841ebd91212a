/* SPDX-License-Identifier: GPL-2.0 */
/* Between trace.c, which all formats share, and the file of each format. */
#ifndef ALIGNCTL_TRACE_FORMAT_H
#define ALIGNCTL_TRACE_FORMAT_H

#include "trace/input.h"
#include "trace/names.h"
#include "trace/trace.h"

/* What pread() and pwrite() reach. */
#define TRACE_MAX_END	((uint64_t)INT64_MAX)

/**
 * struct trace_place - where in a trace something stands
 * @path: the file
 * @unit: "line" or "byte"
 * @number: which one
 */
struct trace_place {
	const char *path;
	const char *unit;
	uint64_t number;
};

/**
 * struct trace - a trace that is being read
 * @format: how
 * @input: the file; a format that has several opens the others itself
 * @facts: set by @format's open()
 * @state: @format's own
 * @at: what @format's next() is looking at: it keeps this up to date
 * @returned: where the request that trace_next() returned last stands
 * @files: names of the files that requests go to
 * @sorter: brings requests into the order of their times; NULL: they are
 * @last_ns: time of the request before
 * @left_out: how much there was that makes no request
 * @told: @left_out has been told, it is not when the trace is read again
 * @ended: the format has no more requests
 * @broken: TRACE_BROKEN or TRACE_FAILED: nothing follows
 */
struct trace {
	const struct trace_format *format;
	struct trace_input input;
	struct trace_facts facts;
	void *state;
	struct trace_place at;
	struct trace_place returned;
	struct trace_names files;
	struct trace_sorter *sorter;
	uint64_t last_ns;
	uint64_t left_out;
	bool told;
	bool ended;
	enum trace_next broken;
};

/**
 * struct trace_format - how to read a format
 * @left_out: the name of the entries that trace->left_out counts; NULL: the format has none
 * @recognize: does a file that begins with these bytes have it? A 0 follows
 * @open: reads all of the header, sets facts and state. Return: enum
 *	alignctl_exit; reported. close() follows also when it fails
 * @next: as trace_next(); what it returns is checked by the caller
 * @close: gives back the state, if there is one
 * @unsorted: times may fall a little from one request to the next
 */
struct trace_format {
	const char *left_out;
	bool (*recognize)(const char *head, size_t length);
	int (*open)(struct trace *trace);
	enum trace_next (*next)(struct trace *trace,
				struct trace_request *request);
	void (*close)(struct trace *trace);
	bool unsorted;
};

extern const struct trace_format trace_recording, trace_iolog,
				 trace_blktrace, trace_blkparse, trace_csv;

/* Says why what @trace->at names cannot be understood. */
enum trace_next trace_refuse(struct trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The next line; sets @trace->at. */
enum trace_next trace_line(struct trace *trace, char **line);

/* The same of a line that must be there. Return: enum alignctl_exit; reported. */
int trace_first_line(struct trace *trace, char **line);

/* Why no such request can be; NULL: it can. */
const char *trace_request_fault(const struct trace_request *request);

/* Number of the file with that name, a new one if there is none yet. */
enum trace_next trace_find_file(struct trace *trace, const char *name,
				uint32_t *file);

/* A comm of what may be longer than one. */
void trace_set_comm(struct trace_request *request, const char *name);

#endif
