/* SPDX-License-Identifier: GPL-2.0 */
/* The same runs on two devices, in turn: verify with --vs. */
#ifndef ALIGNCTL_COMPARE_H
#define ALIGNCTL_COMPARE_H

#include <stdbool.h>

#include "verbs/plan_options.h"
#include "workload/workload.h"

/**
 * struct compare - what the command line says
 * @on: the device
 * @vs: the one to compare it with
 * @force: those that --force names, each of them one of the two; may be NULL
 * @plan: the options of workloads
 * @workload: the workload to replay; NULL: a trace is replayed
 * @phased: does it prepare and check, and can do the three one by one?
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
 * Sees that the devices are there and not the same, and becomes the program
 * that makes the runs, each guarded like any replay, with the arguments @argv of
 * the verb argv[0]. Returns if that cannot be: enum alignctl_exit, reported.
 */
int compare_devices(const struct compare *compare, int argc, char **argv);

#endif
