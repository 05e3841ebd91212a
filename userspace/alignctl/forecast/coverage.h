/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Count blocks by which of their sectors are written, in bounded memory: what
 * does not fit is left for another pass over the same writes.
 */
#ifndef ALIGNCTL_COVERAGE_H
#define ALIGNCTL_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"

/* 32 MiB of bits, for 128 GiB of neighbouring writes in one pass. */
#define COVERAGE_MAX_LEAVES	65536U

struct coverage;

/* Create a coverage of at most @max_leaves, each of 2 MiB, in one pass. */
struct coverage *coverage_new(const struct align_geometry *g,
			      uint32_t max_leaves);
void coverage_free(struct coverage *coverage);

/* Add a write, or write-zeroes, of the sectors from @first to before @end. */
void coverage_add(struct coverage *coverage, uint64_t first, uint64_t end);

/*
 * Count, of the blocks of @g in this pass, those that were written, and those
 * whose rest no write covers, as coverage_end_pass() does. The blocks have to
 * be parts of those that the coverage was made for.
 */
void coverage_count(const struct coverage *coverage,
		    const struct align_geometry *g, uint64_t *distinct,
		    uint64_t *rmin);

/*
 * End a pass, after all writes were added. Add to @distinct the blocks that
 * were written at least once, and to @rmin those of them whose rest no write
 * covers, without edge blocks. Return: true if all writes have to be added
 * again, for the blocks beyond.
 */
bool coverage_end_pass(struct coverage *coverage, uint64_t *distinct,
		       uint64_t *rmin);

#endif
