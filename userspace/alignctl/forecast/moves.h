/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What writes touch on blocks of any size, for each move of the start, by
 * arithmetic: in memory that depends on the blocks alone.
 */
#ifndef ALIGNCTL_MOVES_H
#define ALIGNCTL_MOVES_H

#include <stdint.h>

#include "geometry.h"

struct moves;

/*
 * Create a count of writes, for blocks of @least to @largest sectors, both powers of
 * two, with boundaries where @g has them.
 */
struct moves *moves_new(const struct align_geometry *g, uint32_t least,
			uint32_t largest);
void moves_free(struct moves *moves);

/* Note a write or write-zeroes of the sectors from @first to before @end. */
void moves_note(struct moves *moves, uint64_t first, uint64_t end);

/* Note @nr writes of @length sectors from sector @first on. */
void moves_add(struct moves *moves, uint64_t first, uint64_t length,
	       uint64_t nr);

/* Return the total length of all writes, sectors. */
uint64_t moves_written(const struct moves *moves);

/*
 * Count, on blocks of @sectors and for each move of the start by less than that, the
 * partial touches, and the sectors between the ends of the writes and their blocks
 * (@gaps; may be NULL).
 */
void moves_count(const struct moves *moves, uint32_t sectors, uint64_t *touches,
		 uint64_t *gaps);

#endif
