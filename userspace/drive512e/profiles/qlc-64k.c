// SPDX-License-Identifier: GPL-2.0
/* An SSD of the kind of [Q] with the published unit of 64 KiB. */
#include "profiles.h"

const struct profile profile_qlc_64k = {
	.name = "qlc-64k",
	.about = "QLC SSD with units of 64 KiB",
	.kind = PROFILE_FLASH,
	.blocks = { 65536, 0 },				/* [Q] */
	.says = { 512, 4096, 0 },			/* [M] */
	.cache_allowed = true,
	.dies = 256,		/* [M] as of qlc-16k, as all of it */
	.page = 16384,
	.page_read_ns = 120000,
	.program_ns = 1310000,
	.cache_bytes = UINT64_C(64) << 20,
	.bus_rate = 7.877e9,
	.command_ns = 550,
	.latency_ns = 15000,
	.unit_ns = 2000,
};
