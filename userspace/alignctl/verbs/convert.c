// SPDX-License-Identifier: GPL-2.0
/* alignctl convert: convert a trace to another format. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "trace/blktrace.h"
#include "trace/convert.h"
#include "trace/operations.h"
#include "verbs/choice_options.h"
#include "verbs/new_trace.h"
#include "verbs/verbs.h"

#define JSON_FORMAT	1

struct convert_arguments {
	struct trace_conversion conversion;
	bool json;
};

enum row { ROW_OUTPUT = CHOICE_NR_ROWS, ROW_TO, ROW_JSON };

static const struct option_row rows[] = {
	CHOICE_OPTION_ROWS,
	[ROW_OUTPUT] = OPTION("output", ARG_FILE,
			      "the trace to create; with --to parquet a folder"),
	[ROW_TO] = OPTION("to", ARG_NAME("FORMAT", trace_written_names),
			  "recording (default), fio (iolog 3), csv or parquet"),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct convert_arguments *arguments = context;
	struct trace_conversion *conversion = &arguments->conversion;

	switch (row) {
	case ROW_OUTPUT:
		conversion->output = argument;
		break;
	case ROW_TO:
		conversion->to = options_index(&rows[row], argument);
		break;
	case ROW_JSON:
		arguments->json = true;
		break;
	default:
		choice_options_take(&conversion->choice, row, argument);
	}
	return 0;
}

static void more_help(void)
{
	puts("\nSeveral IN must be files of one blktrace, as DEV.blktrace.* expands to.");
}

/*
 * Check that several operands are files of one trace, which any of them names.
 */
static int check_one(int nr, char **sources)
{
	int i;

	for (i = 1; i < nr; i++) {
		if (blktrace_same(sources[0], sources[i]))
			continue;
		message_error("convert: %s and %s do not belong to one blktrace; convert one trace at a time",
			      sources[0], sources[i]);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* Remove slashes from the end of a folder's path, whose draft lies beside it. */
static void trim_slashes(char *path)
{
	size_t length = path ? strlen(path) : 0;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
}

/* Make an array of the disks that requests go to. */
static struct json_object *disks_json(const struct trace_converted *done)
{
	struct json_object *disks = json_new_array(), *disk;
	uint32_t i;

	for (i = 0; i < TRACE_MAX_FILES; i++) {
		const char *name = trace_names_get(&done->names, i);

		if (!done->disks[i])
			continue;
		disk = json_new();
		if (name)
			json_add_text(disk, "name", name);
		else
			json_add_null(disk, "name");
		json_add_number(disk, "requests", done->disks[i]);
		json_append(disks, disk);
	}
	return disks;
}

static const struct schema_row disk_rows[] = {
	MEMBER("name", JSON_TEXT | JSON_NULL, NULL,
	       "Name of the disk or file; null: the source does not tell"),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests to it"),
	{ 0 },
};

static const struct schema_row reason_rows[] = {
	MEMBER("no_operation", JSON_NUMBER, NULL,
	       "Entries without an operation"),
	MEMBER("other_command", JSON_NUMBER, NULL,
	       "Other commands: of SCSI, or N in ftrace"),
	MEMBER("no_length", JSON_NUMBER, NULL, "Reads and writes of length 0"),
	MEMBER("empty_event", JSON_NUMBER, NULL,
	       "Events of blktrace with length 0 that are no flush"),
	MEMBER("sync_file_range", JSON_NUMBER, NULL,
	       "sync_file_range of fio, which makes nothing durable"),
	MEMBER("other_disk", JSON_NUMBER, NULL,
	       "Requests to other disks than --disk"),
	{ 0 },
};

static const struct schema_row lack_rows[] = {
	MEMBER("fua", JSON_NUMBER, NULL, "Requests with FUA"),
	MEMBER("preflush", JSON_NUMBER, NULL,
	       "Writes with a flush before them"),
	MEMBER("write_zeroes", JSON_NUMBER, NULL,
	       "Write-zeroes, which were written as writes"),
	MEMBER("process", JSON_NUMBER, NULL,
	       "Requests with number or name of a process"),
	MEMBER("line_end", JSON_NUMBER, NULL,
	       "Requests whose process has a line end in its name"),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("source", JSON_TEXT, NULL,
	       "The first IN, as on the command line"),
	MEMBER("source_format", JSON_TEXT, NULL,
	       "Format of the source: recording, fio iolog v2, fio iolog v3, blktrace, blkparse, ftrace, parquet, csv, columns (--columns), or the name of a published one"),
	MEMBER("output", JSON_TEXT, NULL, "FILE, as on the command line"),
	MEMBER("output_format", JSON_TEXT, NULL,
	       "Format of FILE, as --to names it",
	       SCHEMA_NAMES(trace_written_names)),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of all requests"),
	MEMBER("operations", JSON_OBJECT, NULL, "The requests by operation",
	       .rows = trace_operations_counted_members,
	       .name = "operations_counted"),
	MEMBER("lost", JSON_NUMBER, NULL,
	       "Requests that are missing in the source, by its own account; of ftrace, events of any kind"),
	MEMBER("left_out", JSON_NUMBER, NULL,
	       "Entries of the source that make no request"),
	MEMBER("left_out_by_reason", JSON_OBJECT, NULL,
	       "The same entries by reason", .rows = reason_rows),
	MEMBER("disks", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each disk or file that has requests", .rows = disk_rows),
	MEMBER("not_expressed", JSON_OBJECT, NULL,
	       "For each property that the format of FILE cannot express: the number of requests that have it, and are written without it",
	       .rows = lack_rows),
	{ 0 },
};

static const struct schema_document document = {
	"convert", JSON_FORMAT, NULL, document_rows,
};

static void print_json(const struct trace_conversion *conversion,
		       const struct trace_converted *done)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct json_object *lacks = json_new(), *reasons = json_new();
	uint64_t requests = 0, left_out = 0;
	unsigned int i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		requests += done->count[i];
	for (i = 0; i < TRACE_NR_LOST; i++)
		json_add_number(lacks, trace_lost_names[i],
				done->not_expressed[i]);
	for (i = 0; i < TRACE_NR_LEFT_OUT; i++) {
		left_out += done->left_out[i];
		json_add_number(reasons, trace_left_out_names[i],
				done->left_out[i]);
	}
	json_add_text(object, "source", conversion->source);
	json_add_text(object, "source_format", done->format);
	json_add_text(object, "output", conversion->output);
	json_add_text(object, "output_format",
		      trace_written_names[conversion->to]);
	json_add_number(object, "requests", requests);
	json_add(object, "operations",
		 trace_operations_json(&trace_operations_counted, done->count,
				       done->bytes));
	json_add_number(object, "lost", done->lost);
	json_add_number(object, "left_out", left_out);
	json_add(object, "left_out_by_reason", reasons);
	json_add(object, "disks", disks_json(done));
	json_add(object, "not_expressed", lacks);
	json_print(object, false);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct convert_arguments arguments = {
		.conversion.choice = TRACE_ANY,
	};
	struct trace_conversion *conversion = &arguments.conversion;
	struct trace_converted done = { 0 };
	int first, result;

	result = options_parse(verb, argc, argv, take_option, &arguments, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	conversion->source = argv[first];
	result = check_one(argc - first, argv + first);
	if (conversion->to == TRACE_WRITE_PARQUET)
		trim_slashes((char *)conversion->output);
	if (!result)
		result = new_trace_check(verb->name, conversion->output);
	if (!result)
		result = trace_convert(conversion, &done);
	if (!result && arguments.json)
		print_json(conversion, &done);
	trace_names_free(&done.names);
	return result;
}

static const char *const forms[] = {
	"IN... --output FILE [options]",
	NULL,
};

const struct verb verb_convert = {
	"convert", "IN...", 1, INT_MAX,
	"Convert a trace to another format",
	rows, more_help, run, forms, SCHEMA_DOCUMENTS(&document),
};
