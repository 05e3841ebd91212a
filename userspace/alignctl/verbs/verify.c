// SPDX-License-Identifier: GPL-2.0
/*
 * alignctl verify: the whole experiment, made of the other verbs. Its arguments
 * are understood here, as every verb's; orchestration, statistics and pictures
 * are Python's, in userspace/align_reports.
 */
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/nearest.h"
#include "device/mode.h"
#include "engine/engine.h"
#include "verbs/plan_options.h"
#include "verbs/reports.h"
#include "verbs/verbs.h"
#include "workload/method.h"

struct verify_options {
	const char *on;
	const char *force;
	uint64_t threads;
	struct plan_options plan;	/* only what it refuses */
};

enum row { ROW_ON, ROW_COUNT, ROW_SPAN, ROW_REPEAT, ROW_MODES, ROW_THREADS,
	   ROW_BUFFERED, ROW_DIRECT, ROW_PHYSICAL, ROW_OFFSET, ROW_HOLD_MS,
	   ROW_MAX_BLOCKS, ROW_WRITE_CACHE, ROW_DRIVE_CONTROL, ROW_FORCE,
	   ROW_HTML, ROW_JSON };

static const struct option_row rows[] = {
	[ROW_ON] = { "on", "DEV", "write to this device" },
	[ROW_COUNT] = { "count", "N", "repetitions of a workload's pattern" },
	[ROW_SPAN] = { "span", "N",
		       "random, probes: over N bytes (default: DEV)" },
	[ROW_REPEAT] = { "repeat", "N",
			 "runs of each workload in each mode (default: 3)" },
	[ROW_MODES] = { "modes", "LIST",
			"some of raw,report,pad,coalesce (default: all)" },
	[ROW_THREADS] = { "threads", "N",
			  "that make the writes (default: 1)" },
	[ROW_BUFFERED] = { "buffered", NULL,
			   "through the page cache, not by O_DIRECT" },
	[ROW_DIRECT] = { "direct", NULL,
			 "by O_DIRECT also what was published buffered" },
	[ROW_PHYSICAL] = { "physical", "N",
			   "physical block, bytes, if DEV does not tell" },
	[ROW_OFFSET] = { "offset", "N",
			 "alignment offset, bytes, if DEV does not tell" },
	[ROW_HOLD_MS] = MODE_ROW_HOLD_MS,
	[ROW_MAX_BLOCKS] = MODE_ROW_MAX_BLOCKS,
	[ROW_WRITE_CACHE] = MODE_ROW_WRITE_CACHE,
	[ROW_DRIVE_CONTROL] = { "drive-control", "SOCKET",
				"of the drive512e that DEV is: its own counts" },
	[ROW_FORCE] = { "force", "DEV",
			"write to DEV although it is in use or holds data" },
	[ROW_HTML] = { "html", "FILE", "the same as a page with pictures" },
	[ROW_JSON] = { "json", NULL, "print one JSON object" },
	{ 0 },
};

/* Take the argument of --modes: names, each once. Return: 0, or -1 after an error. */
static int take_modes(const char *list)
{
	CLEANUP_FREE char *copy = memory_or_exit(strdup(list));
	const char *known[1 + MODE_NR] = { "raw" };
	bool seen[1 + MODE_NR] = { false };
	char *rest = copy, *name;
	size_t i;

	memcpy(known + 1, mode_names, sizeof(mode_names));
	while ((name = strsep(&rest, ","))) {
		if (options_choose("modes", name, known, 1 + MODE_NR, &i))
			return -1;
		if (seen[i])
			return options_refuse("modes", list,
					      "names a mode twice");
		seen[i] = true;
	}
	return 0;
}

static int take(size_t row, const char *argument, void *context)
{
	struct verify_options *options = context;
	const char *refusal = NULL;
	uint64_t number;
	uint32_t bytes;

	switch ((enum row)row) {
	case ROW_ON:
		options->on = argument;
		break;
	case ROW_FORCE:
		options->force = argument;
		break;
	case ROW_COUNT:
	case ROW_REPEAT:
		if (!parse_number(argument, &number))
			refusal = "must be a number, at least 1";
		break;
	case ROW_SPAN:
		return plan_options_take(&options->plan, PLAN_ROW_SPAN,
					 argument);
	case ROW_THREADS:
		if (!parse_number(argument, &options->threads) ||
		    options->threads > ENGINE_MAX_DEPTH)
			refusal = "must be a number from 1 to 256";
		break;
	case ROW_MODES:
		return take_modes(argument);
	case ROW_PHYSICAL:
		if (!parse_bytes(argument, &bytes) || !bytes)
			refusal = "must be bytes, e.g. 4096 or 4K";
		break;
	case ROW_OFFSET:
		if (!parse_bytes(argument, &bytes))
			refusal = "must be bytes";
		break;
	case ROW_HOLD_MS:
		refusal = mode_hold_ms(argument, &number);
		break;
	case ROW_MAX_BLOCKS:
		refusal = mode_max_blocks(argument, &number);
		break;
	case ROW_WRITE_CACHE:
		refusal = mode_write_cache_refusal(argument);
		break;
	case ROW_BUFFERED:
	case ROW_DIRECT:
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

/* Refuses what is no workload that writes, or not so many at once. */
static int check_workload(const char *name,
			  const struct verify_options *options)
{
	const struct workload *w = workload_find(name);
	int result;

	if (w && !w->reads) {
		result = plan_options_check(&options->plan, w);
		return result ? result :
		       plan_options_parallel(w, "threads", options->threads);
	}
	if (w)
		message_error("%s: only reads, which no mode changes; take a workload that writes",
			      name);
	else if (method_find(name))
		message_error("%s: is a method, which 'alignctl probe' runs; take a workload that writes",
			      name);
	else
		report_unknown(name);
	return ALIGNCTL_USAGE;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct verify_options options = { 0 };
	int first, i, result;

	result = options_parse(verb, argc, argv, take, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	for (i = first; i < argc; i++) {
		result = check_workload(argv[i], &options);
		if (result)
			return result;
	}
	if (!options.on) {
		message_error("verify: needs --on DEV, the device to write to");
		return ALIGNCTL_USAGE;
	}
	if (options.force && strcmp(options.force, options.on)) {
		message_error("--force names %s, but --on is %s; name the same device",
			      options.force, options.on);
		return ALIGNCTL_USAGE;
	}
	return reports_become("verify", argc, argv, NULL);
}

const struct verb verb_verify = {
	"verify", "WORKLOAD...", 1, INT_MAX,
	"Show what each mode does to workloads, and that nothing is lost",
	rows, NULL, run,
};
