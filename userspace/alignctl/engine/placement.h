/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the requests of a trace go on another device: where they went, or, if
 * that is smaller, moved by whole physical blocks, so that each lies on the
 * blocks as it did.
 */
#ifndef ALIGNCTL_PLACEMENT_H
#define ALIGNCTL_PLACEMENT_H

#include "trace/trace.h"

/* Longest read or write: a request needs memory. */
#define PLACEMENT_MAX_BYTES	(32U << 20)

enum placement_how {
	PLACEMENT_EXACT,	/* refused if beyond the end */
	PLACEMENT_WRAP,		/* after the last block comes the first one */
	PLACEMENT_SCALE,	/* the trace's whole extent over the device's */
};

/**
 * struct placement - how requests are moved
 * @how: see there
 * @bytes: the device's length
 * @logical: its logical block, bytes
 * @buffered: through the page cache, which takes reads and writes of any bytes
 * @labelled: all the same only whole sectors, which say who wrote them
 * @physical: its physical block, bytes
 * @end: PLACEMENT_SCALE: byte after the last one that the trace reaches
 * @longest: PLACEMENT_SCALE: its longest request that cannot be cut
 */
struct placement {
	enum placement_how how;
	uint64_t bytes;
	uint32_t logical;
	uint32_t physical;
	bool buffered;
	bool labelled;
	uint64_t end;
	uint64_t longest;
};

/* "exact", "wrap", "scale": as options name them. */
extern const char *const placement_names[PLACEMENT_SCALE + 1];

/* Bytes after which PLACEMENT_WRAP begins at the start of the device again. */
uint64_t placement_period(const struct placement *placement);

/*
 * Moves @request to its place. A discard is cut off at the end of the device
 * unless that is PLACEMENT_EXACT: nothing depends on its length.
 * Return: NULL, or why it has none, for people; free() it.
 */
char *placement_apply(const struct placement *placement,
		      struct trace_request *request);

#endif
