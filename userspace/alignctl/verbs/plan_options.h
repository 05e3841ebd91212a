/* SPDX-License-Identifier: GPL-2.0 */
/* The options that tell how a workload is done and what its blocks are. */
#ifndef ALIGNCTL_PLAN_OPTIONS_H
#define ALIGNCTL_PLAN_OPTIONS_H

#include "base/options.h"
#include "device/device.h"
#include "workload/plan.h"

/* Blocks of a 512e disk, for figures where no device is named. */
#define DISK_PHYSICAL	4096U
#define DISK_LOGICAL	512U

/* Past the page cache or through it. */
enum plan_access { PLAN_AS_PUBLISHED, PLAN_DIRECT, PLAN_BUFFERED };

/**
 * struct plan_options - what was asked for; 0: nothing
 * @start_given: is @start set?
 * @seed_given: is @seed set?
 * @offset_given: is @offset set?
 * @access: as the last option says
 * @fdatasync: after each write
 */
struct plan_options {
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
enum plan_row { PLAN_ROW_COUNT, PLAN_ROW_START, PLAN_ROW_SPAN, PLAN_ROW_AREAS,
		PLAN_ROW_SEED, PLAN_ROW_PHYSICAL, PLAN_ROW_OFFSET,
		PLAN_ROW_BUFFERED, PLAN_ROW_DIRECT, PLAN_ROW_FDATASYNC,
		PLAN_NR_ROWS };

#define PLAN_OPTION_ROWS						\
	[PLAN_ROW_COUNT] = { "count", "N",				\
			"repetitions (default: as published)" },	\
	[PLAN_ROW_START] = { "start", "N",				\
			"byte at which it starts (default: as published)" }, \
	[PLAN_ROW_SPAN] = { "span", "N",				\
			"random, probes: spread over N bytes (default: DEV)" }, \
	[PLAN_ROW_AREAS] = { "areas", "N",				\
			"areasync: number of areas (default: 4)" },	\
	[PLAN_ROW_SEED] = { "seed", "N",				\
			"random: N selects the order (default: 1)" },		\
	[PLAN_ROW_PHYSICAL] = { "physical", "N",			\
			"physical block size, bytes, if DEV does not tell" }, \
	[PLAN_ROW_OFFSET] = { "offset", "N",				\
			"alignment offset, bytes, if DEV does not tell" }, \
	[PLAN_ROW_BUFFERED] = { "buffered", NULL,			\
			"use the page cache, not O_DIRECT" },	\
	[PLAN_ROW_DIRECT] = { "direct", NULL,				\
			"use O_DIRECT, also for what was published buffered" }, \
	[PLAN_ROW_FDATASYNC] = { "fdatasync", NULL,			\
			"flush after each write" }

/* Takes one of these options. Return: 0, or -1; reported. */
int plan_options_take(struct plan_options *options, enum plan_row row,
		      const char *argument);

/* Return of all: enum alignctl_exit; errors have been reported. */

/* Do requests go through the page cache? @w: NULL for a trace. */
bool plan_options_buffered(const struct plan_options *options,
			   const struct workload *w);

/* Refuses @nr at once, as an option says, where requests must follow each other. */
int plan_options_parallel(const struct workload *w, const char *option,
			  uint64_t nr);

/* Refuses options that mean nothing for the workload. */
int plan_options_check(const struct plan_options *options,
		       const struct workload *w);

/* Sets what was asked for; places only where that does not take a device. */
void plan_options_apply(const struct plan_options *options, struct plan *plan);

/*
 * What the device has a say in: the length of probes, and how far they and
 * random writes spread: as far as the device goes, and as far from its end as
 * WORKLOAD_INSIDE is from its start.
 */
void plan_options_places(const struct plan_options *options, struct plan *plan,
			 const struct device *device);

/* The blocks; @offset_known: or was 0 taken because nobody could tell? */
int plan_options_geometry(const struct plan_options *options,
			  const struct device *device,
			  struct align_geometry *g, bool *offset_known);

/* Can the device take these writes? */
int plan_check_fit(const struct plan *plan, const struct device *device);

#endif
