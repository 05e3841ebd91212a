/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decompress a trace while it is read: gzip, bzip2, xz and zstd, also several of
 * them one behind the other, as cat and parallel compressors make them. Memory is
 * bounded for any file, and so is the growth of the data.
 */
#ifndef ALIGNCTL_TRACE_UNPACK_H
#define ALIGNCTL_TRACE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Bytes by which compressed data is recognized. */
#define TRACE_UNPACK_MAGIC	4U

/* Largest window of zstd, log2 of bytes: that of zstd without --long. */
#define TRACE_UNPACK_WINDOW_LOG	27

/*
 * Beyond so many bytes, data may not have grown by more than the factor, which
 * is the most that gzip can do: no trace is that regular.
 */
#ifndef TRACE_UNPACK_FREE
#define TRACE_UNPACK_FREE	(64U << 20)
#endif
#define TRACE_UNPACK_FACTOR	1032U

enum trace_unpacked {
	TRACE_UNPACKED,		/* bytes were unpacked, or it is the end */
	TRACE_UNPACK_DAMAGED,	/* the compressed data is wrong; reported */
	TRACE_UNPACK_FAILED,	/* as TRACE_FAILED; reported, or a signal came */
};

struct trace_unpacker;

/*
 * Start on a file whose first bytes are @head. Return: the unpacker, for
 * trace_unpacker_free(); NULL: the bytes are not compressed.
 */
struct trace_unpacker *trace_unpacker_new(const char *head, size_t length);
void trace_unpacker_free(struct trace_unpacker *unpacker);

/*
 * Unpack up to @room bytes, reading from @fd, whose name in messages is @path.
 * @got: set to the number of bytes; 0: the end.
 */
enum trace_unpacked trace_unpack(struct trace_unpacker *unpacker, int fd,
				 const char *path, char *bytes, size_t room,
				 size_t *got);

#endif
