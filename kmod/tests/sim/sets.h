/* SPDX-License-Identifier: GPL-2.0 */
/* The sets of operations that are searched in all orders; see exhaustive.h. */
#ifndef SIM_SETS_H
#define SIM_SETS_H

#include "exhaustive.h"

/**
 * struct sets_wanted - the wanted search
 * @length: operations of a set
 * @few: only partial, whole, read, flush and cut
 * @list: print the sets, and search none
 * @part: of @parts: every @parts-th set, from this one on
 * @parts: their number
 * @most: give up a set behind so many orders; 0: never
 * @set: names of operations: this set only; or NULL
 * @scenario: name of a scenario, or "all"; or NULL
 * @mode: name of the mode: in this one only; or NULL
 * @with: name of a circumstance; or NULL
 */
struct sets_wanted {
	unsigned int length;
	bool few, list;
	unsigned int part, parts;
	sim_u64 most;
	const char *set, *mode, *scenario, *with;
};

/* Search, and print the coverage. Return: 0, 1: a violation, 2: bad arguments. */
int sets_search(const struct sets_wanted *wanted);

#endif
