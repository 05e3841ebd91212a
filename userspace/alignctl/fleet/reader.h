/* SPDX-License-Identifier: GPL-2.0 */
/* A process that reads documents ahead of the program that ranks them. */
#ifndef ALIGNCTL_READER_H
#define ALIGNCTL_READER_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct reader - a process that reads documents
 * @requests: where to write texts, each with a NUL behind it: the names of the
 *            members that are wanted, an empty one, and the paths of the files;
 *            the process begins when this is closed
 * @answers:  where to read a line for each file, in their order: its document
 *            as members_copy() makes it, or nothing, where that refuses the
 *            document or the file cannot be read
 * @process:  its id; a child of this process
 */
struct reader {
	int requests;
	int answers;
	pid_t process;
};

/* Start a reader. Return: false if that is not possible now; not reported. */
bool reader_start(struct reader *reader);

#endif
