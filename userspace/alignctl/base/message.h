/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages for people: one line each on standard error, after the program's
 * name. What is no character for a terminal is shown as its numbers.
 */
#ifndef ALIGNCTL_MESSAGE_H
#define ALIGNCTL_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>

/* Print the error "alignctl: ..."; errno is not used. */
void message_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Erase the line of a terminal that the cursor is in. */
#define MESSAGE_ERASE	"\r\x1b[K"

/*
 * Tell whether the last line of standard error is @unfinished, as one of progress: a
 * message erases that and takes its place.
 */
void message_behind_line(bool unfinished);

/* Print "alignctl: warning: ...", for what is no error. */
void message_warning(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Return the formatted text, for free(); end the program if memory runs out. */
char *message_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
char *message_format_list(const char *format, va_list args)
	__attribute__((format(printf, 1, 0)));

/*
 * Return a copy of @text, for free(), with control characters and bytes that
 * are no character of the locale written "\xNN": any user may have chosen a
 * label or a path, root's terminal shows it, and libsmartcols (2.38) may never
 * return from a byte that it cannot read.
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
