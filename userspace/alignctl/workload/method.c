// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "workload/method.h"

#define STUDY	"a study of file systems and disks, with drvperf"

static const struct method methods[] = {
	{ .name = "cncread", .origin = STUDY, .default_count = 5000,
	  .published = "SSD: depth 13, 61964 IOPS, 8.6 times those at depth 1",
	  .summary = "random reads at depth 1, 2 ...: the best depth" },
	{ .name = "cncwrite", .origin = STUDY, .default_count = 5000,
	  .summary = "random writes at depth 1, 2 ...: the best depth",
	  .writes = true },
	{ .name = "chunk-size", .origin = STUDY, .default_count = 1000,
	  .published = "HDD: saturates at 8 MiB",
	  .summary = "random reads of one block to 16 MiB: rate by size" },
	{ .name = "chunk-size-write", .origin = STUDY, .default_count = 1000,
	  .summary = "the same with writes", .writes = true },
	{ .name = "sorted-reads", .origin = STUDY, .default_count = 1000,
	  .published = "18.11 s unsorted; sorted by 32 12.19 s, by 1024 9.46 s",
	  .summary = "random reads, sorted by 1, 32 and 1024: the gain" },
	{ .name = "rnddeltaplot", .origin = STUDY, .default_count = 2000,
	  .published = "HDD: a turn of the disk 11 ms, its full stroke 21 ms",
	  .summary = "rnddeltaread: the time of each by distance" },
};

#define NR_METHODS (sizeof(methods) / sizeof(methods[0]))

const struct method *method_at(size_t index)
{
	return index < NR_METHODS ? &methods[index] : NULL;
}

const struct method *method_find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_METHODS; i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}
