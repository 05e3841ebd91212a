// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "exit_codes.h"
#include "message.h"

__attribute__((format(printf, 2, 0)))
static void message_line(const char *prefix, const char *format, va_list args)
{
	/* what was printed before belongs before */
	fflush(stdout);
	fprintf(stderr, "alignctl: %s", prefix);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
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

void *memory_or_exit(void *pointer)
{
	if (!pointer) {
		fputs("alignctl: out of memory\n", stderr);
		exit(ALIGNCTL_IO);
	}
	return pointer;
}

char *message_format(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return memory_or_exit(text);
}
