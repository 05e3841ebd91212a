// SPDX-License-Identifier: GPL-2.0
/*
 * Format messages, escape bytes that a terminal must not get, and end the program
 * when memory is exhausted.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"

/* Any thread may have a message while one draws the line. */
static atomic_bool unfinished_line;

__attribute__((format(printf, 2, 0)))
static void message_line(const char *prefix, const char *format, va_list args)
{
	CLEANUP_FREE char *text = message_format_list(format, args);
	CLEANUP_FREE char *visible = message_visible(text);

	/* keep the order of standard output and standard error */
	fflush(stdout);
	fprintf(stderr, "%salignctl: %s%s\n", atomic_load(&unfinished_line) ?
		MESSAGE_ERASE : "", prefix, visible);
}

void message_behind_line(bool unfinished)
{
	atomic_store(&unfinished_line, unfinished);
}

void message_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message_line("", format, args);
	va_end(args);
}

void message_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message_line("warning: ", format, args);
	va_end(args);
}

/*
 * Check for a character of no width that begins a new line or reorders the text behind
 * it: the figures of a row, or the words of a command to run.
 */
static bool reorders(wchar_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/*
 * Return the length of the character at @text if a terminal can show it as it is: valid
 * in the locale, no control character (U+0080 to U+009F are such), and none that
 * reorders(); else 0.
 */
static size_t visible_length(const char *text)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t length = mbrtowc(&c, text, strlen(text), &state);

	/* its errors are (size_t)-1 and -2 */
	return length <= MB_CUR_MAX && wcwidth(c) >= 0 && !reorders(c) ? length : 0;
}

char *message_visible(const char *text)
{
	char *visible = memory_or_exit(malloc(4 * strlen(text) + 1));
	char *to = visible;

	while (*text) {
		size_t length = visible_length(text);

		if (length) {
			to = mempcpy(to, text, length);
			text += length;
		} else {
			to += sprintf(to, "\\x%02x", (unsigned char)*text++);
		}
	}
	*to = '\0';
	return visible;
}

char *message_shell_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-./:=@_";
	char *quoted, *to;

	if (*word && !word[strspn(word, plain)])
		return memory_or_exit(strdup(word));
	/* each quote in the word becomes '\'' */
	quoted = to = memory_or_exit(malloc(4 * strlen(word) + 3));
	*to++ = '\'';
	for (; *word; word++)
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	stpcpy(to, "'");
	return quoted;
}

void *memory_or_exit(void *pointer)
{
	if (!pointer) {
		fputs("alignctl: out of memory\n", stderr);
		exit(ALIGNCTL_IO);
	}
	return pointer;
}

char *message_format_list(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	return memory_or_exit(text);
}

char *message_format(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = message_format_list(format, args);
	va_end(args);
	return text;
}
