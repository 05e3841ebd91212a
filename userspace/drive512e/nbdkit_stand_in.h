/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plugin's calls of nbdkit, a program, which cannot be linked. For one file
 * of a program that links the plugin.
 */
#ifndef NBDKIT_STAND_IN_H
#define NBDKIT_STAND_IN_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

/* The plugin's last error message, truncated. */
static char nbdkit_said[4096];

void nbdkit_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(nbdkit_said, sizeof(nbdkit_said), format, args);
	va_end(args);
}

void nbdkit_set_error(int error)
{
	(void)error;
}

int nbdkit_nanosleep(unsigned int seconds, unsigned int nanoseconds)
{
	(void)seconds;
	(void)nanoseconds;
	return 0;
}

char *nbdkit_absolute_path(const char *path)
{
	char *absolute = NULL;

	if (*path == '/')
		return strdup(path);
	if (asprintf(&absolute, "/%s", path) < 0)
		return NULL;
	return absolute;
}

/* Parse a number, maybe with K, M, G or T, of at most INT64_MAX; or -1. */
int64_t nbdkit_parse_size(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	const char *units = "KMGT", *unit = strchr(units, text[digits]);
	unsigned int shift;
	uint64_t number;

	if (!digits || digits > 18 || !unit || (*unit && text[digits + 1]))
		return -1;
	number = strtoull(text, NULL, 10);
	shift = *unit ? 10 * (unsigned int)(unit - units + 1) : 0;
	return number > (uint64_t)INT64_MAX >> shift ?
		-1 : (int64_t)(number << shift);
}

#endif
