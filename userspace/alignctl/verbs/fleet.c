// SPDX-License-Identifier: GPL-2.0
/*
 * alignctl fleet: the documents of many hosts in one ranked list. The arguments
 * are parsed and checked here, as every verb's; ranking and page are Python's,
 * in userspace/align_reports. A process that stays C reads the documents for
 * it, and leaves of them what Python asks for.
 */
#include <limits.h>
#include <stdio.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "fleet/reader.h"
#include "verbs/given.h"
#include "verbs/report_schemas.h"
#include "verbs/reports.h"
#include "verbs/verbs.h"

enum row { ROW_HOST, ROW_BY, ROW_HTML, ROW_JSON };

/* Default of --by, and with --host. */
#define BY		"host"
#define BY_OF_HOST	"device"

static const char *const views[] = { "host", "device", "model", "finding" };

static const struct option_row rows[] = {
	[ROW_HOST] = OPTION("host", ARG_TEXT("NAME"), "only this host, by its devices"),
	[ROW_BY] = OPTION("by", ARG_NAME("WHAT", views),
			  "rows: " BY " (default), device, model or finding", .excludes = "json",
			  .because = "as JSON has all rows"),
	[ROW_HTML] = OPTION("html", ARG_FILE, "write the list as a page, too"),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	bool *of_host = context;

	if (row == ROW_HOST && !*argument)
		return options_refuse("host", argument,
				      "must be the name of a host");
	*of_host |= row == ROW_HOST;
	return 0;
}

/* Start a reader and add what it is asked by; without one, Python reads all. */
static void add_reader(struct json_object *members)
{
	struct json_object *array;
	struct reader reader;

	if (!reader_start(&reader))
		return;
	array = json_new_array();
	json_append_number(array, (uint64_t)reader.requests);
	json_append_number(array, (uint64_t)reader.answers);
	json_append_number(array, (uint64_t)reader.process);
	json_add(members, "reader", array);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	CLEANUP_GIVEN struct given given;
	bool of_host = false;
	int first, result;

	result = given_parse(&given, verb, argc, argv, take_option, &of_host,
			     &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	given_default(&given, ROW_BY, of_host ? BY_OF_HOST : BY);
	add_reader(given.members);
	return reports_become("fleet", verb->name, given.members);
}

static void more_help(void)
{
	puts("\nFILE is what check, stats or plan prints with --json on a host. Its name says\n"
	     "which host: HOST/check.json or HOST.check.json, likewise stats and plan-DEVICE,\n"
	     "or HOST.json. Of a DIR, all *.json in it and in its subdirectories are read.");
}

const struct verb verb_fleet = {
	"fleet", "FILE|DIR...", 1, INT_MAX,
	"Rank many hosts by the output of check, stats and plan",
	rows, more_help, run, NULL, SCHEMA_DOCUMENTS(&fleet_document),
};
