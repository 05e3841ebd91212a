// SPDX-License-Identifier: GPL-2.0
/* The WD20EARS behind USB 3 [F], with the sector numbers shifted by one. */
#include "green_disk.h"
#include "profiles.h"

const struct profile profile_usb_liar = {
	.name = "usb-liar",
	.about = "5400 rpm disk behind USB that says 512, is 4096 from sector 7",
	GREEN_DISK,
	.blocks = { 4096, 3584 },
	.says = { 512, 512, 0 },
	.bus_rate = 96e6,	/* [F] 83 MB/s of 120 KiB each */
	.command_ns = 200000,	/* [F] the same */
	.one_at_a_time = true,
	.cache_entries = 15,	/* [F] jumper, 28.1 s and 79.9 s */
	.cache_joins = 2,	/* [F] 15.5 MB/s of 120 KiB each */
	.stream_whole = true,	/* [F] 15.5 MB/s */
};
