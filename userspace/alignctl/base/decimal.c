// SPDX-License-Identifier: GPL-2.0
/* Parse decimal digits up to a limit, and a device number "MAJOR:MINOR". */
#include <sys/sysmacros.h>

#include "base/decimal.h"

bool decimal_read_checked(const char **at, uint64_t max, uint64_t *number)
{
	const char *end = *at;
	unsigned int digit;
	uint64_t value = 0;

	for (; (digit = decimal_digit(*end)) <= 9; end++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	if (end == *at || value > max)
		return false;
	*at = end;
	*number = value;
	return true;
}

bool decimal_read(const char **at, uint64_t max, uint64_t *number)
{
	return decimal_read_inline(at, max, number);
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
