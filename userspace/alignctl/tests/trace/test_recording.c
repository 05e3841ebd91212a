// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "trace/crc32c.h"
#include "trace/recording.h"

static const struct trace_origin origin = {
	.device = "sda", .logical = 512, .physical = 4096, .start_ns = 1,
	.offset_known = true, .offset = 3584,
};

/* Any request, and that of the same number is the same one. */
static struct trace_request request_number(uint64_t n)
{
	uint64_t bits = mix64(n);
	struct trace_request request = {
		.time_ns = 1000 * n + (bits >> 60),
		.op = bits % TRACE_NR_OPS,
		.preflush = bits >> 8 & 1,
		.fua = bits >> 9 & 1,
		.pid = (uint32_t)(bits >> 10 & 0x3ff),
		.file = (uint32_t)(bits >> 20 & 3),
	};

	if (request.op != TRACE_FLUSH) {
		request.bytes = 1 + (mix64(bits) >> (10 + bits % 50));
		request.offset = mix64(~bits) >> (11 + bits % 50);
		if (bits >> 30 & 1) {
			request.bytes = (request.bytes & ~511ULL) + 512;
			request.offset &= ~511ULL;
		}
	}
	if (bits >> 31 & 1)
		snprintf(request.comm, sizeof(request.comm), "process %u",
			 request.pid & 7);
	/* one comes late */
	if (n > 500 && request.file == 3)
		request.file = 4;
	return request;
}

static const char *record(const char *name, enum trace_written format,
			  uint64_t nr)
{
	const char *path = trace_path(name);
	struct trace_writer *writer;
	uint64_t n;
	int late = 0;

	CHECK(!trace_writer_begin(&writer, path, format, &origin), "begin");
	CHECK(!trace_writer_file(writer, 1, "/dev/one, \"two\""), "file");
	for (n = 0; n < nr; n++) {
		struct trace_request request = request_number(n);

		/*
		 * in the middle of the trace, before the file's first request
		 */
		if (request.file == 4 && !late++)
			CHECK(!trace_writer_file(writer, 4, "late"), "file");
		if (trace_writer_add(writer, &request))
			CHECK(0, "request %llu", (unsigned long long)n);
	}
	CHECK(access(path, F_OK), "it must not be there before its end");
	trace_writer_lost(writer, 7);
	CHECK(!trace_writer_end(writer), "end");
	return path;
}

static bool is_same(const struct trace_request *a, const struct trace_request *b)
{
	return a->time_ns == b->time_ns && a->offset == b->offset &&
	       a->bytes == b->bytes && a->op == b->op &&
	       a->preflush == b->preflush && a->fua == b->fua &&
	       a->pid == b->pid && a->file == b->file &&
	       !strcmp(a->comm, b->comm);
}

static void round_trip(void)
{
	enum { NR = 20000 };
	uint64_t n, end = 0;
	struct trace_request got, expected;
	struct trace *trace;

	trace_folder_open();
	CHECK(!trace_open(&trace, record("r", TRACE_WRITE_RECORDING, NR)), "open");
	for (n = 0; n < NR; n++) {
		expected = request_number(n);
		if (end < expected.offset + expected.bytes)
			end = expected.offset + expected.bytes;
		if (trace_next(trace, &got) != TRACE_GOT ||
		    !is_same(&got, &expected)) {
			CHECK(0, "request %llu", (unsigned long long)n);
			break;
		}
	}
	CHECK(trace_next(trace, &got) == TRACE_END, "end");
	CHECK(trace_facts(trace)->nr_known && trace_facts(trace)->nr == NR &&
	      trace_facts(trace)->end_known && trace_facts(trace)->end == end &&
	      trace_facts(trace)->timed, "facts");
	CHECK(!strcmp(trace_facts(trace)->origin.device, "sda") &&
	      trace_facts(trace)->origin.logical == 512 &&
	      trace_facts(trace)->origin.physical == 4096 &&
	      trace_facts(trace)->origin.offset_known &&
	      trace_facts(trace)->origin.offset == 3584 &&
	      trace_facts(trace)->origin.lost == 7 &&
	      trace_facts(trace)->origin.start_ns == 1, "origin");
	CHECK(!trace_file(trace, 0) && !trace_file(trace, 2) &&
	      !strcmp(trace_file(trace, 1), "/dev/one, \"two\"") &&
	      !strcmp(trace_file(trace, 4), "late"), "files");
	trace_close(trace);
	trace_folder_close();
}

static void is_compact(void)
{
	struct trace_writer *writer;
	struct trace_request request = {
		.op = TRACE_WRITE, .bytes = 4096, .pid = 1234, .comm = "dd",
	};
	struct stat found;
	uint64_t n;

	trace_folder_open();
	CHECK(!trace_writer_begin(&writer, trace_path("r"),
				  TRACE_WRITE_RECORDING, &origin), "begin");
	for (n = 0; n < 10000; n++) {
		request.time_ns = 100000 * n;
		request.offset = mix64(n) % (1ULL << 31) * 512;
		CHECK(!trace_writer_add(writer, &request), "add");
	}
	CHECK(!trace_writer_end(writer), "end");
	CHECK(!stat(trace_path("r"), &found), "stat");
	CHECK(found.st_size <= 10 * 10000, "%lld bytes",
	      (long long)found.st_size);
	trace_folder_close();
}

/* A recording, to CSV, and back again. */
static void to_csv_and_back(void)
{
	CLEANUP_FREE char *first = NULL, *second = NULL, *said = NULL;
	const char *recording, *csv, *again, *csv_again;
	size_t size, again_size;

	trace_folder_open();
	recording = record("r", TRACE_WRITE_RECORDING, 1000);
	csv = trace_path("c");
	again = trace_path("r2");
	csv_again = trace_path("c2");
	trace_keep_messages();
	CHECK(!trace_convert_to(recording, csv, TRACE_WRITE_CSV), "to csv");
	CHECK(!trace_convert_to(csv, again, TRACE_WRITE_RECORDING), "back");
	CHECK(!trace_convert_to(again, csv_again, TRACE_WRITE_CSV), "to csv");
	said = trace_kept_messages();
	CHECK(!*said, "%s", said);
	first = trace_read_all(csv, &size);
	second = trace_read_all(csv_again, &again_size);
	CHECK(size == again_size && !memcmp(first, second, size), "differs");
	trace_folder_close();
}

static void ends_of_lines(void)
{
	CLEANUP_FREE char *said = NULL, *text = NULL;
	struct trace_request request = {
		.op = TRACE_READ, .bytes = 1, .comm = "a\nb\r",
	};
	struct trace_writer *writer;
	size_t size;

	trace_folder_open();
	CHECK(!trace_writer_begin(&writer, trace_path("c"), TRACE_WRITE_CSV,
				  &origin), "begin");
	CHECK(!trace_writer_add(writer, &request), "add");
	trace_keep_messages();
	CHECK(!trace_writer_end(writer), "end");
	said = trace_kept_messages();
	CHECK(strstr(said, ": format csv cannot express line ends in process names: 1 requests"),
	      "%s", said);
	text = trace_read_all(trace_path("c"), &size);
	CHECK(strstr(text, ",a?b?,"), "%s", text);
	trace_folder_close();
}

/* A lost or changed byte is found and reported from its place on. */
static void damage(void)
{
	CLEANUP_FREE char *bytes = NULL, *said = NULL;
	size_t size, i, nr_found = 0;
	const char *message;

	trace_folder_open();
	bytes = trace_read_all(record("r", TRACE_WRITE_RECORDING, 40), &size);
	CHECK(trace_drain(trace_bytes("d", bytes, size), NULL, 0) == 40, "whole");
	trace_keep_messages();
	for (i = 0; i < size; i++) {
		nr_found += trace_drain(trace_bytes("d", bytes, i), NULL, 0) < 0;
		bytes[i] ^= 0x10;
		nr_found += trace_drain(trace_bytes("d", bytes, size), NULL, 0) < 0;
		bytes[i] ^= 0x10;
	}
	said = trace_kept_messages();
	CHECK(nr_found == 2 * size, "%zu of %zu", nr_found, 2 * size);
	for (message = said, i = 0; *message; message = strchr(message, '\n') + 1)
		i++;
	CHECK(i == 2 * size, "%zu messages", i);

	trace_expect_refused(trace_bytes("d", bytes, 100),
			     "byte 100: the file is truncated in its 256-byte header");
	trace_expect_refused(trace_bytes("d", bytes, 300),
			     "byte 300: the file is truncated: 0 of 40 requests can be read");
	bytes[256 + 20] ^= 1;
	said[0] = '\0';
	{
		CLEANUP_FREE char *expected =
			message_format("byte 256: the chunk of %zu bytes that begins here is damaged: wrong checksum",
				       size - 256 - 12);

		trace_expect_refused(trace_bytes("d", bytes, size), expected);
	}
	trace_folder_close();
}

/* Between two chunks, where no checksum is wrong, and no extent. */
static void cut_between_chunks(void)
{
	struct trace_request request = { .op = TRACE_WRITE, .bytes = 1 };
	struct recording_chunk chunk;
	struct trace_writer *writer;
	size_t size, end, n;
	CLEANUP_FREE char *bytes = NULL, *expected = NULL;

	trace_folder_open();
	CHECK(!trace_writer_begin(&writer, trace_path("r"),
				  TRACE_WRITE_RECORDING, &origin), "begin");
	for (n = 0; n < 40000; n++)
		CHECK(!trace_writer_add(writer, &request), "add");
	CHECK(!trace_writer_end(writer), "end");
	bytes = trace_read_all(trace_path("r"), &size);
	memcpy(&chunk, bytes + sizeof(struct recording_header), sizeof(chunk));
	end = sizeof(struct recording_header) + sizeof(chunk) +
	      le32toh(chunk.bytes);
	CHECK(end < size, "%zu of %zu", end, size);
	expected = message_format("byte %zu: the file is truncated: %u of 40000 requests can be read",
				  end, le32toh(chunk.nr));
	trace_expect_refused(trace_bytes("d", bytes, end), expected);
	trace_folder_close();
}

/* Adds requests, twice after a checkpoint, and is killed. Return: the draft. */
static const char *killed(const char *name, enum trace_written format,
			  uint64_t nr, uint64_t more)
{
	const char *path = trace_path(name);
	pid_t child = fork();
	int status;

	if (!child) {
		struct trace_writer *writer;
		uint64_t n;

		trace_writer_begin(&writer, path, format, &origin);
		trace_writer_checkpoint(writer);
		for (n = 0; n < nr + more; n++) {
			struct trace_request request = request_number(n);

			request.file = 0;
			trace_writer_add(writer, &request);
			if (n + 1 == nr / 2 || n + 1 == nr)
				trace_writer_checkpoint(writer);
		}
		kill(getpid(), SIGKILL);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status),
	      "status %x", status);
	CHECK(access(path, F_OK), "it is there as if it were whole");
	return trace_path(name[0] == 'r' ? "r.new" : "c.new");
}

static void cut_short(void)
{
	static const uint64_t more[] = { 0, 1, 30000 };
	struct trace_request got, expected;
	CLEANUP_FREE char *said = NULL;
	struct trace *trace;
	uint64_t n;
	size_t i;

	trace_folder_open();
	trace_keep_messages();
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		CHECK(!trace_open(&trace, killed("r", TRACE_WRITE_RECORDING,
						 20000, more[i])), "open");
		for (n = 0; n < 20000; n++) {
			expected = request_number(n);
			expected.file = 0;
			if (trace_next(trace, &got) != TRACE_GOT ||
			    !is_same(&got, &expected))
				break;
		}
		CHECK(n == 20000 && trace_next(trace, &got) == TRACE_END,
		      "%llu requests", (unsigned long long)n);
		CHECK(trace_facts(trace)->nr == 20000, "facts");
		CHECK(!trace_rewind(trace) &&
		      trace_next(trace, &got) == TRACE_GOT, "again");
		trace_close(trace);
	}
	CHECK(trace_open(&trace, killed("r", TRACE_WRITE_RECORDING, 0, 9)) ==
	      ALIGNCTL_USAGE, "nothing of it was safe");
	CHECK(!trace_open(&trace, killed("c", TRACE_WRITE_CSV, 20, 9000)),
	      "lines");
	for (n = 0; trace_next(trace, &got) == TRACE_GOT; n++)
		;
	CHECK(n >= 20 && trace_next(trace, &got) == TRACE_END,
	      "a line was cut after %llu", (unsigned long long)n);
	trace_close(trace);
	said = trace_kept_messages();
	CHECK(strstr(said, "r.new: unfinished; it has 20000 requests, up to 0.020 s\n"),
	      "%s", said);
	CHECK(strstr(said, "was killed"), "%s", said);
	trace_folder_close();
}

/* Add a request, as every format has it. Return: as trace_writer_add(). */
static int add_plain(struct trace_writer *writer, uint64_t n)
{
	struct trace_request request = request_number(n);

	request.op = TRACE_WRITE;
	request.file = 0;
	request.bytes = 4096;
	return trace_writer_add(writer, &request);
}

/*
 * Write a trace to a file that may have @bytes, until that fails: at a checkpoint, of
 * which there is one for each thousand requests, or @at_end. Return: number of requests.
 */
static uint64_t fill_up(enum trace_written format, rlim_t bytes, bool keep, bool at_end)
{
	struct rlimit limit, before;
	struct trace_writer *writer;
	uint64_t n = 0;
	int failed = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit) { .rlim_cur = bytes, .rlim_max = before.rlim_max };
	CHECK(!trace_writer_begin(&writer, trace_path("r"), format, &origin), "begin");
	if (keep)
		trace_writer_keep(writer);
	setrlimit(RLIMIT_FSIZE, &limit);
	/* at the end, what is too much is still in the buffer */
	while (!failed && (!at_end || trace_writer_bytes(writer) <= bytes)) {
		failed = add_plain(writer, n++);
		if (!failed && n % 1000 == 0 &&
		    !(at_end && trace_writer_bytes(writer) > bytes - 20000))
			failed = trace_writer_checkpoint(writer);
	}
	if (at_end)
		failed = trace_writer_end(writer);
	else
		trace_writer_abandon(writer);
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(failed, "it has room");
	return n;
}

static void full(void)
{
	static const struct { enum trace_written format; bool at_end; } rows[] = {
		{ TRACE_WRITE_RECORDING, false }, { TRACE_WRITE_CSV, false },
		{ TRACE_WRITE_IOLOG, false }, { TRACE_WRITE_CSV, true },
	};
	CLEANUP_FREE char *said = NULL;
	size_t i;

	trace_folder_open();
	trace_keep_messages();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t nr = fill_up(rows[i].format, 200001, true, rows[i].at_end), n;
		struct trace_request got;
		struct trace *trace;

		CHECK(access(trace_path("r"), F_OK), "it is there as if it were whole");
		if (trace_open(&trace, trace_path("r.new"))) {
			CHECK(0, "%zu: cannot be read", i);
			continue;
		}
		for (n = 0; trace_next(trace, &got) == TRACE_GOT; n++)
			;
		CHECK(trace_next(trace, &got) == TRACE_END && n && n < nr &&
		      n + 5000 > nr, "%zu: %llu of %llu", i, (unsigned long long)n,
		      (unsigned long long)nr);
		trace_close(trace);
		unlink(trace_path("r.new"));
		fill_up(rows[i].format, 200001, false, rows[i].at_end);
		CHECK(access(trace_path("r.new"), F_OK), "%zu: a draft stayed", i);
	}
	said = trace_kept_messages();
	CHECK(strstr(said, "r.new: has the first "), "%s", said);
	trace_folder_close();
}

static void draft(void)
{
	CLEANUP_FREE char *said = NULL;
	struct trace_request request = request_number(1);
	struct trace_writer *writer;
	const char *path;

	trace_folder_open();
	path = trace_text("r", "what was there");
	CHECK(!trace_writer_begin(&writer, path, TRACE_WRITE_RECORDING, &origin),
	      "begin");
	CHECK(!trace_writer_add(writer, &request), "add");
	CHECK(!access(trace_path("r.new"), F_OK), "draft");
	trace_writer_abandon(writer);
	CHECK(access(trace_path("r.new"), F_OK), "a draft stayed");
	{
		size_t size;
		CLEANUP_FREE char *text = trace_read_all(path, &size);

		CHECK(!strcmp(text, "what was there"), "%s", text);
	}
	trace_keep_messages();
	CHECK(trace_writer_begin(&writer, "/dev/null", TRACE_WRITE_CSV,
				 &origin) == ALIGNCTL_USAGE, "device");
	CHECK(trace_writer_begin(&writer, trace_path("no/where"),
				 TRACE_WRITE_CSV, &origin) == ALIGNCTL_IO,
	      "folder");
	CHECK(!trace_writer_begin(&writer, path, TRACE_WRITE_CSV, &origin),
	      "begin");
	request.time_ns = 5;
	CHECK(!trace_writer_add(writer, &request), "add");
	CHECK(trace_writer_file(writer, request.file, "x") == ALIGNCTL_USAGE,
	      "too late");
	request.time_ns = 4;
	CHECK(trace_writer_add(writer, &request) == ALIGNCTL_USAGE, "falls");
	trace_writer_abandon(writer);
	said = trace_kept_messages();
	CHECK(strstr(said, "alignctl: /dev/null: exists and is not a regular file; name a new file\n"),
	      "%s", said);
	CHECK(strstr(said, "file x: its first request precedes its name\n"),
	      "%s", said);
	CHECK(strstr(said, "request 2: time is before the previous request's\n"),
	      "%s", said);
	trace_folder_close();
}

static void two_at_once(void)
{
	struct trace_writer *one, *two;
	CLEANUP_FREE char *said = NULL;
	struct trace_request got[3];
	const char *path;
	int i;

	trace_folder_open();
	path = trace_path("r");
	CHECK(!trace_writer_begin(&one, path, TRACE_WRITE_RECORDING, &origin), "begin");
	CHECK(!add_plain(one, 1) && !trace_writer_checkpoint(one), "add");
	trace_keep_messages();
	CHECK(trace_writer_begin(&two, path, TRACE_WRITE_CSV, &origin) == ALIGNCTL_BUSY,
	      "both write to one draft");
	said = trace_kept_messages();
	CHECK(strstr(said, "/r.new: another process is writing it; name another file\n"),
	      "%s", said);
	for (i = 2; i < 4; i++)
		CHECK(!add_plain(one, (uint64_t)i), "add");
	CHECK(!trace_writer_end(one) && trace_drain(path, got, 3) == 3, "end");
	trace_folder_close();
}

static void checksum(void)
{
	CHECK(crc32c(0, "123456789", 9) == 0xe3069283U, "check value");
	CHECK(crc32c(crc32c(0, "1234", 4), "56789", 5) == 0xe3069283U, "parts");
}

const struct tap_test trace_recording_tests[] = {
	{ "the checksum is CRC-32C", checksum },
	{ "a recording gives back what was recorded", round_trip },
	{ "a recording takes at most ten bytes for a random write", is_compact },
	{ "a recording becomes CSV and again the same recording", to_csv_and_back },
	{ "an end of line in the name of a process is lost in CSV, and said", ends_of_lines },
	{ "each byte of a recording that is lost or changed is noticed", damage },
	{ "a recording that is cut between two parts is noticed", cut_between_chunks },
	{ "what was recorded before a kill can be read", cut_short },
	{ "a draft that another process writes is left alone", two_at_once },
	{ "what was recorded before the disk was full can be read", full },
	{ "a trace appears when it is complete, and not before", draft },
	{ 0 },
};
