// SPDX-License-Identifier: GPL-2.0
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "trace/convert.h"

#define NR_PATHS	8

static char folder[] = "/tmp/alignctl-trace-XXXXXX";
static char *paths[NR_PATHS];
static int kept = -1, before = -1;

static void or_exit(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	exit(1);
}

void trace_folder_open(void)
{
	strcpy(strrchr(folder, '-'), "-XXXXXX");
	or_exit(mkdtemp(folder), folder);
}

static int remove_one(const char *path, const struct stat *found, int type,
		      struct FTW *ftw)
{
	(void)found;
	(void)type;
	(void)ftw;
	return remove(path);
}

void trace_folder_close(void)
{
	size_t i;

	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (i = 0; i < NR_PATHS; i++) {
		free(paths[i]);
		paths[i] = NULL;
	}
}

static const char *keep_path(char *path)
{
	static size_t next;
	char **slot = &paths[next++ % NR_PATHS];

	free(*slot);
	return *slot = path;
}

const char *trace_path(const char *name)
{
	return keep_path(message_format("%s/%s", folder, name));
}

const char *trace_fixture(const char *name)
{
	int length = (int)(strrchr(__FILE__, '/') - __FILE__);

	return keep_path(message_format("%.*s/trace/samples/%s", length,
					__FILE__, name));
}

const char *trace_bytes(const char *name, const void *bytes, size_t size)
{
	const char *path = trace_path(name);
	CLEANUP_FCLOSE FILE *stream = fopen(path, "w");

	or_exit(stream && fwrite(bytes, 1, size, stream) == size, path);
	return path;
}

const char *trace_text(const char *name, const char *text)
{
	return trace_bytes(name, text, strlen(text));
}

int trace_convert_to(const char *source, const char *output,
		     enum trace_written format)
{
	const struct trace_conversion conversion = {
		.source = source, .choice = TRACE_ANY,
		.output = output, .to = format,
	};
	struct trace_converted done;
	int result = trace_convert(&conversion, &done);

	trace_names_free(&done.names);
	return result;
}

char *trace_read_all(const char *path, size_t *size)
{
	CLEANUP_FCLOSE FILE *stream = fopen(path, "r");
	char *bytes;
	long length;

	or_exit(stream && !fseek(stream, 0, SEEK_END), path);
	length = ftell(stream);
	rewind(stream);
	bytes = memory_or_exit(calloc(1, (size_t)length + 1));
	*size = fread(bytes, 1, (size_t)length, stream);
	return bytes;
}

void trace_keep_messages(void)
{
	fflush(stderr);
	kept = memfd_create("messages", 0);
	before = dup(STDERR_FILENO);
	or_exit(kept >= 0 && before >= 0 && dup2(kept, STDERR_FILENO) >= 0,
		"messages");
}

char *trace_kept_messages(void)
{
	off_t length;
	char *text;

	fflush(stderr);
	length = lseek(kept, 0, SEEK_END);
	text = memory_or_exit(calloc(1, (size_t)length + 1));
	or_exit(pread(kept, text, (size_t)length, 0) == length, "messages");
	dup2(before, STDERR_FILENO);
	close(before);
	close(kept);
	return text;
}

int trace_drain(const char *path, struct trace_request *requests, int room)
{
	return trace_drain_as(path, &TRACE_ANY, requests, room);
}

int trace_drain_as(const char *path, const struct trace_choice *choice,
		   struct trace_request *requests, int room)
{
	struct trace_request request;
	struct trace *trace;
	enum trace_next next;
	int nr = 0;

	if (trace_open_as(&trace, path, choice))
		return -1;
	while ((next = trace_next(trace, &request)) == TRACE_GOT) {
		if (nr < room)
			requests[nr] = request;
		nr++;
	}
	/* reading on does not change the result */
	CHECK(trace_next(trace, &request) == next, "%s", path);
	trace_close(trace);
	return next == TRACE_END ? nr : -1;
}

void trace_expect_refused(const char *path, const char *message)
{
	trace_expect_refused_as(path, &TRACE_ANY, message);
}

void trace_expect_refused_as(const char *path,
			     const struct trace_choice *choice,
			     const char *message)
{
	CLEANUP_FREE char *expected = message_format("alignctl: %s: %s\n", path,
						     message);
	CLEANUP_FREE char *said = NULL;
	int got;

	trace_keep_messages();
	got = trace_drain_as(path, choice, NULL, 0);
	said = trace_kept_messages();
	CHECK(got == -1, "%s: %d requests", message, got);
	CHECK(!strcmp(said, expected), "said '%s', expected '%s'", said,
	      expected);
}
