/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Name the cause of partial touches by the writes of a recording, in constant
 * memory. It reads nothing but the writes and what the audit knows of the device.
 */
#ifndef ALIGNCTL_CAUSE_H
#define ALIGNCTL_CAUSE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

enum cause_kind {
	CAUSE_NONE,		/* too few touches to need a cause */
	CAUSE_SHIFT,		/* whole blocks, all at one place inside a block */
	CAUSE_STREAM,		/* the next write completes the block */
	CAUSE_RANDOM,		/* small writes anywhere */
	CAUSE_FS_SECTOR,	/* a file system with small sectors or blocks */
	CAUSE_SPLIT,		/* large writes cut at the largest request */
	CAUSE_UNKNOWN,		/* none that explains enough of the touches */
};

/**
 * struct cause_place - what the audit knows of the recorded device
 * @block: physical block, bytes
 * @shift: bytes from a boundary to the device's first byte
 * @max_io: largest request, bytes; 0: not known
 * @fs_unit: smallest unit of a file system that is below the block, bytes; 0: none
 */
struct cause_place {
	uint32_t block;
	uint32_t shift;
	uint64_t max_io;
	uint32_t fs_unit;
};

/**
 * struct cause - what the touches of a recording come from
 * @kind: the cause
 * @writes: number of writes and write-zeroes
 * @misaligned: number of those with touches
 * @touches: number of touches
 * @explained: number of touches that the cause explains
 * @into: with CAUSE_SHIFT, bytes into a block at which writes start
 * @comm: with CAUSE_RANDOM, name of the process with most touches; "": not known
 */
struct cause {
	enum cause_kind kind;
	uint64_t writes;
	uint64_t misaligned;
	uint64_t touches;
	uint64_t explained;
	uint32_t into;
	char comm[TRACE_COMM_BYTES];
};

struct cause_search;

struct cause_search *cause_new(const struct cause_place *place);

/* Take a request into account, in the order of the recording. */
void cause_add(struct cause_search *search,
	       const struct trace_request *request);

/* Decide, and free the search. */
void cause_end(struct cause_search *search, struct cause *cause);

/* Return the word for a cause, "stream". */
const char *cause_name(enum cause_kind kind);

#endif
