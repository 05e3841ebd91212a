/* SPDX-License-Identifier: GPL-2.0 */
/* Traces for tests: made-up files, and what is said about them. */
#ifndef ALIGNCTL_TRACE_FILE_H
#define ALIGNCTL_TRACE_FILE_H

#include "trace/writer.h"

/* A new, empty folder for the files of a test; removed with all in it. */
void trace_folder_open(void);
void trace_folder_close(void);

/* Where a file in it is. Good for the next few calls. */
const char *trace_path(const char *name);

/* A file there that was made by the real tools; see tests/trace/samples. */
const char *trace_fixture(const char *name);

/* Writes a file there. Return: trace_path(). */
const char *trace_bytes(const char *name, const void *bytes, size_t size);
const char *trace_text(const char *name, const char *text);

/* Write the trace @source anew. Return: as trace_convert(). */
int trace_convert_to(const char *source, const char *output,
		     enum trace_written format);

/* All of a file; for free(). A 0 follows it. */
char *trace_read_all(const char *path, size_t *size);

/* From now on messages are kept; what came since then, for free(). */
void trace_keep_messages(void);
char *trace_kept_messages(void);

/*
 * Reads a trace to its end. Return: how many requests, or -1 when it could not
 * be opened or was broken; the first @room are put into @requests.
 */
int trace_drain(const char *path, struct trace_request *requests, int room);

/* Reads it, and checks that the only thing said is @message behind its path. */
void trace_expect_refused(const char *path, const char *message);

#endif
