// SPDX-License-Identifier: GPL-2.0
/* A drive that takes no time, for counting. */
#include "profiles.h"

const struct profile profile_instant = {
	.name = "instant",
	.about = "takes no time, only counts",
	.kind = PROFILE_INSTANT,
	.cache_allowed = true,
};
