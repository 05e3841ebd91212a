// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/units.h"
#include "record/record.h"
#include "trace/operations.h"

/* 1: what it was before documents had a number; there format was what is now output_format. */
#define JSON_FORMAT	2

static uint64_t write_touches(const struct record *record)
{
	return record->touches - record->zero_touches;
}

/* How the writes, or the write-zeroes, lie on the blocks. */
static void text_alignment(const struct record *record, uint64_t misaligned,
			   uint64_t touches)
{
	if (!record->blocks_known) {
		puts("; their alignment is not known");
		return;
	}
	printf("; %" PRIu64 " misaligned", misaligned);
	if (misaligned)
		printf(" (%" PRIu64 " partial touches of %" PRIu32
		       "-byte blocks)", touches, record->geometry.physical);
	putchar('\n');
}

static void text_lost(const struct record *record,
		      const struct record_options *options)
{
	unsigned int i;

	if (!record->lost_total) {
		puts("  lost          nothing");
		return;
	}
	printf("  LOST          %" PRIu64
	       " requests are missing, they came too fast for the buffer:",
	       record->lost_total);
	for (i = 0; i < record->nr_lost; i++)
		printf(" %" PRIu64 " of processor %u%s", record->lost[i].count,
		       record->lost[i].cpu,
		       i + 1 < record->nr_lost ? "," : "");
	printf("\n                record again with more than --buffer %" PRIu64
	       "\n", options->buffer_kib);
}

void record_report_text(const struct record *record,
			const struct record_options *options)
{
	unsigned int op;

	printf("%s: %" PRIu64 " requests in %.3f s, in %s (%s), until %s\n",
	       options->device->path, record_requests(record), record->wall_s,
	       options->output, trace_written_names[options->format],
	       record->stopped);
	for (op = 0; op < TRACE_NR_OPS; op++) {
		if (!record->count[op])
			continue;
		printf("  %-12s  %" PRIu64, trace_op_names[op],
		       record->count[op]);
		if (op != TRACE_FLUSH)
			printf(", %.2f MB", record->bytes[op] / MB);
		if (op == TRACE_WRITE)
			text_alignment(record, record->misaligned,
				       write_touches(record));
		else if (op == TRACE_WRITE_ZEROES)
			text_alignment(record, record->zeroes_misaligned,
				       record->zero_touches);
		else if (op == TRACE_DISCARD && record->secure)
			printf("; %" PRIu64 " of them were secure erases\n",
			       record->secure);
		else
			putchar('\n');
	}
	if (record->zero_touches)
		printf("  together      %" PRIu64 " partial touches\n",
		       record->touches);
	text_lost(record, options);
	if (record->unknown)
		printf("  NOT RECORDED  %" PRIu64
		       " requests: the kernel does not tell write-zeroes and those of zones apart;\n"
		       "                partial touches of such write-zeroes are not counted\n",
		       record->unknown);
	if (record->sent_back)
		printf("  sent back     %" PRIu64
		       " times the device would have made its caller wait; recorded once it was sent again\n",
		       record->sent_back);
	if (record->sent_back_late)
		printf("  RECORDED TWICE  %" PRIu64 " of these, which came back late\n",
		       record->sent_back_late);
	if (record->late)
		printf("  late          %" PRIu64
		       " requests have the time of the one before them\n",
		       record->late);
	if (options->command)
		printf("  command       exit status %d\n",
		       record->command_status);
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

void record_report_json(const struct record *record,
			const struct record_options *options)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct utsname kernel;

	uname(&kernel);
	json_add_text(object, "device", options->device->path);
	json_add_text(object, "output", options->output);
	json_add_text(object, "output_format",
		      trace_written_names[options->format]);
	json_add_text(object, "kernel", kernel.release);
	json_add_number(object, "requests", record_requests(record));
	json_add(object, "operations",
		 trace_operations_json(record->count, record->bytes));
	json_add_block_number(object, record, "physical_block_size",
			      record->geometry.physical);
	json_add_block_number(object, record, "alignment_offset",
			      record->geometry.offset);
	json_add_block_number(object, record, "misaligned_writes",
			      record->misaligned);
	json_add_block_number(object, record, "misaligned_write_zeroes",
			      record->zeroes_misaligned);
	json_add_block_number(object, record, "touches", record->touches);
	json_add_block_number(object, record, "write_touches",
			      write_touches(record));
	json_add_block_number(object, record, "zero_touches",
			      record->zero_touches);
	json_add_number(object, "lost", record->lost_total);
	json_add(object, "lost_by_cpu", json_lost(record));
	json_add_number(object, "buffer_kib", options->buffer_kib);
	json_add_number(object, "not_recorded", record->unknown);
	json_add_number(object, "sent_back", record->sent_back);
	json_add_number(object, "sent_back_late", record->sent_back_late);
	json_add_number(object, "secure_erases", record->secure);
	json_add_number(object, "late", record->late);
	json_add_real(object, "wall_s", record->wall_s);
	json_add_text(object, "stopped", record->stopped);
	if (options->command)
		json_add_number(object, "command_status",
				record->command_status);
	else
		json_add_null(object, "command_status");
	json_print(object, false);
}
