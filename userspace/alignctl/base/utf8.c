// SPDX-License-Identifier: GPL-2.0
/* Decode one letter of UTF-8, and replace what is none. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/utf8.h"

/* Return the number of bytes of the letter that @first begins; 0: none. */
static size_t length_of(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/*
 * Check for a byte that may follow @first in a letter, at @place from 1. Overlong
 * letters, surrogates and letters above U+10FFFF show in the second byte.
 */
static bool follows(unsigned char first, size_t place, unsigned char byte)
{
	unsigned char low = 0x80, high = 0xbf;

	if (place == 1 && first == 0xe0)
		low = 0xa0;
	else if (place == 1 && first == 0xed)
		high = 0x9f;
	else if (place == 1 && first == 0xf0)
		low = 0x90;
	else if (place == 1 && first == 0xf4)
		high = 0x8f;
	return byte >= low && byte <= high;
}

size_t utf8_letter(const char *text)
{
	unsigned char first = (unsigned char)*text;
	size_t length = length_of(first), have = 1;

	while (have < length && follows(first, have, (unsigned char)text[have]))
		have++;
	return have == length ? length : 0;
}

char *utf8_mend(const char *text)
{
	/* a byte becomes four at most */
	char *mended = memory_or_exit(malloc(4 * strlen(text) + 1));
	char *to = mended;

	while (*text) {
		size_t length = utf8_letter(text);

		if (length) {
			memcpy(to, text, length);
			to += length;
			text += length;
		} else {
			to += sprintf(to, "\\x%02x", (unsigned char)*text);
			text++;
		}
	}
	*to = '\0';
	return mended;
}
