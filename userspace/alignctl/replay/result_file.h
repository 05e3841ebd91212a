/* SPDX-License-Identifier: GPL-2.0 */
/* Files for the results of a run: nothing that exists is overwritten by mistake. */
#ifndef ALIGNCTL_RESULT_FILE_H
#define ALIGNCTL_RESULT_FILE_H

#include <stdbool.h>

/* The first bytes of each kind of file, without white space. */
#define RESULT_HISTOGRAM	"#alignctlhistogram1"
#define RESULT_TRACE_STATE	"{\"trace\":"
#define RESULT_WORKLOAD_STATE	"{\"workload\":"

/*
 * Check that a file may be written, without changing anything. Refuse what is no
 * regular file, a disk above all, what cannot be created, and what has other content
 * than an earlier file of the same kind, which begins with @mark. @option: name of
 * the option, without dashes. Return: enum alignctl_exit; errors have been reported.
 */
int result_file_check(const char *option, const char *path, const char *mark);

/* Return the path of the draft that becomes the file by rename, for free(). */
char *result_file_draft(const char *path);

/*
 * Write the name of a file in its folder to the disk, where fsync() of the file does
 * not have to put it. Return: -1 with errno set. A file system that cannot is no error.
 */
int result_file_sync_name(const char *path);

/* Return whether two paths, which need not exist, name the same file. */
bool result_file_same(const char *a, const char *b);

#endif
