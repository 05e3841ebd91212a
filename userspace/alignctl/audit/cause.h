/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Name the cause of partial touches by the writes of a recording, in constant
 * memory. Nothing else is read but what the audit knows of the device.
 */
#ifndef ALIGNCTL_CAUSE_H
#define ALIGNCTL_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"
#include "geometry.h"

enum cause_kind {
	CAUSE_NONE,		/* too few touches to need a cause */
	CAUSE_SHIFT,		/* whole blocks, at one place inside a block */
	CAUSE_STREAM,		/* the next write completes the block */
	CAUSE_RANDOM,		/* small writes anywhere */
	CAUSE_FS_SECTOR,	/* a file system with small sectors or blocks */
	CAUSE_SPLIT,		/* large writes cut at the largest request */
	CAUSE_REWRITE,		/* the same parts of a block, again and again */
	CAUSE_UNKNOWN,		/* none that explains enough of the touches */
};

/**
 * struct cause_place - what the audit knows of the recorded device
 * @block: physical block, bytes
 * @shift: bytes from a boundary to the device's first byte
 * @max_io: largest request, bytes; 0: not known
 * @fs_unit: smallest unit of a file system if below the block, bytes; else 0
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
 * @drive: number of those that were left to the drive
 * @of_writes: @explained counts misaligned writes, not touches
 * @explained: number of touches that the cause explains
 * @into: with CAUSE_SHIFT, bytes into a block at which writes start
 * @rewrites: number of touches that wrote again what is in their block
 * @durable: number of those before which the block's last touch was durable, by
 *	a flush or FUA
 * @comm: with CAUSE_RANDOM and CAUSE_REWRITE, name of the process with most
 *	touches; "": not known
 */
struct cause {
	enum cause_kind kind;
	uint64_t writes;
	uint64_t misaligned;
	uint64_t touches;
	uint64_t drive;
	bool of_writes;
	uint64_t explained;
	uint32_t into;
	uint64_t rewrites;
	uint64_t durable;
	char comm[TRACE_COMM_BYTES];
};

/**
 * struct cause_ledger - counters of an align device that bear on the cause
 * @coalesce: the device is in mode coalesce, which completes blocks of streams
 * @report: the device is in mode report, which mends nothing
 * @writes: number of writes and write-zeroes
 * @misaligned: number of those with touches
 * @touches: number of touches
 * @drive: number of those that were left to the drive
 * @completed: number of touches that later writes completed
 * @bin_bytes: bytes of a block that share a bin of @phase
 * @phase: misaligned writes by their start inside a block
 */
struct cause_ledger {
	bool coalesce;
	bool report;
	uint64_t writes;
	uint64_t misaligned;
	uint64_t touches;
	uint64_t drive;
	uint64_t completed;
	uint32_t bin_bytes;
	uint64_t phase[ALIGN_PHASE_BINS];
};

/*
 * Name the cause by counters, which cannot tell as much as a recording: a shift
 * only where something is known to begin @into bytes inside a block, with 0 for
 * nothing; a stream only in mode coalesce.
 */
void cause_of_ledger(const struct cause_ledger *ledger, uint32_t into,
		     struct cause *cause);

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
