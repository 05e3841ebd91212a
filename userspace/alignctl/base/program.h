/* SPDX-License-Identifier: GPL-2.0 */
/* Run a program of the system, as modprobe, and read what it prints. */
#ifndef ALIGNCTL_PROGRAM_H
#define ALIGNCTL_PROGRAM_H

#include <stdbool.h>

/* In place of an exit status. */
#define PROGRAM_FAILED	(-1)	/* not started, or ended by a signal */
#define PROGRAM_MISSING	(-2)	/* there is no such program */

/*
 * Run a program, found in PATH or in the folders of system programs, in the C
 * locale and without standard input. Return: its exit status, or one of the
 * above. @output: set to what it printed, standard error included, without the
 * last newline, or to why it was not started; for free().
 */
int program_run(char *const argv[], char **output);

/*
 * Run a program, and check whether its output has a path of the device whose
 * node is given, by any name. Return: false also if the program is
 * missing.
 */
bool program_names(char *const argv[], const char *node);

#endif
