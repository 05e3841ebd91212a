/* SPDX-License-Identifier: GPL-2.0 */
/* Names from outside, of any bytes, for output that must be UTF-8. */
#ifndef ALIGNCTL_UTF8_H
#define ALIGNCTL_UTF8_H

#include <stddef.h>

/*
 * Return the number of bytes of the letter that @text begins with; 0: it begins
 * with a byte that is not of a whole letter.
 */
size_t utf8_letter(const char *text);

/*
 * Return @text as UTF-8, for free(). A byte that is not of a whole letter is
 * written \xNN, as device-mapper does in /dev/mapper, so that names that differ
 * stay different.
 */
char *utf8_mend(const char *text);

#endif
