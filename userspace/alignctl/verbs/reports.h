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

#endif
