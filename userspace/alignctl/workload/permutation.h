/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers below any size, each once, in an order made from a seed; and
 * back, from a number to its turn. No table is kept.
 */
#ifndef ALIGNCTL_PERMUTATION_H
#define ALIGNCTL_PERMUTATION_H

#include <stdint.h>

/* The number whose turn is @turn; all of these are less than @size. */
uint64_t permutation_number(uint64_t size, uint64_t seed, uint64_t turn);

/* The turn of @number. */
uint64_t permutation_turn(uint64_t size, uint64_t seed, uint64_t number);

#endif
