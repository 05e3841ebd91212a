// SPDX-License-Identifier: GPL-2.0
#include "profile.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * Sources:
 *
 * [A] The measured disk: ST1000DM003-1ER162, 7200 rpm, 512/4096, 1953525168
 *     sectors, write cache on, and the five workloads measured on it (see
 *     Documentation/drive512e.rst, which also says how each figure follows).
 * [B] The same disk: 2 MiB writes as four requests at once.  At 3584, over an
 *     existing file, 3000 of them took 38.954 s, at 0 27.311 s.
 * [C] The study's disk and SSD: mean random read 17.958 ms; full stroke 22.051
 *     ms and 10.666 ms a turn, track to track 1.5 ms and 11.179 ms a turn;
 *     sequential reads of 22 to 51 MB/s; SSD 0.129 ms.
 * [D] The database's NVMe drive: 8 KiB reads by 1 to 32 jobs, writes by 8.
 * [F] Published mechanics of a 7200 rpm drive: 320800 tracks a surface; seeks
 *     of 7.5 / 8.5 ms mean (read / write), 0.23 / 0.44 track to track, 17 / 18
 *     full stroke; 175 MB/s outside, 83 inside. Published costs of misaligned
 *     writes: WD20EARS, a WD drive with 4 KiB blocks and its jumper set, 7200
 *     and 5400 rpm office drives, an NVMe drive, a WD20EARS behind USB 3.
 * [H] Hitachi 5K320 (HTS543280L9A300) OEM specification: a write's seek takes
 *     1 ms longer than a read's, on average and over the full stroke, 0.1 ms
 *     track to track.
 * [Q] Solidigm D5-P5336: 7400 MB/s read, 3200 MB/s written, 930000 random reads
 *     a second; PCIe 4.0 x4 (hwcooling.net, 122.88 TB model).  D5-P5316: an
 *     indirection unit of 64 KiB (aijishu.com, a/1060000000410205).
 * [S] Serial ATA 3.0: 6 Gb/s with 8b/10b coding; NCQ has 32 tags.
 * [P] PCI Express x4: 3.0 with 8 GT/s a lane, 4.0 with 16; 128b/130b coding.
 * [M] An assumption of this model; the document says what it rests on.
 */
#define DESKTOP_DISK DESKTOP_DISK_OF(320800)		/* [F] */
#define DESKTOP_DISK_OF(nr_cylinders)					\
	.kind = PROFILE_MECHANICAL,					\
	.rotational = true,						\
	.capacity = UINT64_C(1953525168) * 512,		/* [A] */	\
	.rpm = 7200,					/* [A] */	\
	.outer_rate = 220e6,	/* [A] w136k: 696.32 MB in 3.166 s */	\
	.inner_rate = 220e6 * 83 / 175,	/* [A], ratio of [F] */		\
	.cylinders = (nr_cylinders),					\
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

const struct profile profiles[] = {
	{
		.name = "instant",
		.about = "takes no time, only counts",
		.kind = PROFILE_INSTANT,
		.cache_allowed = true,
	}, {
		.name = "fixed",
		.about = "each request takes latency_us",
		.kind = PROFILE_FIXED,
		.cache_allowed = true,
	}, {
		.name = "st1000dm003",
		.about = "7200 rpm disk with a write cache, as measured",
		DESKTOP_DISK,
		DESKTOP_CACHE,
	}, {
		.name = "hdd-nocache",
		.about = "the same without a cache, an RMW costs a revolution",
		DESKTOP_DISK,
	}, {
		.name = "hdd7200",
		.about = "7200 rpm disk with a command queue",
		/* [M] what the capacity needs, for the full stroke of [F] */
		DESKTOP_DISK_OF(387600),
		DESKTOP_CACHE,
		.queue = 32,				/* [S] */
		.rmw_alone = true,	/* [F] two revolutions for 2 touches */
	}, {
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
		/* [M] of the seek curve only: the capacity takes more */
		.cylinders = 98800,
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
	}, {
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
	}, {
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
	}, {
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
	}, {
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
	}, {
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
	},
	{ 0 },
};

const struct profile *profile_find(const char *name)
{
	for (const struct profile *p = profiles; p->name; p++) {
		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

const char *profile_names(void)
{
	static char names[256];
	size_t used = 0;

	for (const struct profile *p = profiles; p->name; p++) {
		const char *before = p == profiles ? "" :
				     p[1].name ? ", " : " or ";

		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%s", before, p->name);
	}
	return names;
}

struct says profile_says(const struct profile *profile,
			 const struct block_map *truth)
{
	if (profile->says.logical)
		return profile->says;
	return (struct says){ SECTOR_SIZE, truth->physical, truth->alignment };
}
