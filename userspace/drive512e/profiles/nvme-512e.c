// SPDX-License-Identifier: GPL-2.0
/* The database's NVMe drive [D], with costs of small writes from [F]. */
#include "profiles.h"

const struct profile profile_nvme_512e = {
	.name = "nvme-512e",
	.about = "NVMe SSD with 4 KiB units behind 512-byte sectors",
	.kind = PROFILE_FLASH,
	.blocks = { 4096, 0 },
	.says = { 512, 512, 0 },	/* [F] a 512 B format */
	.cache_allowed = true,
	.dies = 48,		/* [D] 122000 reads/s by 32 jobs */
	.page = 16384,					/* [M] */
	.page_read_ns = 115000,	/* [D] 134 us, [F] 150 less 20 us */
	.program_ns = 2030000,	/* [D] 47200 writes/s of 8 KiB */
	.cache_bytes = UINT64_C(32) << 20,		/* [M] */
	.bus_rate = 3.938e9,			/* [P] 3.0 */
	.command_ns = 2000,				/* [M] */
	.latency_ns = 16000,		/* [F] 20 us for a write */
	.unit_ns = 2000,				/* [M] */
};
