// SPDX-License-Identifier: GPL-2.0
/* A drive with one latency for each request, for tests of what lies above it. */
#include "profiles.h"

const struct profile profile_fixed = {
	.name = "fixed",
	.about = "each request takes latency_us",
	.kind = PROFILE_FIXED,
	.cache_allowed = true,
};
