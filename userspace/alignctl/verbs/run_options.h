/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a run of a workload or a trace, for each verb that makes such runs. */
#ifndef ALIGNCTL_RUN_OPTIONS_H
#define ALIGNCTL_RUN_OPTIONS_H

#include "replay/replay.h"
#include "verbs/plan_options.h"

/**
 * struct run_options - the options of a run; 0: not given
 * @plan: options of a workload's plan
 * @think_given: @replay.think_s was given
 * @replay: all other options; run_options_init() sets it up
 */
struct run_options {
	struct plan_options plan;
	bool think_given;
	struct replay_options replay;
};

/* The first rows of a verb that takes these options, in this order. */
enum run_row { RUN_ROW_DEPTH = PLAN_NR_ROWS, RUN_ROW_THINK, RUN_ROW_THREADS,
	       RUN_ROW_WARMUP, RUN_ROW_TIMING, RUN_ROW_SPEED, RUN_ROW_SCAN,
	       RUN_ROW_NO_CHECK, RUN_NR_ROWS };

#define RUN_OPTION_ROWS							\
	PLAN_OPTION_ROWS,						\
	[RUN_ROW_DEPTH] = { "depth", "N",				\
			"requests in flight at most (default: 1)" },	\
	[RUN_ROW_THINK] = { "think", "SECONDS",				\
			"db-daemon: its pauses (default: 8; 0: none)" },	\
	[RUN_ROW_THREADS] = { "threads", "N",				\
			"that make requests, --depth each (default: 1)" }, \
	[RUN_ROW_WARMUP] = { "warmup", "SECONDS",			\
			"leave what starts in these out of all figures" }, \
	[RUN_ROW_TIMING] = { "timing", "HOW",				\
			"trace: closed, fast or open (default: as it has times)" }, \
	[RUN_ROW_SPEED] = { "speed", "X",				\
			"open: X times as fast as the trace" },		\
	[RUN_ROW_SCAN] = { "scan", NULL,				\
			"trace: see whether all of it fits, first" },	\
	[RUN_ROW_NO_CHECK] = { "no-check", NULL,			\
			"trace: do not compare what was written" }

/*
 * What is replayed, a bit each: a workload that is prepared first, one that only
 * reads, a trace, and a workload that is not prepared.
 */
enum run_kind { RUN_WRITES = 1, RUN_READS = 2, RUN_TRACE = 4, RUN_CACHED = 8 };

/**
 * struct run_fit - an option that not every kind of run has
 * @given: was it given?
 * @is_for: enum run_kind of those that have it
 * @name: without the dashes
 */
struct run_fit {
	bool given;
	unsigned int is_for;
	const char *name;
};

/* Sets what is not 0 where nothing is asked for. */
void run_options_init(struct run_options *options);

/* Takes one of these options. Return: 0, or -1; reported. */
int run_options_take(struct run_options *options, size_t row,
		     const char *argument);

/*
 * What is made of the workload @w, or of a trace if that is NULL. RUN_WRITES is a
 * workload whose every sector is labelled before the run. Those whose owners are
 * not known by arithmetic are so if @phases are asked for one by one, and else
 * done as a trace is.
 */
enum run_kind run_options_kind(const struct run_options *options,
			       const struct workload *w, bool phases);

/* Return of both: enum alignctl_exit; errors have been reported. */

/* Refuses those of @nr options that mean nothing for such a run. */
int run_options_fit(enum run_kind kind, const struct run_fit *fit, size_t nr);

/* Does that for all of these options. */
int run_options_check(const struct run_options *options, enum run_kind kind,
		      const struct workload *w);

#endif
