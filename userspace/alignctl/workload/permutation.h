/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers below any size, each once, in an order made from a seed, without a table. */
#ifndef ALIGNCTL_PERMUTATION_H
#define ALIGNCTL_PERMUTATION_H

#include <stdint.h>

/* Return the number whose turn is @turn, less than @size; 0 <= @turn < @size. */
uint64_t permutation_number(uint64_t size, uint64_t seed, uint64_t turn);

#endif
