// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "tests/printed.h"
#include "tests/tap.h"
#include "top/report.h"

enum { PHASES = 8 };

/* A row of two, and requests of 4 KiB that begin 512 bytes into their block. */
static char *report(bool drive, bool json, size_t most)
{
	static struct top_row rows[] = {
		{ { .tgid = 42, .comm = "writer" },
		  { .writes = 9, .misaligned = 7, .write_touches = 14,
		    .bytes = 36864 } },
		{ { .tgid = 43, .comm = "fifteen letters" },
		  { .zeroes = 2, .zeroes_misaligned = 1, .zero_touches = 1,
		    .bytes = 5120 } },
	};
	struct device device = { .path = "/dev/sdx" };
	struct align_geometry geometry;
	struct names names = { .cgroup_fd = -1, .no_cgroups = "none" };
	struct top_report report = {
		.device = &device, .geometry = &geometry, .names = &names,
		.most = most,
	};
	struct top_interval interval = {
		.seconds = 1.5, .row = rows, .nr = 2,
		.total = { .writes = 9, .misaligned = 7, .write_touches = 14,
			   .zeroes = 2, .zeroes_misaligned = 1,
			   .zero_touches = 1, .bytes = 41984 },
		.events = { .lost = 3, .sent_back = 4, .requests_lost = 5,
			    .requeued = 6 },
		.skips = { .arrivals = 10, .ends = 11, .requests = 20 },
		.nr_classes = ALIGN_SIZE_BINS * PHASES * 2,
	};
	struct top_class *class;

	align_geometry_init(&geometry, 4096, 512, 0, 0, 1 << 20);
	if (drive) {
		interval.class = memory_or_exit(calloc(interval.nr_classes,
						       sizeof(*class)));
		class = &interval.class[top_class_index(3, 1, PHASES, true)];
		class->requests = 4;
		class->touches = 8;
		class->bytes = 16384;
		class->sum_ns = 8000000;
		class->latency[align_latency_bin(2000000)] = 4;
		class->linear[3] = 1;
		class->linear[TOP_LINEAR_BINS - 1] = 3;
	}
	printed_begin();
	if (json)
		top_report_json(&report, &interval, true);
	else
		top_report_text(&report, &interval);
	free(interval.class);
	return printed_end();
}

static void text(void)
{
	CLEANUP_FREE char *said = report(true, false, 0);
	static const char wanted[] =
		" /dev/sdx: 11 writes in 1.5 s, 8 misaligned, 15 partial touches; lost 13\n"
		"PROCESS              PID  CGROUP        FILE           WRITES  MISALIGNED  ZEROES  TOUCHES     BYTES\n"
		"writer                42  -             -                   9           7       0       14    36 KiB\n"
		"fifteen letters       43  -             -                   0           0       2        1     5 KiB\n"
		"4 requests completed by the drive; lost 25\n"
		"   SIZE  START  REQUESTS  TOUCHES   BYTES  MEAN       P50       P99\n"
		"  4 KiB    512         4        8  16 KiB  2 ms  < 2.1 ms  < 2.1 ms\n"
		"     LATENCY  ALIGNED  MISALIGNED\n"
		"   >= 1.5 ms        0           1\n"
		"  >= 63.5 ms        0           3\n";
	const char *at = strchr(said, ' ');

	CHECK(at && !strcmp(at, wanted), "\n%s", said);
}

static void few_lines(void)
{
	CLEANUP_FREE char *said = report(false, false, 1);

	CHECK(strstr(said, "writer ") && !strstr(said, "fifteen") &&
	      strstr(said, "\nand 1 more\n") && !strstr(said, "SIZE"),
	      "\n%s", said);
}

static bool has(struct json_object *object, const char *key,
		const char *wanted)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) &&
	       !strcmp(json_object_to_json_string_ext(value,
						      JSON_C_TO_STRING_PLAIN),
		       wanted);
}

static void document(void)
{
	CLEANUP_FREE char *said = report(true, true, 1);
	struct json_object *object = json_tokener_parse(said), *part, *row;

	CHECK(strchr(said, '\n') == said + strlen(said) - 1, "%s", said);
	CHECK(has(object, "touches", "15") && has(object, "lost", "13") &&
	      has(object, "skipped", "10") &&
	      has(object, "skipped_ends", "11") &&
	      has(object, "writeback_by_cgroup", "false") &&
	      has(object, "bytes", "41984") && has(object, "sent_back", "4"),
	      "%s", said);
	json_object_object_get_ex(object, "writers", &part);
	CHECK(json_object_array_length(part) == 2, "%s", said);
	row = json_object_array_get_idx(part, 1);
	CHECK(has(row, "process", "\"fifteen letters\"") &&
	      has(row, "write_zeroes", "2") && has(row, "touches", "1") &&
	      has(row, "cgroup", "null") && has(row, "inode", "null"),
	      "%s", said);
	json_object_object_get_ex(object, "drive", &part);
	CHECK(has(part, "requests", "4") && has(part, "touches", "8") &&
	      has(part, "lost", "25") && has(part, "skipped", "20") &&
	      has(part, "requeued", "6"), "%s", said);
	json_object_object_get_ex(part, "classes", &part);
	CHECK(json_object_array_length(part) == 1, "%s", said);
	row = json_object_array_get_idx(part, 0);
	CHECK(has(row, "size", "4096") && has(row, "start", "512") &&
	      has(row, "misaligned", "true") &&
	      has(row, "mean_us", "2000.000000") &&
	      has(row, "histogram", "[[2097.152,4]]") &&
	      has(row, "histogram_500us", "[[1500,1],[63500,3]]"),
	      "%s", said);
	json_object_put(object);
}

static void no_drive(void)
{
	CLEANUP_FREE char *said = report(false, true, 0);

	CHECK(strstr(said, "\"drive\":null"), "%s", said);
}

const struct tap_test top_report_tests[] = {
	{ "top: people see the rows, and the latencies in steps of 500 us",
	  text },
	{ "top: a terminal shows as many rows as fit, and says how many do not",
	  few_lines },
	{ "top: a document has all rows and all bins", document },
	{ "top: a document says that requests were not counted", no_drive },
	{ 0 },
};
