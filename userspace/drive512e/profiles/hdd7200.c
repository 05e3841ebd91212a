// SPDX-License-Identifier: GPL-2.0
/* The disk of [A] with a command queue. */
#include "desktop_disk.h"
#include "profiles.h"

const struct profile profile_hdd7200 = {
	.name = "hdd7200",
	.about = "7200 rpm disk with a command queue",
	DESKTOP_DISK,
	DESKTOP_CACHE,
	.queue = 32,				/* [S] */
	.rmw_alone = true,	/* [F] two revolutions for 2 touches */
};
