/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one phase of replay leaves for the next one, in a small JSON file:
 * which sectors were prepared, and which writes were done since.
 */
#ifndef ALIGNCTL_REPLAY_STATE_H
#define ALIGNCTL_REPLAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "workload.h"

/**
 * struct replay_state - the phases so far
 * @workload: what is replayed
 * @count: repetitions of it
 * @run: mark of this preparation, in every sector
 * @first_sector: first sector prepared
 * @end_sector: sector after the last one prepared
 * @done: writes acknowledged since
 * @uncertain: write number @done failed: its sectors are old or new
 */
struct replay_state {
	const struct workload *workload;
	uint64_t count;
	uint64_t run;
	uint64_t first_sector;
	uint64_t end_sector;
	uint64_t done;
	bool uncertain;
};

/* Return of both: enum alignctl_exit; errors have been reported. */
int replay_state_save(const struct replay_state *state, const char *path);
int replay_state_load(struct replay_state *state, const char *path);

#endif
