// SPDX-License-Identifier: GPL-2.0
#include "desktop_disk.h"
#include "profiles.h"

const struct profile profile_hdd_nocache = {
	.name = "hdd-nocache",
	.about = "the same without a cache, an RMW costs a revolution",
	DESKTOP_DISK,
};
