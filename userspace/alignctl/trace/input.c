// SPDX-License-Identifier: GPL-2.0
/*
 * Fill one buffer from file or pipe, through an unpacker where the first bytes ask
 * for one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "trace/input.h"

void trace_input_from(struct trace_input *input, int fd, const char *path,
		      size_t capacity)
{
	*input = (struct trace_input) {
		.fd = fd, .capacity = capacity,
		.path = message_format("%s", path),
		/* a last line without an end gets one behind the file's bytes */
		.buffer = memory_or_exit(malloc(capacity + 1)),
	};
}

int trace_input_open(struct trace_input *input, const char *path,
		     size_t capacity)
{
	bool standard = !strcmp(path, "-");
	struct stat found;
	const char *kind;

	*input = (struct trace_input) {
		.fd = standard ? dup(STDIN_FILENO) :
				 open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY),
	};
	if (input->fd < 0 || fstat(input->fd, &found)) {
		message_error("%s: cannot be read: %s", path, strerror(errno));
		if (input->fd >= 0)
			close(input->fd);
		return ALIGNCTL_USAGE;
	}
	kind = S_ISDIR(found.st_mode) ? "folder" :
	       S_ISBLK(found.st_mode) ? "block device" : NULL;
	if (kind) {
		message_error("%s: is a %s; a trace is a file", path, kind);
		close(input->fd);
		return ALIGNCTL_USAGE;
	}
	trace_input_from(input, input->fd, standard ? "standard input" : path,
			 capacity);
	input->origin = lseek(input->fd, 0, SEEK_CUR);
	return ALIGNCTL_FINE;
}

void trace_input_close(struct trace_input *input)
{
	if (!input->path)
		return;
	close(input->fd);
	trace_unpacker_free(input->unpacker);
	free(input->buffer);
	free(input->path);
	*input = (struct trace_input) { 0 };
}

bool trace_input_has_way_back(const struct trace_input *input)
{
	return lseek(input->fd, 0, SEEK_CUR) >= 0;
}

int trace_input_rewind(struct trace_input *input)
{
	if (lseek(input->fd, input->origin, SEEK_SET) < 0) {
		message_error("%s: cannot be read a second time: %s; save the trace to a file first",
			      input->path, strerror(errno));
		return ALIGNCTL_USAGE;
	}
	input->start = input->end = 0;
	input->byte = input->line = 0;
	input->ended = input->begun = false;
	trace_unpacker_free(input->unpacker);
	input->unpacker = NULL;
	return ALIGNCTL_FINE;
}

/*
 * Read up to @wanted bytes as they are in the file; -1: reported, or a signal came, as
 * a pipe may stay silent for ever.
 */
static ssize_t read_plain(struct trace_input *input, size_t wanted)
{
	ssize_t got;

	do
		got = read(input->fd, input->buffer + input->end, wanted);
	while (got < 0 && errno == EINTR && !interrupt_seen());
	if (got < 0 && errno != EINTR)
		message_error("%s: byte %" PRIu64 ": cannot be read: %s",
			      input->path, input->byte + input->end,
			      strerror(errno));
	return got;
}

/* Read the first bytes, and give them to an unpacker if they are packed. */
static int begin_input(struct trace_input *input)
{
	ssize_t got = 1;

	while (got > 0 && input->end < TRACE_UNPACK_MAGIC) {
		got = read_plain(input, TRACE_UNPACK_MAGIC - input->end);
		if (got < 0)
			return -1;
		input->end += (size_t)got;
	}
	input->begun = true;
	input->ended = !got;
	input->unpacker = trace_unpacker_new(input->buffer, input->end);
	if (input->unpacker) {
		input->end = 0;
		input->ended = false;
	}
	return 0;
}

/* Read more bytes behind those in the buffer, which has room; -1: reported. */
static ssize_t fill_buffer(struct trace_input *input)
{
	size_t room = input->capacity - input->end, got;

	if (!input->unpacker)
		return read_plain(input, room);
	switch (trace_unpack(input->unpacker, input->fd, input->path,
			     input->buffer + input->end, room, &got)) {
	case TRACE_UNPACKED:
		return (ssize_t)got;
	case TRACE_UNPACK_DAMAGED:
		input->damaged = true;
		break;
	case TRACE_UNPACK_FAILED:
		break;
	}
	return -1;
}

/* Read until the buffer has @wanted bytes or the file ends; -1: reported. */
static int fill_to(struct trace_input *input, size_t wanted)
{
	ssize_t got;

	while (!input->ended && input->end < wanted) {
		got = fill_buffer(input);
		if (got < 0)
			return -1;
		input->end += (size_t)got;
		input->ended = !got;
	}
	return 0;
}

/* Skip the mark with which some programs begin a text in UTF-8; -1: reported. */
static int skip_mark(struct trace_input *input)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t bytes = strlen(mark);

	if (fill_to(input, bytes))
		return -1;
	if (input->end >= bytes && !memcmp(input->buffer, mark, bytes))
		trace_input_take(input, bytes);
	return 0;
}

ssize_t trace_input_peek(struct trace_input *input, size_t wanted)
{
	size_t there = input->end - input->start;

	if (there >= wanted)
		return (ssize_t)wanted;
	if (!input->begun && (begin_input(input) || skip_mark(input)))
		return -1;
	there = input->end - input->start;
	if (!input->ended) {
		memmove(input->buffer, input->buffer + input->start, there);
		input->start = 0;
		input->end = there;
	}
	if (fill_to(input, wanted))
		return -1;
	there = input->end - input->start;
	return (ssize_t)(there < wanted ? there : wanted);
}

enum trace_next trace_input_failure(const struct trace_input *input)
{
	return input->damaged ? TRACE_BROKEN : TRACE_FAILED;
}

void trace_input_take(struct trace_input *input, size_t bytes)
{
	input->start += bytes;
	input->byte += bytes;
}

static enum trace_next refuse_input(const struct trace_input *input,
				    const char *reason)
{
	message_error("%s: line %" PRIu64 ": %s", input->path, input->line,
		      reason);
	return TRACE_BROKEN;
}

/*
 * Warn of a last line without an end, which is read as it is: many programs
 * write none, and a line that was cut inside a number looks the same.
 */
static void warn_of_last_line(struct trace_input *input)
{
	if (!input->told_last_line)
		message_warning("%s: line %" PRIu64
				" has no line end; compare it with the source if the file may be cut",
				input->path, input->line + 1);
	input->told_last_line = true;
}

enum trace_next trace_input_line(struct trace_input *input, char **line)
{
	size_t looked = 0, there = input->end - input->start;
	char *start, *end;
	ssize_t got;
	bool last;

	for (;;) {
		start = input->buffer + input->start;
		end = memchr(start + looked, '\n', there - looked);
		if (end)
			break;
		looked = there;
		if (there == input->capacity) {
			input->line++;
			return refuse_input(input,
					    "too long for a line of a trace");
		}
		got = trace_input_peek(input, there + 1);
		if (got < 0)
			return trace_input_failure(input);
		there = input->end - input->start;
		if (there > looked)
			continue;
		if (!there)
			return TRACE_END;
		/* the bytes read may have moved to the begin of the buffer */
		start = input->buffer + input->start;
		end = input->buffer + input->end;
		warn_of_last_line(input);
		break;
	}
	input->line++;
	last = end == input->buffer + input->end;
	trace_input_take(input, (size_t)(end - start) + !last);
	if (memchr(start, '\0', (size_t)(end - start)))
		return refuse_input(input, "contains a NUL byte; the file is not text");
	if (end > start && end[-1] == '\r')
		end--;
	*end = '\0';
	*line = start;
	return TRACE_GOT;
}
