// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "workload/source.h"

/* The operations of a source to its end, a letter each, and their bytes. */
static void drain(struct source *source, char *ops, size_t room, uint64_t *bytes)
{
	struct trace_request request;
	size_t n = 0;

	*bytes = 0;
	while (source_next(source, &request) == TRACE_GOT && n + 1 < room) {
		ops[n++] = "rwfdz"[request.op];
		if (request.fua)
			ops[n - 1] = 'W';
		*bytes += request.bytes;
	}
	ops[n] = '\0';
}

static void workloads_as_requests(void)
{
	static const struct {
		const char *name, *ops;
		uint64_t count, bytes;
	} want[] = {
		{ "w4k_132k", "wwww", 2, 2 * 139264 },
		{ "areasync", "wfwfwfwf", 1, 4 * 4 },
		{ "areasync-512", "wfwfwfwf", 1, 4 * 512 },
		{ "records-4000", "www", 3, 3 * 4000 },
		{ "append-512-dsync", "WWW", 3, 3 * 512 },
		{ "db-randread", "rrr", 3, 3 * 8192 },
		/* the flush is of the journal, and of all of 4 MiB */
		{ "journal-64k-rand", "wfwwfw", 2, 2 * (65536 + 8192) },
		{ "dd-4m-sync", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwf", 1,
		  4 << 20 },
		{ "dd-512-sync", "WWWWWWWW", 1, 8 * 4096 },
	};
	size_t i;
	int again;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct source source;

		CHECK(!source_open(&source, want[i].name), "%s", want[i].name);
		source.plan.count = want[i].count;
		for (again = 0; again < 2; again++) {
			uint64_t bytes;
			char ops[48];

			drain(&source, ops, sizeof(ops), &bytes);
			CHECK(!strcmp(ops, want[i].ops) &&
			      bytes == want[i].bytes, "%s: %s, %" PRIu64
			      " bytes", want[i].name, ops, bytes);
			CHECK(!source_rewind(&source), "%s", want[i].name);
		}
		source_close(&source);
	}
}

/* Asked for, it follows writes only, and is no request of the source. */
static void an_fdatasync_after_each_write(void)
{
	static const struct { const char *name, *ops; uint64_t issued; } want[] = {
		{ "w4k_132k", "wfwf", 2 }, { "areasync-512", "wfwfwfwf", 4 },
		{ "journal-64k-rand", "wfwf", 2 }, { NULL, "wfrfdwf", 5 },
	};
	struct trace_request request;
	size_t i;
	int again;

	trace_folder_open();
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const char *name = want[i].name ? want[i].name : trace_text("t",
			"time_ns,op,offset,bytes\n3,write,0,512\n"
			"4,read,0,512\n5,flush,0,0\n6,discard,0,512\n"
			"7,write,512,4096\n");
		struct source source;

		CHECK(!source_open(&source, name), "%s", name);
		source.plan.count = 1;
		source.plan.fdatasync = true;
		for (again = 0; again < 2; again++) {
			uint64_t bytes;
			char ops[48];

			drain(&source, ops, sizeof(ops), &bytes);
			CHECK(!strcmp(ops, want[i].ops) &&
			      source.issued == want[i].issued,
			      "%s: %s, %" PRIu64 " requests", name, ops,
			      source.issued);
			CHECK(!source_rewind(&source), "%s", name);
		}
		source_next(&source, &request);
		CHECK(source_next(&source, &request) == TRACE_GOT &&
		      request.op == TRACE_FLUSH && !request.bytes &&
		      request.time_ns == (want[i].name ? 0 : 3),
		      "%s: not at its time", name);
		source_close(&source);
	}
	trace_folder_close();
}

/* In the middle of what fdatasync makes two of. */
static void rewound_before_a_flush(void)
{
	struct trace_request request;
	struct source source;
	CLEANUP_FREE char *position = NULL;

	source_open(&source, "areasync");
	source_next(&source, &request);
	source_rewind(&source);
	CHECK(source_next(&source, &request) == TRACE_GOT &&
	      request.op == TRACE_WRITE, "begins with a flush");
	position = source_position(&source);
	CHECK(!strcmp(position, "areasync: request 1"), "%s", position);
	source_close(&source);
}

static void a_path_is_a_trace(void)
{
	struct trace_request request;
	struct source source;
	const char *path;

	trace_folder_open();
	path = trace_text("w512", "op,offset,bytes\nread,4096,512\n");
	CHECK(!source_open(&source, path), "%s", path);
	CHECK(!source.plan.workload && source_next(&source, &request) ==
	      TRACE_GOT && request.op == TRACE_READ && request.offset == 4096,
	      "not the trace");
	CHECK(!source_rewind(&source) && source_next(&source, &request) ==
	      TRACE_GOT && source_next(&source, &request) == TRACE_END,
	      "not one request");
	source_close(&source);
	trace_folder_close();
}

/* Each window rises, and has the reads that are its own without sorting. */
static void windows_are_sorted(void)
{
	static const struct { const char *name; uint64_t window; } rows[] = {
		{ "sorted-reads-1", 1 }, { "sorted-reads-32", 32 },
		{ "sorted-reads-1024", 1024 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE bool *seen = calloc(5000, sizeof(*seen));
		struct trace_request request;
		struct source source;
		uint64_t n, last = 0, falls = 0, expected = 0;
		uint32_t bytes;

		source_open(&source, rows[i].name);
		source.plan.places = 5000;
		for (n = 0; source_next(&source, &request) == TRACE_GOT; n++) {
			uint64_t place = (request.offset -
					  source.plan.start) / 4096;

			if (n % rows[i].window)
				falls += request.offset <= last;
			last = request.offset;
			seen[place] = true;
			/* the last window is not full */
			if ((n + 1) % rows[i].window && n + 1 < 1000)
				continue;
			for (; expected <= n; expected++) {
				place = (plan_request(&source.plan, expected,
						      &bytes) -
					 source.plan.start) / 4096;
				CHECK(seen[place], "%s: read %" PRIu64
				      " is not in its window", rows[i].name,
				      expected);
			}
		}
		CHECK(n == 1000 && !falls, "%s: %" PRIu64 " reads, %" PRIu64
		      " fall", rows[i].name, n, falls);
	}
}

const struct tap_test source_tests[] = {
	{ "a workload is its writes, and the flushes that its sync makes",
	  workloads_as_requests },
	{ "an fdatasync after each write is no request of the source",
	  an_fdatasync_after_each_write },
	{ "rewinding forgets the flush that came next", rewound_before_a_flush },
	{ "the path of a file is a trace, with any name", a_path_is_a_trace },
	{ "reads are sorted in windows, and each has its own", windows_are_sorted },
	{ 0 },
};
