/* SPDX-License-Identifier: GPL-2.0 */
/* Convert traces from one format to another. */
#ifndef ALIGNCTL_TRACE_CONVERT_H
#define ALIGNCTL_TRACE_CONVERT_H

#include "trace/names.h"
#include "trace/writer.h"

/**
 * struct trace_conversion - what to convert
 * @source: path of the trace to read; "-": standard input
 * @choice: part of @source to read
 * @output: path of the file to write
 * @to: format of @output
 */
struct trace_conversion {
	const char *source;
	struct trace_choice choice;
	const char *output;
	enum trace_written to;
};

/**
 * struct trace_converted - the result of a conversion
 * @format: name of the source's format, as in struct trace_facts
 * @count: number of requests, by operation
 * @bytes: total length of the requests, by operation
 * @lost: number of requests that the source says are missing
 * @left_out: number of the source's entries that make no request, by reason
 * @disks: number of requests to each disk or file of the source
 * @names: names of the disks; "": the source does not name them
 * @not_expressed: number of requests that the output's format could not express
 *	in full, by enum trace_lost
 */
struct trace_converted {
	const char *format;
	uint64_t count[TRACE_NR_OPS];
	uint64_t bytes[TRACE_NR_OPS];
	uint64_t lost;
	uint64_t left_out[TRACE_NR_LEFT_OUT];
	uint64_t disks[TRACE_MAX_FILES];
	struct trace_names names;
	uint64_t not_expressed[TRACE_NR_LOST];
};

/*
 * Read a trace and write its requests to another file. Return: enum
 * alignctl_exit, with @done set if it is ALIGNCTL_FINE. Errors and what the
 * output's format cannot express have been reported. Free @done->names.
 */
int trace_convert(const struct trace_conversion *conversion,
		  struct trace_converted *done);

#endif
