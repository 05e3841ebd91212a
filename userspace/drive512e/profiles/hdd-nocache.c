// SPDX-License-Identifier: GPL-2.0
/* The disk of [A] with its write cache off. */
#include "desktop_disk.h"
#include "profiles.h"

const struct profile profile_hdd_nocache = {
	.name = "hdd-nocache",
	.about = "the same without a cache, an RMW costs a revolution",
	DESKTOP_DISK,
};
