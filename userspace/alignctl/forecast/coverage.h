/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Count blocks of any size and start by which of their sectors are written, in
 * bounded memory: what does not fit is left for another pass over the same writes.
 */
#ifndef ALIGNCTL_COVERAGE_H
#define ALIGNCTL_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"

/* 32 MiB of bits, for 128 GiB of neighbouring writes in one pass. */
#define COVERAGE_MAX_LEAVES	65536U

struct coverage;

/**
 * struct coverage_count - the blocks of a device that are written
 * @g: geometry of the device
 * @distinct: number of blocks that are written at least once
 * @rmin: number of these whose rest no write covers, without edge blocks
 * @last: last block of @distinct
 * @open: last block of @rmin
 */
struct coverage_count {
	struct align_geometry g;
	uint64_t distinct;
	uint64_t rmin;
	uint64_t last;
	uint64_t open;
};

/* Return a count of the blocks of @g, of which none is written yet. */
struct coverage_count coverage_count_of(const struct align_geometry *g);

/* Create a coverage of at most @max_leaves, each of 2 MiB, in one pass. */
struct coverage *coverage_new(uint32_t max_leaves);
void coverage_free(struct coverage *coverage);

/* Add a write, or write-zeroes, of the sectors from @first to before @end. */
void coverage_add(struct coverage *coverage, uint64_t first, uint64_t end);

/*
 * End a pass, after all writes were added: add to @nr counts the blocks of this pass;
 * the same counts in each pass. Return: true if all writes have to be added again, for
 * the blocks beyond.
 */
bool coverage_end_pass(struct coverage *coverage,
		       struct coverage_count *const counts[], unsigned int nr);

#endif
