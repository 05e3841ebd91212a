// SPDX-License-Identifier: GPL-2.0
/* Parse and check an area's start and length. */
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/options.h"
#include "base/units.h"
#include "verbs/area.h"

/* Alignment of an area, and its least length, bytes. */
#define AREA_UNIT	4096
#define AREA_LEAST	MIB

int area_take(struct area *area, const char *argument)
{
	CLEANUP_FREE char *copy = memory_or_exit(strdup(argument));
	char *length_text = strchr(copy, '+');
	uint64_t start, length;

	if (length_text)
		*length_text++ = '\0';
	if (!length_text || !parse_position(copy, &start) ||
	    !parse_number(length_text, &length))
		return options_refuse("write", argument,
				      "must be START+LENGTH in bytes, e.g. 0+1G or 512M+1G");
	if (start % AREA_UNIT || length % AREA_UNIT || length < AREA_LEAST ||
	    length > UINT64_MAX - start)
		return options_refuse("write", argument,
				      "must be multiples of " OPTION_DIGITS(AREA_UNIT) ", and at least 1M long");
	*area = (struct area) { start, length };
	return 0;
}
