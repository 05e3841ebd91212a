/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces: the requests that something once made, read one by one from a file of
 * any length in memory that does not grow with it. A trace carries no data, only
 * where a request went and when.
 *
 * A format is one file here, trace/<format>.c, that fills a struct trace_format;
 * trace_open() finds out which one a file is by its content, never by its name.
 */
#ifndef ALIGNCTL_TRACE_H
#define ALIGNCTL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the kernel has it: TASK_COMM_LEN, with the 0 at the end. */
#define TRACE_COMM_BYTES	16U

enum trace_op {
	TRACE_READ,
	TRACE_WRITE,
	TRACE_FLUSH,		/* no place and no length */
	TRACE_DISCARD,
	TRACE_WRITE_ZEROES,
	TRACE_NR_OPS,
};

/* "read", "write", "flush", "discard", "write-zeroes": in CSV and JSON. */
extern const char *const trace_op_names[TRACE_NR_OPS];

/**
 * struct trace_request - one request
 * @time_ns: when it was issued, nanoseconds since the trace began; 0 in traces
 *	without times; never falls from one request to the next
 * @offset: byte on the device, or in the file, at which it starts
 * @bytes: its length; 0 for TRACE_FLUSH only
 * @op: what it does
 * @preflush: what is in the volatile cache is made durable before it
 * @fua: it ends when it is durable itself
 * @pid: the process, or the thread, that issued it; 0: not known
 * @comm: its name; "": not known
 * @file: which of the trace's files it went to, from 0; see trace_file()
 */
struct trace_request {
	uint64_t time_ns;
	uint64_t offset;
	uint64_t bytes;
	enum trace_op op;
	bool preflush;
	bool fua;
	uint32_t pid;
	char comm[TRACE_COMM_BYTES];
	uint32_t file;
};

/**
 * struct trace_origin - where a trace was taken
 * @device: the device's name; NULL: not known
 * @logical: logical block, bytes; 0: not known
 * @physical: physical block, bytes; 0: not known
 * @offset_known: is @offset?
 * @offset: alignment offset, bytes
 * @start_ns: when it began, nanoseconds since 1970; 0: not known
 * @lost: requests that are missing, as they came too fast to be recorded
 */
struct trace_origin {
	const char *device;
	uint32_t logical;
	uint32_t physical;
	bool offset_known;
	uint32_t offset;
	uint64_t start_ns;
	uint64_t lost;
};

/* What traces are read in. */
enum trace_readable {
	TRACE_READABLE_RECORDING,
	TRACE_READABLE_IOLOG,	/* fio iolog, version 2 or 3 */
	TRACE_READABLE_BLKTRACE,
	TRACE_READABLE_BLKPARSE,
	TRACE_READABLE_CSV,
	TRACE_NR_READABLE,
};

/* "recording", "fio", "blktrace", "blkparse", "csv": as options name them. */
extern const char *const trace_readable_names[TRACE_NR_READABLE];

/**
 * struct trace_facts - what a trace says of itself before its first request
 * @format: its name: "recording", "fio iolog v2", "fio iolog v3", "blktrace",
 *	"blkparse", "csv"
 * @timed: do its requests have times?
 * @end_known: is @end set?
 * @end: byte after the last one that any request reaches
 * @nr_known: is @nr set?
 * @nr: number of requests
 * @origin: where it was taken
 */
struct trace_facts {
	const char *format;
	bool timed;
	bool end_known;
	uint64_t end;
	bool nr_known;
	uint64_t nr;
	struct trace_origin origin;
};

enum trace_next {
	TRACE_GOT,		/* a request */
	TRACE_END,		/* there are no more */
	TRACE_BROKEN,		/* reported: the file, its line or byte, and why */
	TRACE_FAILED,		/* the same, but the file could not be read */
};

/* What of enum alignctl_exit a trace that ended so stands for. */
int trace_next_status(enum trace_next next);

struct trace;

/*
 * Opens a trace, "-" being standard input, and understands all of its header.
 * Several files of a blktrace (DEV.blktrace.0, .1 ...) are one trace: @path names
 * one of them, or is DEV's name without the ending. Return: enum alignctl_exit;
 * errors have been reported, with file, line or byte, and reason. *@trace is
 * NULL then; else it is for trace_close(), which takes NULL as well.
 */
int trace_open(struct trace **trace, const char *path);

/* The same of a trace that must be in @format; TRACE_NR_READABLE: in any. */
int trace_open_as(struct trace **trace, const char *path,
		  enum trace_readable format);

void trace_close(struct trace *trace);

const struct trace_facts *trace_facts(const struct trace *trace);

/* The next request, in the order of their times. */
enum trace_next trace_next(struct trace *trace, struct trace_request *request);

/*
 * Back to the first request; a pipe has no way back. Return: enum alignctl_exit;
 * reported.
 */
int trace_rewind(struct trace *trace);

/* Can it be rewound? Not if it comes through a pipe. */
bool trace_has_way_back(const struct trace *trace);

/* How much was read so far that makes no request: after TRACE_END, all there is. */
uint64_t trace_left_out(const struct trace *trace);

/* The name of a file that requests so far went to; NULL: it has none. */
const char *trace_file(const struct trace *trace, uint32_t file);

/*
 * Where trace_next() is, for messages about the request that it returned last:
 * "PATH: line 17" or "PATH: byte 4096". For free().
 */
char *trace_position(const struct trace *trace);

#endif
