// SPDX-License-Identifier: GPL-2.0
/* Print the recorded operations and blocks, and the lost events. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/table.h"
#include "record/record.h"
#include "record/shapes_report.h"
#include "trace/operations.h"

/* 1: what it was before documents had a number; there format was what is now output_format. */
#define JSON_FORMAT	2

static const struct {
	const char *name;	/* in JSON */
	const char *text;
} stops[RECORD_NR_STOPS] = {
	[RECORD_STOP_SIGNAL] = { "signal", "interrupted" },
	[RECORD_STOP_SECONDS] = { "seconds", "--seconds were over" },
	[RECORD_STOP_COUNT] = { "requests", "--count was reached" },
	[RECORD_STOP_SIZE] = { "size", "--size was reached" },
	[RECORD_STOP_COMMAND] = { "command", "the command ended" },
};

static void make_operations(struct trace_operation row[TRACE_NR_OPS],
			    const struct record *record)
{
	unsigned int op;

	for (op = 0; op < TRACE_NR_OPS; op++)
		row[op] = (struct trace_operation){
			.op = op, .on_blocks = record->blocks_known,
			.requests = record->count[op],
			.bytes = record->bytes[op],
		};
	row[TRACE_WRITE].misaligned = record->misaligned;
	row[TRACE_WRITE].touches = record->touches - record->zero_touches;
	row[TRACE_WRITE_ZEROES].misaligned = record->zeroes_misaligned;
	row[TRACE_WRITE_ZEROES].touches = record->zero_touches;
}

/* Print how writes and write-zeroes lie on the physical blocks. */
static void text_blocks(const struct record *record)
{
	if (!record->count[TRACE_WRITE] && !record->count[TRACE_WRITE_ZEROES])
		return;
	if (record->blocks_known)
		printf("  blocks        of %s; %s partial touches\n",
		       figure(FIGURE_LENGTH, record->geometry.physical).text,
		       FIGURE_OF(record->touches));
	else
		puts("  blocks        not known where they begin, and so not what is misaligned");
}

static void text_lost(const struct record *record,
		      const struct record_options *options)
{
	unsigned int i;

	if (!record->lost_total) {
		puts("  lost          nothing");
		return;
	}
	printf("  LOST          %s requests are missing, they came too fast for the buffer:",
	       FIGURE_OF(record->lost_total));
	for (i = 0; i < record->nr_lost; i++)
		printf(" %s of processor %u%s", FIGURE_OF(record->lost[i].count),
		       record->lost[i].cpu,
		       i + 1 < record->nr_lost ? "," : "");
	printf("\n                record again with more than --buffer %" PRIu64
	       "\n", options->buffer_kib);
}

void record_report_text(const struct record *record,
			const struct record_options *options)
{
	struct trace_operation operation[TRACE_NR_OPS];

	printf("%s: %s requests in %s, in %s (%s), until %s\n",
	       options->device->path, FIGURE_OF(record_requests(record)),
	       figure(FIGURE_S, record->wall_s).text, options->output,
	       trace_written_names[options->format],
	       stops[record->stopped].text);
	make_operations(operation, record);
	trace_operations_print(&trace_operations_counted, operation);
	text_blocks(record);
	if (record->secure)
		printf("  secure erases  %s of the discards\n",
		       FIGURE_OF(record->secure));
	text_lost(record, options);
	if (record->unknown)
		printf("  NOT RECORDED  %s requests: the kernel does not tell write-zeroes and those of zones apart;\n"
		       "                partial touches of such write-zeroes are not counted\n",
		       FIGURE_OF(record->unknown));
	if (record->sent_back)
		printf("  sent back     %s times the device would have made its caller wait; recorded once it was sent again\n",
		       FIGURE_OF(record->sent_back));
	if (record->sent_back_late)
		printf("  RECORDED TWICE  %s of these, which came back late\n",
		       FIGURE_OF(record->sent_back_late));
	if (record->late)
		printf("  late          %s requests have the time of the one before them\n",
		       FIGURE_OF(record->late));
	if (options->command)
		printf("  command       exit status %d\n",
		       record->command_status);
	if (options->follow)
		shapes_report_text(&record->followed);
}

static struct json_object *json_lost(const struct record *record)
{
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < record->nr_lost; i++) {
		struct json_object *one = json_new();

		json_add_number(one, "cpu", record->lost[i].cpu);
		json_add_number(one, "count", record->lost[i].count);
		json_append(array, one);
	}
	return array;
}

/* Null where the device's blocks are not known. */
static void json_add_block_number(struct json_object *object,
				  const struct record *record,
				  const char *key, uint64_t n)
{
	if (record->blocks_known)
		json_add_number(object, key, n);
	else
		json_add_null(object, key);
}

/* Add the figure of an operation that is a member of the whole document. */
static void json_add_operation(struct json_object *object, const char *key,
			       const struct trace_operation *row,
			       enum operation_column column)
{
	json_add(object, key,
		 table_json_cell(&trace_operations_counted, row, column));
}

static const struct schema_row lost_rows[] = {
	MEMBER("cpu", JSON_NUMBER, NULL, "Number of the processor"),
	MEMBER("count", JSON_NUMBER, NULL, "Number of requests that it lost"),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("device", JSON_TEXT, NULL, "DEV, as on the command line"),
	MEMBER("output", JSON_TEXT, NULL, "FILE, as on the command line"),
	MEMBER("output_format", JSON_TEXT, NULL, "Format of FILE",
	       SCHEMA_NAMES(trace_written_names)),
	MEMBER("kernel", JSON_TEXT, NULL, "Release of the kernel"),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests recorded"),
	MEMBER("operations", JSON_OBJECT, NULL, "The requests by operation",
	       .rows = trace_operations_counted_members,
	       .name = "operations_counted"),
	MEMBER("physical_block_size", JSON_NUMBER | JSON_NULL, "bytes",
	       "Physical block and alignment offset of the device. These and the next five are null if the alignment offset is not known"),
	MEMBER("alignment_offset", JSON_NUMBER | JSON_NULL, "bytes", AS_ABOVE),
	MEMBER("misaligned_writes", JSON_NUMBER | JSON_NULL, NULL,
	       "Number of writes, and of write-zeroes, with a partial touch"),
	MEMBER("misaligned_write_zeroes", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("touches", JSON_NUMBER | JSON_NULL, NULL,
	       "Partial touches of both, of the writes, and of the write-zeroes"),
	MEMBER("write_touches", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("zero_touches", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("lost", JSON_NUMBER, NULL,
	       "Number of requests that are missing"),
	MEMBER("lost_by_cpu", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each processor that lost requests", .rows = lost_rows),
	MEMBER("buffer_kib", JSON_NUMBER, NULL,
	       "Size of the buffer of each processor in KiB, as given"),
	MEMBER("not_recorded", JSON_NUMBER, NULL,
	       "Number of requests whose operation cannot be told, and that are not in FILE"),
	MEMBER("sent_back", JSON_NUMBER, NULL,
	       "Number of requests that the device sent back at once, and that were sent again"),
	MEMBER("sent_back_late", JSON_NUMBER, NULL,
	       "How many of these are recorded twice, because the device sent them back late"),
	MEMBER("secure_erases", JSON_NUMBER, NULL,
	       "Number of the discards that were secure erases"),
	MEMBER("late", JSON_NUMBER, NULL,
	       "Number of requests that arrived too late for their place in the order; each has the time of the one before"),
	MEMBER("wall_s", JSON_REAL, NULL,
	       "Length of the recording, in seconds"),
	MEMBER("stopped", JSON_TEXT, NULL,
	       "What ended the recording: signal, seconds, requests (--count), size or command",
	       SCHEMA_WORDS("signal", "seconds", "requests", "size", "command")),
	MEMBER("command_status", JSON_NUMBER | JSON_NULL, NULL,
	       "Exit status of the command, 128 plus the number if a signal ended it; null if there was no command"),
	MEMBER("followed", JSON_OBJECT | JSON_NULL, NULL,
	       "What --requests found; null without it",
	       .rows = shapes_report_members),
	{ 0 },
};

const struct schema_document record_report_schema = {
	"record", JSON_FORMAT,
	"In 1, format was the name of what is now output_format.",
	document_rows,
};

void record_report_json(const struct record *record,
			const struct record_options *options)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct trace_operation operation[TRACE_NR_OPS];
	struct utsname kernel;

	uname(&kernel);
	json_add_text(object, "device", options->device->path);
	json_add_text(object, "output", options->output);
	json_add_text(object, "output_format",
		      trace_written_names[options->format]);
	json_add_text(object, "kernel", kernel.release);
	json_add_number(object, "requests", record_requests(record));
	json_add(object, "operations",
		 trace_operations_json(&trace_operations_counted, record->count,
				       record->bytes));
	json_add_block_number(object, record, "physical_block_size",
			      record->geometry.physical);
	json_add_block_number(object, record, "alignment_offset",
			      record->geometry.offset);
	make_operations(operation, record);
	json_add_operation(object, "misaligned_writes",
			   &operation[TRACE_WRITE], OPERATION_MISALIGNED);
	json_add_operation(object, "misaligned_write_zeroes",
			   &operation[TRACE_WRITE_ZEROES],
			   OPERATION_MISALIGNED);
	json_add_block_number(object, record, "touches", record->touches);
	json_add_operation(object, "write_touches", &operation[TRACE_WRITE],
			   OPERATION_TOUCHES);
	json_add_operation(object, "zero_touches",
			   &operation[TRACE_WRITE_ZEROES], OPERATION_TOUCHES);
	json_add_number(object, "lost", record->lost_total);
	json_add(object, "lost_by_cpu", json_lost(record));
	json_add_number(object, "buffer_kib", options->buffer_kib);
	json_add_number(object, "not_recorded", record->unknown);
	json_add_number(object, "sent_back", record->sent_back);
	json_add_number(object, "sent_back_late", record->sent_back_late);
	json_add_number(object, "secure_erases", record->secure);
	json_add_number(object, "late", record->late);
	json_add_real(object, "wall_s", record->wall_s);
	json_add_text(object, "stopped", stops[record->stopped].name);
	if (options->command)
		json_add_number(object, "command_status",
				record->command_status);
	else
		json_add_null(object, "command_status");
	json_add(object, "followed", options->follow ?
		 shapes_report_json(&record->followed) : NULL);
	json_print(object, false);
}
