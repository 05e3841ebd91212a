/* SPDX-License-Identifier: GPL-2.0 */
/* Traces for tests: made-up files, and the messages about them. */
#ifndef ALIGNCTL_TRACE_FILE_H
#define ALIGNCTL_TRACE_FILE_H

#include "trace/writer.h"

/* Create an empty folder for a test's files; remove it with all files. */
void trace_folder_open(void);
void trace_folder_close(void);

/* Return the path of a file in the folder, valid for the next few calls. */
const char *trace_path(const char *name);

/* Return the path of a file in tests/trace/samples. */
const char *trace_fixture(const char *name);

/* Write a file in the folder. Return: trace_path(). */
const char *trace_bytes(const char *name, const void *bytes, size_t size);
const char *trace_text(const char *name, const char *text);

/* Convert the trace @source to @format. Return: as trace_convert(). */
int trace_convert_to(const char *source, const char *output,
		     enum trace_written format);

/* Read all of a file; for free(). The content is followed by a 0. */
char *trace_read_all(const char *path, size_t *size);

/* Keep messages from now on; end that and return them, for free(). */
void trace_keep_messages(void);
char *trace_kept_messages(void);

/*
 * Read a trace to its end. Return: its number of requests, or -1 if it could
 * not be opened or was malformed; the first @room go into @requests.
 */
int trace_drain(const char *path, struct trace_request *requests, int room);
int trace_drain_as(const char *path, const struct trace_choice *choice,
		   struct trace_request *requests, int room);

/* Read a trace, and check that it is refused with @message and nothing else. */
void trace_expect_refused(const char *path, const char *message);
void trace_expect_refused_as(const char *path,
			     const struct trace_choice *choice,
			     const char *message);

#endif
