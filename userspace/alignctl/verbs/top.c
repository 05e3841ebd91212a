// SPDX-License-Identifier: GPL-2.0
/* alignctl top: who writes misaligned, now; and counters of every disk. */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/metrics.h"
#include "base/output.h"
#include "base/progress.h"
#include "observe/programs.h"
#include "sysfs/device.h"
#include "sysfs/probed.h"
#include "top/counting.h"
#include "top/disk_metrics.h"
#include "top/disks.h"
#include "top/names.h"
#include "top/report.h"
#include "verbs/intervals.h"
#include "verbs/verbs.h"

#define DEFAULT_INTERVAL	1	/* seconds */
/* Move to the first place of a terminal, and erase all behind it. */
#define CLEAR_SCREEN		"\033[H\033[J"

/**
 * struct top_arguments - what the user asked for
 * @json: print JSON
 * @drive: count the requests of the disk as well
 * @once: end after one interval
 * @interval: seconds; 0: DEFAULT_INTERVAL
 * @count: number of intervals; 0: until interrupted
 * @rows: number of rows that the kernel has room for; 0: TOP_DEFAULT_ROWS
 * @metrics: print metrics of every disk for Prometheus
 * @cgroups: add the cgroups with most touches to the metrics
 * @output: file of the metrics; NULL: standard output
 */
struct top_arguments {
	bool json;
	bool drive;
	bool once;
	bool metrics;
	bool cgroups;
	const char *output;
	uint64_t interval;
	uint64_t count;
	uint64_t rows;
};

enum row { ROW_INTERVAL, ROW_ONCE, ROW_DRIVE, ROW_ROWS, ROW_FORMAT, ROW_OUTPUT,
	   ROW_CGROUPS, ROW_JSON };

static const struct option_row rows[] = {
	[ROW_INTERVAL] = OPTION("interval", ARG_INTERVAL,
				"count anew every N seconds" OPTION_DEFAULT(DEFAULT_INTERVAL)),
	[ROW_ONCE] = OPTION("once", ARG_NONE, "end after one interval"),
	[ROW_DRIVE] = OPTION("drive", ARG_NONE,
			     "add the disk's own requests and their latency"),
	[ROW_ROWS] = OPTION("rows", ARG_NUMBER(1, TOP_MAX_ROWS),
			    "count N writers in an interval at most" OPTION_DEFAULT(TOP_DEFAULT_ROWS)),
	[ROW_FORMAT] = OPTION("format", METRICS_FORMAT,
			      "count every disk, for metrics of prometheus",
			      .excludes = "json drive"),
	[ROW_OUTPUT] = METRICS_ROW_OUTPUT,
	[ROW_CGROUPS] = OPTION("cgroups", ARG_NONE,
			       "add the ten cgroups with most touches to them",
			       .needs = "format"),
	[ROW_JSON] = OPTION("json", ARG_NONE,
			    "print JSON, one line for each interval"),
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct top_arguments *arguments = context;

	switch ((enum row)row) {
	case ROW_INTERVAL:
		arguments->interval = options_number(argument);
		return 0;
	case ROW_ONCE:
		arguments->once = true;
		return 0;
	case ROW_DRIVE:
		arguments->drive = true;
		return 0;
	case ROW_FORMAT:
		arguments->metrics = true;
		return 0;
	case ROW_OUTPUT:
		arguments->output = argument;
		return 0;
	case ROW_CGROUPS:
		arguments->cgroups = true;
		return 0;
	case ROW_JSON:
		arguments->json = true;
		return 0;
	case ROW_ROWS:
		arguments->rows = options_number(argument);
		return 0;
	}
	return -1;
}

/* Refuse what has no writes to count. Return: enum alignctl_exit, reported. */
static int check_device(const struct device *device, bool drive)
{
	int result = programs_check_block(device);

	return result || !drive ? result : programs_check_disk(device, "drive");
}

static void print_interval(const struct top_arguments *arguments,
			   const struct top_report *report,
			   const struct top_interval *interval)
{
	struct top_report fitting = *report;
	size_t lines = intervals_screen_rows();

	if (arguments->json) {
		top_report_json(report, interval, arguments->count != 1);
		return;
	}
	if (arguments->count != 1 && lines) {
		/* below the summary and the headings, above what is left out */
		fitting.most = lines > 2 ? lines - 2 : 1;
		fputs(CLEAR_SCREEN, stdout);
	}
	top_report_text(&fitting, interval);
	output_flush();
}

/* Report a loss of events. Return: enum alignctl_exit. */
static int check_lost(const struct top_interval *interval,
		      const struct top_arguments *arguments)
{
	const struct top_events *events = &interval->events;
	const struct top_skips *skips = &interval->skips;
	CLEANUP_FREE char *more = message_format(
		"there is room for %" PRIu64 "; ask for more than --rows %" PRIu64,
		arguments->rows, arguments->rows);
	static const char at_work[] =
		"the kernel skipped the BPF program on a processor that was already running it; 'alignctl record' misses nothing";

	if (events->lost)
		message_error("%" PRIu64 " writes are in no row: %s",
			      (uint64_t)events->lost, more);
	if (events->requests_lost)
		message_error("%" PRIu64 " requests are not counted: there is room for %" PRIu64 " at one time; ask for more than --rows %" PRIu64,
			      (uint64_t)events->requests_lost,
			      arguments->rows * TOP_REQUESTS_PER_ROW,
			      arguments->rows);
	if (skips->arrivals)
		message_error("up to %" PRIu64 " writes are in no row: %s",
			      skips->arrivals, at_work);
	if (skips->requests)
		message_error("up to %" PRIu64 " requests are not counted: %s",
			      skips->requests, at_work);
	/* ends of all bios are skipped, too, and matter only to those sent back */
	if (skips->ends && events->sent_back)
		message_warning("up to %" PRIu64 " writes that the device sent back are counted twice: %s",
				skips->ends, at_work);
	return top_lost_writes(interval) || top_lost_requests(interval) ?
	       ALIGNCTL_FINDINGS : ALIGNCTL_FINE;
}

/* Report that the device is gone, or another one. Return: ALIGNCTL_IO. */
static int refuse_other(const struct device *device, bool gone)
{
	message_error(gone ? "%s: is gone" :
		      "%s: another disk or medium has its number; the last interval is left out, start top again",
		      device->path);
	return ALIGNCTL_IO;
}

/*
 * Print interval after interval. A signal ends the last one early, and what was
 * counted until then is printed. So does the end of the device. Return: enum alignctl_exit, reported.
 */
static int watch_device(struct top *top, const struct top_arguments *arguments,
			const struct top_report *report)
{
	uint64_t next_ns = clock_ns(), done = 0;
	struct top_interval interval;
	int result, worst = ALIGNCTL_FINE;
	bool on = true, same, gone;

	while (on && (!arguments->count || done < arguments->count)) {
		/* a signal may have come while the programs were loaded */
		on = !interrupt_seen() &&
		     intervals_wait(&next_ns, arguments->interval) &&
		     !interrupt_seen();
		result = top_read(top, &interval);
		if (result)
			return result;
		same = device_is_same(report->device);
		gone = sysfs_device_gone(report->device->devno);
		/* another disk's writes would be taken for this one's */
		if (same || gone) {
			print_interval(arguments, report, &interval);
			result = check_lost(&interval, arguments);
		}
		top_interval_free(&interval);
		if (!same)
			return refuse_other(report->device, gone);
		if (result > worst)
			worst = result;
		if (!output_flush())
			break;
		done++;
	}
	return worst;
}

static int top_device(const struct top_arguments *arguments,
		      const struct device *device)
{
	struct top_options options = {
		.device = device, .drive = arguments->drive,
		.rows = (uint32_t)arguments->rows,
	};
	struct top_report report = { .device = device };
	struct names names;
	struct top *top;
	int result;

	result = check_device(device, arguments->drive);
	if (result)
		return result;
	names_open(&names);
	options.by_cgroup = !names.no_cgroups;
	interrupt_catch();
	result = top_open(&top, &options);
	if (!result) {
		report.geometry = top_geometry(top);
		report.names = &names;
		report.direct = top_knows_direct(top);
		top_report_notes(&report);
		result = watch_device(top, arguments, &report);
		top_close(top);
	}
	names_close(&names);
	return result;
}

/* Check that the options go together. Return: 0, or -1 after reporting. */
static int check_options(const struct top_arguments *arguments, size_t nr)
{
	if (arguments->once && arguments->count)
		return options_refuse("once", NULL,
				      "means a COUNT of 1; leave out --once or COUNT");
	if (!arguments->metrics)
		return 0;
	if (arguments->rows && !arguments->cgroups)
		return options_refuse("rows", NULL,
				      "is the room for cgroups; add --cgroups, or leave it out");
	if (nr)
		return options_refuse("format", NULL,
				      "counts every disk; leave out DEV");
	if (!arguments->output && !arguments->once && arguments->count != 1)
		return options_refuse("format", NULL,
				      "has one document; add --output FILE, which each interval replaces, or --once");
	return 0;
}

/* Write the counters as they are. Return: enum alignctl_exit, reported. */
static int write_metrics(struct disks *disks, const struct names *names,
			 const struct top_arguments *arguments)
{
	struct disks_reading reading;
	CLEANUP_FREE char *text = NULL;
	size_t length;
	int result = disks_read(disks, &reading);
	FILE *out;

	if (result)
		return result;
	out = memory_or_exit(open_memstream(&text, &length));
	disk_metrics_write(out, &reading, arguments->cgroups ? names : NULL);
	memory_or_exit(fclose(out) ? NULL : text);
	disks_reading_free(&reading);
	return metrics_put(arguments->output, text, length);
}

/*
 * Count every disk until a signal, and write the counters at the beginning and
 * after each interval. Return: enum alignctl_exit, reported.
 */
static int count_disks(const struct top_arguments *arguments)
{
	uint64_t next_ns = clock_ns(), done = 0;
	struct disks *disks;
	struct names names;
	int result;

	interrupt_catch();
	result = disks_open(&disks, arguments->cgroups ?
			    (uint32_t)arguments->rows : 0);
	if (result)
		return result;
	names_open(&names);
	if (arguments->output)
		result = write_metrics(disks, &names, arguments);
	while (!result && !interrupt_seen() &&
	       (!arguments->count || done++ < arguments->count)) {
		intervals_wait(&next_ns, arguments->interval);
		result = write_metrics(disks, &names, arguments);
	}
	names_close(&names);
	disks_close(disks);
	return result;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct top_arguments arguments = { 0 };
	struct device device;
	int first, result;
	size_t nr;

	result = options_parse(verb, argc, argv, take_option, &arguments, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	nr = argc - first;
	if (arguments.interval &&
	    intervals_take_count(argv + first, &nr, &arguments.count))
		return ALIGNCTL_USAGE;
	if (check_options(&arguments, nr))
		return ALIGNCTL_USAGE;
	if (nr != !arguments.metrics) {
		message_error("top: needs one DEV");
		return ALIGNCTL_USAGE;
	}
	if (arguments.once)
		arguments.count = 1;
	if (!arguments.interval)
		arguments.interval = DEFAULT_INTERVAL;
	if (!arguments.rows)
		arguments.rows = TOP_DEFAULT_ROWS;
	if (arguments.metrics)
		return count_disks(&arguments);
	result = device_open(&device, argv[first]);
	if (result)
		return result;
	probed_apply(&device);
	result = top_device(&arguments, &device);
	device_close(&device);
	return result;
}

static void list_metrics(void)
{
	puts("\nMetrics of --format prometheus:");
	disk_metrics_list();
}

static const char *const forms[] = {
	"DEV [--interval N [COUNT]] [--once] [--drive] [--rows N] [--json]",
	"--format prometheus [--output FILE] [--cgroups] [options]",
	NULL,
};

const struct verb verb_top = {
	"top", "[DEV]", 0, 2,
	"Show live which processes, cgroups and files write misaligned",
	rows, list_metrics, run, forms, SCHEMA_DOCUMENTS(&top_report_schema),
};
