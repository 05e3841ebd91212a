/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: a range that finds touches in the turn of a block goes down behind that
 * turn, and a touch that finds ranges waiting for a block has its turn behind them
 * (rules 1, 3 and 4 of turn.c).
 *
 * A target is looked at before it maps a bio, and again behind that: touches and
 * ranges that were there before, and are there still, have not been served, so the
 * bio must wait for them.
 */
#ifndef SIM_TURNS_H
#define SIM_TURNS_H

#include <linux/device-mapper.h>

#define TURNS_BLOCKS	2U
#define TURNS_ENTRIES	4U

/**
 * struct turns_entry - a touch of a block's turn, or a range that waits for the block
 * @at: the touch, or the range's write
 * @ns: when the write came, as its memory may be another one's by now
 */
struct turns_entry {
	const void *at;
	u64 ns;
};

/**
 * struct turns_block - touches and ranges that a bio has found at a block
 * @number: number of the block
 * @touch: the first touches of its turn
 * @nr_touches: number of @touch
 * @range: the first ranges that wait for it
 * @nr_ranges: number of @range
 */
struct turns_block {
	u64 number;
	struct turns_entry touch[TURNS_ENTRIES], range[TURNS_ENTRIES];
	unsigned int nr_touches, nr_ranges;
};

/**
 * struct turns - touches and ranges that a bio has found at its first block and its
 * last
 * @block: the blocks that are in memory
 * @nr: number of @block
 */
struct turns {
	struct turns_block block[TURNS_BLOCKS];
	unsigned int nr;
};

/* The target is about to map a bio; and has done so, and the bio may be gone. */
void turns_look(const struct dm_target *ti, const struct bio *bio,
		struct turns *turns);
void turns_check(const struct dm_target *ti, const struct bio *bio,
		 const struct turns *turns);

#endif
