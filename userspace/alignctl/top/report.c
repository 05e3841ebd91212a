// SPDX-License-Identifier: GPL-2.0
/* Rows of writers, files, cgroups and latencies of an interval. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/latency.h"
#include "base/message.h"
#include "base/table.h"
#include "base/units.h"
#include "top/report.h"

#define JSON_FORMAT	1

/**
 * struct shown - a row with its names
 * @row: the row
 * @report: what it is printed with
 * @file: path of the file; NULL: not known
 */
struct shown {
	const struct top_row *row;
	const struct top_report *report;
	const char *file;
};

enum writer_column {
	WRITER_PROCESS, WRITER_PID, WRITER_CGROUP, WRITER_CGROUP_ID,
	WRITER_FILE, WRITER_FILE_DEVICE, WRITER_INODE, WRITER_WRITES,
	WRITER_MISALIGNED, WRITER_ZEROES, WRITER_ZEROES_MISALIGNED,
	WRITER_TOUCHES, WRITER_WRITE_TOUCHES, WRITER_ZERO_TOUCHES,
	WRITER_BYTES,
};

static const struct table_column writer_columns[] = {
	[WRITER_PROCESS] = { .key = "process", .heading = "PROCESS",
			     .width = 15,
		COLUMN_MEMBER(JSON_TEXT, "Name of the process's first thread") },
	[WRITER_PID] = { .key = "pid", .heading = "PID", .flags = TABLE_RIGHT,
			 .width = 7,
		COLUMN_MEMBER(JSON_NUMBER, "Number of the process") },
	[WRITER_CGROUP] = { .key = "cgroup", .heading = "CGROUP",
			    .width = 12,
		COLUMN_MEMBER(JSON_TEXT | JSON_NULL,
			"Path below the mount point of cgroup v2; null if not known, or removed") },
	[WRITER_CGROUP_ID] = { .key = "cgroup_id",
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Number of the cgroup; null: not known") },
	[WRITER_FILE] = { .key = "file", .heading = "FILE", .width = 12,
		COLUMN_MEMBER(JSON_TEXT | JSON_NULL,
			"Path of the file; null: not known, or no process has it open") },
	[WRITER_FILE_DEVICE] = { .key = "file_device",
		COLUMN_MEMBER(JSON_TEXT | JSON_NULL,
			"Device number of the file's file system, major:minor; null: not known") },
	[WRITER_INODE] = { .key = "inode",
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Number of the file in it; null: not known") },
	[WRITER_WRITES] = { .key = "writes", .heading = "WRITES",
			    .flags = TABLE_RIGHT, .width = 7,
		COLUMN_MEMBER(JSON_NUMBER,
			"Writes and write-zeroes, and how many of each have a partial touch") },
	[WRITER_MISALIGNED] = { .key = "misaligned_writes",
				.heading = "MISALIGNED", .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[WRITER_ZEROES] = { .key = "write_zeroes", .heading = "ZEROES",
			    .flags = TABLE_RIGHT | TABLE_OPTIONAL,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[WRITER_ZEROES_MISALIGNED] = { .key = "misaligned_write_zeroes",
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[WRITER_TOUCHES] = { .key = "touches", .heading = "TOUCHES",
			     .flags = TABLE_RIGHT, .width = 7,
		COLUMN_MEMBER(JSON_NUMBER,
			"Partial touches of both, of the writes, and of the write-zeroes") },
	[WRITER_WRITE_TOUCHES] = { .key = "write_touches",
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[WRITER_ZERO_TOUCHES] = { .key = "zero_touches",
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[WRITER_BYTES] = { .key = "bytes", .heading = "BYTES",
			   .flags = TABLE_RIGHT, .width = 8,
			   .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER,
			"Total length of writes and write-zeroes") },
};

/* Return a number that is not known as 0. */
static struct table_value number_unless_0(uint64_t n)
{
	return n ? table_number(n) : table_null();
}

static struct table_value cgroup_value(const struct shown *shown)
{
	char *path = names_cgroup(shown->report->names,
				  shown->row->key.cgroup);
	struct table_value value;
	CLEANUP_FREE char *id = NULL;

	if (path)
		return table_text_taken(path);
	value = table_null();
	if (!shown->row->key.cgroup)
		return value;
	id = message_format("id %" PRIu64, (uint64_t)shown->row->key.cgroup);
	return table_shown(value, id);
}

static struct table_value file_value(const struct shown *shown)
{
	CLEANUP_FREE char *inode = NULL;

	if (shown->file)
		return table_text(shown->file);
	if (!shown->row->key.device)
		return table_null();
	inode = names_inode(shown->report->names, &shown->row->key);
	return table_shown(table_null(), inode);
}

static struct table_value file_device_value(uint32_t device)
{
	dev_t devno = names_devno(device);

	return device ? table_text_taken(message_format("%u:%u", major(devno),
							minor(devno))) :
			table_null();
}

static struct table_value writer_value(const void *row, size_t column)
{
	const struct shown *shown = row;
	const struct top_key *key = &shown->row->key;
	const struct top_count *count = &shown->row->count;

	switch ((enum writer_column)column) {
	case WRITER_PROCESS:
		return table_text_taken(message_format(
			"%.*s", OBSERVED_COMM_BYTES, key->comm));
	case WRITER_PID:
		return table_number(key->tgid);
	case WRITER_CGROUP:
		return cgroup_value(shown);
	case WRITER_CGROUP_ID:
		return number_unless_0(key->cgroup);
	case WRITER_FILE:
		return file_value(shown);
	case WRITER_FILE_DEVICE:
		return file_device_value(key->device);
	case WRITER_INODE:
		return key->device ? table_number(key->inode) : table_null();
	case WRITER_WRITES:
		return table_number(count->writes);
	case WRITER_MISALIGNED:
		return table_number(count->misaligned);
	case WRITER_ZEROES:
		return table_number(count->zeroes);
	case WRITER_ZEROES_MISALIGNED:
		return table_number(count->zeroes_misaligned);
	case WRITER_TOUCHES:
		return table_number(count->write_touches +
				    count->zero_touches);
	case WRITER_WRITE_TOUCHES:
		return table_number(count->write_touches);
	case WRITER_ZERO_TOUCHES:
		return table_number(count->zero_touches);
	case WRITER_BYTES:
		return table_number(count->bytes);
	}
	return table_absent();
}

static const struct table_type writer_table =
	TABLE_TYPE(writer_columns, writer_value);

/**
 * struct shown_class - requests of one size and start
 * @class: the requests
 * @size: least length of a request, bytes
 * @start: bytes from the start of the physical block to the request's start
 * @misaligned: the requests have a partial touch
 */
struct shown_class {
	const struct top_class *class;
	uint64_t size;
	uint32_t start;
	bool misaligned;
};

enum class_column {
	CLASS_SIZE, CLASS_START, CLASS_MISALIGNED, CLASS_REQUESTS,
	CLASS_TOUCHES, CLASS_BYTES, CLASS_MEAN, CLASS_P50, CLASS_P99,
	CLASS_BINS, CLASS_LINEAR,
};

static const struct table_column class_columns[] = {
	[CLASS_SIZE] = { .key = "size", .heading = "SIZE",
			 .flags = TABLE_RIGHT, .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER,
			"Least length of the requests; the next class begins at twice that") },
	[CLASS_START] = { .key = "start", .heading = "START",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Where the requests begin in the physical block, in bytes") },
	[CLASS_MISALIGNED] = { .key = "misaligned",
		COLUMN_MEMBER(JSON_BOOL,
			"Whether the requests have a partial touch") },
	[CLASS_REQUESTS] = { .key = "requests", .heading = "REQUESTS",
			     .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of requests") },
	[CLASS_TOUCHES] = { .key = "touches", .heading = "TOUCHES",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Their partial touches") },
	[CLASS_BYTES] = { .key = "bytes", .heading = "BYTES",
			  .flags = TABLE_RIGHT, .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER, "Their total length") },
	[CLASS_MEAN] = { .key = "mean_us", .heading = "MEAN",
			 .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, "Mean latency") },
	[CLASS_P50] = { .key = "p50_us", .heading = "P50",
			.flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL,
			"50 and 99 % of the requests took no longer") },
	[CLASS_P99] = { .key = "p99_us", .heading = "P99",
			.flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[CLASS_BINS] = { .key = "histogram",
		COLUMN_MEMBER(JSON_ARRAY | JSON_BIN,
			"Latencies in bins as in alignctl-stats(8), JSON OF STATS: pairs of the end in us and the count") },
	[CLASS_LINEAR] = { .key = "histogram_500us",
		COLUMN_MEMBER(JSON_ARRAY | JSON_BIN,
			"Latencies in bins of 500 us: pairs of the start in us and the count; the last bin begins at 63500 and has no end") },
};

static struct table_value percentile(const struct top_class *class,
				     unsigned int per_mille)
{
	uint64_t bins[ALIGN_LATENCY_BINS];
	struct table_value value;
	unsigned int i;
	bool open;

	for (i = 0; i < ALIGN_LATENCY_BINS; i++)
		bins[i] = class->latency[i];
	value = table_real(latency_histogram_percentile(bins, per_mille,
							&open));
	value.text = message_format("%s %s", open ? ">=" : "<",
				    figure(FIGURE_US, value.real).text);
	return value;
}

static struct table_value json_latency(const struct top_class *class)
{
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < ALIGN_LATENCY_BINS; i++) {
		/* the last bin has no upper end: its lower one */
		unsigned int bin = i < ALIGN_LATENCY_BINS - 1 ? i : i - 1;

		if (class->latency[i])
			json_append_bin(array,
					ns_to_us((double)align_latency_bin_end(bin)),
					class->latency[i]);
	}
	return table_object(array);
}

/* Return where a bin of the linear histogram begins, microseconds. */
static double linear_us(unsigned int bin)
{
	return ns_to_us((double)bin * TOP_LINEAR_NS);
}

static struct table_value json_linear(const struct top_class *class)
{
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < TOP_LINEAR_BINS; i++)
		if (class->linear[i])
			json_append_bin(array, linear_us(i), class->linear[i]);
	return table_object(array);
}

static struct table_value class_value(const void *row, size_t column)
{
	const struct shown_class *shown = row;
	const struct top_class *class = shown->class;

	switch ((enum class_column)column) {
	case CLASS_SIZE:
		return table_number(shown->size);
	case CLASS_START:
		return table_number(shown->start);
	case CLASS_MISALIGNED:
		return table_bool(shown->misaligned);
	case CLASS_REQUESTS:
		return table_number(class->requests);
	case CLASS_TOUCHES:
		return table_number(class->touches);
	case CLASS_BYTES:
		return table_number(class->bytes);
	case CLASS_MEAN:
		return table_real(ns_to_us((double)class->sum_ns /
					   (double)class->requests));
	case CLASS_P50:
		return percentile(class, 500);
	case CLASS_P99:
		return percentile(class, 990);
	case CLASS_BINS:
		return json_latency(class);
	case CLASS_LINEAR:
		return json_linear(class);
	}
	return table_absent();
}

static const struct table_type class_table =
	TABLE_TYPE(class_columns, class_value);

/* Make the row of a class; false if it has no request. */
static bool show_class(struct shown_class *shown,
		       const struct top_report *report,
		       const struct top_interval *interval, uint32_t index)
{
	const struct align_geometry *g = report->geometry;
	uint32_t bytes = align_phase_bin_bytes(g);
	uint32_t phases = g->physical / bytes, place = index / 2;

	*shown = (struct shown_class) {
		.class = &interval->class[index],
		.size = (uint64_t)ALIGN_SECTOR_SIZE << place / phases,
		.start = place % phases * bytes,
		.misaligned = index % 2,
	};
	return shown->class->requests;
}

enum latency_column {
	LATENCY_FROM, LATENCY_ALIGNED, LATENCY_MISALIGNED,
};

static const struct table_column latency_columns[] = {
	[LATENCY_FROM] = { .heading = "LATENCY", .flags = TABLE_RIGHT,
			   .unit = FIGURE_US },
	[LATENCY_ALIGNED] = { .heading = "ALIGNED", .flags = TABLE_RIGHT },
	[LATENCY_MISALIGNED] = { .heading = "MISALIGNED",
				 .flags = TABLE_RIGHT },
};

/**
 * struct latency_row - requests of a bin of the linear histogram
 * @bin: the bin
 * @count: number of requests, aligned and misaligned
 */
struct latency_row {
	unsigned int bin;
	uint64_t count[2];
};

static struct table_value latency_value(const void *row, size_t column)
{
	const struct latency_row *r = row;
	struct table_value value;

	switch ((enum latency_column)column) {
	case LATENCY_FROM:
		value = table_real(linear_us(r->bin));
		value.text = message_format(">= %s", figure(FIGURE_US,
							    value.real).text);
		return value;
	case LATENCY_ALIGNED:
		return table_number(r->count[0]);
	case LATENCY_MISALIGNED:
		return table_number(r->count[1]);
	}
	return table_absent();
}

static const struct table_type latency_table =
	TABLE_TYPE(latency_columns, latency_value);

static void text_latency(const struct top_interval *interval)
{
	struct table *table = table_new(&latency_table);
	struct latency_row row;
	uint32_t i;

	for (row.bin = 0; row.bin < TOP_LINEAR_BINS; row.bin++) {
		row.count[0] = row.count[1] = 0;
		for (i = 0; i < interval->nr_classes; i++)
			row.count[i % 2] +=
				interval->class[i].linear[row.bin];
		if (row.count[0] || row.count[1])
			table_add(table, &row);
	}
	table_print(table, 2);
}

/* Return how many events are lost, in words. */
static struct figure text_lost(uint64_t lost)
{
	struct figure text = { "nothing" };

	return lost ? figure(FIGURE_COUNT, (double)lost) : text;
}

static void text_classes(const struct top_report *report,
			 const struct top_interval *interval)
{
	struct table *table = table_new(&class_table);
	struct shown_class shown;
	uint64_t requests = 0;
	uint32_t i;

	for (i = 0; i < interval->nr_classes; i++) {
		if (!show_class(&shown, report, interval, i))
			continue;
		requests += shown.class->requests;
		table_add(table, &shown);
	}
	printf("%s requests completed by the drive; lost %s\n",
	       FIGURE_OF(requests), text_lost(top_lost_requests(interval)).text);
	table_print(table, 2);
	text_latency(interval);
}

void top_report_notes(const struct top_report *report)
{
	if (report->names->no_cgroups)
		message_warning("write-back is not counted by cgroup: %s",
				report->names->no_cgroups);
	if (!report->direct)
		message_warning("the file of direct writes is not shown: this kernel cannot trace system calls");
}

void top_report_text(const struct top_report *report,
		     const struct top_interval *interval)
{
	struct table *table = table_new(&writer_table);
	const struct top_count *total = &interval->total;
	size_t nr = interval->nr, i;
	char **files, clock[16] = "";
	struct tm local;

	if (report->most && nr > report->most)
		nr = report->most;
	if (localtime_r(&interval->time, &local))
		strftime(clock, sizeof(clock), "%T ", &local);
	printf("%s%s: %s writes in %s, %s misaligned, %s partial touches; lost %s\n",
	       clock, report->device->path,
	       FIGURE_OF(total->writes + total->zeroes),
	       figure(FIGURE_S, interval->seconds).text,
	       FIGURE_OF(total->misaligned + total->zeroes_misaligned),
	       FIGURE_OF(total->write_touches + total->zero_touches),
	       text_lost(top_lost_writes(interval)).text);
	files = names_files(interval->row, nr);
	for (i = 0; i < nr; i++) {
		const struct shown shown = { &interval->row[i], report,
					     files[i] };

		table_add(table, &shown);
	}
	table_print(table, 0);
	names_free_files(files, nr);
	if (nr < interval->nr)
		printf("and %s more\n", FIGURE_OF(interval->nr - nr));
	if (interval->class)
		text_classes(report, interval);
}

static struct json_object *json_requests(const struct top_report *report,
					 const struct top_interval *interval)
{
	struct json_object *object = json_new(), *array = json_new_array();
	uint64_t requests = 0, touches = 0, bytes = 0;
	struct shown_class shown;
	uint32_t i;

	for (i = 0; i < interval->nr_classes; i++) {
		if (!show_class(&shown, report, interval, i))
			continue;
		requests += shown.class->requests;
		touches += shown.class->touches;
		bytes += shown.class->bytes;
		json_append(array, table_json(&class_table, &shown));
	}
	json_add_number(object, "requests", requests);
	json_add_number(object, "touches", touches);
	json_add_number(object, "bytes", bytes);
	json_add_number(object, "lost", top_lost_requests(interval));
	json_add_number(object, "skipped", interval->skips.requests);
	json_add_number(object, "requeued", interval->events.requeued);
	json_add(object, "classes", array);
	return object;
}

static const struct schema_row writer_rows[] = {
	MEMBERS_OF_TABLE(&writer_table),
	{ 0 },
};

static const struct schema_row class_rows[] = {
	MEMBERS_OF_TABLE(&class_table),
	{ 0 },
};

static const struct schema_row drive_rows[] = {
	MEMBER("requests", JSON_NUMBER, NULL,
	       "Requests that the drive completed"),
	MEMBER("touches", JSON_NUMBER, NULL, "Their partial touches"),
	MEMBER("bytes", JSON_NUMBER, "bytes", "Their total length"),
	MEMBER("lost", JSON_NUMBER, NULL,
	       "Requests that are in no class, for lack of room or since no program saw them"),
	MEMBER("skipped", JSON_NUMBER, NULL,
	       "Issues and completions that no program saw, those of other devices among them"),
	MEMBER("requeued", JSON_NUMBER, NULL,
	       "Requests that the driver gave back, and that were issued again"),
	MEMBER("classes", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each length, start and whether misaligned",
	       .rows = class_rows),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("device", JSON_TEXT, NULL, "DEV, as on the command line"),
	MEMBER("physical_block_size", JSON_NUMBER, "bytes",
	       "Physical block and alignment offset by which touches are counted"),
	MEMBER("alignment_offset", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("time", JSON_NUMBER, NULL,
	       "End of the interval, in seconds since 1970"),
	MEMBER("seconds", JSON_REAL, NULL,
	       "Length of the interval, in seconds"),
	MEMBER("writes", JSON_NUMBER, NULL,
	       "Writes and write-zeroes, and how many of each have a partial touch"),
	MEMBER("misaligned_writes", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("write_zeroes", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("misaligned_write_zeroes", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("touches", JSON_NUMBER, NULL,
	       "Partial touches of both, of the writes, and of the write-zeroes"),
	MEMBER("write_touches", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("zero_touches", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("bytes", JSON_NUMBER, "bytes",
	       "Total length of writes and write-zeroes"),
	MEMBER("lost", JSON_NUMBER, NULL,
	       "Writes that are in no row, because there was no room or no program saw them"),
	MEMBER("skipped", JSON_NUMBER, NULL,
	       "How many of the lost ones no program saw, at most; arrivals of reads and of writes to other devices may be among them"),
	MEMBER("sent_back", JSON_NUMBER, NULL,
	       "Writes that the device sent back at once; each is counted when it is sent again"),
	MEMBER("counted_twice", JSON_NUMBER, NULL,
	       "Writes among these that could not be taken out of the rows, or out of lost"),
	MEMBER("skipped_ends", JSON_NUMBER, NULL,
	       "Most ends of bios that no program saw: so many of the writes sent back may be counted twice, in addition"),
	MEMBER("files_lost", JSON_NUMBER, NULL,
	       "Direct writes whose file is not known for lack of room, or since the program did not see their beginning or end"),
	MEMBER("writeback_by_cgroup", JSON_BOOL, NULL,
	       "Whether writes of the page cache are attributed to a cgroup"),
	MEMBER("direct_files", JSON_BOOL, NULL,
	       "Whether direct writes are attributed to a file"),
	MEMBER("writers", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each row, most touches first", .rows = writer_rows),
	MEMBER("drive", JSON_OBJECT | JSON_NULL, NULL,
	       "Requests of the disk itself; null without --drive",
	       .rows = drive_rows),
	{ 0 },
};

const struct schema_document top_report_schema = {
	"top", JSON_FORMAT, "One object for each interval.", document_rows,
};

void top_report_json(const struct top_report *report,
		     const struct top_interval *interval, bool one_line)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct json_object *array = json_new_array();
	const struct top_count *total = &interval->total;
	const struct top_events *events = &interval->events;
	char **files = names_files(interval->row, interval->nr);
	size_t i;

	for (i = 0; i < interval->nr; i++) {
		const struct shown shown = { &interval->row[i], report,
					     files[i] };

		json_append(array, table_json(&writer_table, &shown));
	}
	names_free_files(files, interval->nr);
	json_add_text(object, "device", report->device->path);
	json_add_number(object, "physical_block_size",
			report->geometry->physical);
	json_add_number(object, "alignment_offset", report->geometry->offset);
	json_add_number(object, "time", (uint64_t)interval->time);
	json_add_real(object, "seconds", interval->seconds);
	json_add_number(object, "writes", total->writes);
	json_add_number(object, "misaligned_writes", total->misaligned);
	json_add_number(object, "write_zeroes", total->zeroes);
	json_add_number(object, "misaligned_write_zeroes",
			total->zeroes_misaligned);
	json_add_number(object, "touches",
			total->write_touches + total->zero_touches);
	json_add_number(object, "write_touches", total->write_touches);
	json_add_number(object, "zero_touches", total->zero_touches);
	json_add_number(object, "bytes", total->bytes);
	json_add_number(object, "lost", top_lost_writes(interval));
	json_add_number(object, "skipped", interval->skips.arrivals);
	json_add_number(object, "sent_back", events->sent_back);
	json_add_number(object, "counted_twice", events->counted_twice);
	json_add_number(object, "skipped_ends", interval->skips.ends);
	json_add_number(object, "files_lost", events->calls_lost);
	json_add_bool(object, "writeback_by_cgroup",
		      !report->names->no_cgroups);
	json_add_bool(object, "direct_files", report->direct);
	json_add(object, "writers", array);
	json_add(object, "drive", interval->class ?
		 json_requests(report, interval) : NULL);
	json_print(object, one_line);
}
