/* SPDX-License-Identifier: GPL-2.0 */
/* What one phase of a replay leaves in the state file for the next one. */
#ifndef ALIGNCTL_REPLAY_PHASES_H
#define ALIGNCTL_REPLAY_PHASES_H

#include "replay/replay.h"
#include "replay/state.h"

/* Each returns enum alignctl_exit; errors have been reported. */

/* Write the state of a run that is about to begin; for replay_end_state(). */
int replay_begin_state(const struct replay *replay, struct replay_state *state);
/* Write the state of the run that has ended, and free the state. */
int replay_end_state(const struct replay *replay, struct replay_state *state);

/* Remove the state of an earlier replay, of which preparing leaves nothing. */
int replay_drop_state(const struct replay *replay);

/* Write the state of a replay that was prepared and not run. */
int replay_save_state(const struct replay *replay);

/*
 * Take up a workload where an earlier phase left it in the file @path. @check:
 * for the check of a run; else for the run, which must not have begun.
 */
int replay_resume(struct replay *replay, const char *path, bool check);

#endif
