/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A binary blktrace is a file for each processor: NAME.blktrace.0, .1 ...; all of them
 * may be compressed: NAME.blktrace.0.gz, .1.gz ...
 */
#ifndef ALIGNCTL_TRACE_BLKTRACE_H
#define ALIGNCTL_TRACE_BLKTRACE_H

#include <stdbool.h>

/* Check whether a path names one of a blktrace's files. */
bool blktrace_is_member(const char *path);

/* Check whether two paths name files of the same blktrace. */
bool blktrace_same(const char *path, const char *other);

/* Return the path of one of NAME's files, for free(); NULL: it has none. */
char *blktrace_member(const char *name);

#endif
