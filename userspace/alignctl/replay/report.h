/* SPDX-License-Identifier: GPL-2.0 */
/* What replay found, for people and as JSON. */
#ifndef ALIGNCTL_REPLAY_REPORT_H
#define ALIGNCTL_REPLAY_REPORT_H

#include "base/json.h"
#include "replay/run.h"

/**
 * struct replay_report - all there is to say
 * @replay: what was replayed, and where
 * @offset_known: false if the kernel cannot say, and 0 was used
 * @figures: what the workload must cost
 * @run: what it took; NULL if it was not run
 * @check: what reading back found; NULL if not read
 * @stopped: NULL, or what ended the run early: "signal" or "error"
 */
struct replay_report {
	const struct replay *replay;
	bool offset_known;
	struct plan_figures figures;
	const struct replay_run *run;
	const struct replay_check *check;
	const char *stopped;
};

void replay_report_text(const struct replay_report *report);
void replay_report_json(const struct replay_report *report);

/* What every report of a replay has. */

/* 0 where no time passed. */
double per_second(double amount, double seconds);
/* Size and blocks; of a block device also what its queue is set to. */
struct json_object *json_device_facts(const struct device *device);

#endif
