// SPDX-License-Identifier: GPL-2.0
/* The study's disk of 80 GB [C], which has a command queue. */
#include "desktop_disk.h"
#include "profiles.h"

const struct profile profile_hdd5400 = {
	.name = "hdd5400",
	.about = "slow 5400 rpm disk with a command queue",
	.kind = PROFILE_MECHANICAL,
	.rotational = true,
	/* [M] 80 GB: of that time, and random reads in 70 of them
	   took as long as in all of it [C] */
	.capacity = UINT64_C(156301488) * 512,
	.rpm = 5400,		/* [C] 5367 and 5625 measured */
	.outer_rate = 51e6,				/* [C] */
	.inner_rate = 22e6,				/* [C] */
	.heads = 2,				/* [M] one platter */
	/* [C] less the rest of a read: command, block, interface */
	.read_seek = { 1400, 12200, 21900 },
	.write_seek = { 1500, 13200, 22900 },	/* [C] and [H] */
	.bus_rate = 600e6,				/* [S] */
	.command_ns = 40000,				/* [M] */
	.look_ahead = UINT64_C(256) << 10,		/* [M] */
	.queue = 32,					/* [S] */
	DESKTOP_CACHE,	/* [M] that of the measured disk */
	.rmw_alone = true,	/* [F] two revolutions for 2 touches */
};
