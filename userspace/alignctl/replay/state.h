/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one phase of replay leaves for the next one, in a small JSON file:
 * which sectors were prepared, and which writes were done since.
 */
#ifndef ALIGNCTL_REPLAY_STATE_H
#define ALIGNCTL_REPLAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "workload/plan.h"

#define REPLAY_MAX_DEPTH	256U

/**
 * struct replay_state - the phases so far
 * @plan: what is replayed
 * @prepared: the blocks that prepare wrote whole; they tell which sectors
 * @run: mark of this preparation, in every sector
 * @issued: writes issued since, all of which have ended
 * @nr_failed: those of them that failed; their sectors are old or new
 * @failed: the numbers of those
 */
struct replay_state {
	struct plan plan;
	struct align_geometry prepared;
	uint64_t run;
	uint64_t issued;
	uint32_t nr_failed;
	uint64_t failed[REPLAY_MAX_DEPTH];
};

/* Return of both: enum alignctl_exit; errors have been reported. */
int replay_state_save(const struct replay_state *state, const char *path);
int replay_state_load(struct replay_state *state, const char *path);

#endif
