// SPDX-License-Identifier: GPL-2.0
/* The measured disk [A]. */
#include "desktop_disk.h"
#include "profiles.h"

const struct profile profile_st1000dm003 = {
	.name = "st1000dm003",
	.about = "7200 rpm disk with a write cache, as measured",
	DESKTOP_DISK,
	DESKTOP_CACHE,
};
