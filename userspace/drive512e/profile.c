// SPDX-License-Identifier: GPL-2.0
#include "profile.h"

#include <stddef.h>
#include <string.h>

/*
 * Sources:
 *
 * [A] The measured disk: ST1000DM003-1ER162, 7200 rpm, 512/4096, 1953525168
 *     sectors, write cache on, and the five workloads measured on it (see
 *     Documentation/drive512e.rst, which also says how each figure follows).
 * [F] Published mechanics of a 7200 rpm drive: 320800 tracks a surface; seeks
 *     of 7.5 / 8.5 ms mean (read / write), 0.23 / 0.44 track to track, 17 / 18
 *     full stroke; 175 MB/s outside, 83 inside.
 * [S] Serial ATA 3.0: 6 Gb/s with 8b/10b coding.
 * [M] An assumption of this model; the document says what it rests on.
 */
#define DESKTOP_DISK							\
	.kind = PROFILE_MECHANICAL,					\
	.rotational = true,						\
	.capacity = UINT64_C(1953525168) * 512,		/* [A] */	\
	.rpm = 7200,					/* [A] */	\
	.outer_rate = 220e6,	/* [A] w136k: 696.32 MB in 3.166 s */	\
	.inner_rate = 220e6 * 83 / 175,	/* [A], ratio of [F] */		\
	.cylinders = 320800,				/* [F] */	\
	.heads = 2,		/* [M] one platter, two surfaces */	\
	.read_seek = { 230, 7500, 17000 },		/* [F] */	\
	.write_seek = { 440, 8500, 18000 },		/* [F] */	\
	.bus_rate = 600e6,				/* [S] */	\
	.command_ns = 40000,				/* [M] */	\
	.look_ahead = UINT64_C(512) << 10		/* [M] */

static const struct profile profiles[] = {
	{
		.name = "instant",
		.kind = PROFILE_INSTANT,
		.cache_allowed = true,
	}, {
		.name = "fixed",
		.kind = PROFILE_FIXED,
		.cache_allowed = true,
	}, {
		.name = "st1000dm003",
		DESKTOP_DISK,
		.cache_allowed = true,
		.cache_entries = 32,	/* [A] w4096: a revolution for 32 */
		.cache_joins = 8,	/* [A] w4k_132k: 2 revolutions for 9 */
		.cache_bytes = UINT64_C(2) << 20,	/* [M] about a track */
		.rmw_reads_per_pass = 1,	/* [A] w4096_512 */
		.hold_back_ms = 50,		/* [M] */
	}, {
		.name = "hdd-nocache",
		DESKTOP_DISK,
	},
};

const struct profile *profile_find(const char *name)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	}
	return NULL;
}

const char *profile_names(void)
{
	return "instant, fixed, st1000dm003 or hdd-nocache";
}
