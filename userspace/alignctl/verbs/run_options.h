/* SPDX-License-Identifier: GPL-2.0 */
/* Options of a run of a workload or a trace, shared by the verbs that make such runs. */
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
	       RUN_ROW_NO_CHECK, RUN_ROW_WRAP, RUN_ROW_SCALE, RUN_NR_ROWS };

#define RUN_OPTION_ROWS							\
	PLAN_OPTION_ROWS,						\
	[RUN_ROW_DEPTH] = OPTION("depth", ARG_NUMBER(1, ENGINE_MAX_DEPTH), \
				 "requests in flight at most (default: 1)"), \
	[RUN_ROW_THINK] = OPTION("think", ARG_SECONDS(),		\
				 "db-daemon: length of its pauses (default: 8; 0: none)"), \
	[RUN_ROW_THREADS] = OPTION("threads", ARG_NUMBER(1, ENGINE_MAX_DEPTH), \
				   "threads that issue requests, --depth each (default: 1)"), \
	[RUN_ROW_WARMUP] = OPTION("warmup", ARG_SECONDS(.above = true),	\
				  "leave requests that start in this time out of figures"), \
	[RUN_ROW_TIMING] = OPTION("timing", ARG_NAME("HOW", engine_timing_names), \
				  "trace: open, closed or fast (default: open if timed)"), \
	[RUN_ROW_SPEED] = OPTION("speed", ARG_REAL("X", OPTION_ANY, .above = true), \
				 "open: replay X times as fast as the trace"), \
	[RUN_ROW_SCAN] = OPTION("scan", ARG_NONE,			\
				"trace: check first that all of it fits"), \
	[RUN_ROW_NO_CHECK] = OPTION("no-check", ARG_NONE,		\
				    "trace: do not compare what was written"), \
	[RUN_ROW_WRAP] = OPTION("wrap", ARG_NONE,			\
				"trace: continue at the start of DEV beyond its end", \
				.excludes = "scale"),			\
	[RUN_ROW_SCALE] = OPTION("scale", ARG_NONE,			\
				 "trace: map its extent to that of DEV")

/*
 * What is replayed, a bit each: a workload that is prepared first, one that only
 * reads, a trace, and a workload that is not prepared.
 */
enum run_kind { RUN_WRITES = 1, RUN_READS = 2, RUN_TRACE = 4, RUN_CACHED = 8 };

/**
 * struct run_fit - an option that not every kind of run has
 * @given: the option was given
 * @is_for: enum run_kind of the runs that have the option
 * @name: name of the option, without dashes
 */
struct run_fit {
	bool given;
	unsigned int is_for;
	const char *name;
};

/* Set the defaults that are not 0. */
void run_options_init(struct run_options *options);

/* Take one of these options. */
void run_options_take(struct run_options *options, size_t row,
		      const char *argument);

/*
 * Return the kind of run of the workload @w, or of a trace if @w is NULL.
 * Buffered workloads and draws are prepared, as RUN_WRITES, only if their phases
 * are asked for one by one.
 */
enum run_kind run_options_kind(const struct run_options *options,
			       const struct workload *w, bool phases);

/* Both return enum alignctl_exit; errors have been reported. */

/* Refuse options that do not apply to a run of @kind. */
int run_options_fit(enum run_kind kind, const struct run_fit *fit, size_t nr);

/* Refuse those of @options that do not apply to a run of @kind. */
int run_options_check(const struct run_options *options, enum run_kind kind,
		      const struct workload *w);

#endif
