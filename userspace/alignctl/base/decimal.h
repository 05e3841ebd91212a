/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decimal numbers in text from outside: digits and nothing else. A number that
 * is too large is refused, never wrapped or truncated.
 */
#ifndef ALIGNCTL_DECIMAL_H
#define ALIGNCTL_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Read the number at *@at and advance *@at past its digits. Return false, with
 * nothing changed, if there is no digit or the number is above @max.
 */
bool decimal_read(const char **at, uint64_t max, uint64_t *number);

/* A number of at most this many digits fits into 64 bits. */
#define DECIMAL_ALWAYS_FIT	19U

/* Return the value of a digit, or above 9 if @c is no digit. */
static inline unsigned int decimal_digit(char c)
{
	return (unsigned int)c - '0';
}

/* As decimal_read(), by more instructions. */
bool decimal_read_checked(const char **at, uint64_t max, uint64_t *number);

/* As decimal_read(), inline for where most of the time goes to numbers. */
static inline bool decimal_read_inline(const char **at, uint64_t max,
				       uint64_t *number)
{
	const char *end = *at;
	unsigned int digit;
	uint64_t value = 0;

	for (; (digit = decimal_digit(*end)) <= 9; end++)
		value = value * 10 + digit;
	/* none; or it may have wrapped, or is too large */
	if ((size_t)(end - *at) - 1 >= DECIMAL_ALWAYS_FIT || value > max)
		return decimal_read_checked(at, max, number);
	*at = end;
	*number = value;
	return true;
}

/*
 * Read a device number, "major:minor", at *@at and advance *@at past it. Return
 * false, with nothing changed, if there is none or a part is above 32 bits.
 */
bool decimal_read_devno(const char **at, dev_t *devno);

#endif
