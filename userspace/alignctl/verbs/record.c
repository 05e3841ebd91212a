// SPDX-License-Identifier: GPL-2.0
/* alignctl record: record the requests that reach a block device. */
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "observe/programs.h"
#include "record/record.h"
#include "remedy/remedy.h"
#include "sysfs/device.h"
#include "sysfs/file_disk.h"
#include "sysfs/probed.h"
#include "verbs/new_trace.h"
#include "verbs/verbs.h"

#define DEFAULT_BUFFER_KIB	4096
#define DEPTH_MAX		8	/* deepest stack of devices */

struct record_arguments {
	struct record_options options;
	const char *convert;
	bool json;
};

enum row { ROW_OUTPUT, ROW_FORMAT, ROW_REQUESTS, ROW_SECONDS, ROW_COUNT,
	   ROW_SIZE, ROW_BUFFER, ROW_CONVERT, ROW_JSON };

static const struct option_row rows[] = {
	[ROW_OUTPUT] = OPTION("output", ARG_FILE, "the trace to create"),
	[ROW_FORMAT] = OPTION("format", ARG_NAME_OF("FORMAT", trace_written_names,
						    TRACE_NR_WRITTEN_AS_FILE),
			      "recording (default), fio (iolog 3) or csv"),
	[ROW_REQUESTS] = OPTION("requests", ARG_NONE,
				"tell how each write became requests to the driver"),
	[ROW_SECONDS] = OPTION("seconds",
			       ARG_NUMBER(1, UINT32_MAX, .unit = "seconds"),
			       "end after N seconds"),
	[ROW_COUNT] = OPTION("count", ARG_NUMBER(1, OPTION_ANY), "end after N requests"),
	[ROW_SIZE] = OPTION("size", ARG_BYTES(1, OPTION_ANY), "end when FILE has N bytes"),
	[ROW_BUFFER] = OPTION("buffer", ARG_NUMBER_AS("KIB", 1, UINT32_MAX, .unit = "KiB"),
			      "kernel buffer for each processor" OPTION_DEFAULT(DEFAULT_BUFFER_KIB)),
	[ROW_CONVERT] = OPTION("convert", ARG_TEXT("SOURCE"), NULL),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct record_arguments *arguments = context;
	struct record_options *options = &arguments->options;

	switch (row) {
	case ROW_OUTPUT:
		options->output = argument;
		return 0;
	case ROW_FORMAT:
		options->format = options_index(&rows[row], argument);
		return 0;
	case ROW_REQUESTS:
		options->follow = true;
		return 0;
	case ROW_CONVERT:
		arguments->convert = argument;
		return 0;
	case ROW_JSON:
		arguments->json = true;
		return 0;
	case ROW_SECONDS:
		options->seconds = options_number(argument);
		return 0;
	case ROW_COUNT:
		options->count = options_number(argument);
		return 0;
	case ROW_SIZE:
		options->bytes = options_number(argument);
		return 0;
	default:
		options->buffer_kib = options_number(argument);
		return 0;
	}
}

static void more_help(void)
{
	puts("\nWith -- COMMAND, record while the command runs.");
}

struct search {
	dev_t wanted;
	unsigned int depth;
	bool found;
};

/* Search for the recorded device, or its whole disk, below a device. */
static void search_below(const char *name, void *context)
{
	CLEANUP_FREE char *link = sysfs_path("/sys/class/block/%s", name);
	struct search *search = context;
	CLEANUP_SYSFS struct sysfs_device sys = { 0 };
	dev_t devno, disk;

	if (search->found || search->depth > DEPTH_MAX ||
	    !sysfs_devno(link, "dev", &devno) ||
	    !sysfs_device_open(&sys, devno))
		return;
	CLEANUP_FREE char *slaves = message_format("%s/slaves", sys.disk_dir);

	search->found = devno == search->wanted ||
			(sysfs_devno(sys.disk_dir, "dev", &disk) &&
			 disk == search->wanted);
	search->depth++;
	sysfs_each(slaves, search_below, search);
	search->depth--;
}

/* Warn if writing the output would be recorded in it. */
static void warn_of_feedback(const struct record_options *options)
{
	CLEANUP_FREE char *copy = message_format("%s", options->output);
	struct search search = { .wanted = options->device->devno };
	CLEANUP_SYSFS struct sysfs_device sys = { 0 };
	const char *folder = dirname(copy);
	struct stat found;

	if (stat(folder, &found) ||
	    !sysfs_device_open(&sys, file_disk(folder, found.st_dev)))
		return;
	search_below(sys.name, &search);
	if (search.found)
		message_warning("%s: lies on %s itself, so the writes of record are recorded, too; use another disk, or /dev/shm",
				options->output, options->device->path);
}

/* Report what is missing from the writes that were followed. */
static void report_not_followed(const struct record *record,
				const struct record_options *options)
{
	const struct followed *followed = &record->followed;
	const struct follow_lost *lost = &followed->lost;
	uint64_t full = lost->map_full, events = 0;
	unsigned int kind;

	for (kind = 0; kind < FOLLOW_NR_KINDS; kind++)
		events += lost->kind[kind];
	if (events)
		message_error("%" PRIu64 " events of --requests are lost, because the buffer was full; record with more than --buffer %" PRIu64,
			      events, options->buffer_kib);
	if (full)
		message_error("%" PRIu64 " writes are not followed: there is room for %" PRIu32 " in flight; record with more than --buffer %" PRIu64,
			      full, followed->room, options->buffer_kib);
	if (lost->long_requests)
		message_error("%" PRIu64 " requests are followed in part: they hold more than %u bios",
			      (uint64_t)lost->long_requests, FOLLOW_MAX_BIOS);
	if (followed->skipped)
		message_error("%" PRIu64 " events of --requests are lost: the kernel skipped the BPF program on a processor that was already running it",
			      followed->skipped);
}

static int record_device(struct record_arguments *arguments, const char *path)
{
	struct record_options *options = &arguments->options;
	struct device device;
	struct record record;
	int result;
	bool other;

	result = device_open(&device, path);
	if (result)
		return result;
	result = programs_check_block(&device);
	if (!result && options->follow)
		result = programs_check_disk(&device, "requests");
	if (result) {
		device_close(&device);
		return result;
	}
	probed_apply(&device);
	options->device = &device;
	warn_of_feedback(options);
	result = record_run(&record, options);
	if (!result) {
		if (arguments->json)
			record_report_json(&record, options);
		else
			record_report_text(&record, options);
		if (record.lost_total)
			message_error("%s: %" PRIu64 " requests are missing from the recording",
				      options->output, record.lost_total);
		if (options->follow)
			report_not_followed(&record, options);
		/* nothing is recorded of a device that is gone */
		other = !device_is_same(&device) && !sysfs_device_gone(device.devno);
		if (other)
			message_error("%s: another disk or medium has its number, whose requests may be in %s, too",
				      path, options->output);
		if (other || record.lost_total || record.unknown ||
		    record.command_status || followed_lost(&record.followed))
			result = ALIGNCTL_FINDINGS;
	}
	record_free(&record);
	device_close(&device);
	return result;
}

/*
 * Cut "-- COMMAND..." off before options are parsed. Return: COMMAND or NULL.
 */
static char **cut_command(int *argc, char **argv)
{
	int i;

	for (i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		*argc = i;
		argv[i] = NULL;
		return argv + i + 1;
	}
	return NULL;
}

/* Refuse --convert, naming the verb that replaces it, with its arguments. */
static int refuse_conversion(const struct record_arguments *arguments)
{
	const struct record_options *options = &arguments->options;
	CLEANUP_FREE char *convert = NULL;

	if (!options->output) {
		message_error("record --convert is now the verb convert, which needs --output, the new file");
		return ALIGNCTL_USAGE;
	}
	convert = remedy_of_words(REMEDY_CONVERT, &(struct remedy_words) {
		.device = arguments->convert, .name = options->output,
		.type = trace_written_names[options->format],
	});
	message_error("record --convert is now: %s", convert);
	return ALIGNCTL_USAGE;
}

/*
 * Refuse a limit of requests by its former name, naming the one that it has.
 * Return: enum alignctl_exit, reported.
 */
static int check_former_limit(int argc, char **argv)
{
	static const char former[] = "--requests";
	const size_t length = sizeof(former) - 1;
	uint64_t number;
	int i;

	for (i = 1; i < argc; i++) {
		const char *limit = argv[i] + length;

		if (strncmp(argv[i], former, length))
			continue;
		if (*limit == '=')
			limit++;
		else if (!*limit && i + 1 < argc)
			limit = argv[i + 1];
		else
			continue;
		if (!parse_number(limit, &number) || !access(limit, F_OK))
			continue;
		message_error("record %s %s is now: --count %s", former, limit,
			      limit);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct record_arguments arguments = { 0 };
	struct record_options *options = &arguments.options;
	char **command = cut_command(&argc, argv);
	int first, result;

	result = check_former_limit(argc, argv);
	if (result)
		return result;
	result = options_parse(verb, argc, argv, take_option, &arguments, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (command && !*command) {
		message_error("record: command missing after --");
		return ALIGNCTL_USAGE;
	}
	options->command = command;
	if (arguments.convert)
		return refuse_conversion(&arguments);
	if (first == argc) {
		message_error("record: needs DEV");
		return ALIGNCTL_USAGE;
	}
	if (!options->buffer_kib)
		options->buffer_kib = DEFAULT_BUFFER_KIB;
	result = new_trace_check(verb->name, options->output);
	if (result)
		return result;
	return record_device(&arguments, argv[first]);
}

static const char *const forms[] = {
	"DEV --output FILE [options] [-- COMMAND...]",
	NULL,
};

const struct verb verb_record = {
	"record", "DEV [-- COMMAND...]", 0, 1,
	"Record the requests that reach a block device, as a trace",
	rows, more_help, run, forms, SCHEMA_DOCUMENTS(&record_report_schema),
};
