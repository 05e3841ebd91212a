/* SPDX-License-Identifier: GPL-2.0 */
/* "conform --prepare" and "conform --after": before a power cut and after it. */
#ifndef ALIGNCTL_CONFORM_CUT_VERB_H
#define ALIGNCTL_CONFORM_CUT_VERB_H

#include <stdbool.h>
#include <stdint.h>

#include "conform/rounds.h"
#include "sysfs/device.h"

/**
 * struct conform_cut - what the user asked for
 * @prepare: STATE to make; NULL: no --prepare
 * @after: STATE to judge by; NULL: no --after
 * @save: file with the area's content, to make or to restore from; NULL: none
 * @force: device that is opened although it is in use
 * @seconds: time of requests; 0: no limit
 * @json: print JSON
 */
struct conform_cut {
	const char *prepare;
	const char *after;
	const char *save;
	const char *force;
	uint64_t seconds;
	bool json;
};

/*
 * Check that STATE is new, and that STATE and what --save keeps can survive the
 * device's power cut. Return: enum alignctl_exit, reported.
 */
int conform_cut_place(const struct conform_cut *cut,
		      const struct device *device);

/*
 * Send requests to the area that @rounds names until the power is cut, and tell what
 * to do next. Return: enum alignctl_exit, reported.
 */
int conform_cut_prepare(const struct conform_cut *cut,
			const struct device *device,
			const struct rounds_options *rounds);

/* Judge what the cut has left. Return: enum alignctl_exit, reported. */
int conform_cut_after(const struct conform_cut *cut,
		      const struct device *device);

#endif
