// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/trace_file.h"

#define V2	"fio version 2 iolog\n"
#define V3	"fio version 3 iolog\n"

static bool is_request(const struct trace_request *r, enum trace_op op,
		       uint64_t time_ns, uint64_t offset, uint64_t bytes,
		       uint32_t file)
{
	return r->op == op && r->time_ns == time_ns && r->offset == offset &&
	       r->bytes == bytes && r->file == file && !r->fua &&
	       !r->preflush && !r->pid && !*r->comm;
}

/* As fio 3.33 wrote it: fdatasync=3, sizes from 512 to 16384. */
static void written_by_fio(void)
{
	struct trace_request r[15] = { 0 };
	uint64_t bytes = 0;
	int i, nr, flushes = 0;

	nr = trace_drain(trace_fixture("fio-fdatasync.log"), r, 15);
	CHECK(nr == 15, "%d", nr);
	CHECK(is_request(&r[0], TRACE_WRITE, 203000, 62976, 3584, 0), "first");
	CHECK(is_request(&r[3], TRACE_FLUSH, 6280000, 0, 0, 0), "flush");
	CHECK(is_request(&r[14], TRACE_WRITE, 33223000, 682496, 5632, 0),
	      "last");
	for (i = 0; i < 15; i++) {
		flushes += r[i].op == TRACE_FLUSH;
		bytes += r[i].bytes;
	}
	CHECK(flushes == 3, "%d flushes", flushes);
	CHECK(bytes == 92672, "%llu bytes", (unsigned long long)bytes);
}

static void range_is_left_out(void)
{
	CLEANUP_FREE char *said = NULL;
	struct trace_request r[5] = { 0 }, request;
	struct trace *trace;
	int nr;

	trace_keep_messages();
	nr = trace_drain(trace_fixture("fio-sync-file-range.log"), r, 5);
	CHECK(!trace_open(&trace, trace_fixture("fio-sync-file-range.log")),
	      "open");
	while (trace_next(trace, &request) == TRACE_GOT)
		;
	CHECK(!trace_rewind(trace), "rewind");
	while (trace_next(trace, &request) == TRACE_GOT)
		;
	trace_close(trace);
	said = trace_kept_messages();
	CHECK(nr == 4 && r[2].op == TRACE_FLUSH, "%d", nr);
	CHECK(strstr(said, "entries left out: 1 (sync_file_range makes nothing durable)\n"), "%s", said);
	/* for each of the two traces once */
	CHECK(strchr(strchr(said, '\n') + 1, '\n')[1] == '\0', "%s", said);
}

static void several_files(void)
{
	static const char text[] = V3
		"0 /a add\n0 /b add\n5 /a open\n5 /b open\n"
		"7 /b write 512 1024\n8 /a read 0 512\n8 /b trim 4096 8192\n"
		"9 /a sync 0 0\n9 /b close\n10 /c add\n11 /c write 0 1\n";
	struct trace_request r[5] = { 0 };
	int nr;

	trace_folder_open();
	nr = trace_drain(trace_text("t", text), r, 5);
	CHECK(nr == 5, "%d", nr);
	CHECK(is_request(&r[0], TRACE_WRITE, 7000, 512, 1024, 1), "write");
	CHECK(is_request(&r[1], TRACE_READ, 8000, 0, 512, 0), "read");
	CHECK(is_request(&r[2], TRACE_DISCARD, 8000, 4096, 8192, 1), "trim");
	CHECK(is_request(&r[3], TRACE_FLUSH, 9000, 0, 0, 0), "sync");
	CHECK(is_request(&r[4], TRACE_WRITE, 11000, 0, 1, 2), "late file");
	trace_folder_close();
}

/* Until the time since the start, not for so long after the wait before. */
static void waits(void)
{
	static const char text[] = V2
		"/a add\n/a open\n/a write 0 512\n/a wait 1500 0\n"
		"/a write 512 512\n/a wait 1500 0\n/a wait 20 0\n"
		"/a write 1024 512\n/a wait 2500 0\n/a write 0 512\n/a close\n";
	struct trace_request r[4] = { 0 };
	struct trace *trace;

	trace_folder_open();
	CHECK(trace_drain(trace_text("t", text), r, 4) == 4, "four");
	CHECK(is_request(&r[0], TRACE_WRITE, 0, 0, 512, 0), "first");
	CHECK(is_request(&r[1], TRACE_WRITE, 1500000000, 512, 512, 0), "second");
	CHECK(is_request(&r[2], TRACE_WRITE, 1500000000, 1024, 512, 0), "third");
	CHECK(is_request(&r[3], TRACE_WRITE, 2500000000, 0, 512, 0), "fourth");
	CHECK(!trace_open(&trace, trace_path("t")), "open");
	CHECK(trace_facts(trace)->timed &&
	      !strcmp(trace_facts(trace)->format, "fio iolog v2"), "waits");
	trace_close(trace);
	CHECK(!trace_open(&trace, trace_text("t", V2 "/a add\n/a sync 0 0\n")),
	      "open");
	CHECK(!trace_facts(trace)->timed, "never waits");
	trace_close(trace);
	trace_folder_close();
}

static void refusals(void)
{
	static const struct { const char *text, *message; } rows[] = {
		{ "fio version 1 iolog\n",
		  "line 1: \"fio version 1 iolog\": must be \"fio version 2 iolog\" or \"fio version 3 iolog\"" },
		{ V3 "0 /a add\n0 /a open\n5 /a write 0 512\n4 /a write 0 512\n",
		  "line 5: time 4000 ns is before the 5000 ns of the previous request; sort the trace by time" },
		{ V3 "0 /a add\n0 /b open\n",
		  "line 3: file \"/b\": must be added before it is opened or closed" },
		{ V3 "0 /a write 0 512\n",
		  "line 2: file \"/a\": must be added before it is used" },
		{ V3 "0 /a add\n0 /a write 0 5x\n",
		  "line 3: length \"5x\": must be a number of bytes" },
		{ V3 "0 /a add\n0 /a write -1 512\n",
		  "line 3: offset \"-1\": must be a number" },
		{ V3 "0 /a add\n0 /a write 0\n",
		  "line 3: write: the line must be FILE write OFFSET LENGTH" },
		{ V3 "0 /a add 1\n",
		  "line 2: add: the line must be FILE add" },
		{ V3 "0 /a add\n0 /a write 0 0\n",
		  "line 3: length is 0" },
		{ V3 "0 /a add\n0 /a write 9223372036854775807 1\n",
		  "line 3: ends beyond byte 9223372036854775807, the last of any file" },
		{ V3 "0 /a add\n0 /a wait 5 0\n",
		  "line 3: wait: not known in version 3, whose lines have times" },
		{ V3 "/a add\n",
		  "line 2: time \"/a\": must be a number of microseconds" },
		{ V3 "18446744073709552 /a add\n",
		  "line 2: time \"18446744073709552\": must be a number of microseconds" },
		{ V3 "0 /a erase 0 512\n",
		  "line 2: action \"erase\": must be add, open, close, read, write, trim, sync, datasync or wait" },
		{ V3 "0 /a add\n0 /a open\n" V3,
		  "line 4: another log begins here: fio appends to an existing log; split the file" },
		{ V2 "/a add\n/a wait 18446744073710 0\n",
		  "line 3: wait \"18446744073710\": must be a number of milliseconds" },
		{ V2 "/a\n",
		  "line 2: action \"\": must be add, open, close, read, write, trim, sync, datasync or wait" },
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		trace_expect_refused(trace_text("t", rows[i].text),
				     rows[i].message);
	trace_folder_close();
}

static void what_is_lost(void)
{
	static const char text[] =
		"time_ns,op,offset,bytes,flags,pid,comm,file\n"
		"1999,write,0,512,fua,1,a,\n"
		"2000,write,0,512,preflush+fua,0,,/b\n"
		"2001,write-zeroes,0,512,,0,,\n"
		"3000,discard,0,4294967295,,0,,\n"
		"3000,flush,0,0,,0,,\n";
	static const char expected[] = V3
		"1 /dev/device add\n1 /dev/device open\n"
		"1 /dev/device write 0 512\n"
		"2 /b add\n2 /b open\n2 /b write 0 512\n"
		"2 /dev/device write 0 512\n"
		"3 /dev/device trim 0 4294967295\n"
		"3 /dev/device datasync 0 0\n"
		"3 /dev/device close\n3 /b close\n";
	CLEANUP_FREE char *said = NULL, *got = NULL;
	size_t size;

	trace_folder_open();
	trace_keep_messages();
	CHECK(!trace_convert_to(trace_text("t", text), trace_path("o"),
				TRACE_WRITE_IOLOG), "convert");
	CHECK(trace_convert_to(trace_text("t", "op,offset,bytes\nread,0,4294967296\n"),
			       trace_path("p"), TRACE_WRITE_IOLOG) ==
	      ALIGNCTL_USAGE, "too long");
	CHECK(trace_convert_to(trace_text("t", "op,offset,bytes,file\nread,0,1,a b\n"),
			       trace_path("p"), TRACE_WRITE_IOLOG) ==
	      ALIGNCTL_USAGE, "a blank");
	CHECK(access(trace_path("p"), F_OK) && access(trace_path("p.new"), F_OK),
	      "nothing stays");
	said = trace_kept_messages();
	got = trace_read_all(trace_path("o"), &size);
	CHECK(!strcmp(got, expected), "%s", got);
	CHECK(strstr(said, "/o: format fio cannot express FUA: 2 requests written without it; use format recording or csv\n"), "%s",
	      said);
	CHECK(strstr(said, "/o: format fio cannot express preflush: 1 requests written without it; use format recording or csv"),
	      "%s", said);
	CHECK(strstr(said, "/o: format fio cannot express write-zeroes: 1 requests written as writes; use format recording or csv"),
	      "%s", said);
	CHECK(strstr(said, "/o: format fio cannot express processes: 1 requests written without their number and name; use format recording or csv"),
	      "%s", said);
	CHECK(strstr(said, "/p: request 1 of 4294967296 bytes: fio reads no length above 4294967295; write CSV\n"),
	      "%s", said);
	CHECK(strstr(said, "/p: file \"a b\": fio reads names of at most 255 bytes without blanks; write CSV\n"),
	      "%s", said);
	trace_folder_close();
}

/* A number behind a name in fio's JSON, of the part that begins with @part. */
static long member(const char *json, const char *part, const char *name)
{
	CLEANUP_FREE char *key = message_format("\"%s\" : {", part);
	CLEANUP_FREE char *quoted = message_format("\"%s\" : ", name);
	const char *at = strstr(json, key);

	at = at ? strstr(at, quoted) : NULL;
	return at ? atol(at + strlen(quoted)) : -1;
}

/* What is written here, fio reads and does. */
static void read_by_fio(void)
{
	CLEANUP_FREE char *command = NULL, *json = NULL, *text = NULL;
	const char *file;
	size_t size;

	if (system("command -v fio >/dev/null")) {
		tap_skipped = "fio is not installed";
		return;
	}
	trace_folder_open();
	file = trace_text("file", "");
	CHECK(!truncate(file, 1 << 20), "truncate");
	text = message_format("time_us,op,offset,bytes,file\n"
			      "0,write,512,1024,%s\n10,flush,,,%s\n"
			      "300000,write,65536,4096,%s\n300000,read,0,512,%s\n",
			      file, file, file, file);
	CHECK(!trace_convert_to(trace_text("t", text), trace_path("log"),
				TRACE_WRITE_IOLOG), "convert");
	command = message_format("fio --name=a --thread --ioengine=psync --read_iolog=%s --output-format=json --output=%s >/dev/null 2>&1",
				 trace_path("log"), trace_path("json"));
	CHECK(!system(command), "%s", command);
	json = trace_read_all(trace_path("json"), &size);
	CHECK(member(json, "write", "total_ios") == 2, "%s", json);
	CHECK(member(json, "write", "io_bytes") == 5120, "%s", json);
	CHECK(member(json, "read", "total_ios") == 1, "%s", json);
	CHECK(member(json, "read", "io_bytes") == 512, "%s", json);
	/* microseconds: 0.3 s, neither 0.3 ms nor 5 minutes */
	CHECK(member(json, "write", "runtime") >= 250 &&
	      member(json, "write", "runtime") < 60000, "%s", json);
	trace_folder_close();
}

const struct tap_test trace_iolog_tests[] = {
	{ "a log that fio wrote is read", written_by_fio },
	{ "sync_file_range is left out of a log, and said once", range_is_left_out },
	{ "a log of several files has a number for each", several_files },
	{ "a log of version 2 waits until a time", waits },
	{ "what is wrong in a log of fio is named with its line", refusals },
	{ "what a log of fio cannot express is counted, or refused", what_is_lost },
	{ "fio reads the log that is written here, in microseconds", read_by_fio },
	{ 0 },
};
