/* SPDX-License-Identifier: GPL-2.0 */
/* Align devices of device-mapper. */
#ifndef ALIGNCTL_DM_H
#define ALIGNCTL_DM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ledger/dm_align.h"

/* Length of the longest device name: DM_NAME_LEN without the final 0. */
#define DM_MAX_NAME	127U

/*
 * List all align devices, by name: from device-mapper, which needs root, or
 * else from sysfs. Return: enum alignctl_exit; errors have been reported, and
 * *@devices are those that could be read.
 */
int dm_align_list(struct dm_align **devices, size_t *nr);
void dm_align_list_free(struct dm_align *devices, size_t nr);

/*
 * Find an align device by its name, a path to the device, or "dm-N". Return:
 * enum alignctl_exit; errors, also that it is no align device, have been
 * reported.
 */
int dm_align_find(struct dm_align *device, const char *wanted);

/*
 * Read a device again, which may have another name by now. Return: false, with
 * nothing to free, if it is gone, is another device, or has no align target.
 */
bool dm_align_again(struct dm_align *now, const struct dm_align *device);

/*
 * Check by its UUID whether attach made the device: LVM and others set other
 * UUIDs, also of devices whose table is align, and dmsetup sets none.
 */
bool dm_align_attached(const struct dm_align *device);

/*
 * Check by a UUID of device-mapper, NULL or "" for none, whether attach made
 * the device, or kpartx for a partition on such a device.
 */
bool dm_uuid_attached(const char *uuid);
bool dm_uuid_partition(const char *uuid);

/* Check whether something has the device open now. */
bool dm_align_open(const struct dm_align *device);

/* Return the current number of blocks that could not be written. */
uint64_t dm_align_degraded(const struct dm_align *device);

/* Check whether the align target is registered. */
bool dm_align_available(void);

/* Check whether a device-mapper device of any kind has that name. */
bool dm_name_taken(const char *name);

/*
 * Check for a name whose place below /dev/mapper is taken for ever: the folder, the
 * one above, and the node by which device-mapper is used. Linux before 6.9 does not.
 */
bool dm_name_reserved(const char *name);

/* Check whether a device below the one of that name has been removed. */
bool dm_name_lost(const char *name);

/*
 * Return the node of the device of that name, or of the partition on it that
 * kpartx maps; for free(). @partition: number of the partition, 0: the device
 * itself.
 */
char *dm_node(const char *name, int64_t partition);

/*
 * Return the kernel's name of a device but dm-@number that maps a part of @below,
 * for free(), or NULL. Device-mapper lets devices share what is below them.
 */
char *dm_other_holder(unsigned int number, dev_t below);

/*
 * Create a device with one align target and a UUID for dm_align_attached(), unless
 * another device maps the device below by then.
 * Return: enum alignctl_exit; the kernel's reason has been reported.
 */
int dm_align_create(const char *name, uint64_t sectors, const char *params);

/*
 * Remove a device that attach made, also if it has another name by now. Return: enum alignctl_exit; errors have been reported.
 */
int dm_align_remove(const struct dm_align *device);

/* Send a message to the target at @sector. Return: as dm_align_remove(). */
int dm_align_message(const struct dm_align *device, uint64_t sector,
		     const char *message);

/* Send a message to each target, until one fails. Return: its result. */
int dm_align_message_all(const struct dm_align *device, const char *message);

#endif
