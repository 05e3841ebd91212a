/* SPDX-License-Identifier: GPL-2.0 */
/* The words by which a user of a unit test program chooses tests. */
#ifndef TAP_WORDS_H
#define TAP_WORDS_H

#include <stdbool.h>
#include <string.h>

/*
 * Tell whether a word of @words, which ends with NULL, names the test file @name
 * or is a part of what a test promises. Without words every test is wanted.
 */
static inline bool tap_wanted(char *const *words, const char *name, const char *promise)
{
	if (!*words)
		return true;
	for (; *words; words++) {
		if (!strcmp(*words, name) || strstr(promise, *words))
			return true;
	}
	return false;
}

#endif
