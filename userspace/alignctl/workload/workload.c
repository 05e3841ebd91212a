// SPDX-License-Identifier: GPL-2.0
/* The table of workloads, with the origin and shape of each. */
#include <string.h>

#include "base/units.h"
#include "workload/workload.h"

/* Origins of the workloads. */
#define ONE_DISK	"ST1000DM003-1ER162 (7200 rpm, 512e), Linux 5.0"
#define STREAMING	"the same disk, 2 MiB writes through XFS"
#define STUDY		"a study of file systems and disks, with drvperf"
#define DATABASE	"storage of a database, measured with fio"
#define COMMITS		"several durable commits per revolution, 7200 rpm"
#define GENERAL		"general"

/*
 * Requests of 2 MiB as they reached the driver, which takes at most 168
 * segments of 4 KiB.
 */
#define SPLIT_2_MIB							\
	.period = 2 * MIB, .default_count = 4000, .nr_parts = 4,	\
	.part = { { 0, 688128 }, { 688128, 688128 },			\
		  { 1376256, 688128 }, { 2064384, 32768 } }

/* Misaligned results of counts other than the default. */
#define OVER_AN_EXISTING_FILE						\
	"3000 repetitions in 38.954 s; 2000 in 21.299 s, of which file is not told"

#define PROBES_128_MIB							\
	.start = WORKLOAD_INSIDE, .period = 128 * MIB,			\
	.default_count = 100, .chunk = MIB,				\
	.nr_parts = 1, .part = { { 0, 128 * MIB } }

/* 1000 reads from a file of 70 GB. */
#define SORTED_READS							\
	.order = WORKLOAD_RANDOM, .start = WORKLOAD_INSIDE,		\
	.period = PAGE_BYTES, .places = 17089843,			\
	.default_count = 1000,						\
	.nr_parts = 1, .part = { { 0, PAGE_BYTES } }

/*
 * bssplit=8k/20:16k/10:32k/10:512k/60 thinktime=8s thinktime_blocks=500 over
 * 1 GiB, with each length's exact share in ten writes.
 */
#define WRITE_DAEMON							\
	.order = WORKLOAD_RANDOM, .period = 512 * KIB, .places = 2048,	\
	.default_count = 2000, .think_writes = 500, .think_s = 8,	\
	.nr_parts = 10,							\
	.part = { { 0, 512 * KIB }, { 0, 8 * KIB }, { 0, 512 * KIB },	\
		  { 0, 32 * KIB }, { 0, 512 * KIB }, { 0, 512 * KIB },	\
		  { 0, 8 * KIB }, { 0, 512 * KIB }, { 0, 16 * KIB },	\
		  { 0, 512 * KIB } }

/* Flush the journal before the data is written. */
#define JOURNAL(bytes, then)						\
	.order = WORKLOAD_BURSTS, .sync = WORKLOAD_FDATASYNC_PART,	\
	.period = (then), .default_count = 1000,			\
	.nr_parts = 2, .part = { { 0, (bytes) }, { 0, (then) } }

/* Places of 8 KiB in 1 GiB. */
#define AT_RANDOM	.places = 131072

/* A million records in a file of 40 GB. */
#define RECORDS(length)							\
	.buffered = true, .order = WORKLOAD_DRAWS,			\
	.start = WORKLOAD_INSIDE, .period = (length),			\
	.places = 40000000000ULL / (length), .default_count = 1000000,	\
	.nr_parts = 1, .part = { { 0, (length) } }

/* 100 rounds over four areas. */
#define COMMIT_ROUNDS(length, apart)					\
	.order = WORKLOAD_ROUNDS, .sync = WORKLOAD_FDATASYNC,		\
	.period = (apart), .default_count = 100, .places = 4,		\
	.nr_parts = 1, .part = { { 0, (length) } }

/* 5 sectors into a block, as the published partition's start. */
#define SHIFTED		(WORKLOAD_INSIDE + 5 * ALIGN_SECTOR_SIZE)

static const struct workload workloads[] = {
	/* Single O_DIRECT writes, one at a time. */
	{ .name = "w512", .origin = ONE_DISK, .wall_s = 11.799, .mean_us = 532,
	  .summary = "512 bytes every 4096: part of each physical block",
	  .period = 4096, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 512 } } },
	{ .name = "w4096", .origin = ONE_DISK, .wall_s = 5.902, .mean_us = 272,
	  .summary = "4096 bytes every 8192: whole physical blocks",
	  .period = 8192, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 4096 } } },
	{ .name = "w4096_512", .origin = ONE_DISK,
	  .wall_s = 15.536, .mean_us = 718,
	  .summary = "4096 bytes every 8192, 512 off: two parts each",
	  .start = 512, .period = 8192, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 4096 } } },
	{ .name = "w136k", .origin = ONE_DISK, .wall_s = 3.166, .mean_us = 551,
	  .summary = "136 KiB after 136 KiB, from byte 3584",
	  .start = 3584, .period = 139264, .default_count = 5000,
	  .nr_parts = 1, .part = { { 0, 139264 } } },
	{ .name = "w4k_132k", .origin = ONE_DISK, .wall_s = 21.262,
	  .published = "mean 1925 us of 4 KiB, 2133 us of 132 KiB",
	  .summary = "4 KiB, then 132 KiB, over and over, from byte 3584",
	  .start = 3584, .period = 139264, .default_count = 5000,
	  .nr_parts = 2, .part = { { 0, 4096 }, { 4096, 135168 } } },
	{ .name = "diskbenchi-0", .origin = STREAMING, .wall_s = 36.392,
	  .published = "2000 repetitions in 18.216 s, 3000 in 27.311 s",
	  .summary = "2 MiB in requests of at most 672 KiB, aligned",
	  .start = WORKLOAD_INSIDE, SPLIT_2_MIB },
	{ .name = "diskbenchi-existing", .origin = STREAMING, .wall_s = 52.200,
	  .published = OVER_AN_EXISTING_FILE,
	  .summary = "diskbenchi-0, 512 bytes short of a physical block",
	  .start = WORKLOAD_INSIDE + 3584, SPLIT_2_MIB },
	/* The published name by itself: the file that took longest. */
	{ .name = "diskbenchi", .origin = STREAMING, .wall_s = 52.200,
	  .published = OVER_AN_EXISTING_FILE,
	  .summary = "another name of diskbenchi-existing",
	  .start = WORKLOAD_INSIDE + 3584, SPLIT_2_MIB },
	/*
	 * In a new file the file system also writes zeroes: before the first
	 * write, and after each one up to the end of the block, where the next
	 * write overwrites them.
	 */
	{ .name = "diskbenchi-fresh", .origin = STREAMING,
	  .published = "3000 repetitions in 32.029 s, 31.858 s again; 2000 in 21.299 s, of which file is not told",
	  .summary = "as into a new file: also zeroes, overwritten later",
	  .start = WORKLOAD_INSIDE + 3584, .period = 2 * MIB,
	  .default_count = 4000, .first = 3584,
	  .nr_parts = 5, .part = { { 0, 512 }, { 512, 687616 },
				   { 688128, 688128 }, { 1376256, 688128 },
				   { 2064384, 33280 } } },
	{ .name = "shifted-partition", .origin = STUDY,
	  .published = "the partition starts at sector 104859645, and 4096 bytes are split into 1536 and 2560; three sectors on, no write is split",
	  .summary = "4096 bytes at random, 5 sectors into a block",
	  .order = WORKLOAD_RANDOM,
	  .start = SHIFTED, .period = 4096, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 4096 } } },
	{ .name = "seq8k-shifted", .origin = STUDY,
	  .summary = "8 KiB after 8 KiB, starting 5 sectors into a block",
	  .start = SHIFTED, .period = 8192, .default_count = 131072,
	  .nr_parts = 1, .part = { { 0, 8192 } } },
	/*
	 * drvperf's probes. Random ones have the device's preferred length; the
	 * 4096 bytes here are for no device.
	 */
	{ .name = "rndread", .origin = STUDY, .reads = true,
	  .published = "mean 17.958 ms of an HDD, 0.129 ms of an SSD",
	  .summary = "reads: random blocks, as long as the device says",
	  .device = WORKLOAD_UNIT, .order = WORKLOAD_RANDOM,
	  .start = WORKLOAD_INSIDE, .period = PAGE_BYTES,
	  .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, PAGE_BYTES } } },
	{ .name = "rndwrite", .origin = STUDY,
	  .summary = "rndread as writes, each with O_DSYNC",
	  .device = WORKLOAD_UNIT, .order = WORKLOAD_RANDOM,
	  .sync = WORKLOAD_DSYNC,
	  .start = WORKLOAD_INSIDE, .period = PAGE_BYTES,
	  .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, PAGE_BYTES } } },
	{ .name = "seqread", .origin = STUDY, .reads = true,
	  .published = "22 to 51 MB/s of an HDD, 363 to 421 of an SSD",
	  .summary = "reads: probes of 128 MiB, 1 MiB each, all over",
	  .device = WORKLOAD_SPREAD, PROBES_128_MIB },
	{ .name = "seqwrite", .origin = STUDY,
	  .summary = "seqread as writes",
	  .device = WORKLOAD_SPREAD, PROBES_128_MIB },
	{ .name = "rnddeltaread", .origin = STUDY, .reads = true,
	  .published = "a turn of the disk 11 ms, its full stroke 21 ms",
	  .summary = "reads: pairs at random; the second one is timed",
	  .device = WORKLOAD_UNIT, .order = WORKLOAD_PAIRS,
	  .start = WORKLOAD_INSIDE, .period = PAGE_BYTES, .default_count = 2000,
	  .nr_parts = 1, .part = { { 0, PAGE_BYTES } } },
	{ .name = "sorted-reads-1", .origin = STUDY, .reads = true,
	  .wall_s = 18.11,
	  .summary = "reads: 4096 bytes at random in 70 GB, as they come",
	  .window = 1, SORTED_READS },
	{ .name = "sorted-reads-32", .origin = STUDY, .reads = true,
	  .wall_s = 12.19,
	  .summary = "sorted-reads-1, sorted within each 32 reads",
	  .window = 32, SORTED_READS },
	{ .name = "sorted-reads-1024", .origin = STUDY, .reads = true,
	  .wall_s = 9.46,
	  .summary = "sorted-reads-1, sorted within each 1024 reads",
	  .window = 1024, SORTED_READS },
	/* Overwrites of an existing file, and one fsync. */
	{ .name = "records-4000", .origin = STUDY,
	  .published = "124.4 s, and 13.3 s for the fsync",
	  .summary = "4000 bytes at random in 40 GB, buffered",
	  RECORDS(4000) },
	{ .name = "records-4096", .origin = STUDY,
	  .published = "49.3 s, and 33.0 s for the fsync",
	  .summary = "records-4000 with 4096 bytes: no page is read",
	  RECORDS(4096) },
	/* The writes of copying to a file system mounted with -o sync. */
	{ .name = "dd-512-sync", .origin = STUDY,
	  .published = "253 kB/s over USB",
	  .summary = "each page eight times, as 512 bytes with -o sync",
	  .sync = WORKLOAD_DSYNC,
	  .start = WORKLOAD_INSIDE, .period = PAGE_BYTES, .default_count = 2048,
	  .nr_parts = 8,
	  .part = { { 0, PAGE_BYTES }, { 0, PAGE_BYTES },
		    { 0, PAGE_BYTES }, { 0, PAGE_BYTES },
		    { 0, PAGE_BYTES }, { 0, PAGE_BYTES },
		    { 0, PAGE_BYTES }, { 0, PAGE_BYTES } } },
	{ .name = "dd-4m-sync", .origin = STUDY,
	  .published = "28.4 MB/s over USB",
	  .summary = "4 MiB by 240 sectors, then fdatasync",
	  .sync = WORKLOAD_FDATASYNC_PART, .sync_part = 34,
	  .start = WORKLOAD_INSIDE, .period = 4 * MIB, .default_count = 16,
	  .chunk = 240 * 512, .nr_parts = 1, .part = { { 0, 4 * MIB } } },
	{ .name = "db-write", .origin = DATABASE,
	  .published = "IOPS at depth x threads 1x1, 1x4, 4x1, 1x8: GP2 1383, 5242, 5470, 6135; GP3 1111, 4331, 4512, 6111; IO2 1662, 5899, 5721, 6136; NVMe, 1x8: 47200",
	  .summary = "8 KiB after 8 KiB, aligned, 1 GiB",
	  .start = WORKLOAD_INSIDE, .period = 8192, .default_count = 131072,
	  .nr_parts = 1, .part = { { 0, 8192 } } },
	{ .name = "db-randwrite", .origin = DATABASE,
	  .published = "IOPS of 8 jobs: GP2 4025, GP3 4022, IO2 4026, NVMe 18400",
	  .summary = "8 KiB at random, aligned, each place of 1 GiB once",
	  .order = WORKLOAD_RANDOM,
	  .start = WORKLOAD_INSIDE, .period = 8192, .default_count = 131072,
	  .places = 131072, .nr_parts = 1, .part = { { 0, 8192 } } },
	{ .name = "db-read", .origin = DATABASE, .reads = true,
	  .published = "IOPS at depth x threads 1x1, 1x2, 1x4, 4x1, 1x8: GP2 2794, 3188, 5574, 6353, 6127; GP3 1234, 2372, 4806, 4866, 6115; IO2 4156, 5462, 5159, 5171, 6133; NVMe, 1x1, 1x4, 1x8, 1x16, 1x32: 7457, 25500, 49000, 84800, 122000",
	  .summary = "reads: 8 KiB after 8 KiB, aligned, 1 GiB",
	  .start = WORKLOAD_INSIDE, .period = 8192, .default_count = 131072,
	  .nr_parts = 1, .part = { { 0, 8192 } } },
	{ .name = "db-randread", .origin = DATABASE, .reads = true,
	  .published = "IOPS of 8 jobs: GP2 6101, GP3 6063, IO2 6060; of 1 process and then of more, up to 64, each with 30000 reads of a block: GP3 1597, 6011, 6136, 6144",
	  .summary = "reads: 8 KiB at random, each place of 1 GiB once",
	  .order = WORKLOAD_RANDOM,
	  .start = WORKLOAD_INSIDE, .period = 8192, .default_count = 131072,
	  .places = 131072, .nr_parts = 1, .part = { { 0, 8192 } } },
	{ .name = "db-randwrite-shifted", .origin = DATABASE,
	  .summary = "db-randwrite, 5 sectors into a block",
	  .order = WORKLOAD_RANDOM,
	  .start = SHIFTED, .period = 8192, .default_count = 131072,
	  .places = 131072, .nr_parts = 1, .part = { { 0, 8192 } } },
	{ .name = "db-daemon", .origin = DATABASE,
	  .summary = "8, 16, 32, 512 KiB at random; 8 s rest after 500",
	  .start = WORKLOAD_INSIDE, WRITE_DAEMON },
	{ .name = "db-daemon-shifted", .origin = DATABASE,
	  .summary = "db-daemon, 5 sectors into a block",
	  .start = SHIFTED, WRITE_DAEMON },
	{ .name = "journal-252k-seq", .origin = DATABASE,
	  .summary = "252 KiB of journal, flush, 512 KiB in sequence",
	  .start = WORKLOAD_INSIDE, JOURNAL(252 * KIB, 512 * KIB) },
	{ .name = "journal-252k-rand", .origin = DATABASE,
	  .summary = "252 KiB of journal, flush, 8 KiB at random",
	  .start = WORKLOAD_INSIDE, AT_RANDOM, JOURNAL(252 * KIB, 8 * KIB) },
	{ .name = "journal-64k-seq", .origin = DATABASE,
	  .summary = "64 KiB of journal, flush, 512 KiB in sequence",
	  .start = WORKLOAD_INSIDE, JOURNAL(64 * KIB, 512 * KIB) },
	{ .name = "journal-64k-rand", .origin = DATABASE,
	  .summary = "64 KiB of journal, flush, 8 KiB at random",
	  .start = WORKLOAD_INSIDE, AT_RANDOM, JOURNAL(64 * KIB, 8 * KIB) },
	{ .name = "journal-252k-seq-shifted", .origin = DATABASE,
	  .summary = "journal-252k-seq, 5 sectors into a block",
	  .start = SHIFTED, JOURNAL(252 * KIB, 512 * KIB) },
	{ .name = "journal-252k-rand-shifted", .origin = DATABASE,
	  .summary = "journal-252k-rand, 5 sectors into a block",
	  .start = SHIFTED, AT_RANDOM, JOURNAL(252 * KIB, 8 * KIB) },
	{ .name = "journal-64k-seq-shifted", .origin = DATABASE,
	  .summary = "journal-64k-seq, 5 sectors into a block",
	  .start = SHIFTED, JOURNAL(64 * KIB, 512 * KIB) },
	{ .name = "journal-64k-rand-shifted", .origin = DATABASE,
	  .summary = "journal-64k-rand, 5 sectors into a block",
	  .start = SHIFTED, AT_RANDOM, JOURNAL(64 * KIB, 8 * KIB) },
	{ .name = "areasync", .origin = COMMITS,
	  .published = "1 area: 0.95 s per 100, 9.5 ms per sync; 2 areas: 0.96 to 0.99 s in 6 runs of 10, 1.81 to 1.88 s in the other 4; more: no faster",
	  .summary = "rounds: 4 bytes, buffered, fdatasync in each area",
	  .buffered = true, .start = WORKLOAD_INSIDE,
	  COMMIT_ROUNDS(4, 65536) },
	{ .name = "areasync-128k", .origin = COMMITS,
	  .summary = "areasync with areas 128 KiB apart, not 64",
	  .buffered = true, .start = WORKLOAD_INSIDE,
	  COMMIT_ROUNDS(4, 131072) },
	/* Without a file system, or with blocks of 512 bytes. */
	{ .name = "areasync-512", .origin = COMMITS,
	  .summary = "areasync with 512 bytes each, direct",
	  .start = WORKLOAD_INSIDE, COMMIT_ROUNDS(512, 65536) },
	{ .name = "areasync-512-128k", .origin = COMMITS,
	  .summary = "areasync-512 with areas 128 KiB apart, not 64",
	  .start = WORKLOAD_INSIDE, COMMIT_ROUNDS(512, 131072) },
	/* The writes of a file system with blocks of 4096 bytes. */
	{ .name = "areasync-4k", .origin = COMMITS,
	  .summary = "areasync with 4096 bytes each, direct, aligned",
	  .start = WORKLOAD_INSIDE, COMMIT_ROUNDS(4096, 65536) },
	{ .name = "areasync-4k-shifted", .origin = COMMITS,
	  .summary = "areasync-4k, 5 sectors into a block",
	  .start = SHIFTED, COMMIT_ROUNDS(4096, 65536) },
	/* A log with each record durable before the next is written. */
	{ .name = "append-512-dsync", .origin = GENERAL,
	  .summary = "512 bytes after 512 bytes, each with O_DSYNC",
	  .sync = WORKLOAD_DSYNC,
	  .start = WORKLOAD_INSIDE, .period = 512, .default_count = 2048,
	  .nr_parts = 1, .part = { { 0, 512 } } },
	{ .name = "rand512", .origin = GENERAL,
	  .summary = "512 bytes at random, no sector twice",
	  .order = WORKLOAD_RANDOM,
	  .start = WORKLOAD_INSIDE, .period = 512, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 512 } } },
	{ .name = "rand4k", .origin = GENERAL,
	  .summary = "4096 bytes at random, aligned, no block twice",
	  .order = WORKLOAD_RANDOM,
	  .start = WORKLOAD_INSIDE, .period = 4096, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 4096 } } },
};

#define NR_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

const struct workload *workload_at(size_t index)
{
	return index < NR_WORKLOADS ? &workloads[index] : NULL;
}

const struct workload *workload_find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_WORKLOADS; i++)
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	return NULL;
}

bool workload_one_at_a_time(const struct workload *w)
{
	const struct workload_part *last = &w->part[w->nr_parts - 1];

	if (w->sync == WORKLOAD_DSYNC && w->order == WORKLOAD_RANDOM)
		return false;
	if (w->order == WORKLOAD_ROUNDS || w->order == WORKLOAD_PAIRS ||
	    w->order == WORKLOAD_BURSTS)
		return true;
	return w->sync != WORKLOAD_ASYNC ||
	       last->offset + last->bytes > w->period;
}

bool workload_random(const struct workload *w)
{
	return w->order == WORKLOAD_RANDOM || w->order == WORKLOAD_DRAWS ||
	       w->order == WORKLOAD_PAIRS ||
	       (w->order == WORKLOAD_BURSTS && w->places);
}
