/* SPDX-License-Identifier: GPL-2.0 */
/* Bits of words of 64 bits, by no instruction that some processors lack. */
#ifndef ALIGNCTL_BITS_H
#define ALIGNCTL_BITS_H

#include <stdint.h>

/* Return a mask of the bits from @first to before @end, at most 64. */
static inline uint64_t bits_between(uint32_t first, uint32_t end)
{
	uint64_t below = end == 64 ? UINT64_MAX : ((uint64_t)1 << end) - 1;

	return below & ~(((uint64_t)1 << first) - 1);
}

/* Return the number of bits that are set, added up in ever wider fields. */
static inline uint32_t bits_count(uint64_t word)
{
	word -= (word >> 1) & UINT64_MAX / 3;
	word = (word & UINT64_MAX / 5) + ((word >> 2) & UINT64_MAX / 5);
	word = (word + (word >> 4)) & UINT64_MAX / 17;
	return (uint32_t)((word * (UINT64_MAX / 255)) >> 56);
}

/* Return the number of the lowest bit that is set, of a word that is not 0. */
static inline uint32_t bits_lowest(uint64_t word)
{
	return (uint32_t)__builtin_ctzll(word);
}

#endif
