/* SPDX-License-Identifier: GPL-2.0 */
/* Traces turned into others. */
#ifndef ALIGNCTL_TRACE_CONVERT_H
#define ALIGNCTL_TRACE_CONVERT_H

#include "trace/writer.h"

/*
 * Reads the trace @source and writes the same requests to the file @output.
 * Return: enum alignctl_exit; errors, and what is lost, have been reported.
 */
int trace_convert(const char *source, const char *output,
		  enum trace_written format);

#endif
