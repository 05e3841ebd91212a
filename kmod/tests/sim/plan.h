/* SPDX-License-Identifier: GPL-2.0 */
/* The plans of a seed's worlds: all choices made before a world begins. */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "world.h"

/* The subject of all lives, if one is asked for. */
enum plan_focus {
	FOCUS_NONE,
	FOCUS_DROPS,
	FOCUS_MEMORY,
	FOCUS_READS,
	FOCUS_FLOOD,
	FOCUS_ALLOCATIONS,
	FOCUS_GATE,
	FOCUS_QUIET,
	FOCUS_TABLES,
	FOCUS_CHANGES,
	FOCUS_TARGETS,
	FOCUS_FILES,
	FOCUS_SCENES,
	FOCUS_BOUNDS,
	FOCUS_LAYER,
	FOCUS_RECLAIM,
	FOCUS_LOGICAL,
	FOCUS_KINDS,
};

extern enum plan_focus plan_focus;

/* Begin the plans of a seed. */
void plan_begin(sim_u64 seed);
/* Plan the next world; @first: of a life. */
void plan_make(struct world_plan *plan, sim_u64 seed, bool first);
/* Return the part of a seed that decides all of a life but the failing allocation. */
sim_u64 plan_life(sim_u64 seed);
/* Draw a number below @n from the chance of the plans. */
unsigned int plan_chance(unsigned int n);
/* No second target, and no request for it. */
void plan_alone(struct world_plan *plan);

/* plan_bounds.c: of a life, and of each of its worlds. */
void plan_bounds_life(struct world_plan *plan);
void plan_bounds(struct world_plan *plan, unsigned int block);

#endif
