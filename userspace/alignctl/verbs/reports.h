/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Python programs that make many runs of alignctl and report on them:
 * orchestration, statistics and charts, in userspace/align_reports.
 */
#ifndef ALIGNCTL_REPORTS_H
#define ALIGNCTL_REPORTS_H

/*
 * Become the program @name of the package, with the arguments @more, which may
 * be NULL and ends with NULL, and the arguments @argv of the verb argv[0].
 * Return only on failure: enum alignctl_exit; reported.
 */
int reports_become(const char *name, int argc, char **argv, char *const *more);

/*
 * Run the program @name with the arguments @argv of the verb argv[0] and the
 * text @input, which may be NULL, as its standard input. Signals wait for its
 * end. Return: its exit status, reported.
 */
int reports_run(const char *name, int argc, char **argv, const char *input);

#endif
