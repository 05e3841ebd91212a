/* SPDX-License-Identifier: GPL-2.0 */
/* Traces turned into others. */
#ifndef ALIGNCTL_TRACE_CONVERT_H
#define ALIGNCTL_TRACE_CONVERT_H

#include "trace/writer.h"

/**
 * struct trace_conversion - a trace that becomes another one
 * @source: path of the trace to be read; "-": standard input
 * @from: its format; TRACE_NR_READABLE: whichever it has
 * @output: path of the file to be made
 * @to: its format
 */
struct trace_conversion {
	const char *source;
	enum trace_readable from;
	const char *output;
	enum trace_written to;
};

/**
 * struct trace_converted - what a conversion did
 * @format: name of the source's format, as struct trace_facts has it
 * @count: requests by what they do
 * @bytes: their lengths together
 * @lost: requests that the source says are missing
 * @left_out: number of the source's entries that make no request
 * @not_expressed: requests that the output's format could not express in full, by
 *	what it lacks
 */
struct trace_converted {
	const char *format;
	uint64_t count[TRACE_NR_OPS];
	uint64_t bytes[TRACE_NR_OPS];
	uint64_t lost;
	uint64_t left_out;
	uint64_t not_expressed[TRACE_NR_LOST];
};

/*
 * Read a trace and write the same requests to another file. Return: enum
 * alignctl_exit, with @done set if it is ALIGNCTL_FINE; errors, and what could not
 * be expressed, have been reported.
 */
int trace_convert(const struct trace_conversion *conversion,
		  struct trace_converted *done);

#endif
