/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Count what is written to every disk of the machine in the kernel, by the
 * programs of disks.bpf.c, for as long as this program runs.
 *
 * A disk is a block device that has requests of its own; one that is made of
 * others, as a volume or an array, would count the same writes again. The requests of
 * an NVMe disk that several controllers may lead to are those of its paths, which the
 * kernel hides.
 */
#ifndef ALIGNCTL_TOP_DISKS_H
#define ALIGNCTL_TOP_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/maybe.h"
#include "top/disks_shared.h"
#include "unit/unit.h"

/* Disks at one time that there is room for, more than a kernel has minor numbers of SCSI disks. */
#define DISKS_MAX		65536

/**
 * struct disk_counts - a disk, and what it has been sent since it was found
 * @name: the kernel's name
 * @rule: how its writes are counted
 * @source: who the physical block is from; of use if @rule.judged
 * @count: the completed writes; touches of a time when the physical block was
 *	taken for another one are those of that block
 */
struct disk_counts {
	char *name;
	struct disks_rule rule;
	enum unit_source source;
	struct disks_count count;
};

/**
 * struct disk_cgroup_counts - partial touches that a cgroup has caused
 * @disk: index of the disk
 * @id: the cgroup; 0: the bios are for none
 * @touches: number of partial touches
 */
struct disk_cgroup_counts {
	size_t disk;
	uint64_t id;
	uint64_t touches;
};

/**
 * struct disks_reading - the counters as they are
 * @disk: the disks that are there, by name; owned by struct disks
 * @nr: number of disks
 * @cgroup: the cgroups, most touches first; for free()
 * @nr_cgroups: number of cgroups
 * @missed: number of completions, of any device, that no program saw, at most; it never
 *	falls
 * @cgroups_missed: number of misaligned writes that are in no cgroup's count
 */
struct disks_reading {
	const struct disk_counts *disk;
	size_t nr;
	struct disk_cgroup_counts *cgroup;
	size_t nr_cgroups;
	uint64_t missed;
	uint64_t cgroups_missed;
};

struct disks;

/*
 * Load the programs, and begin to count; by cgroup, too, if there is room for
 * @cgroups of them, each of one disk. Return: enum alignctl_exit; errors have been
 * reported, and leave nothing to close.
 */
int disks_open(struct disks **disks, uint32_t cgroups);
void disks_close(struct disks *disks);

/*
 * Look which disks are there, and which physical blocks they have now; then read
 * the counters. A disk that came since the last reading is counted from now on.
 * Return: enum alignctl_exit, reported. Free with disks_reading_free().
 */
int disks_read(struct disks *disks, struct disks_reading *reading);
void disks_reading_free(struct disks_reading *reading);

#endif
