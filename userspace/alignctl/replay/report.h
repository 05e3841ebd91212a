/* SPDX-License-Identifier: GPL-2.0 */
/* What a replay did, or would do, for people and as JSON. */
#ifndef ALIGNCTL_REPLAY_REPORT_H
#define ALIGNCTL_REPLAY_REPORT_H

#include "replay/replay.h"

/*
 * Print the report: with the figures of the run if it was run, with those of the
 * scan if nothing was to be done (--dry-run).
 */
void replay_report(const struct replay *replay);

#endif
