/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces: recorded requests, read one by one from a file of any length in
 * constant memory. A trace carries no data, only where a request went and when.
 *
 * The reader of a format is trace/<format>.c with a struct trace_format;
 * trace_open() recognizes a file's format by its content, never by its name.
 */
#ifndef ALIGNCTL_TRACE_H
#define ALIGNCTL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Physical block, bytes, where neither a trace nor its reader says another. */
#define TRACE_PHYSICAL		4096U

/* The kernel's TASK_COMM_LEN, with the 0 at the end. */
#define TRACE_COMM_BYTES	16U

enum trace_op {
	TRACE_READ,
	TRACE_WRITE,
	TRACE_FLUSH,		/* offset and length are 0 */
	TRACE_DISCARD,
	TRACE_WRITE_ZEROES,
	TRACE_NR_OPS,
};

/* "read", "write", "flush", "discard", "write-zeroes": in CSV and JSON. */
extern const char *const trace_op_names[TRACE_NR_OPS];

/* Number of all files beyond those that can be named. */
#define TRACE_OTHER_FILE	UINT32_MAX

/**
 * struct trace_request - one request
 * @time_ns: time of issue, ns since the start of the trace; 0 in traces without
 *	times; never less than the previous request's
 * @offset: first byte of the request on the device, or in the file
 * @bytes: length of the request, bytes; 0 for TRACE_FLUSH only
 * @op: operation
 * @preflush: the volatile cache is flushed before the request
 * @fua: the request itself is durable when it ends
 * @pid: number of the process or thread that issued the request; 0: not known
 * @comm: name of the process or thread; "": not known
 * @file: number of the trace's file, from 0; see trace_file()
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
 * @device: name of the device; NULL: not known
 * @logical: logical block, bytes; 0: not known
 * @physical: physical block, bytes; 0: not known
 * @offset_known: @offset is known
 * @offset: alignment offset, bytes
 * @start_ns: start of the trace, ns since 1970; 0: not known
 * @lost: number of requests that came too fast to be recorded; of ftrace, of
 *	events of any kind so far
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

/* The formats that can be read. */
enum trace_readable {
	TRACE_READABLE_RECORDING,
	TRACE_READABLE_IOLOG,	/* fio iolog, version 2 or 3 */
	TRACE_READABLE_BLKTRACE,
	TRACE_READABLE_BLKPARSE,
	TRACE_READABLE_CSV,
	TRACE_READABLE_MSR,	/* MSR Cambridge */
	TRACE_READABLE_ALIBABA,	/* Alibaba cloud block storage */
	TRACE_READABLE_TENCENT,	/* Tencent cloud block storage */
	TRACE_READABLE_SYSTOR,	/* SYSTOR '17 */
	TRACE_READABLE_FIU,	/* Florida International University */
	TRACE_READABLE_SPC,	/* UMass, format of the SPC */
	TRACE_READABLE_MQSIM,
	TRACE_READABLE_BLKREPLAY,
	TRACE_READABLE_VSCSI,	/* CloudPhysics, version 1 */
	TRACE_READABLE_FTRACE,	/* text of ftrace, perf script, trace-cmd */
	TRACE_READABLE_PARQUET,	/* Documentation/admin/traces.rst; by DuckDB */
	TRACE_NR_READABLE,
};

/* The formats' names in options: recording, fio, blktrace, blkparse, csv ... */
extern const char *const trace_readable_names[TRACE_NR_READABLE];

/**
 * struct trace_choice - what to read, and how; all zeroes but @from: as it is
 * @from: format of the trace; TRACE_NR_READABLE: as its content shows
 * @disk: read the requests to this disk, or file, alone; NULL: all
 * @columns: names of the columns of a table whose format is not known, as
 *	--columns has them; NULL: the format is one of the known ones
 */
struct trace_choice {
	enum trace_readable from;
	const char *disk;
	const char *columns;
};

/* The trace as it is. */
#define TRACE_ANY	((struct trace_choice) { .from = TRACE_NR_READABLE })

/* Why an entry of a trace makes no request. */
enum trace_left_out {
	TRACE_LEFT_NO_OP,
	TRACE_LEFT_OTHER_COMMAND,	/* SCSI, and neither I/O nor flush */
	TRACE_LEFT_NO_LENGTH,
	TRACE_LEFT_EMPTY,	/* of blktrace: no length, and no flush */
	TRACE_LEFT_SYNC_RANGE,	/* of fio: makes nothing durable */
	TRACE_LEFT_OTHER_DISK,	/* not the disk that was chosen */
	TRACE_NR_LEFT_OUT,
};

/* Their names in JSON: no_operation, other_command ... */
extern const char *const trace_left_out_names[TRACE_NR_LEFT_OUT];

/**
 * struct trace_facts - facts about a trace, known before its first request
 * @format: name of the format: "recording", "fio iolog v2", "fio iolog v3",
 *	"blktrace", "columns", or its name in options
 * @timed: the requests have times
 * @end_known: @end is known
 * @end: byte after the last byte that any request reaches
 * @nr_known: @nr is known
 * @nr: number of requests
 * @origin: origin of the trace
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
	TRACE_GOT,		/* a request was read */
	TRACE_END,		/* no request is left */
	TRACE_BROKEN,		/* malformed; reported with line or byte */
	TRACE_FAILED,		/* not readable, reported; or interrupt_seen() */
};

/* Return the enum alignctl_exit for a trace that ended with @next. */
int trace_next_status(enum trace_next next);

struct trace;

/*
 * Open a trace, "-" being standard input, and parse its header. The files of a
 * blktrace (DEV.blktrace.0, .1 ...) are one trace: @path names any of them, or
 * is DEV without the ending. Return: enum alignctl_exit; errors have been
 * reported with file, line or byte, and reason, and *@trace is NULL. Close
 * *@trace with trace_close(), which takes NULL as well.
 */
int trace_open(struct trace **trace, const char *path);

/* Open a trace; read of it what @choice says, whose texts outlive the trace. */
int trace_open_as(struct trace **trace, const char *path,
		  const struct trace_choice *choice);

void trace_close(struct trace *trace);

/* Return what is read of the trace. */
const struct trace_choice *trace_choice_of(const struct trace *trace);

const struct trace_facts *trace_facts(const struct trace *trace);

/*
 * Read now what trace_next() must have read before its first request, so that it
 * does not wait for it later. A fault is reported, and is trace_next()'s result.
 */
void trace_read_ahead(struct trace *trace);

/* Read the next request, in the order of times. */
enum trace_next trace_next(struct trace *trace, struct trace_request *request);

/*
 * Go back to the first request, which a pipe cannot. Return: enum
 * alignctl_exit; reported.
 */
int trace_rewind(struct trace *trace);

/* Check whether the trace can be rewound, which a pipe cannot. */
bool trace_has_way_back(const struct trace *trace);

/*
 * Return what the times of the requests so far need added to be those of the trace's
 * own clock, ns: of the wall clock if the trace has its times; 0: not known.
 */
uint64_t trace_clock_ns(const struct trace *trace);

/* Return the number of entries so far that make no request, for that reason. */
uint64_t trace_left_out(const struct trace *trace, enum trace_left_out why);

/*
 * Name the physical blocks by which a list of the trace's disks counts touches,
 * before the first request is read: @physical bytes, with a boundary at byte
 * @offset. Otherwise they are those of the trace's origin.
 */
void trace_set_blocks(struct trace *trace, uint32_t physical, uint32_t offset);

/*
 * Report that the last request goes to another disk than those before, read the
 * trace to its end, and list all disks.
 */
void trace_refuse_disks(struct trace *trace);

/* Return the name of a file of the requests so far; NULL: it has none. */
const char *trace_file(const struct trace *trace, uint32_t file);

/*
 * Return the place of the last request from trace_next(), for messages:
 * "PATH: line 17", "PATH: byte 4096" or "PATH: row 17"; for free().
 */
char *trace_position(const struct trace *trace);

#endif
