/* SPDX-License-Identifier: GPL-2.0 */
/* Device-mapper, as far as align devices need it. */
#ifndef ALIGNCTL_DM_H
#define ALIGNCTL_DM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device/status.h"

/* Bytes of the longest name of a device: DM_NAME_LEN without the final 0. */
#define DM_MAX_NAME	127U

/**
 * struct dm_align_target - one align target of a device
 * @index: its place in the table
 * @start: its first sector on the device
 * @length: its length in sectors
 * @status: its status line
 * @table: its table line
 * @device_gone: is the device below no longer there?
 * @hold_ms: how long blocks are held at most; this and the next from sysfs, 0
 *	if it lacks them
 * @memory_high_water: most bytes of memory that blocks have taken
 */
struct dm_align_target {
	unsigned int index;
	uint64_t start;
	uint64_t length;
	struct align_status status;
	struct align_table table;
	bool device_gone;
	int64_t hold_ms;
	int64_t memory_high_water;
};

/**
 * struct dm_align - a device-mapper device with at least one align target
 * @name: as below /dev/mapper
 * @uuid: as device-mapper has it; "": none
 * @devno: its number
 * @open_count: how often it is open, mounts and holders included
 * @suspended: is it suspended?
 * @from_sysfs: was it read without device-mapper? Then @uuid and @open_count, and
 *	start, length and table.start of its targets, are not known
 * @nr_targets: align targets
 * @target: those, by rising start
 */
struct dm_align {
	char *name;
	char *uuid;
	dev_t devno;
	int open_count;
	bool suspended;
	bool from_sysfs;
	size_t nr_targets;
	struct dm_align_target *target;
};

/*
 * All align devices, by name: of device-mapper, which takes root, or else as far
 * as sysfs has them, for any user. Return: enum alignctl_exit; errors reported.
 */
int dm_align_list(struct dm_align **devices, size_t *nr);
void dm_align_list_free(struct dm_align *devices, size_t nr);

/*
 * The align device that the user means: a name, a path to the device, or
 * "dm-N". Return: enum alignctl_exit; errors have been reported, also that of
 * a device that is not an align device.
 */
int dm_align_find(struct dm_align *device, const char *wanted);
void dm_align_free(struct dm_align *device);

/*
 * Did attach make the device? Its UUID says so: devices of LVM and the like have
 * others, also while their table is one of align, and dmsetup gives none.
 */
bool dm_align_attached(const struct dm_align *device);

/* Is a device that one of the targets lies on no longer there? */
bool dm_align_gone(const struct dm_align *device);

/* Blocks that could not be written, as it is now rather than when found. */
uint64_t dm_align_degraded(const struct dm_align *device);

/* Can a table with an align target be loaded now? */
bool dm_align_available(void);

/* Is there a device of any kind with that name? */
bool dm_name_taken(const char *name);

/*
 * Makes a device of one align target, with a UUID that dm_align_attached() knows.
 * Return: enum alignctl_exit; why the kernel refused has been reported.
 */
int dm_align_create(const char *name, uint64_t sectors, const char *params);

/* Return of these: enum alignctl_exit; errors have been reported. */
int dm_align_remove(const struct dm_align *device);
int dm_align_message(const struct dm_align *device, uint64_t sector,
		     const char *message);
/* To each target, until one refuses. */
int dm_align_message_all(const struct dm_align *device, const char *message);

#endif
