// SPDX-License-Identifier: GPL-2.0
/* Encode a name byte by byte, and decode it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "trace/percent.h"

static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
static const char digits[] = "0123456789ABCDEF";

char *percent_encode(const char *name)
{
	char *encoded = memory_or_exit(malloc(3 * strlen(name) + 1));
	char *end = encoded;

	for (; *name; name++) {
		unsigned char byte = (unsigned char)*name;

		if (strchr(plain, *name)) {
			*end++ = *name;
			continue;
		}
		*end++ = '%';
		*end++ = digits[byte >> 4];
		*end++ = digits[byte & 0xf];
	}
	*end = '\0';
	return encoded;
}

char *percent_decode(const char *text)
{
	char *name = memory_or_exit(malloc(strlen(text) + 1)), *end = name;

	while (*text) {
		const char *high, *low;

		if (strchr(plain, *text)) {
			*end++ = *text++;
			continue;
		}
		high = *text == '%' && text[1] ? strchr(digits, text[1]) : NULL;
		low = high && text[2] ? strchr(digits, text[2]) : NULL;
		if (!low || (high == digits && low == digits)) {
			free(name);
			return NULL;
		}
		*end++ = (char)((high - digits) << 4 | (low - digits));
		text += 3;
	}
	*end = '\0';
	return name;
}
