// SPDX-License-Identifier: GPL-2.0
#include "profiles.h"

const struct profile profile_usb_liar = {
	.name = "usb-liar",
	.about = "5400 rpm disk behind USB that says 512, is 4096 from sector 7",
	.kind = PROFILE_MECHANICAL,
	.rotational = true,
	.blocks = { 4096, 3584 },
	.says = { 512, 512, 0 },
	.capacity = UINT64_C(3907029168) * 512,	/* 2 TB, as sold */
	.rpm = 5400,					/* [F] */
	.outer_rate = 110e6,				/* [M] */
	.inner_rate = 52e6,	/* [M], ratio of [F] */
	/* [M] of the seek curve only: the capacity takes more */
	.cylinders = 266000,
	.heads = 8,				/* [M] four platters */
	.read_seek = { 1000, 12000, 20000 },		/* [H] */
	.write_seek = { 1100, 13000, 21000 },		/* [H] */
	.bus_rate = 96e6,	/* [F] 83 MB/s of 120 KiB each */
	.command_ns = 200000,	/* [F] the same */
	.one_at_a_time = true,
	.look_ahead = UINT64_C(512) << 10,		/* [M] */
	.cache_allowed = true,
	.cache_entries = 15,	/* [F] jumper, 28.1 s and 79.9 s */
	.cache_joins = 2,	/* [F] 15.5 MB/s of 120 KiB each */
	.cache_bytes = UINT64_C(2) << 20,		/* [M] */
	.stream_whole = true,	/* [F] 15.5 MB/s */
	.rmw_reads_per_pass = 1,			/* [F] */
	.rmw_alone = true,				/* [F] */
	.hold_back_ms = 50,				/* [M] */
};
