/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leave no unfinished output behind when SIGINT, SIGTERM or SIGHUP ends the
 * program, wherever it waits at that moment.
 */
#ifndef ALIGNCTL_TRACE_UNFINISHED_H
#define ALIGNCTL_TRACE_UNFINISHED_H

#include <stdbool.h>
#include <sys/types.h>

/* Let a signal remove the file @draft before it ends the program. */
void unfinished_begin(const char *draft);

/*
 * Let a signal go to @child, which cleans up and ends, instead of ending the
 * program; 0: no longer. Does nothing without unfinished_begin().
 */
void unfinished_child(pid_t child);

/* Return whether a signal went to a child. */
bool unfinished_seen(void);

/* Let a signal end the program again, also one that went to a child. */
void unfinished_end(void);

#endif
