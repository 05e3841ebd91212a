/* SPDX-License-Identifier: GPL-2.0 */
/* Options for workloads and for the blocks of their device. */
#ifndef ALIGNCTL_PLAN_OPTIONS_H
#define ALIGNCTL_PLAN_OPTIONS_H

#include "sysfs/device.h"
#include "verbs/choice_options.h"
#include "workload/plan.h"

/* Blocks of a 512e disk, for figures where no device is named. */
#define DISK_PHYSICAL	4096U
#define DISK_LOGICAL	512U

/* I/O by O_DIRECT or through the page cache. */
enum plan_access { PLAN_AS_PUBLISHED, PLAN_DIRECT, PLAN_BUFFERED };

/**
 * struct plan_options - the options as given; 0: not given
 * @choice: part of a trace to read; TRACE_ANY: nothing was given
 * @count: number of repetitions
 * @start: byte at which the workload starts
 * @span: span of random writes or probes, bytes
 * @areas: number of areas of areasync
 * @seed: seed of random places
 * @start_given: @start was given, maybe as 0
 * @seed_given: @seed was given, maybe as 0
 * @physical: physical block, bytes
 * @offset: alignment offset, bytes
 * @offset_given: @offset was given, maybe as 0
 * @access: --direct or --buffered, whichever was given last
 * @fdatasync: each write is followed by fdatasync
 */
struct plan_options {
	struct trace_choice choice;
	uint64_t count;
	uint64_t start;
	uint64_t span;
	uint64_t areas;
	uint64_t seed;
	bool start_given;
	bool seed_given;
	uint32_t physical;
	uint32_t offset;
	bool offset_given;
	enum plan_access access;
	bool fdatasync;
};

/* The first rows of a verb that takes these options, in this order. */
enum plan_row { PLAN_ROW_COUNT = CHOICE_NR_ROWS, PLAN_ROW_START,
		PLAN_ROW_SPAN, PLAN_ROW_AREAS, PLAN_ROW_SEED,
		PLAN_ROW_PHYSICAL, PLAN_ROW_OFFSET, PLAN_ROW_BUFFERED,
		PLAN_ROW_DIRECT, PLAN_ROW_FDATASYNC, PLAN_NR_ROWS };

#define PLAN_OPTION_ROWS						\
	CHOICE_OPTION_ROWS,						\
	[PLAN_ROW_COUNT] = OPTION("count", ARG_NUMBER(1, OPTION_ANY),	\
				  "repetitions (default: as published)"), \
	[PLAN_ROW_START] = OPTION("start", ARG_BYTES(0, OPTION_ANY),	\
				  "byte at which it starts (default: as published)"), \
	[PLAN_ROW_SPAN] = OPTION("span", ARG_BYTES(1, OPTION_ANY),	\
				 "random, probes: spread over N bytes (default: DEV)"), \
	[PLAN_ROW_AREAS] = OPTION("areas", ARG_NUMBER(1, UINT32_MAX),	\
				  "areasync: number of areas (default: 4)"), \
	[PLAN_ROW_SEED] = OPTION("seed", ARG_NUMBER(0, OPTION_ANY),	\
				 "random: N selects the order (default: 1)"), \
	[PLAN_ROW_PHYSICAL] = OPTION("physical", ARG_PHYSICAL,		\
				     "physical block size, bytes (default: of DEV)"), \
	[PLAN_ROW_OFFSET] = OPTION("offset", ARG_OFFSET,		\
				   "alignment offset, bytes (default: of DEV)"), \
	[PLAN_ROW_BUFFERED] = OPTION("buffered", ARG_NONE,		\
				     "use the page cache, not O_DIRECT"), \
	[PLAN_ROW_DIRECT] = OPTION("direct", ARG_NONE,			\
				   "use O_DIRECT, even if it was published buffered"), \
	[PLAN_ROW_FDATASYNC] = OPTION("fdatasync", ARG_NONE,		\
				      "flush after each write")

/* Take one of these options. */
void plan_options_take(struct plan_options *options, size_t row,
		       const char *argument);

/* Return the name of an option that was given for a trace, or NULL. */
const char *plan_options_for_trace(const struct plan_options *options);

/* Likewise for a workload. */
const char *plan_options_for_workload(const struct plan_options *options);

/*
 * Refuse the name of a method that is no workload's: @instead can be given. Return:
 * whether it is one; reported.
 */
bool plan_options_method(const char *name, const char *instead);

/* Check whether requests go through the page cache; @w: NULL for a trace. */
bool plan_options_buffered(const struct plan_options *options,
			   const struct workload *w);

/*
 * Refuse @nr requests at once, the argument of @option, for a workload whose
 * requests must follow each other. Return: enum alignctl_exit; reported.
 */
int plan_options_parallel(const struct workload *w, const char *option,
			  uint64_t nr);

/*
 * Refuse options that do not apply to the workload. Return: enum alignctl_exit;
 * reported.
 */
int plan_options_check(const struct plan_options *options,
		       const struct workload *w);

/* Apply the options to a plan; plan_options_places() completes it. */
void plan_options_apply(const struct plan_options *options, struct plan *plan);

/*
 * Set what depends on the device: the length of probes, and the span of probes
 * and random writes, by default up to WORKLOAD_INSIDE before the device's end.
 */
void plan_options_places(const struct plan_options *options, struct plan *plan,
			 const struct device *device);

/*
 * Set the blocks from options and device; @offset_known: false if the alignment
 * offset is taken as 0. Return: enum alignctl_exit; reported.
 */
int plan_options_geometry(const struct plan_options *options,
			  const struct device *device,
			  struct align_geometry *g, bool *offset_known);

/*
 * Check that a plan's writes fit the device. Return: enum alignctl_exit; what
 * does not fit, and what to do, has been reported.
 */
int plan_check_fit(const struct plan *plan, const struct device *device);

#endif
