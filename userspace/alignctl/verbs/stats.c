// SPDX-License-Identifier: GPL-2.0
/* alignctl stats: the ledger of align devices, from sysfs, for any user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/drive_interval.h"
#include "audit/drive_report.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/metrics.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/units.h"
#include "ledger/ledger_bars.h"
#include "ledger/ledger_compare.h"
#include "ledger/ledger_file.h"
#include "ledger/ledger_interval.h"
#include "ledger/ledger_metrics.h"
#include "ledger/ledger_report.h"
#include "ledger/ledger_select.h"
#include "verbs/intervals.h"
#include "verbs/stats_drives.h"
#include "verbs/verbs.h"

/**
 * struct stats_options - what the user asked for
 * @json: print JSON
 * @histograms: print histograms as bars
 * @drive: print the counts of the drives below as well
 * @counters: names of the counters to print; NULL: all that there is to tell
 * @choice: the counters of these names
 * @metrics: print metrics for Prometheus
 * @output: file of the metrics; NULL: standard output
 * @before: saved state to compare with; NULL: none
 * @after: saved state to compare it with; NULL: the devices as they are
 * @interval: seconds; 0: print once
 * @count: number of intervals; 0: until interrupted
 */
struct stats_options {
	bool json;
	bool histograms;
	bool drive;
	const char *counters;
	struct ledger_choice choice;
	bool metrics;
	const char *output;
	const char *before;
	const char *after;
	uint64_t interval;
	uint64_t count;
};

enum row {
	ROW_JSON, ROW_INTERVAL, ROW_COUNTERS, ROW_HISTOGRAMS, ROW_DRIVE,
	ROW_FORMAT, ROW_OUTPUT, ROW_COMPARE, ROW_AFTER,
};

static const struct option_row rows[] = {
	[ROW_JSON] = OPTION("json", ARG_NONE,
			    "print JSON; with --interval, one line each time"),
	[ROW_INTERVAL] = OPTION("interval", ARG_INTERVAL,
				"print a row for each device every N seconds"),
	[ROW_COUNTERS] = OPTION("counters", ARG_LIST,
				"print only these, separated by commas: 'rmw_*,fua'",
				.excludes = "json interval histograms drive format compare"),
	[ROW_HISTOGRAMS] = OPTION("histograms", ARG_NONE,
				  "print the histograms, as bars",
				  .excludes = "json",
				  .because = "as JSON has all histograms"),
	[ROW_DRIVE] = OPTION("drive", ARG_NONE,
			     "add each drive's own count; takes any block device",
			     .excludes = "compare format histograms"),
	[ROW_FORMAT] = OPTION("format", METRICS_FORMAT,
			      "print metrics in the format of prometheus",
			      .excludes = "json histograms interval"),
	[ROW_OUTPUT] = METRICS_ROW_OUTPUT,
	[ROW_COMPARE] = OPTION("compare", ARG_FILE,
			       "compare a saved document of --json with now",
			       .excludes = "format histograms interval"),
	[ROW_AFTER] = OPTION("after", ARG_FILE,
			     "compare it with this saved document instead",
			     .needs = "compare", .operands = ""),
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct stats_options *options = context;

	switch ((enum row)row) {
	case ROW_JSON:
		options->json = true;
		return 0;
	case ROW_COUNTERS:
		options->counters = argument;
		return 0;
	case ROW_HISTOGRAMS:
		options->histograms = true;
		return 0;
	case ROW_DRIVE:
		options->drive = true;
		return 0;
	case ROW_FORMAT:
		options->metrics = true;
		return 0;
	case ROW_OUTPUT:
		options->output = argument;
		return 0;
	case ROW_COMPARE:
		options->before = argument;
		return 0;
	case ROW_AFTER:
		options->after = argument;
		return 0;
	case ROW_INTERVAL:
		options->interval = options_number(argument);
		return 0;
	}
	return -1;
}

/* Find the counters that the user named. Return: 0, or -1 after reporting. */
static int choose_counters(struct stats_options *options)
{
	CLEANUP_FREE char *names = memory_or_exit(strdup(options->counters));
	const char *unknown = ledger_choose(&options->choice, names);

	return !unknown ? 0 :
	       options_refuse("counters", *unknown ? unknown : "''",
			      "is the name of no counter; 'alignctl stats --help' lists them");
}

static void list_counters(void)
{
	puts("\nCounters, since the last --reset-stats:");
	ledger_report_counters();
}

static void print_ledgers(const struct ledger_selection *selection,
			  const struct stats_options *options)
{
	if (options->json)
		ledger_report_json(selection->ledger, selection->nr,
				   options->interval);
	else if (options->histograms)
		ledger_bars_text(selection->ledger, selection->nr);
	else if (options->counters)
		ledger_report_chosen(selection->ledger, selection->nr,
				     &options->choice);
	else
		ledger_report_text(selection->ledger, selection->nr);
	output_flush();
}

/*
 * Read all ledgers and write their metrics. What stats reports as a finding has
 * a metric, and is none here: an alert is Prometheus's to send. Return: enum
 * alignctl_exit, reported.
 */
static int write_metrics(struct ledger_selection *selection,
			 const struct stats_options *options)
{
	size_t failed = ledger_select_read_once(selection), length;
	CLEANUP_FREE char *text = NULL;
	FILE *out = memory_or_exit(open_memstream(&text, &length));
	int result;

	ledger_metrics_write(out, selection->ledger, selection->nr, failed);
	memory_or_exit(fclose(out) ? NULL : text);
	result = metrics_put(options->output, text, length);
	return result || !failed ? result : ALIGNCTL_IO;
}

/* Compare two states. Return: enum alignctl_exit, reported. */
static int compare_ledgers(const struct stats_options *options,
			   char *const *names, size_t nr_names)
{
	struct ledger_selection before, after = { 0 };
	int result = ledger_file_read(&before, options->before), compared;

	if (!result && options->after)
		result = ledger_file_read(&after, options->after);
	else if (!result)
		result = ledger_select(&after, names, nr_names);
	if (!result && !options->after)
		result = ledger_select_read(&after);
	if (result < ALIGNCTL_USAGE) {
		compared = ledger_compare(&before, &after, options->json);
		if (compared > result)
			result = compared;
	}
	ledger_select_free(&before);
	ledger_select_free(&after);
	return result;
}

/**
 * struct rows_printed - the rows on the screen
 * @nr: number of rows below the headings; 0: there are no headings yet
 * @devices: number of devices of the last interval
 */
struct rows_printed {
	size_t nr;
	size_t devices;
};

/* Print an interval, its rows below headings that are on the screen. */
static void print_interval(const struct ledger_selection *selection,
			   const struct stats_options *options,
			   struct rows_printed *printed)
{
	size_t fit = intervals_screen_rows();
	bool headings = !printed->nr || options->histograms ||
			printed->devices != selection->nr ||
			(fit && printed->nr + selection->nr > fit);

	if (options->json) {
		print_ledgers(selection, options);
		return;
	}
	if (headings)
		printed->nr = 0;
	printed->nr += selection->nr;
	printed->devices = selection->nr;
	ledger_interval_text(selection->ledger, selection->nr, headings);
	if (options->histograms)
		print_ledgers(selection, options);
}

/*
 * Find and read the devices again, those that are new as well. Return: enum
 * alignctl_exit, reported; a named device that is no more is an I/O error.
 */
static int read_again(struct ledger_selection *now,
		      const struct ledger_selection *before)
{
	if (ledger_select(now, before->wanted, before->nr_wanted))
		return ALIGNCTL_IO;
	return ledger_select_read(now);
}

/* Find and ask the drives, if they are wanted. Return: as drives_open(). */
static int ask_drives(struct drives *drives,
		      const struct ledger_selection *selection,
		      const struct stats_options *options)
{
	int result;

	memset(drives, 0, sizeof(*drives));
	if (!options->drive)
		return ALIGNCTL_FINE;
	result = drives_open(drives);
	if (!result)
		drives_ask(drives, selection);
	return result;
}

/* Report what happens in each interval, @count times or until Ctrl-C. */
static int watch_ledgers(struct ledger_selection *selection,
			 const struct stats_options *options)
{
	struct rows_printed printed = { 0 };
	struct drives drives, drives_now;
	int result, worst = ledger_select_read(selection);
	uint64_t next_ns = clock_ns(), before_ns, done = 0;

	result = ask_drives(&drives, selection, options);
	if (result > worst)
		worst = result;
	interrupt_catch();
	while (worst < ALIGNCTL_USAGE && !interrupt_seen() &&
	       (!options->count || done < options->count)) {
		struct ledger_selection now;

		before_ns = clock_ns();
		if (!intervals_wait(&next_ns, options->interval))
			break;
		result = read_again(&now, selection);
		if (result > worst)
			worst = result;
		result = ask_drives(&drives_now, &now, options);
		if (result > worst)
			worst = result;
		if (worst < ALIGNCTL_USAGE) {
			ledger_select_count_from(&now, selection, before_ns);
			if (options->drive)
				stats_drives_interval(options->json,
						      options->interval, &now,
						      &drives, &drives_now);
			else
				print_interval(&now, options, &printed);
			done++;
		}
		drives_close(&drives);
		drives = drives_now;
		ledger_select_free(selection);
		*selection = now;
		if (!output_flush())
			break;
	}
	drives_close(&drives);
	return worst;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct stats_options options = { 0 };
	struct ledger_selection selection;
	int first, result;
	size_t nr;

	result = options_parse(verb, argc, argv, take_option, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	nr = argc - first;
	if ((options.interval &&
	     intervals_take_count(argv + first, &nr, &options.count)) ||
	    (options.counters && choose_counters(&options)))
		return ALIGNCTL_USAGE;
	if (options.before)
		return compare_ledgers(&options, argv + first, nr);
	if (options.drive && !options.interval)
		return stats_drives(options.json, argv + first, nr);
	result = ledger_select(&selection, argv + first, nr);
	if (!result && options.metrics) {
		result = write_metrics(&selection, &options);
		ledger_select_free(&selection);
		return result;
	}
	if (!result && !selection.nr && !options.json)
		message_error("no align devices; 'alignctl attach DEV' makes one");
	if (!result && options.interval && selection.nr) {
		result = watch_ledgers(&selection, &options);
	} else if (!result) {
		result = ledger_select_read(&selection);
		if (result < ALIGNCTL_USAGE || selection.nr)
			print_ledgers(&selection, &options);
	}
	ledger_select_free(&selection);
	interrupt_obey();
	return result;
}

static const struct schema_row drive_rows[] = {
	MEMBERS_OF(drive_report_members),
	MEMBERS_OF(drive_interval_members),
	{ 0 },
};

#define DRIVES_MEMBER(type) \
	MEMBER("drives", JSON_ARRAY | JSON_OBJECT | (type), NULL, \
	       "With --drive: for each drive below the device", \
	       .rows = drive_rows, .name = "drive")

static const struct schema_row device_rows[] = {
	MEMBERS_OF(ledger_device_members),
	DRIVES_MEMBER(JSON_ABSENT),
	{ 0 },
};

static const struct schema_row other_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "The kernel's name of the device"),
	DRIVES_MEMBER(0),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("interval_s", JSON_NUMBER | JSON_ABSENT, "s",
	       "N of --interval; absent without it"),
	MEMBER("devices", JSON_ARRAY | JSON_OBJECT, NULL, "For each device",
	       .rows = device_rows),
	MEMBER("others", JSON_ARRAY | JSON_OBJECT | JSON_ABSENT, NULL,
	       "With --drive and without --interval: for each named device that is no align device",
	       .rows = other_rows),
	{ 0 },
};

static const struct schema_document document = {
	"stats", LEDGER_REPORT_FORMAT, NULL, document_rows,
};

static const char *const forms[] = {
	"[NAME...] [--interval N [COUNT]] [--histograms] [--json]",
	"[NAME...] --counters LIST",
	"[DEV...] --drive [--interval N [COUNT]] [--json]",
	"[NAME...] --format prometheus [--output FILE]",
	"[NAME...] --compare FILE [--after FILE] [--json]",
	NULL,
};

const struct verb verb_stats = {
	"stats", "[NAME...]", 0, 64,
	"Show the ledger of align devices: read-modify-writes and their fate",
	rows, list_counters, run, forms,
	SCHEMA_DOCUMENTS(&document, &ledger_compare_document),
};
