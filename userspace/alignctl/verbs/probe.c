// SPDX-License-Identifier: GPL-2.0
/*
 * alignctl probe: what a device can do, by a method of many runs. Its arguments
 * are understood here, as every verb's; the runs and what they say together are
 * Python's, in userspace/align_reports.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/nearest.h"
#include "device/device.h"
#include "device/guard.h"
#include "engine/engine.h"
#include "verbs/plan_options.h"
#include "verbs/reports.h"
#include "verbs/verbs.h"
#include "workload/method.h"

struct probe_options {
	const char *force;
	struct plan_options plan;	/* only what it refuses */
};

enum row { ROW_COUNT, ROW_SPAN, ROW_SEED, ROW_DEPTH, ROW_DRY_RUN, ROW_FORCE,
	   ROW_HTML, ROW_JSON };

static const struct option_row rows[] = {
	[ROW_COUNT] = { "count", "N",
			"requests of each run (default: see below)" },
	[ROW_SPAN] = { "span", "N", "over N bytes (default: DEV)" },
	[ROW_SEED] = { "seed", "N", "another order (default: 1)" },
	[ROW_DEPTH] = { "depth", "N",
			"cnc: the deepest to try; else in flight at most" },
	[ROW_DRY_RUN] = { "dry-run", NULL, "say what would be done; do nothing" },
	[ROW_FORCE] = { "force", "DEV",
			"write to DEV although it is in use or holds data" },
	[ROW_HTML] = { "html", "FILE", "the same as a page with pictures" },
	[ROW_JSON] = { "json", NULL, "print one JSON object" },
	{ 0 },
};

static int take(size_t row, const char *argument, void *context)
{
	struct probe_options *options = context;
	uint64_t depth;

	switch ((enum row)row) {
	case ROW_COUNT:
		return plan_options_take(&options->plan, PLAN_ROW_COUNT,
					 argument);
	case ROW_SPAN:
		return plan_options_take(&options->plan, PLAN_ROW_SPAN,
					 argument);
	case ROW_SEED:
		return plan_options_take(&options->plan, PLAN_ROW_SEED,
					 argument);
	case ROW_DEPTH:
		if (parse_number(argument, &depth) && depth <= ENGINE_MAX_DEPTH)
			return 0;
		return options_refuse("depth", argument,
				      "must be a number from 1 to 256");
	case ROW_FORCE:
		options->force = argument;
		return 0;
	case ROW_DRY_RUN:
	case ROW_HTML:
	case ROW_JSON:
		return 0;
	}
	return -1;
}

static void list_methods(void)
{
	const struct method *m;
	size_t i;

	puts("\nMethods (with the requests of each run):");
	for (i = 0; (m = method_at(i)); i++)
		printf(" %-18s %7" PRIu32 "  %s\n", m->name, m->default_count,
		       m->summary);
}

static void report_unknown(const char *name, const char *device)
{
	struct nearest nearest = { .word = name };
	CLEANUP_FREE char *hint = NULL;
	const struct method *m;
	size_t i;

	if (workload_find(name)) {
		message_error("%s: is a workload: alignctl replay %s --on %s",
			      name, name, device);
		return;
	}
	for (i = 0; (m = method_at(i)); i++)
		nearest_try(&nearest, m->name);
	hint = nearest_hint(&nearest, ";");
	message_error("no method '%s'%s 'alignctl probe --help' lists them",
		      name, hint);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct probe_options options = { 0 };
	struct device device;
	const char *path;
	int first, result;

	result = options_parse(verb, argc, argv, take, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	path = argv[first + 1];
	if (!method_find(argv[first])) {
		report_unknown(argv[first], path);
		return ALIGNCTL_USAGE;
	}
	result = device_open(&device, path);
	if (result)
		return result;
	if (options.force && !guard_same_device(&device, options.force)) {
		message_error("--force names %s, but the device is %s; name the same device",
			      options.force, path);
		result = ALIGNCTL_USAGE;
	}
	if (!result)
		result = reports_become("probe", argc, argv, NULL);
	device_close(&device);
	return result;
}

const struct verb verb_probe = {
	"probe", "METHOD DEV", 2, 2,
	"Measure what a device can do, by a method of many runs",
	rows, list_methods, run,
};
