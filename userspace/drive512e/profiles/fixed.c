// SPDX-License-Identifier: GPL-2.0
#include "profiles.h"

const struct profile profile_fixed = {
	.name = "fixed",
	.about = "each request takes latency_us",
	.kind = PROFILE_FIXED,
	.cache_allowed = true,
};
