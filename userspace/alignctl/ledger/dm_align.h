/* SPDX-License-Identifier: GPL-2.0 */
/* The description of an align device, by device-mapper or by sysfs. */
#ifndef ALIGNCTL_DM_ALIGN_H
#define ALIGNCTL_DM_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ledger/target.h"

/**
 * struct dm_align - a device-mapper device with at least one align target
 * @name: name of the device below /dev/mapper
 * @dm: the kernel's name, "dm-N"; NULL unless @from_sysfs
 * @dir: folder of the device in sysfs; likewise
 * @uuid: UUID of the device; "": none
 * @devno: device number
 * @open_count: number of openers, mounts and holders included
 * @suspended: the device is suspended
 * @from_sysfs: read without device-mapper; @uuid and @open_count, and start,
 *	length and table.start of the targets are not known then
 * @state: its epoch, and what it holds
 * @logical: logical block of the device, bytes, from sysfs; 0 if missing there
 * @held_oldest_ms: age of the oldest held block, ms, from sysfs; 0: nothing is
 *	held; unknown if missing there
 * @nr_targets: number of align targets
 * @target: the align targets, by rising start
 */
struct dm_align {
	char *name;
	char *dm;
	char *dir;
	char *uuid;
	dev_t devno;
	int open_count;
	bool suspended;
	bool from_sysfs;
	struct align_state state;
	uint32_t logical;
	struct maybe held_oldest_ms;
	size_t nr_targets;
	struct align_target *target;
};

/*
 * Describe the align device that the kernel calls @dm, as sysfs has it, without
 * what it holds and its targets, which ledger_read() reads. Return: false, with
 * nothing to free, if it is no align device.
 */
bool dm_align_from_sysfs(struct dm_align *device, const char *dm);
/* Check whether it has lost its last table with an align target since then. */
bool dm_align_ended(const struct dm_align *device);
void dm_align_free(struct dm_align *device);

/* Find the first target whose device below has been removed; NULL: none. */
const struct align_target *dm_align_gone(const struct dm_align *device);

/* Find the first target that offers smaller logical blocks; NULL: none. */
const struct align_target *dm_align_smaller(const struct dm_align *device);

#endif
