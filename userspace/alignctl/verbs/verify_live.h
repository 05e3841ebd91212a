/* SPDX-License-Identifier: GPL-2.0 */
/* Compare modes on an align device in use, under its own load: verify --live. */
#ifndef ALIGNCTL_VERIFY_LIVE_H
#define ALIGNCTL_VERIFY_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "ledger/mode.h"
#include "verbs/given.h"

/**
 * struct verify_live - the arguments of an experiment under its own load
 * @name: align device, as for dm_align_find()
 * @mode: the modes to compare, the first of which the others are compared with
 * @nr_modes: number of modes
 * @least_s: length of the shortest period, seconds
 * @most_s: length of the longest period, seconds; 0: not given
 * @dry_run: say what would be done; do nothing
 */
struct verify_live {
	const char *name;
	const char *mode[MODE_NR];
	size_t nr_modes;
	uint64_t least_s;
	uint64_t most_s;
	bool dry_run;
};

/*
 * Parse the range of a period, "MIN-MAX" or "N" seconds. Return: NULL, or what it
 * must be.
 */
const char *verify_live_period(struct verify_live *arguments, const char *text);

/*
 * Check that the modes of the device may be changed, start the keeper of its
 * mode, and become the program that makes the experiment, with what was given.
 * Return only on failure: enum alignctl_exit; reported.
 */
int verify_live(const struct verify_live *arguments, struct given *given);

#endif
