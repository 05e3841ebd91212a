/* SPDX-License-Identifier: GPL-2.0 */
/* A binary blktrace is a file for each processor: NAME.blktrace.0, .1 ... */
#ifndef ALIGNCTL_TRACE_BLKTRACE_H
#define ALIGNCTL_TRACE_BLKTRACE_H

#include <stdbool.h>

/* Is that the name of one of them? */
bool blktrace_is_member(const char *path);

/* Are both names of files of one blktrace, those of its processors? */
bool blktrace_same(const char *path, const char *other);

/* One of the files of that NAME, for free(); NULL: there is none. */
char *blktrace_member(const char *name);

#endif
