/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of the control socket, one in a line:
 *
 *	ping
 *	stats					drive_stats_json()
 *	reset					drive_reset()
 *	power cut [at=N] [after=N] [tear=none|sector|block] [seed=N]
 *						drive_cut_power()
 *	power on				drive_power_on()
 *	fail read|write FIRST COUNT		drive_fail(), in sectors
 *	heal					drive_heal()
 */
#ifndef DRIVE512E_COMMAND_H
#define DRIVE512E_COMMAND_H

#include "drive.h"

/*
 * Run one command and return its answer, a line of JSON without a newline: the
 * counters, {"ok":true} or {"ok":false,"error":"..."}.  NULL: no memory.
 */
char *command_run(struct drive *drive, const char *line);

#endif
