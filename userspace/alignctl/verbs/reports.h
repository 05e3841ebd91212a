/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs in Python that make many runs of alignctl and report on them
 * together: orchestration, statistics and pictures, in userspace/align_reports.
 */
#ifndef ALIGNCTL_REPORTS_H
#define ALIGNCTL_REPORTS_H

/*
 * Becomes the program @name of the package, with @more, which NULL ends or which is
 * NULL, and then with the arguments @argv of the verb argv[0]. Returns if it
 * cannot: enum alignctl_exit.
 */
int reports_become(const char *name, int argc, char **argv, char *const *more);

#endif
