// SPDX-License-Identifier: GPL-2.0
/* The table of methods, with what each measures. */
#include <string.h>

#include "workload/method.h"
#include "workload/workload.h"

#define STUDY	"a study of file systems and disks, with drvperf"

static const struct method methods[] = {
	{ .name = "block-size", .origin = "flashbench, and timed writes",
	  .default_count = 4096,
	  .summary = "the block that a drive cannot write a part of",
	  .may_write = true, .in_turn = true, .adaptive = true },
	{ .name = "fullstroke", .origin = STUDY, .default_count = 5000,
	  .published = "HDD: seek 22.051 ms, revolution 10.666 ms, 5625 rpm",
	  .summary = "reads at either end in turn: longest seek, rpm",
	  .in_turn = true, .samples = true },
	{ .name = "tracktotrack", .origin = STUDY, .default_count = 5000,
	  .published = "HDD: seek 1.5 ms, revolution 11.179 ms, 5367 rpm",
	  .summary = "reads a little further on: shortest seek, rpm",
	  .in_turn = true, .samples = true },
	{ .name = "seqread", .origin = STUDY,
	  .published = "22 to 51 MB/s of an HDD, 363 to 421 of an SSD",
	  .summary = "reads of 128 MiB each: rate by position",
	  .samples = true },
	{ .name = "seqwrite", .origin = STUDY,
	  .summary = "writes of 128 MiB each: rate by position",
	  .writes = true, .samples = true },
	{ .name = "rndread", .origin = STUDY,
	  .published = "mean 17.958 ms of an HDD, 0.129 ms of an SSD",
	  .summary = "random reads of a block: time, percentiles, IOPS",
	  .samples = true },
	{ .name = "rndwrite", .origin = STUDY,
	  .summary = "random writes of a block, each with O_DSYNC",
	  .writes = true, .samples = true },
	{ .name = "rnddeltaread", .origin = STUDY,
	  .published = "HDD: a turn of the disk 11 ms, its full stroke 21 ms",
	  .summary = "the time of a read by its distance; seek, rpm",
	  .in_turn = true, .samples = true },
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
	  .summary = "random writes of one block to 16 MiB: rate by size",
	  .writes = true },
	{ .name = "sorted-reads", .origin = STUDY, .default_count = 1000,
	  .published = "18.11 s unsorted; sorted by 32 12.19 s, by 1024 9.46 s",
	  .summary = "random reads, sorted by 1, 32 and 1024: the gain" },
	{ .name = "rotation", .origin = "of alignctl", .default_count = 1000,
	  .summary = "reads there and back: whether it rotates, and rpm",
	  .in_turn = true },
};

#define NR_METHODS (sizeof(methods) / sizeof(methods[0]))

enum method_column {
	METHOD_NAME, METHOD_SUMMARY, METHOD_ORIGIN, METHOD_COUNT,
	METHOD_WRITES, METHOD_MAY_WRITE, METHOD_SAMPLES, METHOD_PUBLISHED,
};

static const struct table_column method_columns[] = {
	[METHOD_NAME] = { .key = "name", .heading = "NAME",
		COLUMN_MEMBER(JSON_TEXT, "Name, as probe takes it") },
	[METHOD_SUMMARY] = { .key = "summary", .heading = "SUMMARY",
			     .flags = TABLE_WRAP,
		COLUMN_MEMBER(JSON_TEXT, "What the method measures, in words") },
	[METHOD_ORIGIN] = { .key = "origin",
		COLUMN_MEMBER(JSON_TEXT, "Who published it, in words") },
	[METHOD_COUNT] = { .key = "count", .heading = "COUNT",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Largest number of requests in a run") },
	[METHOD_WRITES] = { .key = "writes",
		COLUMN_MEMBER(JSON_BOOL, "Whether the method always writes") },
	[METHOD_MAY_WRITE] = { .key = "may_write",
		COLUMN_MEMBER(JSON_BOOL,
			"Whether the method writes if it is given an area") },
	[METHOD_SAMPLES] = { .key = "samples",
		COLUMN_MEMBER(JSON_BOOL,
			"Whether the method takes --samples in place of DEV") },
	[METHOD_PUBLISHED] = { .key = "published",
		COLUMN_MEMBER(JSON_TEXT | JSON_NULL,
			"Published results, in words; null: none") },
};

static struct table_value method_value(const void *row, size_t column)
{
	const struct method *m = row;

	switch ((enum method_column)column) {
	case METHOD_NAME:
		return table_text(m->name);
	case METHOD_SUMMARY:
		return table_text(m->summary);
	case METHOD_ORIGIN:
		return table_text(m->origin);
	case METHOD_COUNT:
		return table_number(m->default_count ?:
				    workload_find(m->name)->default_count);
	case METHOD_WRITES:
		return table_bool(m->writes);
	case METHOD_MAY_WRITE:
		return table_bool(m->may_write);
	case METHOD_SAMPLES:
		return table_bool(m->samples);
	case METHOD_PUBLISHED:
		return table_text(m->published);
	}
	return table_absent();
}

const struct table_type method_table = TABLE_TYPE(method_columns, method_value);

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
