// SPDX-License-Identifier: GPL-2.0
#include "profiles.h"

const struct profile profile_wd20ears = {
	.name = "wd20ears",
	.about = "5400 rpm disk that completes one block at a time",
	.kind = PROFILE_MECHANICAL,
	.rotational = true,
	.capacity = UINT64_C(3907029168) * 512,	/* 2 TB, as sold */
	.rpm = 5400,					/* [F] */
	.outer_rate = 110e6,				/* [M] */
	.inner_rate = 52e6,	/* [M], ratio of [F] */
	/* [M] of the seek curve only: the capacity takes more */
	.cylinders = 266000,
	.heads = 8,				/* [M] four platters */
	.read_seek = { 1000, 12000, 20000 },		/* [H] */
	.write_seek = { 1100, 13000, 21000 },		/* [H] */
	.bus_rate = 300e6,	/* [M] Serial ATA 2 */
	.command_ns = 40000,				/* [M] */
	.look_ahead = UINT64_C(512) << 10,		/* [M] */
	.cache_allowed = true,
	.cache_entries = 26,	/* [F] 0.595 ms: a revolution for 26 */
	.cache_joins = 2,				/* [M] */
	.cache_bytes = UINT64_C(2) << 20,		/* [M] */
	.cache_partial = 1,	/* [F] 37.1 ms: 3 revolutions each */
	.stream_whole = true,				/* [M] */
	.rmw_reads_per_pass = 1,			/* [F] */
	.rmw_alone = true,				/* [F] */
	.hold_back_ms = 50,				/* [M] */
};
