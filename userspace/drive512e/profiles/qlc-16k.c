// SPDX-License-Identifier: GPL-2.0
/* An SSD of the kind of [Q] with a unit of 16 KiB, which is an assumption. */
#include "profiles.h"

const struct profile profile_qlc_16k = {
	.name = "qlc-16k",
	.about = "QLC SSD with units of 16 KiB",
	.kind = PROFILE_FLASH,
	.blocks = { 16384, 0 },
	.says = { 512, 4096, 0 },			/* [M] */
	.cache_allowed = true,
	.dies = 256,					/* [M] */
	.page = 16384,					/* [M] */
	.page_read_ns = 120000,				/* [M] */
	.program_ns = 1310000,	/* [Q] 3200 MB/s by all dies */
	.cache_bytes = UINT64_C(64) << 20,		/* [M] */
	.bus_rate = 7.877e9,			/* [P] 4.0 */
	.command_ns = 550,	/* [Q] 930000 reads/s, with the data */
	.latency_ns = 15000,				/* [M] */
	.unit_ns = 2000,				/* [M] */
};
