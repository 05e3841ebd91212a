// SPDX-License-Identifier: GPL-2.0
/*
 * alignctl probe: measure what a device can do, by a method of many runs. The
 * arguments are parsed and checked here, as every verb's; runs and evaluation
 * are Python's, in userspace/align_reports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/nearest.h"
#include "engine/engine.h"
#include "remedy/remedy.h"
#include "sysfs/device.h"
#include "sysfs/guard.h"
#include "verbs/area.h"
#include "verbs/given.h"
#include "verbs/overwrite.h"
#include "verbs/report_schemas.h"
#include "verbs/reports.h"
#include "verbs/unit_note.h"
#include "verbs/verbs.h"
#include "workload/method.h"

/* Limit of requests in a run: a method keeps them and their times in memory. */
#define COUNT_MAX	1000000
/* Default of --seed. */
#define SEED	"1"

struct probe_options {
	const char *force;
	const char *write;
	const char *samples;
	struct area area;
	uint64_t depth;
	bool counted;
};

enum row { ROW_SAMPLES, ROW_COUNT, ROW_SPAN, ROW_SEED, ROW_DEPTH, ROW_WRITE,
	   ROW_SAVE, ROW_DRY_RUN, ROW_FORCE, ROW_HTML, ROW_JSON };

static const struct option_row rows[] = {
	[ROW_SAMPLES] = OPTION("samples", ARG_FILE,
			       "take recorded times from FILE, not from a DEV",
			       .only_with = "html json", .operands = "METHOD",
			       .because = "as its requests were made already"),
	[ROW_COUNT] = OPTION("count", ARG_NUMBER(1, COUNT_MAX),
			     "requests of each run (default: see below)"),
	[ROW_SPAN] = OPTION("span", ARG_BYTES(1, OPTION_ANY), "spread over N bytes (default: DEV)"),
	[ROW_SEED] = OPTION("seed", ARG_NUMBER(0, OPTION_ANY),
			    "N selects the order (default: " SEED ")"),
	[ROW_DEPTH] = OPTION("depth", ARG_NUMBER(1, ENGINE_MAX_DEPTH),
			     "cnc*: largest depth to try; else requests in flight"),
	[ROW_WRITE] = OPTION("write", ARG_TEXT("START+LENGTH"),
			     "area that a method may write to; it is restored",
			     .excludes = "span",
			     .because = "as --write sets the span"),
	[ROW_SAVE] = OPTION("save", ARG_FILE,
			    "save the area there (default: current directory)",
			    .needs = "write", .because = "as nothing else is saved"),
	[ROW_DRY_RUN] = OPTION("dry-run", ARG_NONE, "say what would be done; do nothing"),
	[ROW_FORCE] = OPTION_FORCE(),
	[ROW_HTML] = OPTION("html", ARG_FILE, "write the report as a page with charts, too"),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct probe_options *options = context;

	switch ((enum row)row) {
	case ROW_SAMPLES:
		options->samples = argument;
		return 0;
	case ROW_COUNT:
		options->counted = true;
		return 0;
	case ROW_DEPTH:
		options->depth = options_number(argument);
		return 0;
	case ROW_WRITE:
		options->write = argument;
		return area_take(&options->area, argument);
	case ROW_FORCE:
		options->force = argument;
		return 0;
	case ROW_SPAN:
	case ROW_SEED:
	case ROW_SAVE:
	case ROW_DRY_RUN:
	case ROW_HTML:
	case ROW_JSON:
		return 0;
	}
	return -1;
}

static void list_methods(void)
{
	struct table *table = table_new(&method_table);
	const struct method *m;
	size_t i;

	puts("\nMethods, and the requests of each run:");
	for (i = 0; (m = method_at(i)); i++)
		table_add(table, m);
	table_print(table, 1);
}

static void report_unknown(const char *name, const char *device)
{
	struct nearest nearest = { .word = name };
	CLEANUP_FREE char *hint = NULL;
	const struct method *m;
	size_t i;

	if (workload_find(name)) {
		CLEANUP_FREE char *replay = remedy_of_words(REMEDY_REPLAY,
			&(struct remedy_words) {
				.type = name, .device = device,
			});

		message_error("%s: is a workload%s%s", name, device ?
			      ", which overwrites the device; back up, then: " :
			      ", which 'alignctl replay' runs",
			      device ? replay : "");
		return;
	}
	for (i = 0; (m = method_at(i)); i++)
		nearest_try(&nearest, m->name);
	hint = nearest_hint(&nearest, ";");
	message_error("no method '%s'%s 'alignctl probe --help' lists them",
		      name, hint);
}

/*
 * Check that an area is given if the method writes, and only if it can, and that
 * number and depth of the requests are left to a method that chooses them.
 * Return: enum alignctl_exit; reported.
 */
static int check_method(const struct probe_options *options,
		      const struct method *method)
{
	if (method->writes && !options->write)
		message_error("%s: writes; name the area to write and restore: --write START+LENGTH, e.g. 0+1G",
			      method->name);
	else if (options->write && !method->writes && !method->may_write)
		message_error("--write: %s only reads; leave it out",
			      method->name);
	else if (options->depth && method->in_turn)
		message_error("--depth: %s makes one request after the other; leave it out",
			      method->name);
	else if (options->counted && method->adaptive)
		message_error("--count: %s chooses the number of requests by its results; leave --count out",
			      method->name);
	else
		return ALIGNCTL_FINE;
	return ALIGNCTL_USAGE;
}

/*
 * Check that the options fit the device. Return: enum alignctl_exit; reported.
 */
static int check_device(const struct probe_options *options,
			const struct device *device)
{
	uint64_t have = device->sectors << ALIGN_SECTOR_SHIFT;

	if (options->force && !guard_same_device(device, options->force))
		message_error("--force names %s, but the device is %s; name the same device",
			      options->force, device->path);
	else if (options->area.start + options->area.bytes > have)
		message_error("--write %s: %s has %" PRIu64 " bytes; name an area in it",
			      options->write, device->path, have);
	else
		return ALIGNCTL_FINE;
	return ALIGNCTL_USAGE;
}

/*
 * Check that there are either samples or a device. @nr: the number of operands.
 * Return: enum alignctl_exit; reported.
 */
static int check_operands(const struct probe_options *options,
			  const struct method *method, int nr)
{
	if (!options->samples && nr > 1)
		return ALIGNCTL_FINE;
	if (!options->samples)
		message_error("probe: needs DEV, the device to measure%s",
			      method->samples ?
			      ", or --samples FILE" : "");
	else if (!method->samples)
		message_error("--samples: %s chooses each request by the time of the one before; give a device",
			      method->name);
	else
		return ALIGNCTL_FINE;
	return ALIGNCTL_USAGE;
}

static void add_area(struct json_object *members, const struct area *area)
{
	struct json_object *array = json_new_array();

	json_append_number(array, area->start);
	json_append_number(array, area->bytes);
	json_add(members, "write", array);
}

/* Add the number of requests where the method has one of its own. */
static void add_count(struct given *given, const struct method *method)
{
	CLEANUP_FREE char *count = message_format("%" PRIu32,
						  method->default_count);

	if (method->default_count && !method->adaptive)
		given_default(given, ROW_COUNT, count);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct probe_options options = { 0 };
	CLEANUP_GIVEN struct given given;
	const struct method *method;
	struct device device;
	int first, result;

	result = given_parse(&given, verb, argc, argv, take_option, &options,
			     &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	method = method_find(argv[first]);
	if (!method) {
		report_unknown(argv[first], argv[first + 1]);
		return ALIGNCTL_USAGE;
	}
	result = check_operands(&options, method, argc - first);
	if (result)
		return result;
	given_default(&given, ROW_SEED, SEED);
	if (options.write)
		add_area(given.members, &options.area);
	if (options.samples)
		return reports_become("probe", verb->name, given.members);
	add_count(&given, method);
	result = check_method(&options, method);
	if (!result)
		result = device_open(&device, argv[first + 1]);
	if (result)
		return result;
	result = check_device(&options, &device);
	if (!result && !strcmp(method->name, "block-size"))
		unit_note_sources(&device);
	if (!result)
		result = reports_become("probe", verb->name, given.members);
	device_close(&device);
	return result;
}

static const char *const forms[] = {
	"METHOD DEV [options]",
	"METHOD --samples FILE [--html FILE] [--json]",
	NULL,
};

const struct verb verb_probe = {
	"probe", "METHOD [DEV]", 1, 2,
	"Measure what a device can do, in a series of runs",
	rows, list_methods, run, forms, probe_documents,
};
