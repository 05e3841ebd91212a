/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the users and the content of a device, to name them in a refusal. The
 * decisive test is opening with O_EXCL; the guard finds out why that fails, and
 * what O_EXCL does not see: signatures, and data in a regular file.
 */
#ifndef ALIGNCTL_GUARD_H
#define ALIGNCTL_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sysfs/device.h"

/**
 * struct guard_report - findings, phrases for people
 * @nr: number of findings
 * @finding: the findings, as "sda1 is mounted on /home"; may be NULL if @nr is
 *	0
 */
struct guard_report {
	size_t nr;
	char **finding;
};

/*
 * Find mounts, also in other mount namespaces as far as we may look, swap areas,
 * holders (device-mapper, md ...) and loop devices of a device, of its partitions, of
 * its disk if it is a partition, and of the devices below. Of a regular file,
 * find swap areas and loop devices.
 */
void guard_usage(struct guard_report *report, const struct device *device);

/*
 * Check whether a device is one with another, a partition of it or its disk: other
 * partitions of the disk are apart.
 */
bool guard_overlaps(const struct sysfs_device *device, dev_t devno);

/*
 * Return the name of a loop device over a block device, over a partition of it or
 * over its disk if it is a partition, for free(), or NULL. The kernel lets O_EXCL
 * open what is below a loop device.
 */
char *guard_loop(const struct device *device);

/*
 * Find programs that have a block device, a partition of it or its disk open for
 * writing, which O_EXCL does not see, as a virtual machine has its disk; or a regular
 * file, as such a machine's image.
 */
void guard_writers(struct guard_report *report, const struct device *device);

/*
 * Find signatures of file systems, volume managers, RAID members and partition
 * tables. Return: enum alignctl_exit; errors have been reported.
 */
int guard_signatures(struct guard_report *report, const struct device *device);

/* Check for a partition table; false also if the device cannot be read. */
bool guard_partition_table(const struct device *device);

/*
 * Find a member of a volume manager, of a type that libblkid knows: the block
 * device itself, or the first partition that is one. Return: the node, for
 * free(), with @partition set to its number, 0 for the device itself; NULL if
 * there is none or reading fails.
 */
char *guard_member(const struct device *device, const char *type,
		   int64_t *partition);

/*
 * Find data in a regular file before byte @end: sectors that are neither zero
 * nor of an earlier replay, and that a replay must not overwrite. Return: enum
 * alignctl_exit; errors have been reported.
 */
int guard_file_data(struct guard_report *report, const struct device *device,
		    uint64_t end);

/* Print each finding as a message, "alignctl: PATH: FINDING". */
void guard_print(const struct guard_report *report,
		 const struct device *device);
void guard_free(struct guard_report *report);

/* Check whether @path leads to the same device or file. */
bool guard_same_device(const struct device *device, const char *path);

#endif
