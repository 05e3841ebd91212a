/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines for people, on standard error, each with the program's name. What could
 * control a terminal is shown as its number.
 */
#ifndef ALIGNCTL_MESSAGE_H
#define ALIGNCTL_MESSAGE_H

#include <stdbool.h>

/* "alignctl: ..." : something failed; errno is not used. */
void message_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* "alignctl: warning: ..." : worth knowing, nothing failed. */
void message_warning(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* asprintf() that ends the program when memory runs out. */
char *message_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/*
 * A copy of @text in which control characters are written "\xNN": labels and
 * paths may come from anybody, and be shown on root's terminal. For free().
 */
char *message_visible(const char *text);

/*
 * A word as a shell reads it back, in single quotes unless all of its characters
 * are plain, for commands that a person may copy. For free().
 */
char *message_shell_word(const char *word);

/* Ends the program with ALIGNCTL_IO if @pointer is NULL. */
void *memory_or_exit(void *pointer);

#endif
