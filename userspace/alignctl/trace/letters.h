/* SPDX-License-Identifier: GPL-2.0 */
/* The letters in which the kernel and blkparse write a request's operation. */
#ifndef ALIGNCTL_TRACE_LETTERS_H
#define ALIGNCTL_TRACE_LETTERS_H

#include "trace/trace.h"

enum trace_letters {
	LETTERS_INVALID,
	LETTERS_REQUEST,	/* an operation of enum trace_op */
	LETTERS_SECURE_ERASE,	/* DE: op is TRACE_DISCARD */
	LETTERS_ZONE,		/* ZA, ZR and the like, of a zoned disk */
	/* N: write-zeroes of kernels before 7, an operation on zones, or none */
	LETTERS_OTHER,
};

/*
 * Read letters in either case: F for a preflush, the operation, F for FUA, and
 * hints. Sets @request's op, to TRACE_NR_OPS unless the letters say one of these,
 * preflush and fua, and @at to the text behind the letters. "F" and "FF" are a
 * flush, which has neither preflush nor fua here.
 */
enum trace_letters trace_letters_take(const char **at,
				      struct trace_request *request);

#endif
