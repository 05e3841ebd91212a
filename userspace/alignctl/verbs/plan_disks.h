/* SPDX-License-Identifier: GPL-2.0 */
/* alignctl plan of several disks: in one pass, in parts, and of parts together. */
#ifndef ALIGNCTL_PLAN_DISKS_H
#define ALIGNCTL_PLAN_DISKS_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"
#include "workload/source.h"

/**
 * struct plan_disks - the options; 0: not given
 * @each: a row a disk is asked for
 * @merge: the operands are partial plans
 * @partial: file for a partial plan; NULL: print
 * @html: file to write a page to; NULL: none
 * @jobs: number of threads that work on disks
 * @memory: limit of the memory of all disks, bytes
 */
struct plan_disks {
	bool each;
	bool merge;
	const char *partial;
	const char *html;
	uint32_t jobs;
	uint64_t memory;
};

/* Check whether any of the options asks for several tallies. */
bool plan_disks_asked(const struct plan_disks *options);

/*
 * Plan for the disks of a trace, and print the plan or write it as a partial one.
 * Return: enum alignctl_exit; reported.
 */
int plan_disks_trace(const struct plan_disks *options, struct source *source,
		     const struct align_geometry *g, uint64_t shift,
		     bool touches_only, bool json);

/* Put @nr partial plans together, and print or write them. Return: as above. */
int plan_disks_merge(const struct plan_disks *options, char *const *paths,
		     int nr, bool json);

#endif
