/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The measured 7200 rpm disk, which several profiles have in common; sources as
 * in profiles.h.
 */
#ifndef DRIVE512E_DESKTOP_DISK_H
#define DRIVE512E_DESKTOP_DISK_H

#define DESKTOP_DISK							\
	.kind = PROFILE_MECHANICAL,					\
	.rotational = true,						\
	.capacity = UINT64_C(1953525168) * 512,		/* [A] */	\
	.rpm = 7200,					/* [A] */	\
	.outer_rate = 220e6,	/* [A] w136k: 696.32 MB in 3.166 s */	\
	.inner_rate = 220e6 * 83 / 175,	/* [A], ratio of [F] */		\
	.heads = 2,		/* [M] one platter, two surfaces */	\
	.read_seek = { 230, 7500, 17000 },		/* [F] */	\
	.write_seek = { 440, 8500, 18000 },		/* [F] */	\
	.bus_rate = 600e6,				/* [S] */	\
	.command_ns = 40000,				/* [M] */	\
	.look_ahead = UINT64_C(512) << 10		/* [M] */

#define DESKTOP_CACHE							\
	.cache_allowed = true,						\
	.cache_entries = 32,	/* [A] w4096: a revolution for 32 */	\
	.cache_joins = 8,	/* [A] w4k_132k: 2 revolutions for 9 */	\
	.cache_bytes = UINT64_C(4) << 20,	/* [B] a turn for 4 MiB */ \
	.rmw_reads_per_pass = 1,	/* [A] w4096_512 */		\
	.hold_back_ms = 50		/* [M] */

#endif
