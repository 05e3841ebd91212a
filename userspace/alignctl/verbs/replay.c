// SPDX-License-Identifier: GPL-2.0
/* alignctl replay: arguments, guards, and the order of the phases. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "device/device.h"
#include "device/guard.h"
#include "forecast/forecast.h"
#include "replay/replay.h"
#include "replay/report.h"
#include "replay/result_file.h"
#include "replay/run.h"
#include "replay/trace.h"
#include "verbs/plan_options.h"
#include "verbs/compare.h"
#include "verbs/verbs.h"
#include "workload/method.h"

#define MAX_REPEAT	1000U
#define DAY_S	86400

enum phase { PHASE_ALL, PHASE_PREPARE, PHASE_RUN, PHASE_CHECK };

static const char *const phase_names[] = { "all", "prepare", "run", "check" };

struct replay_options {
	const char *on;
	const char *vs;
	const char *force;
	const char *force_too;	/* the other one of two devices */
	const char *state;
	const char *check;
	const char *not_for_check;	/* an option that --check has no use for */
	bool for_two;		/* something that only --vs knows was given */
	struct plan_options plan;
	uint64_t depth;
	bool think_given;
	enum phase phase;
	bool reads_only;	/* what was asked for changes nothing */
	struct replay_trace_options trace;
};

enum row { ROW_ON = PLAN_NR_ROWS, ROW_DEPTH, ROW_THINK, ROW_PHASE, ROW_STATE,
	   ROW_THREADS, ROW_WARMUP, ROW_TIMING, ROW_SPEED, ROW_WRAP, ROW_SCALE,
	   ROW_SCAN, ROW_HISTOGRAM, ROW_NO_CHECK, ROW_BELOW, ROW_CHECK,
	   ROW_DRY_RUN, ROW_FORCE, ROW_JSON, ROW_VS, ROW_REPEAT,
	   ROW_DRIVE_CONTROL, ROW_HTML };

static const struct option_row rows[] = {
	PLAN_OPTION_ROWS,
	[ROW_ON] = { "on", "DEV", "write to this device or regular file" },
	[ROW_DEPTH] = { "depth", "N", "writes in flight at most (default: 1)" },
	[ROW_THINK] = { "think", "SECONDS",
			"db-daemon: its pauses (default: 8; 0: none)" },
	[ROW_THREADS] = { "threads", "N",
			  "that make requests, --depth each (default: 1)" },
	[ROW_WARMUP] = { "warmup", "SECONDS",
			 "leave what starts in these out of all figures" },
	[ROW_PHASE] = { "phase", "PHASE",
			"only prepare, run or check (default: all three)" },
	[ROW_STATE] = { "state", "FILE",
			"what one phase leaves for the next; or for --check" },
	[ROW_TIMING] = { "timing", "HOW",
			 "trace: closed, fast or open (default: as it has times)" },
	[ROW_SPEED] = { "speed", "X", "open: X times as fast as the trace" },
	[ROW_WRAP] = { "wrap", NULL, "trace: what lies beyond DEV starts anew" },
	[ROW_SCALE] = { "scale", NULL, "trace: its extent becomes that of DEV" },
	[ROW_SCAN] = { "scan", NULL, "trace: see whether all of it fits, first" },
	[ROW_HISTOGRAM] = { "histogram", "FILE", "write the times there" },
	[ROW_NO_CHECK] = { "no-check", NULL,
			   "trace: do not compare what was written" },
	[ROW_BELOW] = { "verify-below", "DEV",
			"trace: compare on DEV, the one below" },
	[ROW_CHECK] = { "check", "STATE",
			"in place of SOURCE: what did a crash leave of a trace?" },
	[ROW_DRY_RUN] = { "dry-run", NULL, "say what would be done; do nothing" },
	[ROW_FORCE] = { "force", "DEV",
			"write to DEV although it is in use or holds data" },
	[ROW_JSON] = { "json", NULL, "print one JSON object" },
	[ROW_VS] = { "vs", "DEV", "the same on DEV too, in turn, and compare" },
	[ROW_REPEAT] = { "repeat", "N", "--vs: runs on each (default: 5)" },
	[ROW_DRIVE_CONTROL] = { "drive-control", "SOCKET",
				"--vs: of a drive512e: its own counts" },
	[ROW_HTML] = { "html", "FILE", "--vs: write a page with pictures" },
	{ 0 },
};

static bool parse_positive(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end && *number > 0 && isfinite(*number);
}

static bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && !*end && *seconds >= 0 && *seconds <= DAY_S;
}

/* --wrap or --scale. */
static int take_placement(struct replay_options *options,
			  enum placement_how how)
{
	if (options->trace.how != PLACEMENT_EXACT && options->trace.how != how) {
		message_error("--wrap, --scale: a request can be moved in one way only; leave one out");
		return -1;
	}
	options->trace.how = how;
	return 0;
}

static int take(size_t row, const char *argument, void *context)
{
	struct replay_options *options = context;
	double seconds;
	uint64_t number;
	size_t i;

	if (row != ROW_CHECK && row != ROW_ON && row != ROW_JSON)
		options->not_for_check = rows[row].name;
	if (row < PLAN_NR_ROWS)
		return plan_options_take(&options->plan, row, argument);
	switch ((enum row)row) {
	case ROW_ON:
		options->on = argument;
		return 0;
	case ROW_DEPTH:
		if (parse_number(argument, &options->depth) &&
		    options->depth <= REPLAY_MAX_DEPTH)
			return 0;
		return options_refuse("depth", argument,
				      "must be a number from 1 to 256");
	case ROW_THINK:
		options->think_given = true;
		if (parse_seconds(argument, &options->trace.think_s))
			return 0;
		return options_refuse("think", argument,
				      "must be a number of seconds, e.g. 0 or 0.5");
	case ROW_PHASE:
		if (options_choose("phase", argument, phase_names,
				   PHASE_CHECK + 1, &i))
			return -1;
		options->phase = i;
		return 0;
	case ROW_THREADS:
		if (parse_number(argument, &options->trace.threads) &&
		    options->trace.threads <= ENGINE_MAX_DEPTH)
			return 0;
		return options_refuse("threads", argument,
				      "must be a number from 1 to 256");
	case ROW_WARMUP:
		if (parse_positive(argument, &seconds) && seconds <= DAY_S) {
			options->trace.warmup_ns = seconds * NS_PER_S;
			return 0;
		}
		return options_refuse("warmup", argument,
				      "must be seconds, above 0 and up to a day, e.g. 2.5");
	case ROW_TIMING:
		if (options_choose("timing", argument, engine_timing_names,
				   ENGINE_NR_TIMINGS, &i))
			return -1;
		options->trace.timing = i;
		return 0;
	case ROW_SPEED:
		if (parse_positive(argument, &options->trace.speed))
			return 0;
		return options_refuse("speed", argument,
				      "must be a number above 0, e.g. 0.5 or 10");
	case ROW_WRAP:
		return take_placement(options, PLACEMENT_WRAP);
	case ROW_SCALE:
		return take_placement(options, PLACEMENT_SCALE);
	case ROW_SCAN:
		options->trace.scan = true;
		return 0;
	case ROW_HISTOGRAM:
		options->trace.histogram = argument;
		return 0;
	case ROW_NO_CHECK:
		options->trace.no_check = true;
		return 0;
	case ROW_BELOW:
		options->trace.verify_below = argument;
		return 0;
	case ROW_CHECK:
		options->check = argument;
		return 0;
	case ROW_DRY_RUN:
		options->trace.dry_run = true;
		return 0;
	case ROW_STATE:
		options->state = argument;
		return 0;
	case ROW_FORCE:
		options->force_too = options->force;
		options->force = argument;
		return 0;
	case ROW_JSON:
		options->trace.json = true;
		return 0;
	case ROW_VS:
		options->vs = argument;
		return 0;
	case ROW_REPEAT:
		options->for_two = true;
		if (parse_number(argument, &number) && number <= MAX_REPEAT)
			return 0;
		return options_refuse("repeat", argument,
				      "must be a number from 1 to 1000");
	case ROW_DRIVE_CONTROL:
	case ROW_HTML:
		options->for_two = true;
		return 0;
	}
	return -1;
}

/* One of them, under the others; behind a long name, on a line of its own. */
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
 * Lets a person at a terminal confirm by typing the device's name. What runs
 * without one, a script, has --force.
 */
static bool confirmed(const struct device *device)
{
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;
	ssize_t got;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr, "All of that will be overwritten. Type %s to go on: ",
		device->path);
	got = getline(&line, &size, stdin);
	if (got > 0 && line[got - 1] == '\n')
		line[got - 1] = '\0';
	return got > 0 && !strcmp(line, device->path);
}

/*
 * Refuses a device that is in use or holds data, unless --force names it or
 * somebody types its name. Return: enum alignctl_exit.
 */
static int guard(struct replay_options *options, const struct device *device,
		 uint64_t end)
{
	struct guard_report report = { 0 };
	const char *because = "as --force says";
	int result;

	if (options->force && !guard_same_device(device, options->force)) {
		message_error("--force names %s, but --on is %s; name the same device",
			      options->force, device->path);
		return ALIGNCTL_USAGE;
	}
	guard_usage(&report, device);
	/* What was prepared holds no data; do_phases() sees if it still is. */
	if (options->phase == PHASE_RUN)
		result = ALIGNCTL_FINE;
	else if (device->block)
		result = guard_signatures(&report, device);
	else
		result = guard_file_data(&report, device, end);
	guard_print(&report, device);
	if (report.nr && !options->force && !options->trace.dry_run &&
	    confirmed(device)) {
		options->force = device->path;
		because = "as confirmed at the terminal";
	}
	if (report.nr && !options->force) {
		message_error("%s: refused, because replay would overwrite that; another device, or --force %s if nothing on it matters",
			      device->path, device->path);
		result = ALIGNCTL_BUSY;
	} else if (report.nr || (result && options->force)) {
		message_warning("%s: going on, %s", device->path, because);
		result = ALIGNCTL_FINE;
	}
	guard_free(&report);
	return result;
}

/* Opens, for O_DIRECT unless buffered; a block device for ourselves alone. */
static int open_target(struct replay *replay,
		       const struct replay_options *options, bool buffered)
{
	const struct device *device = replay->device;
	int flags = O_CLOEXEC | (buffered ? 0 : O_DIRECT);

	flags |= options->reads_only ? O_RDONLY : O_RDWR;
	if (device->block && !options->reads_only && !options->force)
		flags |= O_EXCL;
	replay->fd = open(device->path, flags);
	if (replay->fd >= 0)
		return ALIGNCTL_FINE;
	if (errno == EBUSY) {
		message_error("%s: in use by the kernel or by a program that holds it exclusively; --force %s if nothing on it matters",
			      device->path, device->path);
		return ALIGNCTL_BUSY;
	}
	if (errno == EINVAL)
		message_error("%s: cannot be opened with O_DIRECT; %stake a block device, or a file on ext4, XFS or Btrfs",
			      device->path,
			      options->phase == PHASE_ALL ? "--buffered, or " :
			      "");
	else
		message_error("%s: %s", device->path, strerror(errno));
	return ALIGNCTL_IO;
}

/* The same once more, for what goes through the page cache. */
static int open_cached(struct replay *replay)
{
	replay->cached_fd = open(replay->device->path, O_RDWR | O_CLOEXEC);
	if (replay->cached_fd >= 0)
		return ALIGNCTL_FINE;
	message_error("%s: %s", replay->device->path, strerror(errno));
	return ALIGNCTL_IO;
}

static bool same_span(const struct plan *plan, uint64_t span)
{
	struct plan asked = *plan;

	plan_spread(&asked, span);
	return asked.places == plan->places && asked.period == plan->period &&
	       asked.length == plan->length;
}

/* Is what was asked for what the state file has? */
static bool same_plan(const struct replay_options *options,
		      const struct workload *w, const struct plan *plan)
{
	return plan->workload == w &&
	       (!options->plan.count || options->plan.count == plan->count) &&
	       (!options->plan.start_given || options->plan.start == plan->start) &&
	       (!options->plan.span || same_span(plan, options->plan.span)) &&
	       (!options->plan.areas || options->plan.areas == plan->places) &&
	       (options->plan.access == PLAN_AS_PUBLISHED ||
		plan_options_buffered(&options->plan, w) == plan->buffered) &&
	       (!options->plan.seed_given || options->plan.seed == plan->seed);
}

static int check_depth(const struct replay_options *options,
		       const struct workload *w)
{
	int result = plan_options_parallel(w, "depth", options->depth);

	if (!result)
		result = plan_options_parallel(w, "threads",
					       options->trace.threads);
	if (!result && workload_one_at_a_time(w) &&
	    options->trace.timing == ENGINE_FAST) {
		message_error("--timing fast: the %s of %s must follow each other; leave it out",
			      w->reads ? "reads" : "writes", w->name);
		return ALIGNCTL_USAGE;
	}
	return result;
}

/*
 * What to replay, as asked for or as the state file says. How far random writes
 * spread is left open where only the device can tell.
 */
static int choose_plan(struct replay *replay,
		       const struct replay_options *options, const char *name)
{
	const struct workload *w = workload_find(name);
	struct replay_state *state = &replay->state;
	struct plan *plan = &state->plan;
	int result;

	if (options->phase != PHASE_ALL && !options->state) {
		message_error("--phase needs --state FILE, which carries what one phase leaves for the next");
		return ALIGNCTL_USAGE;
	}
	result = plan_options_check(&options->plan, w);
	if (result)
		return result;
	result = check_depth(options, w);
	if (result)
		return result;
	replay->depth = options->depth ? options->depth : 1;
	replay->threads = options->trace.threads ? options->trace.threads : 1;
	replay->warmup_ns = options->trace.warmup_ns;
	replay->think_s = options->trace.think_s;
	result = engine_check_depth(replay->threads, replay->depth);
	if (result)
		return result;
	if (options->phase == PHASE_ALL || options->phase == PHASE_PREPARE) {
		plan_init(plan, w);
		plan_options_apply(&options->plan, plan);
		return ALIGNCTL_FINE;
	}
	result = replay_state_load(state, options->state);
	if (result)
		return result;
	plan->fdatasync = options->plan.fdatasync;
	if (!same_plan(options, w, plan)) {
		message_error("%s: is for %s with --count %" PRIu64 " --start %"
			      PRIu64 "; --phase prepare starts anew",
			      options->state, plan->workload->name, plan->count,
			      plan->start);
		return ALIGNCTL_USAGE;
	}
	if (options->phase == PHASE_RUN && state->issued) {
		message_error("%s: was run already, and a second run could not be told from the first; --phase prepare starts anew",
			      options->state);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

static int figures(const struct replay *replay, struct plan_figures *figures)
{
	const struct plan *plan = &replay->state.plan;

	return plan_figures(plan, &replay->geometry, plan->buffered ?
			    device_cache_block(replay->device) : 0, figures);
}

/* The phases that were asked for, and the report. */
static int do_phases(struct replay *replay,
		     const struct replay_options *options, bool offset_known)
{
	struct replay_report report = {
		.replay = replay, .offset_known = offset_known,
	};
	enum phase phase = options->phase;
	struct replay_run run = { .method = NULL };
	struct replay_check check;
	int result, saved = ALIGNCTL_FINE;

	result = figures(replay, &report.figures);
	if (result)
		return result;
	interrupt_catch();
	if (phase == PHASE_ALL || phase == PHASE_PREPARE) {
		result = replay_prepare(replay);
		if (result || interrupt_seen()) {
			/* half a preparation is good for nothing */
			interrupt_obey();
			return result;
		}
	}
	if (phase == PHASE_RUN) {
		result = replay_still_prepared(replay);
		if (result)
			return result;
	}
	if (phase == PHASE_ALL || phase == PHASE_RUN) {
		result = replay_run(replay, &run);
		report.run = &run;
		if (result)
			report.stopped = "error";
	}
	if (phase != PHASE_CHECK && options->state)
		saved = replay_state_save(&replay->state, options->state);
	if (report.run && options->trace.histogram && !saved)
		saved = measures_write(&run.measures,
				       options->trace.histogram);
	if (!result && !interrupt_seen() &&
	    (phase == PHASE_ALL || phase == PHASE_CHECK)) {
		result = replay_check(replay, &check);
		report.check = &check;
		if (!result && check.mismatches)
			result = ALIGNCTL_FINDINGS;
	}
	if (interrupt_seen())
		report.stopped = "signal";
	if (options->trace.json)
		replay_report_json(&report);
	else
		replay_report_text(&report);
	replay_run_free(&run);
	interrupt_obey();
	return result ? result : saved;
}

/*
 * Is a workload one whose every sector is labelled before the run? Those whose
 * owners are not known by arithmetic are so if phases are asked for, and else
 * done as a trace is.
 */
static bool is_prepared(const struct replay_options *options,
			const struct workload *w)
{
	return w && !w->reads &&
	       (options->phase != PHASE_ALL ||
		(w->order != WORKLOAD_DRAWS &&
		 !plan_options_buffered(&options->plan, w)));
}

/*
 * Refuses options that mean nothing for what is to be replayed: a workload, or,
 * if @w is NULL, a trace.
 */
static int check_source_options(const struct replay_options *options,
				const struct workload *w)
{
	enum { WRITES = 1, READS = 2, TRACE = 4, CACHED = 8 };
	static const char *const kinds[] = {
		[WRITES] = "a workload that writes",
		[READS] = "a workload that reads", [TRACE] = "a trace",
		[CACHED] = "a workload that is buffered, or of records",
	};
	const unsigned int kind = !w ? TRACE :
				  w->reads ? READS :
				  is_prepared(options, w) ? WRITES : CACHED;
	const struct replay_trace_options *trace = &options->trace;
	const struct { bool given; unsigned int is_for; const char *name; } all[] = {
		{ options->plan.count, WRITES | READS | CACHED, "count" },
		{ options->plan.start_given, WRITES | READS | CACHED, "start" },
		{ options->plan.span, WRITES | READS | CACHED, "span" },
		{ options->plan.areas, WRITES | READS | CACHED, "areas" },
		{ options->plan.seed_given, WRITES | READS | CACHED, "seed" },
		{ options->plan.access == PLAN_BUFFERED,
		  WRITES | READS | CACHED | TRACE, "buffered" },
		{ options->plan.access == PLAN_DIRECT,
		  WRITES | READS | CACHED | TRACE, "direct" },
		{ options->plan.fdatasync, WRITES | CACHED | TRACE,
		  "fdatasync" },
		{ options->think_given, WRITES | CACHED, "think" },
		{ options->phase != PHASE_ALL, WRITES, "phase" },
		{ options->state, WRITES | TRACE, "state" },
		{ trace->threads, WRITES | READS | CACHED | TRACE, "threads" },
		{ trace->warmup_ns, WRITES | READS | CACHED | TRACE, "warmup" },
		{ trace->timing != ENGINE_NR_TIMINGS, READS | CACHED | TRACE,
		  "timing" },
		{ trace->speed > 0, READS | CACHED | TRACE, "speed" },
		{ trace->how == PLACEMENT_WRAP, READS | TRACE, "wrap" },
		{ trace->how == PLACEMENT_SCALE, READS | TRACE, "scale" },
		{ trace->scan, READS | CACHED | TRACE, "scan" },
		{ trace->histogram, WRITES | READS | CACHED | TRACE,
		  "histogram" },
		{ trace->no_check, CACHED | TRACE, "no-check" },
		{ trace->verify_below, CACHED | TRACE, "verify-below" },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].given || all[i].is_for & kind)
			continue;
		message_error("--%s: means nothing for %s; leave it out",
			      all[i].name, kinds[kind]);
		return ALIGNCTL_USAGE;
	}
	if (options->think_given && !w->think_writes) {
		message_error("--think: is for db-daemon, not for %s; leave it out",
			      w->name);
		return ALIGNCTL_USAGE;
	}
	if (trace->histogram && (options->phase == PHASE_PREPARE ||
				 options->phase == PHASE_CHECK)) {
		message_error("--histogram: has the times of a run, and --phase %s makes none; leave it out",
			      phase_names[options->phase]);
		return ALIGNCTL_USAGE;
	}
	if (trace->verify_below && trace->no_check) {
		message_error("--verify-below: is where the data is checked, and --no-check checks none; leave one out");
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* Refuses to write results over anything else; see also trace_state.h. */
static int check_results(const struct replay_options *options,
			 const char *source, bool phased)
{
	const char *mark = phased ? RESULT_WORKLOAD_STATE : RESULT_TRACE_STATE;
	const char *histogram = options->trace.histogram;
	const char *state = options->phase == PHASE_CHECK ? NULL :
							     options->state;
	int result = ALIGNCTL_FINE;

	if (state && !strcmp(source, "-")) {
		message_error("--state: is for a trace in a file, which --check reads again, not for standard input");
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

/* Refuses what means nothing with one device, or with two. */
static int check_devices(const struct replay_options *options,
			 const char *source)
{
	const struct replay_trace_options *trace = &options->trace;
	const struct { bool given; const char *name; } not_for_two[] = {
		{ options->phase != PHASE_ALL, "phase" },
		{ options->state, "state" },
		{ trace->histogram, "histogram" },
		{ trace->verify_below, "verify-below" },
		{ trace->how == PLACEMENT_WRAP, "wrap" },
		{ trace->how == PLACEMENT_SCALE, "scale" },
	};
	size_t i;

	if (!options->vs) {
		if (options->for_two)
			message_error("--repeat, --drive-control, --html: compare two devices; --vs DEV names the other one");
		else if (options->force_too)
			message_error("--force: names two devices, and nothing but --on %s is to be written to",
				      options->on);
		return options->for_two || options->force_too ?
			ALIGNCTL_USAGE : ALIGNCTL_FINE;
	}
	for (i = 0; i < sizeof(not_for_two) / sizeof(not_for_two[0]); i++) {
		if (!not_for_two[i].given)
			continue;
		message_error("--%s: not with --vs, which makes many runs of the same requests; leave it out",
			      not_for_two[i].name);
		return ALIGNCTL_USAGE;
	}
	if (strcmp(source, "-"))
		return ALIGNCTL_FINE;
	message_error("-: standard input can be read once, and --vs reads it for each run; give a file");
	return ALIGNCTL_USAGE;
}

static int run_many(const struct replay_options *options,
		    const struct workload *w, bool phased, int argc,
		    char **argv)
{
	const struct replay_many many = {
		.on = options->on, .vs = options->vs,
		.force = { options->force, options->force_too },
		.plan = &options->plan, .workload = w,
		.phased = phased,
	};

	return replay_many(&many, argc, argv);
}

/* What a workload would do, instead of doing it. */
static int show_workload(const struct replay *replay,
			 const struct replay_options *options,
			 bool offset_known)
{
	struct replay_report report = {
		.replay = replay, .offset_known = offset_known,
	};

	int result = figures(replay, &report.figures);

	if (result)
		return result;
	if (options->trace.json)
		replay_report_json(&report);
	else
		replay_report_text(&report);
	return ALIGNCTL_FINE;
}

static int run_workload(struct replay *replay, struct replay_options *options,
			bool offset_known)
{
	const struct device *device = replay->device;
	struct plan *plan = &replay->state.plan;
	int result;

	/* a state has it */
	if (options->phase == PHASE_ALL || options->phase == PHASE_PREPARE)
		plan_options_places(&options->plan, plan, device);
	result = plan_check_fit(plan, device);
	if (!result && options->trace.dry_run)
		result = show_workload(replay, options, offset_known);
	if (!result && options->phase != PHASE_CHECK)
		result = guard(options, device,
			       plan_end(plan) + 2 * replay->geometry.physical);
	if (result || options->trace.dry_run)
		return result;
	result = open_target(replay, options, false);
	if (!result && plan->buffered && options->phase == PHASE_RUN)
		result = open_cached(replay);
	return result ? result : do_phases(replay, options, offset_known);
}

/* Opens a trace, or a workload that is done as one. */
static int open_source(struct replay_trace *trace,
		       const struct replay_options *options, const char *name)
{
	const struct workload *w = workload_find(name);
	int result = w ? plan_options_check(&options->plan, w) : ALIGNCTL_FINE;

	if (!result && w)
		result = check_depth(options, w);
	if (!result)
		result = replay_trace_open(trace, name);
	if (!result && w)
		plan_options_apply(&options->plan, &trace->source.plan);
	trace->source.plan.fdatasync = options->plan.fdatasync;
	return result;
}

/*
 * Has the whole trace been read, and does it only read? Then the device is opened
 * for nothing else.
 */
static bool only_reads(const struct replay_trace *trace)
{
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		if (i != TRACE_READ && i != TRACE_FLUSH &&
		    trace->scan.requests[i])
			return false;
	return trace->scanned;
}

static int run_trace(struct replay *replay, struct replay_options *options,
		     struct replay_trace *trace)
{
	const struct device *device = replay->device;
	struct plan *plan = &trace->source.plan;
	int result = ALIGNCTL_FINE;

	if (plan->workload) {
		plan_options_places(&options->plan, plan, device);
		result = plan_check_fit(plan, device);
	}
	if (!result)
		result = replay_trace_fit(trace);
	options->reads_only |= !result && only_reads(trace);
	if (!result && options->trace.dry_run)
		trace_report_plan(trace);
	if (!result && !options->reads_only)
		result = guard(options, device, plan->workload ?
			       plan_end(plan) :
			       device->sectors << ALIGN_SECTOR_SHIFT);
	if (result || options->trace.dry_run)
		return result;
	result = open_target(replay, options, options->trace.buffered);
	return result ? result : replay_trace_run(trace, replay->fd);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct replay_options options = {
		.trace.timing = ENGINE_NR_TIMINGS,
	};
	struct replay_trace trace = { .options = &options.trace };
	struct replay replay = { .fd = -1, .cached_fd = -1 };
	struct device device;
	const struct workload *w;
	bool phased;	/* prepared, run and checked */
	int first, result;

	result = options_parse(verb, argc, argv, take, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (options.check && first == argc && options.not_for_check) {
		message_error("--%s: means nothing for --check, which reads the state and the device; leave it out",
			      options.not_for_check);
		return ALIGNCTL_USAGE;
	}
	if (options.check && first == argc)
		return replay_trace_crash(options.check, options.on,
					  options.trace.json);
	if (options.check || first == argc) {
		message_error("replay: needs SOURCE, a workload or a trace, or else --check STATE");
		return ALIGNCTL_USAGE;
	}
	if (method_find(argv[first])) {
		message_error("%s: is a method: alignctl probe %s %s",
			      argv[first], argv[first],
			      options.on ? options.on : "DEV");
		return ALIGNCTL_USAGE;
	}
	if (!options.on) {
		message_error("replay: needs --on DEV, the device to write to");
		return ALIGNCTL_USAGE;
	}
	w = workload_find(argv[first]);
	phased = is_prepared(&options, w);
	options.trace.buffered = plan_options_buffered(&options.plan, w);
	options.reads_only = options.phase == PHASE_CHECK || (w && w->reads);
	options.trace.depth = options.depth;
	options.trace.state = options.state;
	if (w && !options.think_given)
		options.trace.think_s = w->think_s;
	result = check_source_options(&options, w);
	if (!result)
		result = check_devices(&options, argv[first]);
	if (result)
		return result;
	if (options.vs)
		return run_many(&options, w, phased, argc, argv);
	result = check_results(&options, argv[first], phased);
	if (result)
		return result;
	result = phased ? choose_plan(&replay, &options, argv[first]) :
			  open_source(&trace, &options, argv[first]);
	if (result)
		return result;
	result = device_open(&device, options.on);
	if (result) {
		replay_trace_close(&trace);
		return result;
	}
	replay.device = trace.device = &device;
	trace.geometry = &replay.geometry;
	result = plan_options_geometry(&options.plan, &device, &replay.geometry,
				       &trace.offset_known);
	if (!result && phased)
		result = run_workload(&replay, &options, trace.offset_known);
	else if (!result)
		result = run_trace(&replay, &options, &trace);
	cleanup_close(&replay.cached_fd);
	cleanup_close(&replay.fd);
	device_close(&device);
	replay_trace_close(&trace);
	return result;
}

const struct verb verb_replay = {
	"replay", "SOURCE", 0, 1,
	"Do a workload or a trace on a device, and measure it",
	rows, list_workloads, run,
};
