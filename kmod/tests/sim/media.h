/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The content of a drive, and the part of it that survives a loss of power.
 *
 * A logical sector's content is one number, its tag, which fills it. 0 are zeroes.
 * A written tag is in the volatile cache first. The drive may put it on the medium
 * at any time, and sectors in any order, so at a cut a sector has its tag on the
 * medium or any of the tags written since.
 */
#ifndef SIM_MEDIA_H
#define SIM_MEDIA_H

#include "machine.h"

#define MEDIA_SECTORS	4096U

/* How sectors come out of a cut. */
enum media_cut {
	CUT_NONE,		/* all written tags are there */
	CUT_ALL,		/* tags that were not on the medium are gone */
	CUT_SECTORS,		/* each sector as chance has it */
	CUT_BLOCKS,		/* each physical block as chance has it */
	CUT_MASK,		/* of each physical block the sectors of a mask */
	CUT_KINDS,
};

void media_reset(void);
sim_u64 media_read(unsigned int sector);
void media_write(unsigned int sector, sim_u64 tag);
/*
 * Call @word for the first @nr sectors, and all else that decides the future: for a
 * search.
 */
void media_state(unsigned int nr, void (*word)(sim_u64 word));
/* Call @part for the memory that keeps the first @nr sectors. */
void media_parts(unsigned int nr, void (*part)(void *at, size_t bytes));
/* Put a sector, or the whole cache, on the medium. */
void media_settle(unsigned int sector);
void media_flush(void);
/*
 * Lose the power; the choices are from @seed. A physical block has @block sectors, and
 * the first one of the medium is the @lead-th of its block. With CUT_MASK a block
 * that is @n blocks behind another one has its mask plus @n, so that over the seeds
 * each block comes out in each way.
 */
void media_cut(enum media_cut how, sim_u64 seed, unsigned int block,
	       unsigned int lead);
/* Of the 256 masks, those that CUT_MASK has used on a block that was all in the cache. */
unsigned int media_masks(void);

#endif
