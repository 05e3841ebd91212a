// SPDX-License-Identifier: GPL-2.0
/* alignctl replay: arguments, guards, and the order of the phases. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "forecast/forecast.h"
#include "remedy/remedy.h"
#include "replay/phases.h"
#include "replay/report.h"
#include "replay/result_file.h"
#include "sysfs/device.h"
#include "sysfs/guard.h"
#include "verbs/overwrite.h"
#include "verbs/run_options.h"
#include "verbs/verbs.h"
#include "workload/method.h"
#include "workload/page_cache.h"

enum phase { PHASE_ALL, PHASE_PREPARE, PHASE_RUN, PHASE_CHECK };

static const char *const phase_names[] = { "all", "prepare", "run", "check" };

struct verb_options {
	const char *on;
	const char *force;
	const char *check;
	struct run_options run;
	enum phase phase;
	bool reads_only;	/* what was asked for changes nothing */
};

enum row { ROW_ON = RUN_NR_ROWS, ROW_PHASE, ROW_STATE,
	   ROW_HISTOGRAM, ROW_EACH, ROW_BELOW, ROW_CHECK, ROW_DRY_RUN, ROW_FORCE,
	   ROW_VS, ROW_JSON };

static const struct option_row rows[] = {
	RUN_OPTION_ROWS,
	[ROW_ON] = OPTION("on", ARG_DEVICE, "the device or regular file"),
	[ROW_PHASE] = OPTION("phase", ARG_NAME("PHASE", phase_names),
			     "only prepare, run or check (default: all three)"),
	[ROW_STATE] = OPTION("state", ARG_FILE,
			     "file of the state between phases, or for --check"),
	[ROW_HISTOGRAM] = OPTION("histogram", ARG_FILE,
				 "write the histograms of all times to FILE"),
	[ROW_EACH] = OPTION("each", ARG_NONE,
			    "with --json: the time of each request, too",
			    .needs = "json",
			    .because = "as only a document has room for all times"),
	[ROW_BELOW] = OPTION("verify-below", ARG_DEVICE,
			     "trace: compare on DEV, the device below",
			     .excludes = "no-check"),
	[ROW_CHECK] = OPTION("check", ARG_PATH("STATE"),
			     "in place of SOURCE: judge what a crash left",
			     .only_with = "on json", .operands = "",
			     .because = "which reads the state and the device"),
	[ROW_DRY_RUN] = OPTION("dry-run", ARG_NONE, "print what would be done, and do nothing"),
	[ROW_FORCE] = OPTION_FORCE(),
	[ROW_VS] = OPTION("vs", ARG_DEVICE, NULL),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct verb_options *options = context;

	if (row < RUN_NR_ROWS) {
		run_options_take(&options->run, row, argument);
		return 0;
	}
	switch ((enum row)row) {
	case ROW_ON:
		options->on = argument;
		return 0;
	case ROW_PHASE:
		options->phase = options_index(&rows[row], argument);
		return 0;
	case ROW_HISTOGRAM:
		options->run.replay.histogram = argument;
		return 0;
	case ROW_EACH:
		options->run.replay.each = true;
		return 0;
	case ROW_BELOW:
		options->run.replay.verify_below = argument;
		return 0;
	case ROW_CHECK:
		options->check = argument;
		return 0;
	case ROW_DRY_RUN:
		options->run.replay.dry_run = true;
		return 0;
	case ROW_STATE:
		options->run.replay.state = argument;
		return 0;
	case ROW_FORCE:
		options->force = argument;
		return 0;
	case ROW_VS:
		return options_refuse("vs", NULL,
				      "verify compares devices: alignctl verify SOURCE --on DEV --vs DEV");
	case ROW_JSON:
		options->run.replay.json = true;
		return 0;
	}
	return -1;
}

/* Print a workload's line; behind a long name, the rest goes on the next line. */
static void list_one(const struct workload *w)
{
	enum { WIDTH = 18 };

	if (strlen(w->name) > WIDTH)
		printf(" %s\n %*s", w->name, WIDTH, "");
	else
		printf(" %-*s", WIDTH, w->name);
	printf(" %7" PRIu32 " x %s\n", w->default_count, w->summary);
}

static void list_workloads(void)
{
	const struct workload *w;
	size_t i;

	puts("\nWorkloads (with the default count):");
	for (i = 0; (w = workload_at(i)); i++)
		list_one(w);
}

/*
 * Refuse a device that is in use or holds data. What was prepared holds none, and
 * do_phases() sees if it still is. Return: enum alignctl_exit, reported.
 */
static int guard_device(struct verb_options *options, const struct device *device,
			uint64_t end)
{
	struct overwrite overwrite = {
		.device = device, .verb = "replay", .named_by = "--on is",
		.force = options->force, .ask = !options->run.replay.dry_run,
		.keeps = options->phase == PHASE_RUN, .end = end,
	};
	int result = overwrite_guard(&overwrite);

	options->force = overwrite.force;
	return result;
}

/* Open the device, with O_DIRECT unless @buffered; a block device exclusively. */
static int open_target(const struct replay *replay,
		       const struct verb_options *options,
		       bool buffered, int *fd)
{
	return overwrite_open(replay->device,
			      (buffered ? 0 : O_DIRECT) |
			      (options->reads_only ? O_RDONLY : O_RDWR),
			      !options->reads_only && !options->force,
			      options->phase == PHASE_ALL ? "--buffered, or " :
			      "", fd);
}

/* Open the device for the phases that were asked for. */
static int open_device(struct replay *replay,
		       const struct verb_options *options)
{
	bool buffered = replay->source.plan.buffered;
	int result;

	if (!options->run.replay.prepare)
		return open_target(replay, options, buffered, &replay->fd);
	result = open_target(replay, options, false, &replay->direct_fd);
	/* once more, for requests through the page cache */
	if (!result && buffered && options->phase == PHASE_RUN)
		return overwrite_open(replay->device, O_RDWR, false, "",
				      &replay->fd);
	replay->fd = replay->direct_fd;
	return result;
}

static bool same_span(const struct plan *plan, uint64_t span)
{
	struct plan asked = *plan;

	plan_spread(&asked, span);
	return asked.places == plan->places && asked.period == plan->period &&
	       asked.length == plan->length;
}

/* Return whether the plan of the state file is the one that was asked for. */
static bool same_plan(const struct verb_options *options,
		      const struct workload *w, const struct plan *plan)
{
	return plan->workload == w &&
	       (!options->run.plan.count || options->run.plan.count == plan->count) &&
	       (!options->run.plan.start_given || options->run.plan.start == plan->start) &&
	       (!options->run.plan.span || same_span(plan, options->run.plan.span)) &&
	       (!options->run.plan.areas || options->run.plan.areas == plan->places) &&
	       (options->run.plan.access == PLAN_AS_PUBLISHED ||
		plan_options_buffered(&options->run.plan, w) == plan->buffered) &&
	       (!options->run.plan.seed_given || options->run.plan.seed == plan->seed);
}

static int check_depth(const struct verb_options *options,
		       const struct workload *w)
{
	const struct replay_options *replay = &options->run.replay;
	int result = plan_options_parallel(w, "depth", replay->depth);

	if (!result)
		result = plan_options_parallel(w, "threads", replay->threads);
	if (!result && replay->depth && replay->threads)
		result = engine_check_depth(replay->threads, replay->depth);
	if (!result && workload_one_at_a_time(w) &&
	    replay->timing == ENGINE_FAST) {
		message_error("--timing fast: the %s of %s must follow each other; leave it out",
			      w->reads ? "reads" : "writes", w->name);
		return ALIGNCTL_USAGE;
	}
	return result;
}

/*
 * Open the source, a workload with its plan as asked for or as the state file has
 * it. How far random writes spread is left open where only the device can tell.
 */
static int open_source(struct replay *replay,
		       const struct verb_options *options,
		       const char *name, const struct workload *w)
{
	const char *state = options->run.replay.state;
	struct plan *plan = &replay->source.plan;
	int result = w ? plan_options_check(&options->run.plan, w) :
			 ALIGNCTL_FINE;

	if (!result && w)
		result = check_depth(options, w);
	if (!result)
		result = source_open_as(&replay->source, name,
					&options->run.plan.choice);
	if (result)
		return result;
	if (w)
		plan_options_apply(&options->run.plan, plan);
	plan->buffered = plan_options_buffered(&options->run.plan, w);
	plan->fdatasync = options->run.plan.fdatasync;
	if (options->phase != PHASE_RUN && options->phase != PHASE_CHECK)
		return ALIGNCTL_FINE;
	result = replay_resume(replay, state, options->phase == PHASE_CHECK);
	plan->fdatasync = options->run.plan.fdatasync;
	if (result || same_plan(options, w, plan))
		return result;
	message_error("%s: is for %s with --count %" PRIu64 " --start %" PRIu64
		      "; --phase prepare starts anew", state,
		      plan->workload->name, plan->count, plan->start);
	return ALIGNCTL_USAGE;
}

/* Do the phases that were asked for, and print the report. */
static int do_phases(struct replay *replay,
		     const struct verb_options *options)
{
	const struct replay_options *asked = replay->options;
	enum phase phase = options->phase;
	int result = ALIGNCTL_FINE;

	interrupt_catch();
	if (asked->prepare && (phase == PHASE_ALL || phase == PHASE_PREPARE)) {
		result = replay_drop_state(replay);
		if (!result)
			result = replay_prepare(replay);
		if (result || interrupt_seen()) {
			/* a partial preparation is unusable */
			interrupt_obey();
			return result;
		}
		if (phase == PHASE_PREPARE)
			replay->saved = replay_save_state(replay);
	}
	if (phase == PHASE_RUN) {
		result = replay_still_prepared(replay);
		if (result)
			return result;
	}
	if (phase == PHASE_ALL || phase == PHASE_RUN)
		result = replay_run(replay);
	if (result && !replay->ran)
		return result;
	if (!result && !interrupt_seen() && !asked->no_check &&
	    !source_reads(&replay->source) &&
	    (phase == PHASE_ALL || phase == PHASE_CHECK))
		result = replay_check(replay);
	replay_report(replay);
	interrupt_obey();
	return result ? result : replay->saved;
}

/*
 * Refuse options that do not apply to the source: a workload, or,
 * if @w is NULL, a trace.
 */
static int check_source_options(const struct verb_options *options,
				enum run_kind kind, const struct workload *w)
{
	const struct replay_options *replay = &options->run.replay;
	const struct run_fit fit[] = {
		{ options->phase != PHASE_ALL, RUN_WRITES, "phase" },
		{ replay->state, RUN_WRITES | RUN_TRACE, "state" },
		{ replay->verify_below, RUN_CACHED | RUN_TRACE, "verify-below" },
	};
	int result = run_options_check(&options->run, kind, w);

	if (!result)
		result = run_options_fit(kind, fit,
					 sizeof(fit) / sizeof(fit[0]));
	if (result)
		return result;
	if (options->phase != PHASE_ALL && !replay->state) {
		message_error("--phase: needs --state FILE, which carries results from one phase to the next");
		return ALIGNCTL_USAGE;
	}
	if (replay->histogram && (options->phase == PHASE_PREPARE ||
				 options->phase == PHASE_CHECK)) {
		message_error("--histogram: does not apply to --phase %s, which makes no run; leave it out",
			      phase_names[options->phase]);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* Refuse to write results over anything else. */
static int check_results(const struct verb_options *options,
			 const char *source, const struct workload *w)
{
	const char *mark = w ? RESULT_WORKLOAD_STATE : RESULT_TRACE_STATE;
	const char *histogram = options->run.replay.histogram;
	const char *state = options->phase == PHASE_CHECK ? NULL :
					     options->run.replay.state;
	int result = ALIGNCTL_FINE;

	if (state && !strcmp(source, "-")) {
		message_error("--state: needs a trace in a file, not standard input, as --check reads it again");
		return ALIGNCTL_USAGE;
	}
	if (state) {
		CLEANUP_FREE char *draft = result_file_draft(state);

		result = result_file_check("state", state, mark);
		if (!result)
			result = result_file_check("state", draft, mark);
	}
	if (!result && histogram)
		result = result_file_check("histogram", histogram,
					   RESULT_HISTOGRAM);
	if (!result && state && histogram &&
	    result_file_same(state, histogram)) {
		message_error("--state, --histogram: both are %s; name two files",
			      state);
		result = ALIGNCTL_USAGE;
	}
	return result;
}

/*
 * Return whether the whole source has been read, and only reads. Then the device
 * is opened for reading only.
 */
static bool only_reads(const struct replay *replay)
{
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		if (i != TRACE_READ && i != TRACE_FLUSH &&
		    replay->scan.requests[i])
			return false;
	return replay->scanned;
}

/* Work out what a workload that writes must cost, for the report. */
static int count_figures(struct replay *replay)
{
	const struct plan *plan = &replay->source.plan;
	int result;

	if (!plan->workload || plan->workload->reads)
		return ALIGNCTL_FINE;
	result = plan_figures(plan, &replay->geometry, plan->buffered ?
			      device_cache_block(replay->device) : 0,
			      &replay->figures);
	replay->counted = !result;
	return result;
}

/* Return the byte up to which the device may be overwritten. */
static uint64_t end_of_writes(const struct replay *replay)
{
	const struct plan *plan = &replay->source.plan;
	uint64_t end;

	if (!plan->workload)
		return replay->device->sectors << ALIGN_SECTOR_SHIFT;
	end = plan_end(plan);
	if (!replay->options->prepare)
		return end;
	/* as plan_extents() has it: whole pages, then whole blocks and one more */
	if (plan->buffered)
		end += -end % PAGE_CACHE_BLOCK;
	return end + 2 * replay->geometry.physical;
}

/* Do the source on the device, once both are open. */
static int run_replay(struct replay *replay, struct verb_options *options)
{
	struct plan *plan = &replay->source.plan;
	bool dry_run = replay->options->dry_run;
	int result = ALIGNCTL_FINE;

	if (plan->workload) {
		/* a state has the places */
		if (!replay->prepared)
			plan_options_places(&options->run.plan, plan,
					    replay->device);
		result = plan_check_fit(plan, replay->device);
	}
	if (!result)
		result = count_figures(replay);
	if (!result)
		result = replay_fit(replay);
	options->reads_only |= !result && only_reads(replay);
	if (!result && dry_run)
		replay_report(replay);
	if (!result && !options->reads_only)
		result = guard_device(options, replay->device, end_of_writes(replay));
	if (result || dry_run)
		return result;
	if (options->phase != PHASE_CHECK)
		result = open_device(replay, options);
	return result ? result : do_phases(replay, options);
}

/* Refuse a method, for which there is another verb. Return: ALIGNCTL_USAGE. */
static int refuse_method(const char *name, const char *device)
{
	CLEANUP_FREE char *probe = remedy_of_words(REMEDY_PROBE,
		&(struct remedy_words) { .type = name, .device = device });

	message_error("%s: is a method%s%s", name, device ? ": " :
		      ", which 'alignctl probe' runs", device ? probe : "");
	return ALIGNCTL_USAGE;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct verb_options options = { 0 };
	struct replay replay = {
		.options = &options.run.replay, .fd = -1, .direct_fd = -1,
	};
	struct device device;
	const struct workload *w;
	enum run_kind kind;
	int first, result;

	run_options_init(&options.run);
	result = options_parse(verb, argc, argv, take_option, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (options.check)
		return replay_crash(options.check, options.on,
				    options.run.replay.json);
	w = workload_find(argv[first]);
	if (!w && method_find(argv[first])) {
		return refuse_method(argv[first], options.on);
	}
	if (!options.on) {
		message_error("replay: needs --on DEV, the device to write to");
		return ALIGNCTL_USAGE;
	}
	kind = run_options_kind(&options.run, w, options.phase != PHASE_ALL);
	options.run.replay.prepare = kind == RUN_WRITES;
	options.reads_only = options.phase == PHASE_CHECK || (w && w->reads);
	if (w && !options.run.think_given)
		options.run.replay.think_s = w->think_s;
	result = check_source_options(&options, kind, w);
	if (!result)
		result = check_results(&options, argv[first], w);
	if (!result)
		result = open_source(&replay, &options, argv[first], w);
	if (!result)
		result = device_open(&device, options.on);
	if (result) {
		replay_close(&replay);
		return result;
	}
	replay.device = &device;
	result = plan_options_geometry(&options.run.plan, &device,
				       &replay.geometry, &replay.offset_known);
	if (!result)
		result = run_replay(&replay, &options);
	if (replay.fd != replay.direct_fd)
		cleanup_close(&replay.fd);
	cleanup_close(&replay.direct_fd);
	device_close(&device);
	replay_close(&replay);
	return result;
}

static const char *const forms[] = {
	"SOURCE --on DEV [options]",
	"--check STATE [--on DEV] [--json]",
	NULL,
};

const struct verb verb_replay = {
	"replay", "SOURCE", 1, 1,
	"Run a workload or a trace on a device, measure and check it",
	rows, list_workloads, run, forms,
	SCHEMA_DOCUMENTS(&replay_run_schema, &replay_phase_schema,
			 &replay_dry_schema, &replay_crash_schema),
};
