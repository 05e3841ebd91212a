/* SPDX-License-Identifier: GPL-2.0 */
/* Make the same runs on two devices in turn: verify --vs. */
#ifndef ALIGNCTL_COMPARE_H
#define ALIGNCTL_COMPARE_H

#include <stdbool.h>

#include "verbs/given.h"
#include "verbs/plan_options.h"
#include "workload/workload.h"

/**
 * struct compare - the arguments of a comparison
 * @on: path of the device
 * @vs: path of the device to compare with
 * @force: devices named by --force, which must be @on or @vs; may be NULL
 * @plan: options of the workload
 * @workload: workload to replay; NULL: a trace is replayed
 * @phased: runs prepare and check, and can do so in separate phases
 */
struct compare {
	const char *on;
	const char *vs;
	const char *force[2];
	const struct plan_options *plan;
	const struct workload *workload;
	bool phased;
};

/*
 * Check that the devices exist and differ, and become the program that makes
 * the runs, each guarded like any replay, with what was given. Return only on
 * failure: enum alignctl_exit; reported.
 */
int compare_devices(const struct compare *compare, struct given *given);

#endif
