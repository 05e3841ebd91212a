/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who uses a device, and what lies on it: the names behind a refusal. The test
 * that counts is opening with O_EXCL; this finds out why it failed, and sees
 * what O_EXCL does not: signatures, and data in a regular file.
 */
#ifndef ALIGNCTL_GUARD_H
#define ALIGNCTL_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device/device.h"

/**
 * struct guard_report - what was found, each a phrase for people
 * @nr: findings
 * @finding: e.g. "sda1 is mounted on /home"; may be NULL if @nr is 0
 */
struct guard_report {
	size_t nr;
	char **finding;
};

/*
 * Mounts, also in other mount namespaces as far as we may look, swap areas and holders (device-mapper, md, loop ...) of a device, of
 * its partitions, of the disk it is a partition of, and of what lies beneath
 * it. For a regular file: swap, and loop devices over it.
 */
void guard_usage(struct guard_report *report, const struct device *device);

/*
 * File systems, volume managers, RAID members and partition tables that
 * libblkid knows. Return: enum alignctl_exit; an error has been reported.
 */
int guard_signatures(struct guard_report *report, const struct device *device);

/* Is there a partition table that libblkid knows? False if that cannot be read. */
bool guard_partition_table(const struct device *device);

/*
 * Find a physical volume of LVM: the block device itself, or the first partition
 * that is one. Return: the node, for free(), with @partition its number, 0 for
 * the device itself; NULL if there is none, or if that cannot be read.
 */
char *guard_lvm_volume(const struct device *device, int64_t *partition);

/*
 * A regular file may be written over as far as @end (bytes) if all it holds
 * there is nothing, zeroes or sectors of an earlier replay. Return: as above.
 */
int guard_file_data(struct guard_report *report, const struct device *device,
		    uint64_t end);

/* Each finding as a line of its own, as "alignctl: PATH: FINDING". */
void guard_print(const struct guard_report *report,
		 const struct device *device);
void guard_free(struct guard_report *report);

/* Does @path lead to the same device or file? */
bool guard_same_device(const struct device *device, const char *path);

#endif
