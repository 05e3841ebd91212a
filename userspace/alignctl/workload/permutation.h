/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Permutations of the numbers below any size, made from a seed, without a table.
 */
#ifndef ALIGNCTL_PERMUTATION_H
#define ALIGNCTL_PERMUTATION_H

#include <stdint.h>

/* Return the number at @turn; turns and numbers are less than @size. */
uint64_t permutation_number(uint64_t size, uint64_t seed, uint64_t turn);

#endif
