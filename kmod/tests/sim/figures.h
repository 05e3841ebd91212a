/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures that the target shows, against the simulation's own: all counters and
 * histograms of the ledger, status, table line, memory.
 */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include "world.h"

struct align_target;

/**
 * struct figures - a device as the simulation knows it
 * @plan: the plan of its world
 * @mode: its mode
 * @max_blocks: the limit that was set last
 * @most_blocks: the largest limit that it had
 * @hold_ms: the time that was set last
 * @modes: the mode was changed, maybe back again
 * @limits: the drive's limits were changed
 * @suspends: how often it was suspended
 */
struct figures {
	const struct world_plan *plan;
	unsigned int mode, max_blocks, most_blocks, hold_ms;
	bool modes, limits;
	unsigned int suspends;
};

/* A request has ended that began at @began_ns; @again: it was sent back. */
void figures_note(const struct figures *figures, const struct world_op *op,
		  bool again, sim_u64 began_ns);
/* Look at a target while requests are in flight. */
void figures_glance(const struct figures *figures,
		    const struct align_target *at);
/*
 * Look at all of a target that has had no other table, above a drive or above
 * another device, when nothing is in flight, held or cached any more. @shared:
 * the drive has other users.
 */
void figures_check(const struct figures *figures, struct align_target *at,
		   bool lower, bool shared);

#endif
