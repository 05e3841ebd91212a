// SPDX-License-Identifier: GPL-2.0
/* Binary traces of the kernel, and what blkparse prints of them. */
#include <byteswap.h>
#include <inttypes.h>
#include <linux/blktrace_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "trace/sorter.h"

#define MAX_REQUESTS	64

static bool is_same(const struct trace_request *a, const struct trace_request *b)
{
	return a->time_ns == b->time_ns && a->offset == b->offset &&
	       a->bytes == b->bytes && a->op == b->op &&
	       a->preflush == b->preflush && a->fua == b->fua &&
	       a->pid == b->pid && a->file == b->file &&
	       !strcmp(a->comm, b->comm);
}

/* The number behind @label in blkparse's summary of all processors. */
static uint64_t total(const char *text, const char *label, const char *comma)
{
	const char *at = strstr(text, "Total (");

	at = at ? strstr(at, label) : NULL;
	at = at ? at + strlen(label) : NULL;
	at = at && *comma ? strchr(at, ',') + 1 : at;
	return at ? strtoull(at, NULL, 10) : UINT64_MAX;
}

static void agrees_with_blkparse(void)
{
	struct trace_request r[MAX_REQUESTS] = { 0 };
	uint64_t reads = 0, read_bytes = 0, writes = 0, written = 0;
	size_t size;
	CLEANUP_FREE char *text = trace_read_all(trace_fixture("disk.blkparse"),
						 &size);
	int i, nr = trace_drain(trace_fixture("disk"), r, MAX_REQUESTS);

	CHECK(nr == 21, "%d", nr);
	for (i = 0; i < nr; i++) {
		bool read = r[i].op == TRACE_READ;

		reads += read;
		writes += !read;
		*(read ? &read_bytes : &written) += r[i].bytes;
	}
	CHECK(reads == total(text, "Reads Queued:", ""), "%" PRIu64, reads);
	CHECK(read_bytes >> 10 == total(text, "Reads Queued:", ","),
	      "%" PRIu64, read_bytes);
	CHECK(writes == total(text, "Writes Queued:", ""), "%" PRIu64, writes);
	CHECK(written >> 10 == total(text, "Writes Queued:", ","),
	      "%" PRIu64, written);
}

/* What the commands of samples/README asked for. */
static void what_was_asked_for(void)
{
	struct trace_request r[MAX_REQUESTS] = { 0 };
	struct trace *trace;
	int i, nr = trace_drain(trace_fixture("disk"), r, MAX_REQUESTS);

	CHECK(nr == 21, "%d", nr);
	for (i = 0; i < 4; i++)
		CHECK(r[i].op == TRACE_WRITE && r[i].bytes == 512 &&
		      r[i].offset == 512U * (7 + i) && !r[i].fua &&
		      !strcmp(r[i].comm, "dd"), "%d", i);
	for (; i < 8; i += 2) {
		CHECK(r[i].op == TRACE_WRITE && r[i].fua && !r[i].preflush &&
		      r[i].bytes == 4096 &&
		      r[i].offset == 409600U + 2048 * (i - 4), "%d", i);
		CHECK(r[i + 1].op == TRACE_FLUSH && !r[i + 1].fua &&
		      !r[i + 1].offset && !r[i + 1].bytes, "%d", i + 1);
	}
	CHECK(r[8].op == TRACE_READ && r[8].bytes == 65536, "read");
	CHECK(r[10].op == TRACE_DISCARD && r[10].offset == 1 << 20 &&
	      r[10].bytes == 2 << 20 && !strcmp(r[10].comm, "blkdiscard"),
	      "discard");
	CHECK(r[12].op == TRACE_WRITE && r[12].bytes == 3584 &&
	      r[12].offset == 3584000, "3584");
	CHECK(!trace_open(&trace, trace_fixture("disk")), "open");
	CHECK(!strcmp(trace_facts(trace)->format, "blktrace") &&
	      trace_facts(trace)->timed &&
	      !strcmp(trace_facts(trace)->origin.device, "disk"), "facts");
	trace_next(trace, r);
	CHECK(!strcmp(trace_file(trace, 0), "8,0"), "device");
	trace_close(trace);
}

static void expect_same(const char *path)
{
	struct trace_request expected[MAX_REQUESTS] = { 0 };
	struct trace_request got[MAX_REQUESTS] = { 0 };
	int nr = trace_drain(trace_fixture("disk"), expected, MAX_REQUESTS), i;

	CHECK(trace_drain(path, got, MAX_REQUESTS) == nr && nr > 0, "%s", path);
	for (i = 0; i < nr; i++)
		CHECK(is_same(&got[i], &expected[i]), "%s: request %d", path, i);
}

static void whatever_the_form(void)
{
	expect_same(trace_fixture("disk.blktrace.0"));
	expect_same(trace_fixture("disk.blktrace.1"));
	expect_same(trace_fixture("disk.merged"));
	expect_same(trace_fixture("disk.blkparse"));
}

static void copy_fixture(const char *from, const char *to)
{
	size_t size;
	CLEANUP_FREE char *bytes = trace_read_all(trace_fixture(from), &size);

	trace_bytes(to, bytes, size);
}

static void idle_processors(void)
{
	trace_folder_open();
	copy_fixture("disk.blktrace.0", "d.blktrace.0");
	copy_fixture("disk.blktrace.1", "d.blktrace.12");
	trace_bytes("d.blktrace.3", "", 0);
	trace_text("d.blktrace.3x", "no part of it");
	trace_text("dd.blktrace.3", "no part of it");
	expect_same(trace_path("d"));
	expect_same(trace_path("d.blktrace.3"));
	trace_folder_close();
}

/* Write blkparse's text without queued events; return its number of D lines. */
static int write_issued_text(const char *name)
{
	size_t size;
	CLEANUP_FREE char *text = trace_read_all(
		trace_fixture("disk.blkparse"), &size);
	CLEANUP_FREE char *kept = memory_or_exit(calloc(1, size + 1));
	char *rest = text, *line, *to = kept;
	int nr = 0;

	while ((line = strsep(&rest, "\n")) && rest) {
		if (strstr(line, "  Q ") || strstr(line, " Q WFS "))
			continue;
		nr += strstr(line, "  D ") || strstr(line, " D WFS ");
		to += sprintf(to, "%s\n", line);
	}
	trace_text(name, kept);
	return nr;
}

/* Write the merged binary trace without queued events. */
static void write_issued_records(const char *name)
{
	size_t size, at, to = 0, length;
	CLEANUP_FREE char *bytes = trace_read_all(trace_fixture("disk.merged"),
						  &size);
	struct blk_io_trace event;

	for (at = 0; at < size; at += length) {
		memcpy(&event, bytes + at, sizeof(event));
		length = sizeof(event) + event.pdu_len;
		if ((event.action & 0xffff) == __BLK_TA_QUEUE &&
		    !(event.action & BLK_TC_ACT(BLK_TC_NOTIFY)))
			continue;
		memmove(bytes + to, bytes + at, length);
		to += length;
	}
	trace_bytes(name, bytes, to);
}

static void issued_alone(void)
{
	static const char warning[] = "has no queued (Q) events; its issued (D) ones are read: requests, not writes as issued\n";
	struct trace_request text[MAX_REQUESTS] = { 0 };
	struct trace_request binary[MAX_REQUESTS] = { 0 };
	CLEANUP_FREE char *said = NULL;
	int nr, i;

	trace_folder_open();
	trace_keep_messages();
	nr = write_issued_text("d.txt");
	write_issued_records("d.bin");
	CHECK(nr == 18, "%d", nr);
	CHECK(trace_drain(trace_path("d.txt"), text, MAX_REQUESTS) == nr,
	      "text");
	CHECK(trace_drain(trace_path("d.bin"), binary, MAX_REQUESTS) == nr,
	      "binary");
	/* blkparse's time 0 was a queued event */
	for (i = nr - 1; i >= 0; i--) {
		text[i].time_ns -= text[0].time_ns;
		binary[i].time_ns -= binary[0].time_ns;
		CHECK(is_same(&text[i], &binary[i]), "request %d", i);
	}
	CHECK(text[0].op == TRACE_WRITE && text[0].offset == 7 * 512 &&
	      text[0].bytes == 512, "first");
	CHECK(text[5].op == TRACE_FLUSH, "flush");
	CHECK(trace_drain(trace_text("t",
		"8,0 3 1 0.000000000 697 D R 36 (a3 0c 00 00) [sg]\n"
		"8,0 3 2 0.000075000 697 D WS 223490 + 8 [kjournald]"), text,
		1) == 1 && text[0].offset == 223490ULL * 512, "command");
	said = trace_kept_messages();
	CHECK(strstr(said, warning) && strstr(strstr(said, warning) + 1, warning),
	      "%s", said);
	trace_folder_close();
}

/* What cannot be read twice is refused, and not taken for an empty trace. */
static void issued_alone_in_a_pipe(void)
{
	static const char text[] = "8,0 3 1 0.000000000 697 D WS 8 + 8 [dd]\n";
	int ends[2], standard = dup(STDIN_FILENO);
	CLEANUP_FREE char *said = NULL;

	CHECK(!pipe(ends), "pipe");
	CHECK(write(ends[1], text, sizeof(text) - 1) > 0, "pipe");
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	trace_keep_messages();
	CHECK(trace_drain("-", NULL, 0) < 0, "refused");
	said = trace_kept_messages();
	CHECK(strstr(said, "standard input: has issued (D) events and no queued (Q) ones: save the trace to a file"),
	      "%s", said);
	dup2(standard, STDIN_FILENO);
	close(standard);
	close(ends[0]);
}

static void swap_record(struct blk_io_trace *event)
{
	event->magic = bswap_32(event->magic);
	event->sequence = bswap_32(event->sequence);
	event->time = bswap_64(event->time);
	event->sector = bswap_64(event->sector);
	event->bytes = bswap_32(event->bytes);
	event->action = bswap_32(event->action);
	event->pid = bswap_32(event->pid);
	event->device = bswap_32(event->device);
	event->cpu = bswap_32(event->cpu);
	event->error = bswap_16(event->error);
	event->pdu_len = bswap_16(event->pdu_len);
}

static void other_byte_order(void)
{
	size_t size, at;
	CLEANUP_FREE char *bytes = trace_read_all(trace_fixture("disk.merged"),
						  &size);
	struct blk_io_trace event;

	for (at = 0; at < size; at += sizeof(event)) {
		memcpy(&event, bytes + at, sizeof(event));
		size_t behind = event.pdu_len;

		swap_record(&event);
		memcpy(bytes + at, &event, sizeof(event));
		at += behind;
	}
	trace_folder_open();
	expect_same(trace_bytes("swapped", bytes, size));
	trace_folder_close();
}

static struct blk_io_trace queued(uint64_t time, uint64_t sector, uint32_t bytes)
{
	return (struct blk_io_trace) {
		.magic = BLK_IO_TRACE_MAGIC | 7,
		.time = time,
		.sector = sector,
		.bytes = bytes,
		.action = BLK_TA_QUEUE | BLK_TC_ACT(BLK_TC_WRITE),
	};
}

/* Processors that took turns, for longer than the sorter remembers. */
static void long_files(void)
{
	enum { NR = 2 * TRACE_SORTER_ROOM };
	CLEANUP_FREE struct blk_io_trace *events =
		memory_or_exit(calloc(NR, sizeof(*events)));
	struct trace_request request;
	struct trace *trace;
	int cpu, i;

	trace_folder_open();
	for (cpu = 0; cpu < 2; cpu++) {
		for (i = 0; i < NR; i++)
			events[i] = queued(2 * i + cpu, 2 * i + cpu, 512);
		trace_bytes(cpu ? "d.blktrace.1" : "d.blktrace.0", events,
			    NR * sizeof(*events));
	}
	CHECK(!trace_open(&trace, trace_path("d")), "open");
	for (i = 0; trace_next(trace, &request) == TRACE_GOT; i++)
		if (request.offset != 512ULL * i)
			break;
	CHECK(i == 2 * NR, "%d", i);
	trace_close(trace);
	trace_folder_close();
}

static void binary_refusals(void)
{
	struct blk_io_trace events[2];

	trace_folder_open();
	events[0] = queued(1, 1, 512);
	events[1] = queued(2, 2, 512);
	trace_expect_refused(trace_bytes("t", events, 95),
			     "byte 95: the file is truncated in a record");
	events[1].pdu_len = 1;
	trace_expect_refused(trace_bytes("t", events, sizeof(events)),
			     "byte 96: the file is truncated in a record");
	events[1] = queued(2, 1ULL << 55, 512);
	trace_expect_refused(trace_bytes("t", events, sizeof(events)),
			     "byte 48: sector 36028797018963968 is beyond any device");
	events[1] = queued(2, (1ULL << 54) - 1, 1024);
	trace_expect_refused(trace_bytes("t", events, sizeof(events)),
			     "byte 48: ends beyond byte 9223372036854775807, the last of any file");
	events[1] = queued(0, 1, 512);
	trace_expect_refused(trace_bytes("t", events, sizeof(events)),
			     "byte 48: time is before the first event's");
	events[1].magic = BLK_IO_TRACE_MAGIC | 8;
	trace_expect_refused(trace_bytes("t", events, sizeof(events)),
			     "byte 48: a record of version 8; only version 7 is supported");
	events[1].magic = 0;
	trace_expect_refused(trace_bytes("t", events, sizeof(events)),
			     "byte 48: not a blktrace record");
	trace_folder_close();
}

/* Only what was queued, by file systems and programs; and flushes with data. */
static void what_counts(void)
{
	struct blk_io_trace events[8];
	struct trace_request r[3] = { 0 };
	CLEANUP_FREE char *said = NULL;
	int i, nr;

	for (i = 0; i < 8; i++)
		events[i] = queued(100 + i, i, 512);
	events[0].action = BLK_TA_GETRQ | BLK_TC_ACT(BLK_TC_WRITE);
	events[1].action = BLK_TA_REQUEUE | BLK_TC_ACT(BLK_TC_WRITE);
	events[2].action |= BLK_TC_ACT(BLK_TC_PC);
	events[3].action = BLK_TA_QUEUE | BLK_TC_ACT(BLK_TC_NOTIFY);
	events[4].action |= __BLK_TA_CGROUP | BLK_TC_ACT(BLK_TC_FLUSH);
	events[4].device = 8 << 20 | 16;
	events[5].bytes = 0;
	events[6].action |= BLK_TC_ACT(BLK_TC_DISCARD);
	events[7].action = BLK_TA_QUEUE | BLK_TC_ACT(BLK_TC_READ);
	trace_folder_open();
	trace_keep_messages();
	nr = trace_drain(trace_bytes("t", events, sizeof(events)), r, 3);
	said = trace_kept_messages();
	CHECK(nr == 3, "%d", nr);
	CHECK(r[0].op == TRACE_WRITE && r[0].preflush && !r[0].fua &&
	      r[0].time_ns == 4, "flush with data");
	CHECK(r[1].op == TRACE_DISCARD && r[1].file == 1, "discard");
	CHECK(r[2].op == TRACE_READ, "read");
	CHECK(strstr(said, "entries left out: 1 (no length, and no flush)\n"),
	      "%s", said);
	trace_folder_close();
}

/* The name of a process is not that of another one, whose number is like it. */
static void names_of_processes(void)
{
	struct {
		struct blk_io_trace note;
		char name[8];
		struct blk_io_trace events[2];
	} __attribute__((packed)) file = {
		.note = queued(1, 0, 0),
		.name = "dd",
		.events = { queued(2, 1, 512), queued(3, 1, 512) },
	};
	struct trace_request r[2] = { 0 };

	file.note.action = BLK_TN_PROCESS;
	file.note.pdu_len = sizeof(file.name);
	file.note.pid = file.events[0].pid = 5;
	file.events[1].pid = 5 + (1 << 13);
	trace_folder_open();
	CHECK(trace_drain(trace_bytes("t", &file, sizeof(file)), r, 2) == 2,
	      "two");
	CHECK(!strcmp(r[0].comm, "dd") && !*r[1].comm, "'%s' '%s'", r[0].comm,
	      r[1].comm);
	trace_folder_close();
}

#define EVENT	"  8,0    1        1     1.000000000   199  Q "

static void text_refusals(void)
{
	static const char begin[] = "must begin with device, CPU, sequence, time, process and action, as blkparse prints them by default";
	static const struct { const char *line, *message; } rows[] = {
		{ "8,0 1 1 1.5 199 Q WS 7 + 1 [dd]", begin },
		{ "8,0 1 1 1.000000000 199", begin },
		{ "8,0 1 1 18446744073.000000000 199 Q WS 7 + 1 [dd]", begin },
		{ "8,0 1 1 1.000000000 4294967296 Q WS 7 + 1 [dd]", begin },
		{ EVENT "XS 7 + 1 [dd]",
		  "flags must be R, W, WZ, D, DE, F or N, with F before or F, A, S, M, U, B after" },
		{ EVENT "WX 7 + 1 [dd]",
		  "flags must be R, W, WZ, D, DE, F or N, with F before or F, A, S, M, U, B after" },
		{ EVENT "WS 36028797018963968 + 1 [dd]",
		  "sector must be a number on a device, followed by \" + \"" },
		{ EVENT "WS 7 - 1 [dd]",
		  "sector must be a number on a device, followed by \" + \"" },
		{ EVENT "WS 7 + 0 [dd]",
		  "number of sectors must be from 1 to 36028797018963967" },
		{ EVENT "WS 7 + 1 [dd",
		  "must end with \" [\", the process name and \"]\"" },
		{ EVENT "WS 7 + 1 dd]",
		  "must end with \" [\", the process name and \"]\"" },
		{ EVENT "WS 18014398509481983 + 2 [dd]",
		  "ends beyond byte 9223372036854775807, the last of any file" },
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text =
			message_format(EVENT "WS 7 + 1 [a [b]]\n%s\n",
				       rows[i].line);
		CLEANUP_FREE char *message = message_format("line 2: %s",
							    rows[i].message);

		trace_expect_refused(trace_text("t", text), message);
	}
	trace_expect_refused(trace_text("t", EVENT "WS 7 + 1 [a]\n"
		"CPU0 (8,0):\nEvents (8,0): 1 entries\n" EVENT "WS 8 + 1 [a]\n"),
		"line 4: another output of blkparse begins here, behind the summary of the first one; split the file");
	trace_folder_close();
}

/* A little out of order is put right; more than the sorter holds is refused. */
static void order_of_text(void)
{
	enum { NR = TRACE_SORTER_ROOM + 10 };
	char *text = memory_or_exit(malloc(80 * (NR + 1))), *to = text;
	struct trace_request r[4] = { 0 };
	int i;

	trace_folder_open();
	CHECK(trace_drain(trace_text("t",
		"Input file x added\n\n"
		"  8,0 0 1 0.000000005 1 Q WS 5 + 1 [(null)]\n"
		"  8,0 0 2 0.000000003 1 Q WS 3 + 1 [a b] c]\n"
		"  8,0 0 3 0.000000003 1 Q FWFS 4 + 1 [sixteen letters!]\n"
		"  8,0 0 -1 0.000000004 1 Q N [a]\n"
		"  8,0 0 3 0.000000004 1 m N any text\n"
		"Total (x):\nwhatever\n"), r, 4) == 3, "three");
	CHECK(r[0].offset == 3 * 512 && r[1].offset == 4 * 512 &&
	      r[2].offset == 5 * 512, "order");
	CHECK(!strcmp(r[0].comm, "a b] c") && !*r[2].comm &&
	      !strcmp(r[1].comm, "sixteen letters"), "names");
	CHECK(r[1].fua && r[1].preflush && !r[0].fua, "flags");

	for (i = 0; i < NR; i++)
		to += sprintf(to, "8,0 0 1 1.%09d 1 Q W %d + 1 [a]\n", i, i + 1);
	sprintf(to, "8,0 0 1 1.%09d 1 Q W 7 + 1 [a]\n", 10);
	CHECK(trace_drain(trace_text("t", text), NULL, 0) == NR + 1, "just so");
	sprintf(to, "8,0 0 1 1.%09d 1 Q W 7 + 1 [a]\n", 9);
	trace_expect_refused(trace_text("t", text),
			     "line 8203: time 1000000009 ns is before the 1000000010 ns of over 8192 previous requests; sort the trace by time");
	free(text);
	trace_folder_close();
}

const struct tap_test trace_blktrace_tests[] = {
	{ "a blktrace has the requests that blkparse counts", agrees_with_blkparse },
	{ "a blktrace has what was asked for: writes, FUA, flushes, discards", what_was_asked_for },
	{ "a blktrace is the same as files, merged, and as text", whatever_the_form },
	{ "the processors of a blktrace are merged however long it is", long_files },
	{ "a processor that was idle has its part in a blktrace", idle_processors },
	{ "a blktrace may come from a machine of the other byte order", other_byte_order },
	{ "what is wrong in a blktrace is named with its byte", binary_refusals },
	{ "only what was queued counts, and only as a request", what_counts },
	{ "a process has its own name in a blktrace, or none", names_of_processes },
	{ "what is wrong in blkparse's text is named with its line", text_refusals },
	{ "a trace without queued events is read by its issued ones", issued_alone },
	{ "issued events alone cannot be read from a pipe", issued_alone_in_a_pipe },
	{ "events a little out of order are put right, others refused", order_of_text },
	{ 0 },
};
