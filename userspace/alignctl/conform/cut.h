/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests before a power cut, numbered from 0 as they are sent. The seed and the
 * number say all of a request, so that afterwards the numbers tell what was sent:
 * to what place, and with which content, see conform/content.h. Its sequence there
 * is one more than its number, and 0 before all requests.
 */
#ifndef ALIGNCTL_CONFORM_CUT_H
#define ALIGNCTL_CONFORM_CUT_H

#include <stdint.h>

#include "conform/kind.h"

/* Most requests in flight. */
#define CUT_MAX_DEPTH	64U

/**
 * struct cut_area - where the requests go, and what they are made from
 * @start: first byte of the area on the device; a physical block begins there
 * @bytes: length in bytes, of whole cells as in conform/kind.h
 * @logical: logical block, bytes
 * @block: physical block, bytes, at least twice as large
 * @seed: number that all requests are made from
 * @run: run number of the content
 */
struct cut_area {
	uint64_t start;
	uint64_t bytes;
	uint32_t logical;
	uint32_t block;
	uint64_t seed;
	uint64_t run;
};

/**
 * struct cut_shape - a request
 * @part: kind of request; there are no reads
 * @cell: number of its cell in the area
 * @first: first logical block that it covers, counted from the start of the area
 * @nr: number of logical blocks; 0: a flush
 */
struct cut_shape {
	enum kind_part part;
	uint64_t cell;
	uint64_t first;
	uint32_t nr;
};

struct cut_shape cut_shape(const struct cut_area *area, uint64_t number);

/* Return the logical blocks in a cell, and the cells in the area. */
static inline uint32_t cut_cell_blocks(const struct cut_area *area)
{
	return CELL_BLOCKS * (area->block / area->logical);
}

static inline uint64_t cut_cells(const struct cut_area *area)
{
	return area->bytes / ((uint64_t)CELL_BLOCKS * area->block);
}

#endif
