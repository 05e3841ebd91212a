/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The 5400 rpm disk of 2 TB that was published with and without a USB bridge;
 * sources as in profiles.h.
 */
#ifndef DRIVE512E_GREEN_DISK_H
#define DRIVE512E_GREEN_DISK_H

#define GREEN_DISK							\
	.kind = PROFILE_MECHANICAL,					\
	.rotational = true,						\
	.capacity = UINT64_C(3907029168) * 512,	/* 2 TB, as sold */	\
	.rpm = 5400,					/* [F] */	\
	.outer_rate = 110e6,				/* [M] */	\
	.inner_rate = 52e6,	/* [M], ratio of [F] */			\
	.heads = 8,				/* [M] four platters */	\
	.read_seek = { 1000, 12000, 20000 },		/* [H] */	\
	.write_seek = { 1100, 13000, 21000 },		/* [H] */	\
	.look_ahead = UINT64_C(512) << 10,		/* [M] */	\
	.cache_allowed = true,						\
	.cache_bytes = UINT64_C(2) << 20,		/* [M] */	\
	.rmw_reads_per_pass = 1,			/* [F] */	\
	.rmw_alone = true,				/* [F] */	\
	.hold_back_ms = 50				/* [M] */

#endif
