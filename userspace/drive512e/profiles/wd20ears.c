// SPDX-License-Identifier: GPL-2.0
/* The WD20EARS [F]. */
#include "green_disk.h"
#include "profiles.h"

const struct profile profile_wd20ears = {
	.name = "wd20ears",
	.about = "5400 rpm disk that completes one block at a time",
	GREEN_DISK,
	.bus_rate = 300e6,	/* [M] Serial ATA 2 */
	.command_ns = 40000,				/* [M] */
	.cache_entries = 26,	/* [F] 0.595 ms: a revolution for 26 */
	.cache_joins = 2,				/* [M] */
	.cache_partial = 1,	/* [F] 37.1 ms: 3 revolutions each */
	.stream_whole = true,				/* [M] */
};
