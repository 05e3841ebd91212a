// SPDX-License-Identifier: GPL-2.0
/* The families of top's metrics, and their samples from the counts of each disk. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/metrics.h"
#include "top/disk_metrics.h"

#define PREFIX	"alignctl_disk_"

enum metric_id {
	METRIC_BUILD, METRIC_MISSED, METRIC_PHYSICAL,
	METRIC_WRITES, METRIC_MISALIGNED, METRIC_INSIDE, METRIC_TOUCHES,
	METRIC_BYTES, METRIC_BLOCK_BYTES, METRIC_CGROUP_TOUCHES,
	METRIC_CGROUP_MISSED, METRIC_NR,
};

/**
 * struct metric - a family
 * @name: name without PREFIX
 * @type: type of Prometheus
 * @help: meaning of the value
 */
struct metric {
	const char *name;
	const char *type;
	const char *help;
};

/* alignctl-top(8) has the same texts. */
static const struct metric metrics[METRIC_NR] = {
	[METRIC_BUILD] = { "build_info", "gauge",
		"1, with the version of alignctl" },
	[METRIC_MISSED] = { "missed_completions_total", "counter",
		"completions, of any device, that were not seen, at most" },
	[METRIC_PHYSICAL] = { "physical_block_bytes", "gauge",
		"physical block by which touches are counted, and its source" },
	[METRIC_WRITES] = { "writes_total", "counter",
		"completed write requests, write-zeroes among them" },
	[METRIC_MISALIGNED] = { "misaligned_writes_total", "counter",
		"writes that cover a physical block partly" },
	[METRIC_INSIDE] = { "inside_writes_total", "counter",
		"writes that begin inside a physical block" },
	[METRIC_TOUCHES] = { "touches_total", "counter",
		"physical blocks that a write covers partly" },
	[METRIC_BYTES] = { "written_bytes_total", "counter",
		"length of the writes" },
	[METRIC_BLOCK_BYTES] = { "touched_bytes_total", "counter",
		"length of the whole physical blocks that writes touch" },
	[METRIC_CGROUP_TOUCHES] = { "cgroup_touches_total", "counter",
		"physical blocks that writes of a cgroup cover partly" },
	[METRIC_CGROUP_MISSED] = { "cgroup_missed_writes_total", "counter",
		"misaligned writes of cgroups for which there was no room" },
};

static void write_family(FILE *out, enum metric_id id)
{
	metrics_family(out, PREFIX, metrics[id].name, metrics[id].type,
		       metrics[id].help, "");
}

static void of_machine(FILE *out, enum metric_id id, uint64_t value)
{
	write_family(out, id);
	fprintf(out, PREFIX "%s %" PRIu64 "\n", metrics[id].name, value);
}

/* Begin a sample of a disk; further labels may follow. */
static void write_sample(FILE *out, enum metric_id id, const struct disk_counts *disk)
{
	fprintf(out, PREFIX "%s{", metrics[id].name);
	metrics_label(out, true, "device", disk->name);
}

static void sample_end(FILE *out, uint64_t value)
{
	fprintf(out, "} %" PRIu64 "\n", value);
}

static void write_blocks(FILE *out, const struct disks_reading *reading)
{
	size_t i;

	write_family(out, METRIC_PHYSICAL);
	for (i = 0; i < reading->nr; i++) {
		const struct disk_counts *disk = &reading->disk[i];

		if (!disk->rule.judged)
			continue;
		write_sample(out, METRIC_PHYSICAL, disk);
		metrics_label(out, false, "source",
			      unit_source_name(disk->source));
		sample_end(out, disk->rule.geometry.physical);
	}
}

/* Return a disk's counter. */
static uint64_t value_of(const struct disks_count *count, enum metric_id id)
{
	switch (id) {
	case METRIC_WRITES:
		return count->writes;
	case METRIC_MISALIGNED:
		return count->misaligned;
	case METRIC_INSIDE:
		return count->inside;
	case METRIC_TOUCHES:
		return count->touches;
	case METRIC_BYTES:
		return count->bytes;
	default:
		return count->block_bytes;
	}
}

/*
 * Write a counter of all disks. Without a physical block only writes and their
 * bytes are counted; bytes counted while there was one stay.
 */
static void write_counter(FILE *out, const struct disks_reading *reading,
			  enum metric_id id)
{
	size_t i;

	write_family(out, id);
	for (i = 0; i < reading->nr; i++) {
		const struct disk_counts *disk = &reading->disk[i];

		if (!disk->rule.judged && !disk->count.block_bytes &&
		    id != METRIC_WRITES && id != METRIC_BYTES)
			continue;
		write_sample(out, id, disk);
		sample_end(out, value_of(&disk->count, id));
	}
}

static void write_cgroups(FILE *out, const struct disks_reading *reading,
			  const struct names *names)
{
	size_t i;

	of_machine(out, METRIC_CGROUP_MISSED, reading->cgroups_missed);
	write_family(out, METRIC_CGROUP_TOUCHES);
	for (i = 0; i < reading->nr_cgroups && i < DISK_METRICS_CGROUPS; i++) {
		const struct disk_cgroup_counts *cgroup = &reading->cgroup[i];
		CLEANUP_FREE char *path = names_cgroup(names, cgroup->id);
		CLEANUP_FREE char *id = message_format("%" PRIu64, cgroup->id);

		write_sample(out, METRIC_CGROUP_TOUCHES,
			     &reading->disk[cgroup->disk]);
		metrics_label(out, false, "cgroup", path ? path : "");
		metrics_label(out, false, "cgroup_id", id);
		sample_end(out, cgroup->touches);
	}
}

void disk_metrics_write(FILE *out, const struct disks_reading *reading,
			const struct names *names)
{
	enum metric_id id;

	fputs(DISK_METRICS_MARK, out);
	write_family(out, METRIC_BUILD);
	fprintf(out, PREFIX "%s{", metrics[METRIC_BUILD].name);
	metrics_label(out, true, "version", ALIGNCTL_VERSION);
	sample_end(out, 1);
	of_machine(out, METRIC_MISSED, reading->missed);
	/* a family without samples is no harm, but a reader expects some */
	if (reading->nr) {
		write_blocks(out, reading);
		for (id = METRIC_WRITES; id <= METRIC_BLOCK_BYTES; id++)
			write_counter(out, reading, id);
	}
	if (names)
		write_cgroups(out, reading, names);
}

void disk_metrics_list(void)
{
	size_t i;

	for (i = 0; i < METRIC_NR; i++)
		printf(" " PREFIX "%s\n     %s\n", metrics[i].name,
		       metrics[i].help);
}
