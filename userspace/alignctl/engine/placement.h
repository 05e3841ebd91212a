/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Place a trace's requests on another device: at their old offsets, or, if the
 * device is smaller, moved by whole physical blocks, so that each request keeps
 * its position in the blocks.
 */
#ifndef ALIGNCTL_PLACEMENT_H
#define ALIGNCTL_PLACEMENT_H

#include "trace/trace.h"

/* Longest read or write, bytes, for which there is memory. */
#define PLACEMENT_MAX_BYTES	(32U << 20)

enum placement_how {
	PLACEMENT_EXACT,	/* requests beyond the end are refused */
	PLACEMENT_WRAP,		/* the first block follows the last one */
	PLACEMENT_SCALE,	/* the trace's extent is scaled to the device */
};

/**
 * struct placement - how requests are moved
 * @how: way of moving requests
 * @bytes: size of the device, bytes
 * @logical: logical block of the device, bytes
 * @physical: physical block of the device, bytes
 * @buffered: I/O goes through the page cache, which takes any range of bytes
 * @labelled: take whole sectors only, also if buffered, as labels need them
 * @end: PLACEMENT_SCALE: byte after the last one that the trace reaches
 * @longest: PLACEMENT_SCALE: longest request of the trace that cannot be cut,
 *	bytes
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

/* Their names in options: exact, wrap, scale. */
extern const char *const placement_names[PLACEMENT_SCALE + 1];

/* Return the bytes after which PLACEMENT_WRAP starts over. */
uint64_t placement_period(const struct placement *placement);

/*
 * Move @request to its place. A discard is truncated at the end of the device,
 * except with PLACEMENT_EXACT. Return: NULL, or why the request has no place,
 * for people and for free().
 */
char *placement_apply(const struct placement *placement,
		      struct trace_request *request);

#endif
