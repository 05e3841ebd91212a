// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "workload.h"

#define MIB	(1U << 20)

static const struct workload workloads[] = {
	/*
	 * One 512e disk, measured (ST1000DM003-1ER162, 7200 rpm, Linux 5.0):
	 * single O_DIRECT writes, one at a time.
	 */
	{ .name = "w512",
	  .summary = "512 bytes every 4096: part of each physical block",
	  .period = 4096, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 512 } } },
	{ .name = "w4096",
	  .summary = "4096 bytes every 8192: whole physical blocks",
	  .period = 8192, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 4096 } } },
	{ .name = "w4096_512",
	  .summary = "4096 bytes every 8192, 512 off: two parts each",
	  .start = 512, .period = 8192, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 4096 } } },
	{ .name = "w136k",
	  .summary = "136 KiB after 136 KiB, from byte 3584",
	  .start = 3584, .period = 139264, .default_count = 5000,
	  .nr_parts = 1, .part = { { 0, 139264 } } },
	{ .name = "w4k_132k",
	  .summary = "4 KiB, then 132 KiB, over and over, from byte 3584",
	  .start = 3584, .period = 139264, .default_count = 5000,
	  .nr_parts = 2, .part = { { 0, 4096 }, { 4096, 135168 } } },
	/*
	 * The same disk: what its driver got of sequential 2 MiB writes through
	 * XFS, with at most 168 segments of 4 KiB in a request.
	 */
	{ .name = "diskbenchi-0",
	  .summary = "2 MiB in requests of at most 672 KiB, aligned",
	  .start = WORKLOAD_INSIDE, .period = 2 * MIB, .default_count = 4000,
	  .nr_parts = 4, .part = { { 0, 688128 }, { 688128, 688128 },
				   { 1376256, 688128 }, { 2064384, 32768 } } },
	{ .name = "diskbenchi-existing",
	  .summary = "the same, 512 bytes short of a physical block",
	  .start = WORKLOAD_INSIDE + 3584, .period = 2 * MIB,
	  .default_count = 4000,
	  .nr_parts = 4, .part = { { 0, 688128 }, { 688128, 688128 },
				   { 1376256, 688128 }, { 2064384, 32768 } } },
	/*
	 * Into a new file the file system writes zeroes: before the first
	 * write up to its start, and after each up to the end of the block,
	 * where the next write overwrites them.
	 */
	{ .name = "diskbenchi-fresh",
	  .summary = "as into a new file: also zeroes, overwritten later",
	  .start = WORKLOAD_INSIDE + 3584, .period = 2 * MIB,
	  .default_count = 4000, .first = 3584,
	  .nr_parts = 5, .part = { { 0, 512 }, { 512, 687616 },
				   { 688128, 688128 }, { 1376256, 688128 },
				   { 2064384, 33280 } } },
	/* A partition that starts at a sector of which the last three bits are 5. */
	{ .name = "seq8k-shifted",
	  .summary = "8 KiB after 8 KiB, starting 5 sectors into a block",
	  .start = WORKLOAD_INSIDE + 5 * 512, .period = 8192,
	  .default_count = 131072,
	  .nr_parts = 1, .part = { { 0, 8192 } } },
	/* Durable commits at several places in turn, raw. */
	{ .name = "areasync",
	  .summary = "rounds: 512 bytes and fdatasync in each area",
	  .order = WORKLOAD_ROUNDS, .sync = WORKLOAD_FDATASYNC,
	  .start = WORKLOAD_INSIDE, .period = 65536, .default_count = 100,
	  .places = 4, .nr_parts = 1, .part = { { 0, 512 } } },
	/* A log whose every record is on the disk before the next is written. */
	{ .name = "append-512-dsync",
	  .summary = "512 bytes after 512 bytes, each with O_DSYNC",
	  .sync = WORKLOAD_DSYNC,
	  .start = WORKLOAD_INSIDE, .period = 512, .default_count = 2048,
	  .nr_parts = 1, .part = { { 0, 512 } } },
	{ .name = "rand512",
	  .summary = "512 bytes at random, no sector twice",
	  .order = WORKLOAD_RANDOM,
	  .start = WORKLOAD_INSIDE, .period = 512, .default_count = 20000,
	  .nr_parts = 1, .part = { { 0, 512 } } },
	{ .name = "rand4k",
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

	return w->sync != WORKLOAD_ASYNC || w->order == WORKLOAD_ROUNDS ||
	       last->offset + last->bytes > w->period;
}
