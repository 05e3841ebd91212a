/* SPDX-License-Identifier: GPL-2.0 */
/*
 * After a power cut: what the device has, compared with what it may have by the
 * rules of conform/lawful.h and by what STATE tells.
 */
#ifndef ALIGNCTL_CONFORM_CUT_JUDGE_H
#define ALIGNCTL_CONFORM_CUT_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conform/cut_state.h"

/* What a cut did to a logical block that it must not do. */
enum cut_fault {
	CUT_LOST,	/* what was durable is not there; older content is */
	CUT_TORN,	/* parts of a logical block are of different writes */
	CUT_NEIGHBOUR,	/* content of no request, beside one that was not durable */
	CUT_FOREIGN,	/* content of no request, elsewhere */
	CUT_UNREADABLE,	/* it cannot be read */
	CUT_FAULT_NR,
};

#define CUT_FAULTS	32U	/* findings that are kept; all blocks are counted */
#define CUT_BYTES	8U	/* bytes of a difference that are kept */

/* What was found where something else must be. */
enum cut_found {
	CUT_FOUND_FIRST,	/* the content before all requests */
	CUT_FOUND_WRITE,	/* the content of a write */
	CUT_FOUND_ZEROES,	/* of write-zeroes, or of a new medium */
	CUT_FOUND_ANOTHER,	/* the content of another --prepare */
	CUT_FOUND_PARTS,	/* parts of different contents */
	CUT_FOUND_OTHER,	/* nothing that was written there */
	CUT_FOUND_NOTHING,	/* it could not be read */
};

/**
 * struct cut_request - a request that a finding tells of
 * @known: there is one; else nothing else is set
 * @number: number of the request
 * @part: kind of request
 * @start: first byte on the device
 * @bytes: length; 0 for a flush
 * @began_ns: when it was sent, as in STATE
 * @ended_ns: when it had ended; UINT64_MAX: STATE does not know that it had
 */
struct cut_request {
	bool known;
	uint64_t number;
	enum kind_part part;
	uint64_t start;
	uint64_t bytes;
	uint64_t began_ns;
	uint64_t ended_ns;
};

/**
 * struct cut_finding - neighbouring logical blocks with the same fault
 * @fault: kind of fault
 * @start: first byte on the device
 * @bytes: length
 * @expected: the request whose content must be there, or that of a later one; not
 *	known: the first content
 * @promise: the flush that made it durable; not known: it had FUA, or is the first
 *	content
 * @found: what is there
 * @found_request: the request that wrote it, for CUT_FOUND_WRITE
 * @differs: first byte, in the first of the blocks, that is not as expected
 * @expected_bytes: bytes from there on, as expected
 * @found_bytes: bytes from there on, as found
 * @error: errno of reading, for CUT_UNREADABLE
 */
struct cut_finding {
	enum cut_fault fault;
	uint64_t start;
	uint64_t bytes;
	struct cut_request expected;
	struct cut_request promise;
	enum cut_found found;
	struct cut_request found_request;
	uint32_t differs;
	uint8_t expected_bytes[CUT_BYTES];
	uint8_t found_bytes[CUT_BYTES];
	int error;
};

/**
 * struct cut_verdict - what the cut has left; blocks are logical ones
 * @blocks: number of blocks of the area
 * @promised: number of blocks of which a request is durable, besides the first content
 * @open: number of blocks whose last request that had ended is not durable
 * @open_lost: number of these that have older content, as a cut may leave them
 * @anything: number of blocks that may have anything, by a discard
 * @faults: number of blocks with each fault
 * @nr: number of findings that are kept
 * @finding: the first ones
 * @beyond: number of blocks with content of a request that STATE does not let be sent
 * @other_runs: number of blocks with labels of another run
 * @own: number of blocks with labels of this run
 */
struct cut_verdict {
	uint64_t blocks;
	uint64_t promised;
	uint64_t open;
	uint64_t open_lost;
	uint64_t anything;
	uint64_t faults[CUT_FAULT_NR];
	size_t nr;
	struct cut_finding finding[CUT_FAULTS];
	uint64_t beyond;
	uint64_t other_runs;
	uint64_t own;
};

extern const char *const cut_fault_names[CUT_FAULT_NR];

/* Return the number of blocks with a fault. */
uint64_t cut_faulty(const struct cut_verdict *verdict);

/*
 * Read the area of the device @fd, opened with O_DIRECT, and judge it. Return: enum
 * alignctl_exit, reported: ALIGNCTL_FINE also with faults. What cannot be read is
 * one.
 */
int cut_judge(int fd, const struct cut_state *state,
	      struct cut_verdict *verdict);

#endif
