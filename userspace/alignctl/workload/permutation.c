// SPDX-License-Identifier: GPL-2.0
/* A Feistel network, walked until the number is below the size. */
#include "base/mix.h"
#include "geometry.h"
#include "workload/permutation.h"

#define ROUNDS	4	/* of a Feistel network; fewer do not look random */

/*
 * Return half the width of the network, which permutes the numbers of an even
 * count of bits: at most four times as many as are wanted. A result that is too
 * large goes through the network again. That ends, because a cycle of the
 * network leads back to its start, which is small enough.
 */
static unsigned int half_bits(uint64_t size)
{
	return size > 1 ? align_log2(size - 1) / 2 + 1 : 1;
}

static uint64_t scramble_half(uint64_t half, uint64_t seed, unsigned int round)
{
	return mix64(half ^ mix64(seed + round + 1));
}

uint64_t permutation_number(uint64_t size, uint64_t seed, uint64_t turn)
{
	unsigned int bits = half_bits(size), round;
	uint64_t mask = (1ULL << bits) - 1;

	do {
		uint64_t left = turn >> bits, right = turn & mask;

		for (round = 0; round < ROUNDS; round++) {
			uint64_t next = left ^ (scramble_half(right, seed, round) &
						mask);

			left = right;
			right = next;
		}
		turn = left << bits | right;
	} while (turn >= size);
	return turn;
}
