/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages for people: one line each on standard error, after the program's
 * name. Control characters are shown as their numbers.
 */
#ifndef ALIGNCTL_MESSAGE_H
#define ALIGNCTL_MESSAGE_H

#include <stdbool.h>

/* Print the error "alignctl: ..."; errno is not used. */
void message_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Print "alignctl: warning: ...", for what is no error. */
void message_warning(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Return the formatted text, for free(); end the program if memory runs out. */
char *message_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/*
 * Return a copy of @text, for free(), with control characters written "\xNN":
 * anybody may have chosen a label or a path, and root's terminal shows it.
 */
char *message_visible(const char *text);

/*
 * Return a word, for free(), as a shell reads it back: in single quotes unless
 * all of its characters are plain. For commands that a person may copy.
 */
char *message_shell_word(const char *word);

/* Return @pointer; end the program with ALIGNCTL_IO if it is NULL. */
void *memory_or_exit(void *pointer);

#endif
