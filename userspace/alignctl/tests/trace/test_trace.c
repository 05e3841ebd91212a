// SPDX-License-Identifier: GPL-2.0
/* What all formats share, CSV, and the order of times. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "trace/names.h"
#include "trace/sorter.h"

static void csv_columns(void)
{
	static const char *const texts[] = {
		"time_ns,op,offset,bytes,flags,pid,comm,file\n"
		"0,write,512,4096,fua,7,\"a,\"\"b\",/x\n"
		"1500,flush,,,,0,,/y\n"
		"\n"
		"1500,discard,1048576,1024,,0,c d,/x\n"
		"3000000000,read,0,512,preflush+fua,4294967295,,/y\n",
		/* other units and order, blanks, CR LF, a byte order mark */
		"\xef\xbb\xbf" "file, comm ,pid,sectors,offset_sectors,op,time_s,\"flags\"\r\n"
		"/x,\"a,\"\"b\",7,8,1,write,0,\"fua\"\r\n"
		"/y,,,,,flush,0.0000015,\r\n"
		"/x, c d ,0,2,2048,discard,0.000001500,\r\n"
		"/y,,4294967295,1,0,read,3,fua+preflush\r\n",
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < 2; i++) {
		const char *path = trace_text("t", texts[i]);
		struct trace_request r[4] = { 0 };
		struct trace *trace;
		int nr = trace_drain(path, r, 4);

		CHECK(nr == 4, "%d", nr);
		CHECK(r[0].op == TRACE_WRITE && r[0].offset == 512 &&
		      r[0].bytes == 4096 && r[0].fua && !r[0].preflush &&
		      r[0].pid == 7 && !r[0].file && !r[0].time_ns, "%zu", i);
		CHECK(!strcmp(r[0].comm, "a,\"b"), "%zu: %s", i, r[0].comm);
		CHECK(r[1].op == TRACE_FLUSH && r[1].file == 1 &&
		      r[1].time_ns == 1500, "%zu", i);
		CHECK(r[2].op == TRACE_DISCARD && r[2].offset == 1 << 20 &&
		      r[2].bytes == 1024 && r[2].file == 0, "%zu", i);
		CHECK(!strcmp(r[2].comm, "c d"), "%zu: '%s'", i, r[2].comm);
		CHECK(r[3].op == TRACE_READ && r[3].fua && r[3].preflush &&
		      r[3].pid == UINT32_MAX &&
		      r[3].time_ns == 3000000000U, "%zu", i);

		CHECK(!trace_open(&trace, path), "%zu", i);
		CHECK(trace_facts(trace)->timed &&
		      !trace_facts(trace)->end_known &&
		      !strcmp(trace_facts(trace)->format, "csv"), "%zu", i);
		CHECK(!trace_file(trace, 0), "%zu", i);
		trace_next(trace, r);
		CHECK(!strcmp(trace_file(trace, 0), "/x"), "%zu", i);
		trace_close(trace);
	}
	trace_folder_close();
}

static void csv_without_times(void)
{
	struct trace *trace;

	trace_folder_open();
	CHECK(!trace_open(&trace, trace_text("t", "op,offset,bytes\n")), "it");
	CHECK(!trace_facts(trace)->timed, "it");
	trace_close(trace);
	trace_folder_close();
}

/* Operations in any case and as block traces name them, and other columns. */
static void csv_of_others(void)
{
	static const struct {
		enum trace_op op;
		bool preflush, fua;
	} want[] = {
		{ TRACE_WRITE, false, false }, { TRACE_READ, false, false },
		{ TRACE_WRITE, false, false }, { TRACE_READ, false, false },
		{ TRACE_WRITE, true, true }, { TRACE_DISCARD, false, false },
		{ TRACE_DISCARD, false, false }, { TRACE_WRITE_ZEROES, false, false },
		{ TRACE_FLUSH, false, false },
	};
	enum { NR = sizeof(want) / sizeof(want[0]) };
	CLEANUP_FREE char *said = NULL;
	struct trace_request r[NR] = { 0 };
	size_t i;
	int nr;

	trace_folder_open();
	trace_keep_messages();
	nr = trace_drain(trace_text("t",
		"latency,op,offset,bytes,\"queue, depth\"\n"
		"5,Write,0,512,1\n,READ,0,512,\nx,w,0,512,\n,R,0,512,\n"
		",FWFS,0,512,\n,Trim,0,512,\n,D,0,512,\n"
		",Write-Zeroes,0,512,\n,,0,512,\n,F,,,\n"), r, NR);
	said = trace_kept_messages();
	CHECK(nr == NR, "%d", nr);
	for (i = 0; i < NR; i++)
		CHECK(r[i].op == want[i].op && r[i].fua == want[i].fua &&
		      r[i].preflush == want[i].preflush, "%zu", i);
	CHECK(strstr(said, "/t: columns ignored: latency, queue, depth\n"),
	      "%s", said);
	CHECK(strstr(said, "/t: entries left out: 1 (no operation)\n"), "%s",
	      said);
	trace_folder_close();
}

/* Write requests, each 2 before the last but for @far before the first. */
static const char *stepping_back(int nr, int far)
{
	CLEANUP_FREE char *text = memory_or_exit(malloc(40 * nr + 100));
	char *to = text + sprintf(text, "time_ns,op,offset,bytes\n");
	int i;

	for (i = 0; i < nr; i++)
		to += sprintf(to, "%d,write,%d,512\n",
			      i == far ? 0 : 10 + (i ^ 1), 512 * i);
	return trace_text("t", text);
}

static void times_that_step_back(void)
{
	enum { NR = 20000 };
	struct trace_request request;
	struct trace *trace;
	int nr;

	trace_folder_open();
	CHECK(!trace_open(&trace, stepping_back(NR, NR)), "open");
	for (nr = 0; trace_next(trace, &request) == TRACE_GOT; nr++)
		if (request.offset != 512ULL * (nr ^ 1))
			CHECK(0, "request %d", nr);
	CHECK(nr == NR, "%d", nr);
	trace_close(trace);
	CHECK(trace_drain(stepping_back(NR, TRACE_SORTER_ROOM - 1), &request,
			  1) == NR && !request.time_ns &&
	      request.offset == 512ULL * (TRACE_SORTER_ROOM - 1),
	      "the last of the window");
	trace_expect_refused(stepping_back(NR, 15000),
			     "line 15002: time 0 ns is before the 6818 ns of over 8192 previous requests; sort the trace by time");
	trace_folder_close();
}

static void csv_refusals(void)
{
	static const struct { const char *text, *message; } rows[] = {
		{ "op,offset,bytes\nwrite,0,512\nwrite,12x,512\n",
		  "line 3: offset \"12x\": must be a number of bytes" },
		{ "op,offset,bytes\nwrite,-1,512\n",
		  "line 2: offset \"-1\": must be a number of bytes" },
		{ "op,offset,bytes\nwrite,18446744073709551616,512\n",
		  "line 2: offset \"18446744073709551616\": must be a number of bytes" },
		{ "op,offset,bytes\nwrite,9223372036854775296,512\n",
		  "line 2: ends beyond byte 9223372036854775807, the last of any file" },
		{ "op,offset,bytes\nwrite,18446744073709551615,512\n",
		  "line 2: ends beyond byte 9223372036854775807, the last of any file" },
		{ "op,offset,bytes\nwrite,512,18446744073709551615\n",
		  "line 2: ends beyond byte 9223372036854775807, the last of any file" },
		{ "op,offset_sectors,sectors\nwrite,36028797018963968,1\n",
		  "line 2: offset_sectors \"36028797018963968\": must be a number of 512-byte sectors" },
		{ "op,offset,bytes\nwrite,0,0\n", "line 2: length is 0" },
		{ "op,offset,bytes\nwrite,,512\n",
		  "line 2: offset is empty; only a flush has none" },
		{ "op,offset,bytes\nwrite,0\n",
		  "line 2: has 2 of 3 columns" },
		{ "op,offset,bytes\nwrite,0,512,\n",
		  "line 2: has more than 3 columns" },
		{ "op,offset,bytes\ndance,0,512\n",
		  "line 2: op \"dance\": must be read, write, flush, discard or write-zeroes" },
		{ "op,offset,bytes,flags\nwrite,0,512,fu\n",
		  "line 2: flags \"fu\": must be empty, preflush, fua or preflush+fua" },
		{ "op,offset,bytes,comm\nwrite,0,512,\"a\n",
		  "line 2: comm: quotes must be closed and followed by a comma" },
		{ "op,offset,bytes,comm\nwrite,0,512,\"a\"\"\n",
		  "line 2: comm: quotes must be closed and followed by a comma" },
		{ "op,offset,bytes,comm\nwrite,0,512,\"a\"b\n",
		  "line 2: comm: quotes must be closed and followed by a comma" },
		{ "op,offset,bytes,pid\nwrite,0,512,4294967296\n",
		  "line 2: pid \"4294967296\": must be a process number" },
		{ "op,offset,bytes\n1,0,512\n",
		  "line 2: op \"1\": could be a read or a write; name the column op_1w (1 is a write) or op_1r (1 is a read)" },
		{ "op_1w,offset,bytes\n3,0,512\n",
		  "line 2: op_1w \"3\": must be 0, 1, or 2 for a trim" },
		{ "op,offset,size\n",
		  "line 1: column \"bytes\" or \"sectors\" is missing" },
		{ "op,op_1r,offset,bytes\n",
		  "line 1: column \"op\" is given twice, or in two units" },
		{ "time_us,op,offset,bytes\n1.0001,write,0,512\n",
		  "line 2: time_us \"1.0001\": must be microseconds, with up to three digits after the point" },
		{ "op,offset,offset_sectors,bytes\n",
		  "line 1: column \"offset\" is given twice, or in two units" },
		{ "op,offset\n",
		  "line 1: column \"bytes\" or \"sectors\" is missing" },
		{ "offset,bytes\n", "line 1: column \"op\" is missing" },
		{ "time_s,op,offset,bytes\n1.0000000001,write,0,512\n",
		  "line 2: time_s \"1.0000000001\": must be seconds, with up to nine digits after the point" },
		{ "time_s,op,offset,bytes\n18446744074,write,0,512\n",
		  "line 2: time_s \"18446744074\": must be seconds, with up to nine digits after the point" },
		{ "", "is empty; a trace has at least a header or a request" },
	};
	static const char zero[] = "op,offset,bytes\nwrite,0\0,512\n";
	size_t i, length = 70000;
	char *line;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_expect_refused(trace_text("t", rows[i].text),
				     rows[i].message);
	trace_expect_refused(trace_bytes("t", zero, sizeof(zero) - 1),
			     "line 2: contains a NUL byte; the file is not text");
	line = memory_or_exit(calloc(1, length + 1));
	memset(line, '1', length);
	memcpy(line, "op,offset,bytes\n", 16);
	trace_expect_refused(trace_text("t", line),
			     "line 2: too long for a line of a trace");
	free(line);
	trace_folder_close();
}

/* Each format's first request, in a file that ends without a line end. */
static void no_last_line_end(void)
{
	static const struct {
		const char *format;
		const char *text;
		uint64_t offset;
	} cases[] = {
		{ "fio iolog v2", "fio version 2 iolog\n/d add\n/d open\n/d write 512 4096",
		  512 },
		{ "blkparse", "8,0 0 1 0.000000000 7 Q WS 63 + 8 [dd]", 32256 },
		{ "csv", "op,offset,bytes\nwrite,512,4096", 512 },
		{ "msr", "128166372003061629,hm,1,Write,512,4096,0", 512 },
		{ "alibaba", "3,W,512,4096,1577808000000000", 512 },
		{ "tencent", "1538323200,1,8,1,1283", 512 },
		{ "systor", "1455580800.0,0.1,W,0,512,4096", 512 },
		{ "fiu", "1 7 dd 1 8 W 8 0 abc", 512 },
		{ "spc", "0,1,4096,w,0.5", 512 },
		{ "mqsim", "11413000 0 1 8 0", 512 },
		{ "blkreplay", "0.5 ; 1 ; 8 ; W", 512 },
	};
	struct trace_request request;
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP_FREE char *said = NULL;
		struct trace *trace;
		const char *path = trace_text("t", cases[i].text);

		trace_keep_messages();
		CHECK(!trace_open(&trace, path), "%s", cases[i].format);
		CHECK(!strcmp(trace_facts(trace)->format, cases[i].format),
		      "%s", trace_facts(trace)->format);
		CHECK(trace_next(trace, &request) == TRACE_GOT &&
		      request.offset == cases[i].offset &&
		      request.bytes == 4096, "%s", cases[i].format);
		CHECK(trace_next(trace, &request) == TRACE_END, "%s",
		      cases[i].format);
		CHECK(!trace_rewind(trace), "%s", cases[i].format);
		CHECK(trace_next(trace, &request) == TRACE_GOT &&
		      trace_next(trace, &request) == TRACE_END, "%s",
		      cases[i].format);
		trace_close(trace);
		said = trace_kept_messages();
		CHECK(strstr(said, " has no line end; ") &&
		      !strstr(strstr(said, " has no line end; ") + 1,
			      " has no line end; "), "%s: %s", cases[i].format,
		      said);
	}
	trace_folder_close();
}

static void marks_of_encodings(void)
{
	static const char *const texts[] = {
		"\xef\xbb\xbf" "fio version 2 iolog\n/d add\n/d open\n/d write 512 4096\n",
		"\xef\xbb\xbf" "8,0 0 1 0.000000000 7 Q WS 1 + 8 [dd]\n",
		"\xef\xbb\xbf" "op,offset,bytes\nwrite,512,4096\n",
		"\xef\xbb\xbf" "0,1,4096,w,0.5\n",
		"\xef\xbb\xbf" "0.5 ; 1 ; 8 ; W\n",
	};
	static const struct {
		const char *bytes;
		size_t length;
		const char *said;
	} refused[] = {
		{ "\xff\xfeo\0p\0,\0", 8, "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16)" },
		{ "\xfe\xff\0o\0p\0,", 8, "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16)" },
		{ "o\0p\0,\0", 6, "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16LE)" },
		{ "\0o\0p\0,", 6, "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16BE)" },
		{ "PK\3\4abcd", 8, "is a zip archive; extract the trace first (unzip -p)" },
		{ "7z\xbc\xaf\x27\x1c", 6, "is a 7z archive; extract the trace first (7z x -so)" },
	};
	struct trace_request request;
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct trace *trace;
		int pass;

		CHECK(!trace_open(&trace, trace_text("t", texts[i])), "%zu", i);
		for (pass = 0; pass < 2; pass++) {
			CHECK(trace_next(trace, &request) == TRACE_GOT &&
			      request.offset == 512 && request.bytes == 4096,
			      "%zu: %d", i, pass);
			CHECK(trace_next(trace, &request) == TRACE_END, "%zu",
			      i);
			CHECK(!trace_rewind(trace), "%zu", i);
		}
		trace_close(trace);
	}
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		trace_expect_refused(trace_bytes("t", refused[i].bytes,
						 refused[i].length),
				     refused[i].said);
	trace_folder_close();
}

static void what_is_no_trace(void)
{
	CLEANUP_FREE char *said = NULL;
	struct trace *trace;

	trace_folder_open();
	trace_keep_messages();
	CHECK(trace_open(&trace, trace_path(".")) == ALIGNCTL_USAGE, "folder");
	CHECK(!trace, "folder");
	CHECK(trace_open(&trace, trace_path("none")) == ALIGNCTL_USAGE, "none");
	CHECK(trace_open(&trace, trace_text("t", "hello\n")) == ALIGNCTL_USAGE,
	      "text");
	trace_close(trace);
	said = trace_kept_messages();
	CHECK(strstr(said, "/.: is a folder; a trace is a file\n"), "%s", said);
	CHECK(strstr(said, "/none: cannot be read: No such file"), "%s", said);
	CHECK(strstr(said, "/t: unknown format; name the format with --from, or the columns of a table with --columns"), "%s", said);
	trace_folder_close();
}

static void a_pipe(void)
{
	static const char text[] = "op,offset,bytes\nwrite,0,512\n";
	CLEANUP_FREE char *said = NULL;
	struct trace_request request;
	int ends[2], standard = dup(STDIN_FILENO);
	struct trace *trace;

	CHECK(!pipe(ends), "pipe");
	CHECK(write(ends[1], text, sizeof(text) - 1) > 0, "pipe");
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	CHECK(!trace_open(&trace, "-"), "open");
	CHECK(trace_next(trace, &request) == TRACE_GOT, "first");
	CHECK(trace_next(trace, &request) == TRACE_END, "end");
	trace_keep_messages();
	CHECK(trace_rewind(trace) == ALIGNCTL_USAGE, "rewind");
	said = trace_kept_messages();
	CHECK(!strcmp(said, "alignctl: standard input: cannot be read a second time: Illegal seek; save the trace to a file first\n"),
	      "%s", said);
	trace_close(trace);
	dup2(standard, STDIN_FILENO);
	close(standard);
}

/* Rewind twice, from middle and end, and in files longer than a buffer. */
static void rewound(void)
{
	enum { NR = 5000 };
	CLEANUP_FREE char *text = memory_or_exit(malloc(40 * NR));
	char *to = text + sprintf(text, "time_us,op,offset,bytes\n");
	int i, stop, round;
	struct trace *trace;

	for (i = 0; i < NR; i++)
		to += sprintf(to, "%d,write,%d,512\n", i, 512 * i);
	trace_folder_open();
	CHECK(!trace_open(&trace, trace_text("t", text)), "open");
	for (round = 0; round < 3; round++) {
		stop = round == 1 ? NR / 2 : NR;
		for (i = 0; i < stop; i++) {
			struct trace_request request;
			CLEANUP_FREE char *place = NULL;

			if (trace_next(trace, &request) != TRACE_GOT ||
			    request.time_ns != 1000ULL * i ||
			    request.offset != 512ULL * i) {
				CHECK(0, "round %d, request %d", round, i);
				break;
			}
			place = trace_position(trace);
			if (atoi(strrchr(place, ' ')) != i + 2)
				CHECK(0, "request %d: %s", i, place);
		}
		CHECK(!trace_rewind(trace), "round %d", round);
	}
	trace_close(trace);
	trace_folder_close();
}

static void sorted(void)
{
	struct trace_sorter *sorter = trace_sorter_new();
	struct trace_request request = { 0 }, before = { 0 };
	struct trace_place place = { 0 };
	uint64_t taken = 0, added = 0;

	while (taken < 5 * TRACE_SORTER_ROOM) {
		while (!trace_sorter_full(sorter)) {
			/* falls by up to 6, and often stays */
			request.time_ns = added / 8 * 4 + (added * 5) % 7;
			place.number = added++;
			trace_sorter_add(sorter, &request, &place);
		}
		trace_sorter_take(sorter, &request, &place);
		taken++;
		CHECK(request.time_ns == place.number / 8 * 4 +
		      (place.number * 5) % 7, "%" PRIu64, taken);
		CHECK(before.time_ns < request.time_ns ||
		      (before.time_ns == request.time_ns &&
		       before.offset <= place.number), "%" PRIu64, taken);
		before = request;
		before.offset = place.number;
	}
	trace_sorter_clear(sorter);
	CHECK(trace_sorter_empty(sorter), "cleared");
	trace_sorter_free(sorter);
}

/* Times in the orders that traces have, and that they should not. */
static uint64_t time_of(unsigned int shape, uint64_t arrival)
{
	switch (shape) {
	case 0: /* rises */
		return arrival;
	case 1: /* stays */
		return 7;
	case 2: /* falls */
		return 1000000 - arrival;
	case 3: /* rises after one that is far ahead */
		return arrival % 500 ? arrival : arrival + 1000000;
	case 4: /* rises, and every third is late */
		return arrival % 3 ? arrival : arrival - arrival % 200;
	default:
		return mix64(arrival) % 1000;
	}
}

/* Of those that are held, the earliest goes, in any order of arrival. */
static void earliest_of_any(void)
{
	static const unsigned int held[] = { 1, 2, 33, 300 };
	struct trace_sorter *sorter = trace_sorter_new();
	unsigned int shape, size, i, first;

	for (shape = 0; shape < 6; shape++) {
		for (size = 0; size < sizeof(held) / sizeof(held[0]); size++) {
			uint64_t arrivals[300], added = 0, taken = 0;
			unsigned int nr = 0;

			while (taken++ < 1500) {
				struct trace_request request = { 0 };
				struct trace_place place = { 0 };

				while (nr < held[size] && added < 1500) {
					request.time_ns = time_of(shape, added);
					place.number = added;
					trace_sorter_add(sorter, &request,
							 &place);
					arrivals[nr++] = added++;
				}
				/* they stand in the order of their arrival */
				for (first = 0, i = 1; i < nr; i++)
					if (time_of(shape, arrivals[i]) <
					    time_of(shape, arrivals[first]))
						first = i;
				trace_sorter_take(sorter, &request, &place);
				CHECK(place.number == arrivals[first] &&
				      request.time_ns ==
				      time_of(shape, arrivals[first]),
				      "order %u, %u held: request %" PRIu64 " for %"
				      PRIu64, shape, held[size], place.number,
				      arrivals[first]);
				memmove(&arrivals[first], &arrivals[first + 1],
					(--nr - first) * sizeof(*arrivals));
			}
			CHECK(trace_sorter_empty(sorter), "order %u", shape);
			/* a rewind, with one in order and one that is not */
			for (i = 2; i; i--)
				trace_sorter_add(sorter,
						 &(struct trace_request){
							.time_ns = i },
						 &(struct trace_place){ 0 });
			trace_sorter_clear(sorter);
		}
	}
	trace_sorter_free(sorter);
}

/* Many files, whose names differ as those of volumes do. */
static void names_found(void)
{
	enum { NR = 100000 };
	struct trace_names *names = memory_or_exit(calloc(1, sizeof(*names)));
	uint32_t i, at, number, longest = 0, run = 0;
	char name[32];

	CHECK(!trace_names_find(names, "", &number), "none");
	for (i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "volume%u", i * 37);
		CHECK(!trace_names_find(names, name, &number), "%u", i);
		CHECK(!trace_names_set(names, i, name), "%u", i);
	}
	for (i = NR; i--;) {
		snprintf(name, sizeof(name), "volume%u", i * 37);
		CHECK(trace_names_find(names, name, &number) && number == i,
		      "%u: %u", i, number);
	}
	CHECK(!trace_names_find(names, "volume1", &number), "another");
	/* a name is compared with those of one run of slots at most */
	CHECK(names->nr_slots > 2 * NR, "%u", names->nr_slots);
	for (at = 0; at < names->nr_slots; at++) {
		run = names->slots[at] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	CHECK(longest && longest <= 64, "%u", longest);
	trace_names_free(names);
	CHECK(!trace_names_find(names, "volume0", &number), "freed");
	/* two files of a recording may have one name; the first is found */
	CHECK(!trace_names_set(names, 3, "a") && !trace_names_set(names, 1, "a") &&
	      !trace_names_set(names, 2, "a"), "same");
	CHECK(trace_names_find(names, "a", &number) && number == 1, "%u",
	      number);
	trace_names_free(names);
	free(names);
}

/* Names so long that fewer than the largest number of files have one. */
static void names_bounded(void)
{
	struct trace_names *names = memory_or_exit(calloc(1, sizeof(*names)));
	char name[TRACE_MAX_NAME + 1];
	uint32_t i, number;

	for (i = 0; !trace_names_full(names); i++) {
		snprintf(name, sizeof(name), "%0*u", (int)TRACE_MAX_NAME, i);
		CHECK(!trace_names_set(names, i, name), "%u", i);
	}
	CHECK(i == TRACE_NAMES_BYTES / TRACE_MAX_NAME + 1, "%u", i);
	CHECK(trace_names_set(names, i, "a"), "full");
	CHECK(trace_names_find(names, name, &number) && number == i - 1, "last");
	trace_names_free(names);
	for (i = 0; i < TRACE_MAX_NAMES; i++) {
		snprintf(name, sizeof(name), "%x", i);
		if (trace_names_full(names) || trace_names_set(names, i, name))
			break;
	}
	CHECK(i == TRACE_MAX_NAMES && trace_names_full(names), "%u", i);
	CHECK(trace_names_set(names, i, "a "), "full");
	CHECK(trace_names_find(names, "fffff", &number) && number == 0xfffff,
	      "last");
	trace_names_free(names);
	free(names);
}

const struct tap_test trace_tests[] = {
	{ "a CSV trace has its columns in any order and in other units", csv_columns },
	{ "a CSV trace without a column of times has none", csv_without_times },
	{ "a CSV trace may have other columns, and operations in any case", csv_of_others },
	{ "times may step back within 8192 requests, and no further", times_that_step_back },
	{ "what is wrong in a CSV trace is named with its line", csv_refusals },
	{ "folders, missing files and other text are no traces", what_is_no_trace },
	{ "the last line of a trace in any text format needs no end", no_last_line_end },
	{ "a mark of UTF-8 is skipped, and UTF-16 and archives are named", marks_of_encodings },
	{ "a name is found among many without looking at most of them", names_found },
	{ "the memory for names has a bound, by their number and their length", names_bounded },
	{ "a trace is read from a pipe, once", a_pipe },
	{ "a trace begins again when it is rewound", rewound },
	{ "requests are sorted by time, then by arrival", sorted },
	{ "the earliest of those held goes, in any order of arrival",
	  earliest_of_any },
	{ 0 },
};
