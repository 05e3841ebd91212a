// SPDX-License-Identifier: GPL-2.0
/* Tables in the formats that traces are published in, and with --columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/trace_file.h"

#define MAX_REQUESTS	8

/**
 * struct sample - what a trace in tests/trace/samples must be read as
 * @file: name of the file
 * @format: name of the format
 * @nr: number of requests
 * @left_out: number of entries left out, by reason
 * @request: the requests; their file is a number
 * @file_name: names of the files
 */
struct sample {
	const char *file;
	const char *format;
	int nr;
	uint64_t left_out[TRACE_NR_LEFT_OUT];
	struct trace_request request[MAX_REQUESTS];
	const char *file_name[MAX_REQUESTS];
};

static const struct sample samples[] = {
	{ "msr.csv", "msr", 4, { [TRACE_LEFT_NO_LENGTH] = 1 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 310983680,
		  .bytes = 20480 },
		{ .time_ns = 19223400, .op = TRACE_READ, .offset = 383496192,
		  .bytes = 32768 },
		{ .time_ns = 1351276000, .op = TRACE_WRITE, .offset = 2822144,
		  .bytes = 4096, .file = 1 },
		{ .time_ns = 3351285000, .op = TRACE_WRITE, .offset = 2834944,
		  .bytes = 512 } },
	  { "hm_0", "hm_1" } },
	{ "alibaba.csv", "alibaba", 3, { 0 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 8792732160,
		  .bytes = 4096 },
		{ .time_ns = 6000, .op = TRACE_WRITE, .offset = 8792731648,
		  .bytes = 16384 },
		{ .time_ns = 81000, .op = TRACE_READ, .offset = 59110326272,
		  .bytes = 360448, .file = 1 } },
	  { "419", "725" } },
	{ "tencent.csv", "tencent", 3, { 0 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 3245408768,
		  .bytes = 4096, .file = 1 },
		{ .time_ns = 1000000000, .op = TRACE_READ,
		  .offset = 6610407424, .bytes = 65536 },
		{ .time_ns = 1000000000, .op = TRACE_WRITE,
		  .offset = 3245408256, .bytes = 4096, .file = 1 } },
	  { "1063", "1627" } },
	{ "systor.csv.gz", "systor", 2, { [TRACE_LEFT_NO_OP] = 1 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 298762510336,
		  .bytes = 4096 },
		{ .time_ns = 10000000, .op = TRACE_READ, .offset = 402542592,
		  .bytes = 8192, .file = 1 } },
	  { "4", "0" } },
	{ "fiu.txt", "fiu", 4, { 0 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 462983966720,
		  .bytes = 4096, .pid = 4892, .comm = "syslogd" },
		{ .time_ns = 39064, .op = TRACE_READ, .offset = 474551640064,
		  .bytes = 4096, .pid = 2559, .comm = "kjournald" },
		{ .time_ns = 467651, .op = TRACE_WRITE,
		  .offset = 330066756096, .bytes = 4096, .pid = 2522,
		  .comm = "my own 9 proces", .file = 1 },
		{ .time_ns = 500000, .op = TRACE_WRITE,
		  .offset = 330066755584, .bytes = 8192, .pid = 2522,
		  .comm = "apache2" } },
	  { "6,0", "6,16" } },
	{ "spc.csv", "spc", 3, { 0 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 28462080,
		  .bytes = 3072, .file = 1 },
		{ .time_ns = 26214000, .op = TRACE_WRITE, .offset = 155426304,
		  .bytes = 3584 },
		{ .time_ns = 26682000, .op = TRACE_READ, .offset = 155429888,
		  .bytes = 3584 } },
	  { "0", "1" } },
	{ "mqsim.trace", "mqsim", 3, { 0 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 2150629376,
		  .bytes = 4096 },
		{ .time_ns = 87000, .op = TRACE_READ, .offset = 2150633984,
		  .bytes = 4096 },
		{ .time_ns = 87000, .op = TRACE_WRITE, .offset = 4096,
		  .bytes = 4096, .file = 1 } },
	  { "0", "1" } },
	{ "blkreplay.load", "blkreplay", 3, { 0 }, {
		{ .time_ns = 0, .op = TRACE_WRITE, .offset = 19336628736,
		  .bytes = 32768 },
		{ .time_ns = 449518165, .op = TRACE_READ,
		  .offset = 19336661504, .bytes = 7168 },
		{ .time_ns = 456676896, .op = TRACE_WRITE, .offset = 0,
		  .bytes = 512 } },
	  { NULL } },
};

static bool same(const struct trace_request *a, const struct trace_request *b)
{
	return a->time_ns == b->time_ns && a->op == b->op &&
	       a->offset == b->offset && a->bytes == b->bytes &&
	       a->pid == b->pid && a->file == b->file &&
	       !strcmp(a->comm, b->comm) && !a->fua && !a->preflush;
}

static void check_sample(const struct sample *sample,
			 const struct trace_choice *choice)
{
	struct trace_request request;
	struct trace *trace;
	const char *name, *want;
	int i = 0, round, why;

	CHECK(!trace_open_as(&trace, trace_fixture(sample->file), choice),
	      "%s", sample->file);
	if (!trace)
		return;
	CHECK(!strcmp(trace_facts(trace)->format, sample->format) &&
	      trace_facts(trace)->timed, "%s: %s", sample->file,
	      trace_facts(trace)->format);
	for (round = 0; round < 2; round++) {
		for (i = 0; trace_next(trace, &request) == TRACE_GOT; i++) {
			CHECK(i < sample->nr &&
			      same(&request, &sample->request[i]),
			      "%s: request %d: %" PRIu64 " ns, byte %" PRIu64
			      ", file %" PRIu32, sample->file, i,
			      request.time_ns, request.offset, request.file);
			name = trace_file(trace, request.file);
			want = sample->file_name[request.file];
			CHECK(want ? name && !strcmp(name, want) : !name,
			      "%s: request %d: %s", sample->file, i, name);
		}
		CHECK(i == sample->nr, "%s: %d", sample->file, i);
		for (why = 0; why < TRACE_NR_LEFT_OUT; why++)
			CHECK(trace_left_out(trace, why) ==
			      sample->left_out[why], "%s: %d", sample->file,
			      why);
		CHECK(!trace_rewind(trace), "%s", sample->file);
	}
	trace_close(trace);
}

static void known_by_content(void)
{
	CLEANUP_FREE char *said = NULL;
	size_t i;

	trace_keep_messages();
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_sample(&samples[i], &TRACE_ANY);
	said = trace_kept_messages();
	CHECK(strstr(said, "/msr.csv: entries left out: 1 (length is 0)\n"),
	      "%s", said);
	CHECK(strstr(said, "/systor.csv.gz: entries left out: 1 (no operation)\n"),
	      "%s", said);
}

/* Each with a line of headings, as its readers print it. */
static void known_by_headings(void)
{
	static const struct { const char *format, *text; } rows[] = {
		{ "msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
			 "128166372003061629,hm,0,Write,512,4096,5\n" },
		{ "alibaba", "device_id,opcode,offset,length,timestamp\n"
			     "419,W,512,4096,1577808000000041\n" },
		{ "tencent", "Timestamp,Offset,Size,IOType,VolumeID\n"
			     "1538323200,1,8,1,1063\n" },
		{ "systor", "Timestamp,Response,IOType,LUN,Offset,Size\n"
			    "1455592000.5,0.1,W,4,512,4096\n" },
		{ "spc", "ASU,LBA,Size,Opcode,Timestamp\n0,1,4096,W,0.5\n" },
		{ "csv", "disk,op,offset,bytes,timestamp\n4,W,512,4096,9\n" },
	};
	size_t i;

	trace_folder_open();
	trace_keep_messages();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_request r[1] = { 0 };
		struct trace *trace;

		CHECK(!trace_open(&trace, trace_text("t", rows[i].text)) &&
		      !strcmp(trace_facts(trace)->format, rows[i].format),
		      "%s: not known", rows[i].format);
		trace_close(trace);
		CHECK(trace_drain(trace_path("t"), r, 1) == 1 &&
		      r[0].op == TRACE_WRITE && r[0].offset == 512 &&
		      r[0].bytes == 4096, "%s: not read", rows[i].format);
	}
	free(trace_kept_messages());
	trace_folder_close();
}

static void known_by_name(void)
{
	struct trace_choice choice = TRACE_ANY;
	CLEANUP_FREE char *said = NULL;
	size_t i, from;

	trace_keep_messages();
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		for (from = 0; strcmp(trace_readable_names[from],
				      samples[i].format); from++)
			;
		choice.from = from;
		check_sample(&samples[i], &choice);
	}
	said = trace_kept_messages();
}

/* What has to be named: nothing shows that it is from Tencent. */
static void only_by_name(void)
{
	static const char text[] = "5,1000,8,1,vol\n7,1001,8,0,vol\n";
	struct trace_choice choice = { .from = TRACE_READABLE_TENCENT };
	struct trace_request r[2] = { 0 };

	trace_folder_open();
	trace_expect_refused_as(trace_text("t", text), &TRACE_ANY,
				"unknown format; name the format with --from, or the columns of a table with --columns");
	CHECK(trace_drain_as(trace_text("t", text), &choice, r, 2) == 2 &&
	      r[0].op == TRACE_WRITE && r[1].op == TRACE_READ &&
	      r[1].time_ns == 2000000000, "tencent");
	choice.from = TRACE_READABLE_IOLOG;
	trace_expect_refused_as(trace_fixture("msr.csv"), &choice,
				"is in format msr, not fio");
	choice.from = TRACE_READABLE_SPC;
	trace_expect_refused_as(trace_text("t", text), &choice,
				"line 1: op \"1\": could be a read or a write; name the column op_1w (1 is a write) or op_1r (1 is a read)");
	trace_folder_close();
}

static void refusals(void)
{
	static const struct {
		enum trace_readable from;
		const char *text, *message;
	} rows[] = {
		{ TRACE_READABLE_ALIBABA, "1,W,0,512,5\n1,W,0,512\n",
		  "line 2: has 4 fields, fewer than the 5 columns" },
		{ TRACE_READABLE_ALIBABA, "1,W,x,512,5\n",
		  "line 1: offset \"x\": must be a number of bytes" },
		{ TRACE_READABLE_ALIBABA, "1,W,\"0,512,5\n",
		  "line 1: quotes must be closed and followed by a comma" },
		{ TRACE_READABLE_ALIBABA, "1,W,0,512,5\n1,W,0,512,5,a,\"b\n",
		  "line 2: quotes must be closed and followed by a comma" },
		{ TRACE_READABLE_ALIBABA, "1,W,0,512.0,5\n",
		  "line 1: bytes \"512.0\": must be a number of bytes" },
		{ TRACE_READABLE_ALIBABA, "1,W,0,512,5.0001\n",
		  "line 1: time_us \"5.0001\": must be microseconds, with up to three digits after the point" },
		{ TRACE_READABLE_ALIBABA,
		  "1,W,9223372036854775807,512,5\n",
		  "line 1: ends beyond byte 9223372036854775807, the last of any file" },
		{ TRACE_READABLE_ALIBABA, "1,W,0,512,18446744073709551615\n",
		  "line 1: time_us \"18446744073709551615\": must be microseconds, with up to three digits after the point" },
		{ TRACE_READABLE_MSR, "184467440737095517,a,0,Read,0,512,1\n",
		  "line 1: filetime \"184467440737095517\": must be a number of 100 nanoseconds since 1601" },
		{ TRACE_READABLE_TENCENT, "1,0,8,3,7\n",
		  "line 1: op_1w \"3\": must be 0, 1, or 2 for a trim" },
		{ TRACE_READABLE_MQSIM, "1 0 0 8 write\n",
		  "line 1: op_1r \"write\": must be 0 or 1" },
		{ TRACE_READABLE_SPC, "0,5,512,x,0.1\n",
		  "line 1: op \"x\": must be read, write, flush, discard or write-zeroes" },
		{ TRACE_READABLE_BLKREPLAY, "text\n0.5 ; 5 ; 1 ; W\ntext\n",
		  "line 3: has 1 fields, fewer than the 4 columns" },
		{ TRACE_READABLE_FIU, "1 2 a b c\n",
		  "line 1: has 5 fields, fewer than the 8 columns" },
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_choice choice = { .from = rows[i].from };

		trace_expect_refused_as(trace_text("t", rows[i].text), &choice,
					rows[i].message);
	}
	trace_folder_close();
}

/* Lines that say the same, some of which are read in one pass and some not. */
static void spellings(void)
{
	static const char *const all[] = {
		"1500.5,cp,9,write,512,1024,a,b", "1500.5,cp,9,W,512,1024,a,b,",
		"1500.5,cp,9,WRITE,512,1024,a,b,c,d e, f", "1500.50,cp,9,wrItE,512,1024,a,b",
		"1500.5,cp,9,write,512,1024,a,b,\"c,d\"",
		" 1500.5,cp,9,write,512,1024,a,b", "1500.5 ,cp,9,write,512,1024,a,b",
		"1500.5,cp\t,9,write,512,1024,a,b", "1500.5, cp,9,write,512,1024,a,b",
		"1500.5,cp,9,write,512,1024,a,b ", "1500.5,\"cp\",9,write,512,1024,a,b",
		"1500.5,cp,9,write,\"512\",1024,a,b", "1500.5,cp,9,write,512,1024,\"a\", b ",
	};
	const struct trace_choice choice = {
		.from = TRACE_NR_READABLE,
		.columns = "time_us,comm,pid,op,offset,bytes,disk,disk",
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CLEANUP_FREE char *text =
			message_format("1500,x,0,R,0,512,a,b\n%s\n", all[i]);
		struct trace_request r[2] = { 0 };

		CHECK(trace_drain_as(trace_text("t", text), &choice, r, 2) == 2,
		      "%s", all[i]);
		CHECK(r[1].time_ns == 500 && r[1].op == TRACE_WRITE &&
		      r[1].offset == 512 && r[1].bytes == 1024 &&
		      r[1].pid == 9 && !strcmp(r[1].comm, "cp") && !r[1].file,
		      "%s", all[i]);
	}
	trace_folder_close();
}

/* Disks that follow each other, some of whose names begin with that of another. */
static void disks_in_turn(void)
{
	static const struct { const char *columns, *text, *files; } all[] = {
		{ "op,disk,disk,offset,bytes",
		  "W,hm,1,0,512\nW,hm,1,0,512\nW,hm,10,0,512\nW,hm,1,0,512\n"
		  "W,hm,1,0,512\nW,hm, 1,0,512\nW,h,m,0,512\nW,hm,10,0,512\n",
		  "00100021" },
		{ "op,offset,bytes,disk",
		  "W,0,512,a\nW,0,512,a\nW,0,512,ab\nW,0,512,a\nW,0,512,a,x\n"
		  "W,0,512,\"a\"\nW,0,512,ab\nW,0,512,abc\n", "00100012" },
		{ "disk,op,offset,bytes,disk",
		  "a,W,0,512,W\nb,W,0,512,c\na,W,0,512,b,c\nc,W,0,512,b\n"
		  "a,W,0,512,b\na,W,0,512,W\na,W,0,512,b\nb,W,0,512,c\n",
		  "01232021" },
		/* longer than what is remembered of a line */
		{ "op,disk,offset,bytes",
		  "W,0123456789012345678901234567890123456789012345678901234567890123456789,0,512\n"
		  "W,0123456789012345678901234567890123456789012345678901234567890123456789,0,512\n"
		  "W,0123456789012345678901234567890123456789012345678901234567890123456780,0,512\n"
		  "W,0123456789012345678901234567890123456789012345678901234567890123456789,0,512\n",
		  "0010" },
	};
	size_t i, n;

	trace_folder_open();
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct trace_choice choice = { .from = TRACE_NR_READABLE,
					       .columns = all[i].columns };
		struct trace_request r[8] = { 0 };
		int nr = trace_drain_as(trace_text("t", all[i].text), &choice,
					r, 8);

		CHECK(nr == (int)strlen(all[i].files), "%zu: %d", i, nr);
		for (n = 0; n < strlen(all[i].files); n++)
			CHECK(r[n].file == (uint32_t)all[i].files[n] - '0',
			      "%zu: request %zu: disk %" PRIu32, i, n,
			      r[n].file);
	}
	trace_folder_close();
}

static void columns(void)
{
	static const struct { const char *columns, *text; } rows[] = {
		{ "time_ms,op_1r,-,sectors,offset_sectors,disk",
		  "1.5,0,x,2,1,a,more\n3.000001,1,y,1,0,b\n" },
		{ "disk,offset,bytes,time_us,op",
		  "# comment\nunit begin length time what\n\n"
		  "a 512  1024\t1500 Write\nb 0 512 3000.001 r \n" },
		{ "time_ns,sectors,op_1w,offset,disk",
		  "t;n;w;at;disk\n1500000 ; 2 ; 1 ; 512 ; a\n"
		  "3000001;1;0;0;b;c;d\n" },
	};
	struct trace_request r[2];
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_choice choice = { .from = TRACE_NR_READABLE,
					       .columns = rows[i].columns };
		int nr = trace_drain_as(trace_text("t", rows[i].text), &choice,
					r, 2);

		CHECK(nr == 2, "%zu: %d", i, nr);
		CHECK(r[0].op == TRACE_WRITE && r[0].offset == 512 &&
		      r[0].bytes == 1024 && !r[0].time_ns && !r[0].file,
		      "%zu", i);
		CHECK(r[1].op == TRACE_READ && !r[1].offset &&
		      r[1].bytes == 512 && r[1].time_ns == 1500001 &&
		      r[1].file == 1, "%zu: %" PRIu64, i, r[1].time_ns);
	}
	trace_folder_close();
}

/* What programs print before, between and into the fields of a table. */
static void columns_of_programs(void)
{
	static const struct {
		const char *columns, *text;
		int nr;
	} rows[] = {
		/* a comma in a field, and no heading */
		{ "comm,pid,op,disk,offset_sectors,bytes",
		  "dd 7 W 253,18 8 4096 3.31\ndd 7 WS 253,18 16 4096 5.7\n", 2 },
		/* text before the heading, with other separators in it */
		{ "comm,pid,op,disk,offset_sectors,bytes",
		  "Tracing block I/O, all disks; Ctrl-C to end.\n"
		  "COMM PID TYPE DEV BLOCK BYTES LATms\n"
		  "dd 7 W 253,18 8 4096 3.31\n", 1 },
		/* a latency log of fio, whose direction 2 is a trim */
		{ "time_ms,-,op_1w,bytes,offset",
		  "0, 82732, 1, 4096, 4096\n5, 6486, 2, 4096, 0\n", 2 },
	};
	static const struct { const char *columns, *text, *message; } wrong[] = {
		{ "time_s,comm,pid,disk,op,offset_sectors,bytes",
		  "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n"
		  "0.0 dd 7 sda W 26236512 8192 3.00\n"
		  "0.1 ? 0 R 0 8 2.00\n",
		  "line 3: has 7 fields, the first line 8" },
		{ "time_s,comm,pid,disk,op,offset_sectors,bytes",
		  "0.0 dd 7 sda W 26236512 8192 3.00\n"
		  "0.1 kworker u8 7 sda W 16 8192 3.00\n",
		  "line 2: has 9 fields, the first line 8" },
		{ "op,offset,bytes", "a table\nof words\n",
		  "line 2: no line so far has a request in the 3 columns of --columns" },
		{ "op,offset,bytes", "W x 512\n",
		  "line 1: no line so far has a request in the 3 columns of --columns" },
	};
	struct trace_request r[2];
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_choice choice = { .from = TRACE_NR_READABLE,
					       .columns = rows[i].columns };

		CHECK(trace_drain_as(trace_text("t", rows[i].text), &choice, r,
				     2) == rows[i].nr, "%zu", i);
		CHECK(r[0].op == TRACE_WRITE && r[0].offset == 4096 &&
		      r[0].bytes == 4096, "%zu", i);
	}
	CHECK(r[1].op == TRACE_DISCARD && !r[1].offset, "trim");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct trace_choice choice = { .from = TRACE_NR_READABLE,
					       .columns = wrong[i].columns };

		trace_expect_refused_as(trace_text("t", wrong[i].text), &choice,
					wrong[i].message);
	}
	trace_folder_close();
}

static void columns_refused(void)
{
	static const struct { const char *columns, *message; } rows[] = {
		{ "op,size", "--columns: \"size\": must be - to ignore a column, or one of disk, time_ns, " },
		{ "op,offset", "--columns op,offset: column \"bytes\" or \"sectors\" is missing\n" },
		{ "op,op_1w,offset,bytes", ": column \"op\" is given twice, or in two units\n" },
		{ "", "--columns: \"\": must be - " },
	};
	struct trace_choice choice = { .from = TRACE_NR_READABLE,
				       .columns = "op,offset,bytes" };
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_choice wrong = { .from = TRACE_NR_READABLE,
					      .columns = rows[i].columns };
		CLEANUP_FREE char *said = NULL;

		trace_keep_messages();
		CHECK(trace_drain_as(trace_text("t", "w,0,512\n"), &wrong,
				     NULL, 0) < 0, "%zu", i);
		said = trace_kept_messages();
		CHECK(strstr(said, rows[i].message), "%s", said);
	}
	trace_expect_refused_as(trace_text("t", "w,0,512\n1,0,512\n"), &choice,
				"line 2: op \"1\": could be a read or a write; name the column op_1w (1 is a write) or op_1r (1 is a read)");
	/* a heading comes first or not at all */
	trace_expect_refused_as(trace_text("t", "w,0,512\nop,offset,bytes\n"),
				&choice,
				"line 2: op \"op\": must be read, write, flush, discard or write-zeroes");
	/* a first line with a number is no heading */
	trace_expect_refused_as(trace_text("t", "x,0,512\n"), &choice,
				"line 1: op \"x\": must be read, write, flush, discard or write-zeroes");
	trace_folder_close();
}

static void one_disk(void)
{
	static const struct { const char *file, *disk; int nr, others; } rows[] = {
		{ "msr.csv", "hm_0", 3, 1 }, { "msr.csv", "hm_1", 1, 4 },
		{ "alibaba.csv", "725", 1, 2 }, { "fiu.txt", "6,16", 1, 3 },
		{ "disk.blkparse", "8,0", -1, 0 },
		{ "disk.merged", "8,0", -1, 0 },
		{ "fio-fdatasync.log", "/tmp/file", -1, 0 },
	};
	struct trace_request request;
	struct trace *trace;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_choice choice = { .from = TRACE_NR_READABLE,
					       .disk = rows[i].disk };
		const char *path = trace_fixture(rows[i].file);
		CLEANUP_FREE char *said = NULL;
		int nr, all = 0;

		trace_keep_messages();
		all = trace_drain(path, NULL, 0);
		CHECK(!trace_open_as(&trace, path, &choice), "%s", path);
		CHECK(!trace_facts(trace)->nr_known &&
		      !trace_facts(trace)->end_known, "%s", path);
		for (nr = 0; trace_next(trace, &request) == TRACE_GOT; nr++)
			CHECK(!request.file && (nr || !request.time_ns ||
						rows[i].nr < 0) &&
			      !strcmp(trace_file(trace, 0), rows[i].disk),
			      "%s: %d", path, nr);
		CHECK(nr == (rows[i].nr < 0 ? all : rows[i].nr), "%s: %d of %d",
		      path, nr, all);
		CHECK(trace_left_out(trace, TRACE_LEFT_OTHER_DISK) ==
		      (uint64_t)rows[i].others, "%s", path);
		trace_close(trace);
		said = trace_kept_messages();
		CHECK(!rows[i].others || strstr(said, "another disk"), "%s", said);
	}
}

/* A recording says how many requests it has, but not for one disk. */
static void one_disk_of_a_recording(void)
{
	const struct trace_choice choice = { .from = TRACE_NR_READABLE,
					     .disk = "hm_1" };
	struct trace_request request = { 0 };
	struct trace *trace;

	trace_folder_open();
	trace_keep_messages();
	CHECK(!trace_convert_to(trace_fixture("msr.csv"), trace_path("r"),
				TRACE_WRITE_RECORDING), "convert");
	CHECK(!trace_open_as(&trace, trace_path("r"), &choice), "open");
	CHECK(!trace_facts(trace)->nr_known && !trace_facts(trace)->end_known,
	      "known");
	CHECK(trace_next(trace, &request) == TRACE_GOT && !request.file &&
	      request.offset == 2822144, "%" PRIu64, request.offset);
	CHECK(trace_next(trace, &request) == TRACE_END, "end");
	CHECK(trace_left_out(trace, TRACE_LEFT_OTHER_DISK) == 3, "others");
	trace_close(trace);
	free(trace_kept_messages());
	trace_folder_close();
}

/* As many disks as no table of names holds: one can be chosen, and is named. */
static void many_disks(void)
{
	enum { NR = 3000 };
	CLEANUP_FREE char *text = memory_or_exit(malloc(40 * NR));
	struct trace_choice choice = { .from = TRACE_NR_READABLE,
				       .disk = "v2999" };
	CLEANUP_FREE char *disks = NULL;
	CLEANUP_FREE char *known = NULL;
	struct trace_request request;
	struct trace *trace;
	char *to = text;
	int i;

	for (i = 0; i < NR; i++)
		to += sprintf(to, "v%d,W,%d,512,%d\n", i, 512 * i, i);
	trace_folder_open();
	trace_text("t", text);
	trace_keep_messages();
	CHECK(trace_drain_as(trace_path("t"), &choice, &request, 1) == 1 &&
	      request.offset == 512ULL * (NR - 1) && !request.time_ns, "last");
	free(trace_kept_messages());
	CHECK(!trace_open(&trace, trace_path("t")), "open");
	for (i = 0; i < NR; i++)
		CHECK(trace_next(trace, &request) == TRACE_GOT &&
		      request.file == (uint32_t)i, "%d: %u", i, request.file);
	trace_keep_messages();
	trace_refuse_disks(trace);
	disks = trace_kept_messages();
	trace_close(trace);
	choice.disk = "w";
	trace_keep_messages();
	CHECK(trace_drain_as(trace_path("t"), &choice, NULL, 0) < 0, "drain");
	known = trace_kept_messages();
	CHECK(strstr(known, "has no request to disk w; choose one with --disk\n"),
	      "%.200s", known);
	for (i = 0; i < NR; i++) {
		char row[32];

		snprintf(row, sizeof(row), "\n  v%-5d ", i);
		CHECK(strstr(disks, row), "%d", i);
		CHECK(strstr(known, row), "%d", i);
	}
	/* of a trace of one format that names none, none is listed */
	trace_expect_refused_as(trace_fixture("vscsi-1"), &choice,
				"has no request to disk w; the trace names no disks; leave --disk out");
	trace_folder_close();
}

const struct tap_test trace_rows_tests[] = {
	{ "published traces are known by their content, with all that they say", known_by_content },
	{ "published traces are known by their headings", known_by_headings },
	{ "published traces are read as the format that is named", known_by_name },
	{ "a table that shows no format is read as the one that is named", only_by_name },
	{ "what is wrong in a table is named with its line", refusals },
	{ "a line means the same with blanks, quotes and more fields as without", spellings },
	{ "each line has its own disk, whichever the line before has", disks_in_turn },
	{ "a table of any columns is read as --columns says", columns },
	{ "a table is read as programs print it, or refused by its fields", columns_of_programs },
	{ "columns that leave a doubt are refused", columns_refused },
	{ "one disk of a trace is read as if it were alone", one_disk },
	{ "one disk of a recording is read, and its number of requests is not known", one_disk_of_a_recording },
	{ "of thousands of disks one can be read, and all are named", many_disks },
	{ 0 },
};
