// SPDX-License-Identifier: GPL-2.0
/* Escape a path as systemd does, for the name of a unit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "boot/unit_name.h"

#define UNIT_NAME_MAX	255

char *unit_escape(const char *name)
{
	static const char plain[] = "0123456789:_."
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *escaped = memory_or_exit(malloc(4 * strlen(name) + 1));
	const char *at;
	char *to = escaped;

	for (at = name; *at; at++)
		if (*at == '/')
			*to++ = '-';
		else if (strchr(plain, *at) && !(*at == '.' && at == name))
			*to++ = *at;
		else
			to += sprintf(to, "\\x%02x", (unsigned char)*at);
	*to = '\0';
	return escaped;
}

char *unit_of(const char *name)
{
	char *escaped = unit_escape(name);
	char *unit = message_format("align@%s.service", escaped);

	free(escaped);
	if (strlen(unit) <= UNIT_NAME_MAX)
		return unit;
	free(unit);
	return NULL;
}
