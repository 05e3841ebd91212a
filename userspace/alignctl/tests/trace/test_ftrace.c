// SPDX-License-Identifier: GPL-2.0
/* Text of trace events, as ftrace, perf script and trace-cmd report print it. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/trace_file.h"

#define ISSUE	"dd-7  [000] d..1. 1.000001: block_rq_issue: "
#define QUEUE	"dd-7  [000] ..... 1.000001: block_bio_queue: "

static void of_each_tool(void)
{
	static const char *const texts[] = {
		/* ftrace */
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 3/3   #P:2\n"
		"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		"#              | |         |   |||||     |         |\n"
		"   my [1] job-42      [001] d..1.   100.000010: block_rq_issue: 8,16 W 4096 () 63 + 8 [my [1] job]\n"
		"   my [1] job-42      [001] d..1.   100.000020: block_rq_complete: 8,16 W () 63 + 8 [0]\n"
		"          <idle>-0       [000] d..2.   100.000030: block_rq_issue: 253,0 R 512 () 9 + 1 be,0,4 [swapper/0]\n",
		/* ftrace with record-tgid and without flags */
		"   my [1] job-42      (     41) [001]   100.000010: block_rq_issue: 8,16 W 4096 () 63 + 8 [my [1] job]\n"
		"          <idle>-0       (-----) [000]   100.000030: block_rq_issue: 253,0 R 512 () 9 + 1 [swapper/0]\n",
		/* perf script, with callchains */
		"my [1] job    42 [001]   100.000010:          block:block_rq_issue: 8,16 W 4096 () 63 + 8 [my [1] job]\n"
		"\tffffffff8155 blk_mq_start_request+0x1 ([kernel.kallsyms])\n\n"
		"swapper     0 [000]   100.000030:    block:block_rq_issue: 253,0 R 512 () 9 + 1 none,0,0 [swapper/0]\n",
		/* perf script --ns -F comm,pid,tid */
		"my [1] job    41/42 [001]   100.000010000: block:block_rq_issue: 8,16 W 4096 () 63 + 8 [my [1] job]\n"
		"swapper     0/0 [000]   100.000030000: block:block_rq_issue: 253,0 R 512 () 9 + 1 [swapper/0]\n",
		/* trace-cmd report */
		"version = 6\nCPU 2 is empty\ncpus=4\n"
		"      my [1] job-42    [001]   100.000010: block_rq_issue:       8,16 W 4096 () 63 + 8 [my [1] job]\n"
		"          <idle>-0     [000]   100.000030: block_rq_issue:       253,0 R 512 () 9 + 1 [swapper/0]\n",
	};
	size_t i;

	trace_folder_open();
	trace_keep_messages();
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct trace_request r[2] = { 0 };
		int nr = trace_drain(trace_text("t", texts[i]), r, 2);

		CHECK(nr == 2, "%zu: %d", i, nr);
		CHECK(r[0].op == TRACE_WRITE && r[0].offset == 63 * 512 &&
		      r[0].bytes == 4096 && r[0].pid == 42 && !r[0].time_ns &&
		      !strcmp(r[0].comm, "my [1] job"), "%zu: %s", i,
		      r[0].comm);
		CHECK(r[1].op == TRACE_READ && r[1].offset == 9 * 512 &&
		      r[1].bytes == 512 && !r[1].pid &&
		      r[1].time_ns == 20000 && r[1].file == 1 &&
		      !strcmp(r[1].comm, "swapper/0"), "%zu: %s", i,
		      r[1].comm);
	}
	free(trace_kept_messages());
	trace_folder_close();
}

static void operations(void)
{
	static const struct {
		const char *line;
		enum trace_op op;
		bool preflush, fua;
	} rows[] = {
		{ ISSUE "8,0 FF 0 () 18446744073709551615 + 0 [kworker/0:1H]",
		  TRACE_FLUSH, false, false },
		{ ISSUE "8,0 FF 0 () 0 + 0 [a]", TRACE_FLUSH, false, false },
		{ QUEUE "8,0 FWS 0 + 0 [a]", TRACE_FLUSH, false, false },
		{ QUEUE "8,0 FWFSM 8 + 8 [a]", TRACE_WRITE, true, true },
		{ QUEUE "8,0 DS 8 + 8 [a]", TRACE_DISCARD, false, false },
		{ QUEUE "8,0 WZ 8 + 8 [a]", TRACE_WRITE_ZEROES, false, false },
		{ QUEUE "8,0 RAM 8 + 8 [a]", TRACE_READ, false, false },
	};
	size_t i;

	trace_folder_open();
	trace_keep_messages();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text = message_format("%s\n", rows[i].line);
		struct trace_request r = { 0 };
		int nr = trace_drain(trace_text("t", text), &r, 1);
		bool flush = rows[i].op == TRACE_FLUSH;

		CHECK(nr == 1 && r.op == rows[i].op &&
		      r.preflush == rows[i].preflush && r.fua == rows[i].fua,
		      "%s: %d", rows[i].line, nr);
		CHECK(r.bytes == (flush ? 0 : 4096), "%s", rows[i].line);
	}
	/* a command to the drive, and an event that moves nothing */
	CHECK(!trace_drain(trace_text("t", ISSUE "8,0 N 36 (12 00 00 00 24 00) 0 + 0 [a]\n"
				      ISSUE "8,0 R 0 () 8 + 0 [a]\n"), NULL, 0),
	      "left out");
	free(trace_kept_messages());
	trace_folder_close();
}

/* Drain a trace twice. Return: what was said about it, for free(). */
static char *said_of(const char *text, struct trace_request *requests, int nr)
{
	struct trace_request request;
	struct trace *trace = NULL;
	int i;

	trace_keep_messages();
	CHECK(!trace_open(&trace, trace_text("t", text)), "open");
	for (i = 0; trace && i < nr; i++)
		CHECK(trace_next(trace, &requests[i]) == TRACE_GOT, "%d", i);
	CHECK(trace && trace_next(trace, &request) == TRACE_END, "end");
	CHECK(trace && !trace_rewind(trace), "rewind");
	for (i = 0; trace && i < nr; i++)
		CHECK(trace_next(trace, &request) == TRACE_GOT &&
		      request.offset == requests[i].offset, "%d", i);
	trace_close(trace);
	return trace_kept_messages();
}

/* Check that @said has @warning, once, and nothing else. */
static void expect_warning(const char *said, const char *warning)
{
	const char *end = strchr(said, '\n');

	CHECK(strstr(said, warning) && end && !end[1], "%s", said);
}

static void queued_first(void)
{
	CLEANUP_FREE char *both = NULL, *issued = NULL, *queued = NULL;
	struct trace_request r[2] = { 0 };

	trace_folder_open();
	both = said_of(ISSUE "8,0 W 0 () 0 + 16 [a]\n"
		       QUEUE "8,0 W 1 + 8 [a]\n"
		       QUEUE "8,0 W 9 + 8 [a]\n", r, 2);
	CHECK(r[0].offset == 512 && r[1].offset == 4608, "bios");
	expect_warning(both, "block_bio_queue is read: writes as issued");
	queued = said_of(QUEUE "8,0 W 1 + 8 [a]\n", r, 1);
	CHECK(!*queued, "%s", queued);
	issued = said_of(ISSUE "8,0 W 0 () 4 + 16 [a]\n", r, 1);
	CHECK(r[0].offset == 2048, "request");
	expect_warning(issued, "has no block_bio_queue; block_rq_issue is read: requests, not writes as issued");
	trace_folder_close();
}

static void lost_events(void)
{
	static const struct { const char *text, *warning; } rows[] = {
		/* trace_pipe of ftrace */
		{ "CPU:1 [LOST 23 EVENTS]\n" QUEUE "8,0 W 1 + 8 [a]\n"
		  "CPU:11 [LOST 5 EVENTS]\n",
		  "incomplete: 28 events were lost, first at line 1; trace with a larger buffer" },
		{ QUEUE "8,0 W 1 + 8 [a]\nCPU:0 [LOST EVENTS]\n",
		  "incomplete: at least 1 event was lost, first at line 2; trace with a larger buffer" },
		/* a file "trace" of ftrace */
		{ "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/70   #P:2\n#\n"
		  QUEUE "8,0 W 1 + 8 [a]\n",
		  "incomplete: 69 events were lost, first at line 3; trace with a larger buffer" },
		/* trace-cmd report */
		{ "cpus=4\n" QUEUE "8,0 W 1 + 8 [a]\nCPU:3 [5 EVENTS DROPPED]\n"
		  "CPU:2 [EVENTS DROPPED]\n",
		  "incomplete: at least 6 events were lost, first at line 3; trace with a larger buffer" },
		/* perf script --show-lost-events */
		{ "dd    42 [001]   100.000010: block:block_bio_queue: 8,16 W 63 + 8 [dd]\n"
		  "dd    42 [001]   100.000011: PERF_RECORD_LOST lost 12\n"
		  "43/44 [003]   100.000012: unknown: PERF_RECORD_LOST lost 1\n"
		  "PERF_RECORD_LOST_SAMPLES lost 2\n",
		  "incomplete: 15 events were lost, first at line 2; trace with a larger buffer" },
		{ "CPU:1 [LOST 18446744073709551615 EVENTS]\n" QUEUE "8,0 W 1 + 8 [a]\n"
		  "CPU:1 [LOST 2 EVENTS]\n",
		  "incomplete: 18446744073709551615 events were lost, first at line 1; trace with a larger buffer" },
	};
	static const char *const whole[] = {
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:2\n#\n"
		QUEUE "8,0 W 1 + 8 [a]\n",
		"CPU 2 is empty\ncpus=4\n" QUEUE "8,0 W 1 + 8 [LOST 2 EVENTS]\n"
		"##### CPU 1 buffer started ####\n",
	};
	struct trace_request r[2] = { 0 };
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *said = said_of(rows[i].text, r, 1);

		expect_warning(said, rows[i].warning);
	}
	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		CLEANUP_FREE char *said = said_of(whole[i], r, 1);

		CHECK(!*said, "%s", said);
	}
	trace_folder_close();
}

/* Letters of no operation of enum trace_op, with a command to the drive or not. */
static void no_operation(void)
{
	CLEANUP_FREE char *said = NULL;
	struct trace_request r;
	struct trace *trace = NULL;

	trace_folder_open();
	trace_keep_messages();
	CHECK(!trace_open(&trace, trace_text("t",
		ISSUE "8,0 N 36 (12 00 00 00 24 00) 0 + 0 [a]\n"
		ISSUE "8,0 W 512 () 8 + 1 [a]\n"
		ISSUE "8,0 NS 512 () 8 + 1 [a]\n"
		ISSUE "8,0 N 0 () 0 + 0 [a]\n")), "open");
	CHECK(trace_next(trace, &r) == TRACE_GOT && r.op == TRACE_WRITE &&
	      trace_next(trace, &r) == TRACE_END, "one");
	CHECK(trace_left_out(trace, TRACE_LEFT_OTHER_COMMAND) == 3, "counted");
	trace_close(trace);
	said = trace_kept_messages();
	CHECK(strstr(said, "entries left out: 3 (command that is neither read, write nor flush)"),
	      "%s", said);
	trace_folder_close();
}

static void refusals(void)
{
	static const struct { const char *text, *reason; } rows[] = {
		{ QUEUE "8:0 W 1 + 8 [a]", "line 1: device must be MAJOR,MINOR" },
		{ QUEUE "8,0 X 1 + 8 [a]",
		  "line 1: flags must be those of the kernel, as R, W, WS or FWFS" },
		{ QUEUE "8,0 WX 1 + 8 [a]",
		  "line 1: flags must be those of the kernel, as R, W, WS or FWFS" },
		{ QUEUE "8,0 W 1 - 8 [a]",
		  "line 1: sector must be a number on a device, followed by \" + \"" },
		{ QUEUE "8,0 W 36028797018963968 + 8 [a]",
		  "line 1: sectors must be below 36028797018963968" },
		{ QUEUE "8,0 W 1 + 8 [a",
		  "line 1: must end with \"[\", the process name and \"]\"" },
		{ QUEUE "8,0 W 1 + 8",
		  "line 1: must end with \"[\", the process name and \"]\"" },
		{ QUEUE "8,0 W 1 + 8 [a]\ndd-7 [000] block_bio_queue: 8,0 W 1 + 8 [a]",
		  "line 2: must have [CPU] and seconds before the event" },
		{ "dd-7 [000] d.... 1.000001: sched_switch: prev_comm=a",
		  "line 1: no event so far is block_bio_queue or block_rq_issue; trace one of these" },
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text = message_format("%s\n", rows[i].text);

		trace_expect_refused(trace_text("t", text), rows[i].reason);
	}
	trace_folder_close();
}

const struct tap_test trace_ftrace_tests[] = {
	{ "events are read as ftrace, perf script and trace-cmd print them", of_each_tool },
	{ "letters and lengths of an event make the operation", operations },
	{ "queued bios are read before issued requests, if there are both", queued_first },
	{ "events that were lost are counted, as each tool says it", lost_events },
	{ "what the kernel calls no operation is left out, and counted", no_operation },
	{ "what is wrong in an event is named with its line", refusals },
	{ 0 },
};
