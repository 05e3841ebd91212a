/* SPDX-License-Identifier: GPL-2.0 */
/* A file, or a pipe, read from front to back through one buffer. */
#ifndef ALIGNCTL_TRACE_INPUT_H
#define ALIGNCTL_TRACE_INPUT_H

#include "trace/trace.h"

/**
 * struct trace_input - a file that is being read
 * @path: as messages name it
 * @fd: the file
 * @buffer: what has been read of it
 * @capacity: bytes of @buffer
 * @start: byte of @buffer that comes next
 * @end: byte of @buffer after what has been read
 * @byte: where @start is in the file
 * @line: number of lines that have been taken
 * @ended: there is nothing in the file behind the buffer
 */
struct trace_input {
	char *path;
	int fd;
	char *buffer;
	size_t capacity;
	size_t start;
	size_t end;
	uint64_t byte;
	uint64_t line;
	bool ended;
};

/*
 * "-" is standard input. Refuses folders and devices. Return: enum
 * alignctl_exit; reported. Closing one that is all zeroes does nothing.
 */
int trace_input_open(struct trace_input *input, const char *path,
		     size_t capacity);
void trace_input_close(struct trace_input *input);

/* To its first byte. Return: enum alignctl_exit; reported. */
int trace_input_rewind(struct trace_input *input);

/* Can it be read twice? */
bool trace_input_has_way_back(const struct trace_input *input);

/*
 * Makes @wanted bytes stand at buffer + start, if the file has as many; they may
 * not exceed the capacity. Return: how many do, at most @wanted, or -1 after a
 * failure to read, which has been reported.
 */
ssize_t trace_input_peek(struct trace_input *input, size_t wanted);

/* Steps over what trace_input_peek() showed. */
void trace_input_take(struct trace_input *input, size_t bytes);

/*
 * Takes a line, as a string without its end (LF or CR LF) that may be changed
 * and stays until the next call. A line that is longer than the buffer, has a
 * byte 0 in it or no end is refused; TRACE_FAILED: it could not be read.
 */
enum trace_next trace_input_line(struct trace_input *input, char **line);

#endif
