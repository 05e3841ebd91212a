// SPDX-License-Identifier: GPL-2.0
/*
 * alignctl verify: experiments of many runs of the other verbs: each mode on
 * one device, two devices, or each mode of a device in use under its own load.
 * The arguments are parsed and checked here, as every verb's; orchestration,
 * statistics and charts are Python's, in userspace/align_reports.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/nearest.h"
#include "ledger/mode.h"
#include "verbs/compare.h"
#include "verbs/given.h"
#include "verbs/overwrite.h"
#include "verbs/report_schemas.h"
#include "verbs/reports.h"
#include "verbs/run_options.h"
#include "verbs/verbs.h"
#include "verbs/verify_live.h"

#define MAX_REPEAT	1000U
#define WEEK_S		604800U

/* Defaults: of --repeat by the form of the verb, and of --period. */
#define REPEAT_MODES	"3"
#define REPEAT_TWO	"5"
#define REPEAT_LIVE	"10"
#define PERIOD		"10-30"

struct verify_options {
	const char *on;
	const char *vs;
	const char *force;
	const char *force_too;	/* the second --force, for two devices */
	const char *modes;
	bool raw;		/* --modes names raw */
	bool live;
	uint64_t seconds;	/* of --live; 0: not given */
	struct verify_live own;
	struct run_options run;
};

enum row { ROW_ON = RUN_NR_ROWS, ROW_VS, ROW_LIVE, ROW_REPEAT, ROW_SECONDS,
	   ROW_PERIOD, ROW_MODES, ROW_HOLD_MS, ROW_MAX_BLOCKS, ROW_WRITE_CACHE,
	   ROW_DRIVE_CONTROL, ROW_DRY_RUN, ROW_FORCE, ROW_HTML, ROW_JSON };

#define WAYS(between)	"raw" between() MODES(between, between)
#define ALL_MODES	WAYS(MODES_LISTED)
static const char *const modes[1 + MODE_NR] = { WAYS(MODES_APART) };

static const struct option_row rows[] = {
	RUN_OPTION_ROWS,
	[ROW_ON] = OPTION("on", ARG_DEVICE, "write to this device"),
	[ROW_VS] = OPTION("vs", ARG_DEVICE,
			  "compare with this device, instead of modes",
			  .excludes = "modes hold-ms max-blocks write-cache",
			  .brings = "from disk columns start areas seed fdatasync depth think warmup timing speed scan no-check wrap scale",
			  .operands = "SOURCE",
			  .because = "as modes are compared on one device"),
	[ROW_LIVE] = OPTION("live", ARG_NONE,
			    "compare modes of NAME, in use, under its own load",
			    .only_with = "seed warmup repeat seconds period modes dry-run html json",
			    .brings = "seed warmup", .operands = "NAME",
			    .because = "which issues no requests of its own"),
	[ROW_REPEAT] = OPTION("repeat", ARG_NUMBER(1, MAX_REPEAT),
			      "runs in each mode (" REPEAT_MODES "; --live: " REPEAT_LIVE ") or on each device (" REPEAT_TWO ")"),
	[ROW_SECONDS] = OPTION("seconds", ARG_NUMBER(1, WEEK_S, .unit = "seconds"),
			       "--live: as many periods as fit into N seconds",
			       .needs = "live", .excludes = "repeat"),
	[ROW_PERIOD] = OPTION("period", ARG_TEXT("MIN-MAX"),
			      "--live: length of a period, seconds (default: " PERIOD ")",
			      .needs = "live"),
	[ROW_MODES] = OPTION("modes", ARG_LIST_OF(modes),
			     "some of " ALL_MODES " (default: all)"),
	[ROW_HOLD_MS] = MODE_ROW_HOLD_MS,
	[ROW_MAX_BLOCKS] = MODE_ROW_MAX_BLOCKS,
	[ROW_WRITE_CACHE] = MODE_ROW_WRITE_CACHE,
	[ROW_DRIVE_CONTROL] = OPTION("drive-control", ARG_PATH("SOCKET"),
				     "control socket of the drive512e: adds its counters"),
	[ROW_DRY_RUN] = OPTION("dry-run", ARG_NONE,
			       "--vs, --live: say what would be done; do nothing",
			       .needs = "vs live"),
	[ROW_FORCE] = OPTION_FORCE(.repeats = true),
	[ROW_HTML] = OPTION("html", ARG_FILE, "write the report as a page with charts, too"),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static void take_modes(struct verify_options *options, const char *list)
{
	CLEANUP_FREE char *copy = memory_or_exit(strdup(list));
	char *rest = copy, *name;
	size_t i;

	options->modes = list;
	options->raw = false;
	options->own.nr_modes = 0;
	while ((name = strsep(&rest, ","))) {
		i = options_index(&rows[ROW_MODES], name);
		if (i)
			options->own.mode[options->own.nr_modes++] = modes[i];
		else
			options->raw = true;
	}
}

static int take_option(size_t row, const char *argument, void *context)
{
	struct verify_options *options = context;
	const char *refusal = NULL;

	if (row < RUN_NR_ROWS) {
		run_options_take(&options->run, row, argument);
		return 0;
	}
	switch ((enum row)row) {
	case ROW_ON:
		options->on = argument;
		break;
	case ROW_VS:
		options->vs = argument;
		break;
	case ROW_FORCE:
		options->force_too = options->force;
		options->force = argument;
		break;
	case ROW_LIVE:
		options->live = true;
		break;
	case ROW_SECONDS:
		options->seconds = options_number(argument);
		break;
	case ROW_PERIOD:
		refusal = verify_live_period(&options->own, argument);
		break;
	case ROW_DRY_RUN:
		options->own.dry_run = true;
		break;
	case ROW_MODES:
		take_modes(options, argument);
		break;
	case ROW_REPEAT:
	case ROW_HOLD_MS:
	case ROW_MAX_BLOCKS:
	case ROW_WRITE_CACHE:
	case ROW_DRIVE_CONTROL:
	case ROW_HTML:
	case ROW_JSON:
		break;
	}
	return refusal ? options_refuse(rows[row].name, argument, refusal) : 0;
}

static void report_unknown(const char *name)
{
	struct nearest nearest = { .word = name };
	CLEANUP_FREE char *hint = NULL;
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++)
		if (!w->reads)
			nearest_try(&nearest, w->name);
	hint = nearest_hint(&nearest, ";");
	message_error("no workload '%s'%s 'alignctl workloads' lists them",
		      name, hint);
}

/*
 * Check that a name is that of a workload that writes, with the given options.
 * Return: enum alignctl_exit; reported.
 */
static int check_workload(const char *name,
			  const struct verify_options *options)
{
	const struct workload *w = workload_find(name);
	int result;

	if (w && !w->reads) {
		result = plan_options_check(&options->run.plan, w);
		return result ? result :
		       plan_options_parallel(w, "threads",
					     options->run.replay.threads);
	}
	if (w)
		message_error("%s: only reads, which no mode changes; take a workload that writes",
			      name);
	else if (!plan_options_method(name, "a workload that writes"))
		report_unknown(name);
	return ALIGNCTL_USAGE;
}

/* Replay one workload or trace on two devices; as compare_devices(). */
static int verify_two(const struct verify_options *options, const char *source,
		      struct given *given)
{
	const struct run_options *run = &options->run;
	const struct workload *w = workload_find(source);
	enum run_kind kind = run_options_kind(run, w, false);
	const struct compare compare = {
		.on = options->on, .vs = options->vs,
		.force = { options->force, options->force_too },
		.plan = &run->plan, .workload = w, .phased = kind == RUN_WRITES,
	};

	given_default(given, ROW_REPEAT, REPEAT_TWO);
	if (plan_options_method(source, "a workload or a trace"))
		return ALIGNCTL_USAGE;
	if (!strcmp(source, "-"))
		message_error("--vs reads the trace once for each run: give a file, not standard input");
	else if (!run_options_check(run, kind, w))
		return compare_devices(&compare, given);
	return ALIGNCTL_USAGE;
}

/* Check the arguments for workloads on one device, in each mode. */
static int check_modes(const struct verify_options *options, int first,
		       int argc, char **argv)
{
	int i, result;

	for (i = first; i < argc; i++) {
		result = check_workload(argv[i], options);
		if (result)
			return result;
	}
	if (options->force_too) {
		message_error("--force: names two devices, but only --on DEV is written to");
		return ALIGNCTL_USAGE;
	}
	if (options->on && options->force && strcmp(options->force, options->on)) {
		message_error("--force names %s, but --on is %s; name the same device",
			      options->force, options->on);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* Compare the modes of a device in use; as verify_live(). */
static int verify_own(struct verify_options *options, const char *name,
		      struct given *given)
{
	options->own.name = name;
	if (!options->modes) {
		options->own.mode[0] = "report";
		options->own.mode[1] = "pad";
		options->own.nr_modes = 2;
	}
	if (!options->own.most_s)
		verify_live_period(&options->own, PERIOD);
	if (!options->seconds)
		given_default(given, ROW_REPEAT, REPEAT_LIVE);
	if (options->raw)
		message_error("--modes %s: raw is the device without dm-align, which --live cannot take away; name " MODES(MODES_COMMA, MODES_COMMA),
			      options->modes);
	else if (options->modes && options->own.nr_modes < 2)
		message_error("--modes %s: --live compares modes; name two or three",
			      options->modes);
	else
		return verify_live(&options->own, given);
	return ALIGNCTL_USAGE;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct verify_options options = { 0 };
	CLEANUP_GIVEN struct given given;
	int first, result;

	run_options_init(&options.run);
	result = given_parse(&given, verb, argc, argv, take_option, &options,
			     &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	/* the last of the two counts */
	json_object_object_del(given.members,
			       options.run.plan.access == PLAN_DIRECT ?
			       "buffered" : "direct");
	if (options.live)
		return verify_own(&options, argv[first], &given);
	if (!options.vs) {
		result = check_modes(&options, first, argc, argv);
		if (result)
			return result;
	}
	if (!options.on) {
		message_error("verify: needs --on DEV, the device to write to");
		return ALIGNCTL_USAGE;
	}
	if (options.vs)
		return verify_two(&options, argv[first], &given);
	given_default(&given, ROW_REPEAT, REPEAT_MODES);
	given_default(&given, ROW_MODES, ALL_MODES);
	return reports_become("verify", verb->name, given.members);
}

static void more_help(void)
{
	puts("\nWith --live, give the NAME of an align device instead of workloads; nothing is\n"
	     "written to it.");
}

static const char *const forms[] = {
	"WORKLOAD... --on DEV [options]",
	"SOURCE --on DEV --vs DEV [options]",
	"NAME --live [options]",
	NULL,
};

const struct verb verb_verify = {
	"verify", "WORKLOAD...", 1, INT_MAX,
	"Compare modes by running workloads, or compare two devices",
	rows, more_help, run, forms, verify_documents,
};
