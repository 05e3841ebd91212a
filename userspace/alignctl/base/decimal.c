// SPDX-License-Identifier: GPL-2.0
#include <sys/sysmacros.h>

#include "base/decimal.h"

/* A number of at most this many digits fits into 64 bits. */
#define DIGITS_ALWAYS_FIT	19

/* Return the value of a digit, or above 9 if @c is no digit. */
static unsigned int digit_of(char c)
{
	return (unsigned int)c - '0';
}

bool decimal_read(const char **at, uint64_t max, uint64_t *number)
{
	const char *start = *at, *end = start;
	unsigned int digit = digit_of(*end);
	uint64_t value = 0;

	/* no checks but this one: this loop reads each field of a trace */
	for (; digit <= 9; digit = digit_of(*++end))
		value = value * 10 + digit;
	if (end == start)
		return false;
	/* what has more digits may have wrapped; read it again */
	if (end - start > DIGITS_ALWAYS_FIT)
		for (end = start, value = 0; digit_of(*end) <= 9; end++)
			if (__builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, digit_of(*end),
						   &value))
				return false;
	if (value > max)
		return false;
	*at = end;
	*number = value;
	return true;
}

bool decimal_read_devno(const char **at, dev_t *devno)
{
	const char *text = *at;
	uint64_t major, minor;

	if (!decimal_read(&text, UINT32_MAX, &major) || *text++ != ':' ||
	    !decimal_read(&text, UINT32_MAX, &minor))
		return false;
	*at = text;
	*devno = makedev((unsigned int)major, (unsigned int)minor);
	return true;
}
