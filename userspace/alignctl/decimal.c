// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <sys/sysmacros.h>

#include "decimal.h"

bool decimal_read(const char **at, uint64_t max, uint64_t *number)
{
	const char *digit = *at;
	uint64_t value = 0;

	if (!isdigit((unsigned char)*digit))
		return false;
	for (; isdigit((unsigned char)*digit); digit++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *digit - '0', &value))
			return false;
	if (value > max)
		return false;
	*at = digit;
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
