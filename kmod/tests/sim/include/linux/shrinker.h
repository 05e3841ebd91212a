/* SPDX-License-Identifier: GPL-2.0 */
/* Shrinkers, which worlds call as reclaim does; dm.c. */
#ifndef SHIM_SHRINKER_H
#define SHIM_SHRINKER_H

#include <linux/types.h>

#define SHRINK_STOP	(~0UL)
#define SHRINK_EMPTY	(~0UL - 1)
#define DEFAULT_SEEKS	2

struct shrink_control {
	gfp_t gfp_mask;
	unsigned long nr_to_scan;
	unsigned long nr_scanned;
};

struct shrinker {
	unsigned long (*count_objects)(struct shrinker *shrinker,
				       struct shrink_control *sc);
	unsigned long (*scan_objects)(struct shrinker *shrinker,
				      struct shrink_control *sc);
	int seeks;
	bool registered;
	unsigned int running;
};

struct shrinker *shrinker_alloc(unsigned int flags, const char *format, ...);
void shrinker_register(struct shrinker *shrinker);
void shrinker_free(struct shrinker *shrinker);

/*
 * Have the shrinker count its objects, and scan @nr if there are any. Return: the
 * number freed; *@counted is the number counted.
 */
unsigned long shim_shrink(unsigned long nr, unsigned long *counted);
#endif
