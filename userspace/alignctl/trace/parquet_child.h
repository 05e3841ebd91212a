/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parquet is read and written by DuckDB, in a child process: a program of the
 * package align_reports. Its standard error is kept, and what it says last is the
 * reason if it fails.
 */
#ifndef ALIGNCTL_PARQUET_CHILD_H
#define ALIGNCTL_PARQUET_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct parquet_child - the child process
 * @pid: its number; 0: there is none
 * @output: its standard output, to read from; -1: it has none
 * @words: its standard error, a file in memory
 */
struct parquet_child {
	pid_t pid;
	int output;
	int words;
};

/**
 * struct parquet_command - arguments, standard input and process group of the child
 * @path: name of the trace in messages
 * @arguments: arguments of the program, which end with NULL
 * @input: descriptor that becomes the standard input
 * @answers: the standard output is read, from @output of the child
 * @apart: keys of the terminal, as Ctrl-C, do not reach the child
 */
struct parquet_command {
	const char *path;
	char *const *arguments;
	int input;
	bool answers;
	bool apart;
};

/* Start the child. Return: enum alignctl_exit; reported, and there is none. */
int parquet_child_start(struct parquet_child *child,
			const struct parquet_command *command);

/*
 * Wait until the child ends. Return: enum alignctl_exit; ALIGNCTL_USAGE if the
 * content is wrong. @reason: set to why it failed, for free(), or NULL.
 */
int parquet_child_wait(struct parquet_child *child, char **reason);

/* Kill the child; do nothing if there is none. */
void parquet_child_kill(struct parquet_child *child);

#endif
