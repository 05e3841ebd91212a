// SPDX-License-Identifier: GPL-2.0
/* Compute the arrival of a request from the lag, and the lag from the last answer. */
#include "pace.h"

int64_t pace_arrival(struct pace *pace, int64_t now, int64_t lead)
{
	int64_t at;

	if (now - pace->left > PACE_CEILING_NS)
		pace->lag = 0;
	at = now - pace->lag;
	if (at - lead > pace->due)
		at -= lead;
	else if (at > pace->due)
		at = pace->due;
	if (at > pace->arrival)
		pace->arrival = at;
	return pace->arrival;
}

void pace_answered(struct pace *pace, int64_t due, int64_t now)
{
	pace->lag = now - due;
	if (pace->lag < 0 || pace->lag > PACE_CEILING_NS)
		pace->lag = 0;
	pace->left = now;
	pace->due = due;
}
