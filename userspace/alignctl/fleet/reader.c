// SPDX-License-Identifier: GPL-2.0
/* Read requests of paths from a pipe, and answer each with the reduced documents. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"
#include "fleet/members.h"
#include "fleet/reader.h"

/* A larger file is none of alignctl's, see align_reports/fleet/layout.py. */
#define FILE_MAX	(64 << 20)
#define ROOM_FIRST	(64 << 10)

/* Bytes, with a NUL behind them. */
struct buffer {
	char *bytes;
	size_t length, room;
};

/* Read a file until its end. Return: false: an error, or more than @most. */
static bool buffer_read(struct buffer *buffer, int fd, size_t most)
{
	buffer->length = 0;
	for (;;) {
		ssize_t got;

		if (buffer->length + 1 >= buffer->room) {
			buffer->room = buffer->room ? 2 * buffer->room :
						      ROOM_FIRST;
			buffer->bytes = memory_or_exit(
				realloc(buffer->bytes, buffer->room));
		}
		got = read(fd, buffer->bytes + buffer->length,
			   buffer->room - buffer->length - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (!got)
			break;
		buffer->length += (size_t)got;
		if (buffer->length > most)
			return false;
	}
	buffer->bytes[buffer->length] = '\0';
	return true;
}

static bool read_document(struct buffer *document, const char *path)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat status;

	/* opening a pipe would wait for its writer */
	if (stat(path, &status) || !S_ISREG(status.st_mode) ||
	    status.st_size > FILE_MAX)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && buffer_read(document, fd, FILE_MAX);
}

/* Write a line for each path. Return: false if it could not be written. */
static bool answer_paths(const struct members *names, char *const *paths, size_t nr,
			 int fd)
{
	CLEANUP_FCLOSE FILE *stream = fdopen(fd, "w");
	struct buffer document = { 0 };
	char *copy = NULL;
	size_t room = 0, i;

	for (i = 0; stream && i < nr && !ferror(stream); i++) {
		size_t length = 0;

		if (read_document(&document, paths[i])) {
			if (room < document.room) {
				room = document.room;
				free(copy);
				copy = memory_or_exit(malloc(room));
			}
			length = members_copy(names, document.bytes,
					      document.length, copy);
		}
		if (length)
			fwrite(copy, 1, length, stream);
		putc('\n', stream);
	}
	free(document.bytes);
	free(copy);
	return stream && !fflush(stream) && !ferror(stream);
}

/* Take all requests, and answer them. Return: enum alignctl_exit. */
static int serve_requests(int requests, int answers)
{
	struct buffer all = { 0 };
	char **texts, *at, *end;
	size_t nr = 0, names = 0;

	/* what is cut off comes from a program that has ended */
	if (!buffer_read(&all, requests, SIZE_MAX) || !all.length ||
	    all.bytes[all.length - 1])
		return ALIGNCTL_FINE;
	end = all.bytes + all.length;
	for (at = all.bytes; at < end; at++)
		nr += !*at;
	texts = memory_or_exit(calloc(nr, sizeof(*texts)));
	for (at = all.bytes, nr = 0; at < end; at += strlen(at) + 1)
		texts[nr++] = at;
	while (names < nr && *texts[names])
		names++;
	if (names < nr && !answer_paths(members_new(texts, names), texts + names + 1,
					nr - names - 1, answers))
		return ALIGNCTL_IO;
	return ALIGNCTL_FINE;
}

static void close_both(const int *ends)
{
	close(ends[0]);
	close(ends[1]);
}

bool reader_start(struct reader *reader)
{
	int requests[2], answers[2];

	if (pipe(requests))
		return false;
	if (pipe(answers)) {
		close_both(requests);
		return false;
	}
	/* ignored, it would leave no status to wait for, also after execve() */
	signal(SIGCHLD, SIG_DFL);
	output_flush();
	reader->process = fork();
	if (reader->process < 0) {
		close_both(requests);
		close_both(answers);
		return false;
	}
	if (!reader->process) {
		close(requests[1]);
		close(answers[0]);
		_exit(serve_requests(requests[0], answers[1]));
	}
	close(requests[0]);
	close(answers[1]);
	reader->requests = requests[1];
	reader->answers = answers[0];
	return true;
}
