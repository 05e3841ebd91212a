/* SPDX-License-Identifier: GPL-2.0 */
/* Files that a run leaves its results in: what is there already is not lost. */
#ifndef ALIGNCTL_RESULT_FILE_H
#define ALIGNCTL_RESULT_FILE_H

#include <stdbool.h>

/* How the files begin, white space left out: see result_file_check(). */
#define RESULT_HISTOGRAM	"#alignctlhistogram1"
#define RESULT_TRACE_STATE	"{\"trace\":"
#define RESULT_WORKLOAD_STATE	"{\"workload\":"

/*
 * May a file be written? Nothing is changed yet. Refused is what is not a regular
 * file, a disk above all, what cannot be made, and what has other content than an
 * earlier file of the same kind, which begins with @mark. @option: its name,
 * without the dashes. Return: enum alignctl_exit; errors have been reported.
 */
int result_file_check(const char *option, const char *path, const char *mark);

/* What becomes the file by rename, once it is whole; for free(). */
char *result_file_draft(const char *path);

/* Are these, of which none has to exist, the same file? */
bool result_file_same(const char *a, const char *b);

#endif
