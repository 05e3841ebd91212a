/* SPDX-License-Identifier: GPL-2.0 */
/* "--interval N [COUNT]", which several verbs have, as iostat has it. */
#ifndef ALIGNCTL_INTERVALS_H
#define ALIGNCTL_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The option's argument, for its row. */
#define ARG_INTERVAL \
	ARG_NUMBER_AS("N [COUNT]", 1, UINT32_MAX, .unit = "seconds")

/*
 * Take the number of intervals out of the operands, where it is the only number:
 * as with iostat, it follows the option's argument. Return: 0, or -1 after
 * reporting an error.
 */
int intervals_take_count(char **operands, size_t *nr, uint64_t *count);

/*
 * Wait for the end of an interval that began at *@next_ns, and move that on.
 * What takes longer than an interval is not made up for. Return: false after a
 * signal.
 */
bool intervals_wait(uint64_t *next_ns, uint64_t seconds);

/* Return how many rows a terminal shows below headings; 0: as many as come. */
size_t intervals_screen_rows(void);

#endif
