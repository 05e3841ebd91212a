/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read a file or pipe through one buffer, unpack it if it is packed, and skip a
 * byte order mark of UTF-8.
 */
#ifndef ALIGNCTL_TRACE_INPUT_H
#define ALIGNCTL_TRACE_INPUT_H

#include "trace/trace.h"
#include "trace/unpack.h"

/**
 * struct trace_input - a file that is being read
 * @path: name of the file in messages
 * @fd: descriptor of the file
 * @origin: position in the file of the first byte to read, which a shell may have
 *	moved in its standard input
 * @buffer: bytes of the file
 * @capacity: size of @buffer in bytes
 * @start: index in @buffer of the next byte to take
 * @end: index in @buffer after the last byte read
 * @byte: position of @start in the file, unpacked, in bytes
 * @line: number of lines taken so far
 * @ended: the end of the file has been read into @buffer
 * @begun: the file's first bytes have been read
 * @damaged: the last failure was compressed data that is wrong
 * @told_last_line: the warning about a last line without an end was given
 * @unpacker: unpacks the file; NULL: the file is not compressed
 */
struct trace_input {
	char *path;
	int fd;
	off_t origin;
	char *buffer;
	size_t capacity;
	size_t start;
	size_t end;
	uint64_t byte;
	uint64_t line;
	bool ended;
	bool begun;
	bool damaged;
	bool told_last_line;
	struct trace_unpacker *unpacker;
};

/*
 * Open a file; "-" is standard input. Refuse folders and block devices. Return:
 * enum alignctl_exit; reported.
 */
int trace_input_open(struct trace_input *input, const char *path,
		     size_t capacity);
/* Close a file; do nothing if @input is all zeroes. */
void trace_input_close(struct trace_input *input);

/* Read from @fd, which becomes the input's; @path is its name in messages. */
void trace_input_from(struct trace_input *input, int fd, const char *path,
		      size_t capacity);

/* Go back to the first byte. Return: enum alignctl_exit; reported. */
int trace_input_rewind(struct trace_input *input);

/* Check whether the file can be read twice. */
bool trace_input_has_way_back(const struct trace_input *input);

/*
 * Read until @wanted bytes, at most the capacity, are at buffer + start or the
 * file ends. Return: the number of bytes there, at most @wanted, or -1 after
 * reporting a failure, which trace_input_failure() tells.
 */
ssize_t trace_input_peek(struct trace_input *input, size_t wanted);

/*
 * Return TRACE_FAILED after a failure to read, or TRACE_BROKEN if to unpack. A
 * signal that interrupt_seen() tells is a failure, too, which is not reported.
 */
enum trace_next trace_input_failure(const struct trace_input *input);

/* Consume @bytes that trace_input_peek() has read. */
void trace_input_take(struct trace_input *input, size_t bytes);

/*
 * Take a line, as a string without its end (LF or CR LF) that may be changed
 * and is valid until the next call. The last line needs no end; that one is
 * missing is said once. Refuse a line that is longer than the buffer or contains
 * a NUL byte. TRACE_FAILED: the file could not be read.
 */
enum trace_next trace_input_line(struct trace_input *input, char **line);

#endif
