// SPDX-License-Identifier: GPL-2.0
#include "pace.h"

int64_t pace_arrival(struct pace *pace, int64_t now)
{
	if (now - pace->left > PACE_CEILING_NS)
		pace->lag = 0;
	if (now - pace->lag > pace->arrival)
		pace->arrival = now - pace->lag;
	return pace->arrival;
}

void pace_answered(struct pace *pace, int64_t due, int64_t now)
{
	pace->lag = now - due;
	if (pace->lag < 0 || pace->lag > PACE_CEILING_NS)
		pace->lag = 0;
	pace->left = now;
}
