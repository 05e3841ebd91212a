// SPDX-License-Identifier: GPL-2.0
/* Run kpartx to map and unmap the partitions of an align device. */
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/program.h"
#include "mapped/partitions.h"
#include "remedy/remedy.h"
#include "sysfs/device.h"
#include "sysfs/dm_name.h"
#include "sysfs/guard.h"
#include "sysfs/sysfs.h"

/*
 * Return the node of a device, for free(); NULL if it is gone. Its name is read
 * from the kernel, because device-mapper encodes some characters.
 */
static char *node_of(const struct dm_align *device)
{
	CLEANUP_FREE char *name = dm_name_of(device->devno);

	return name ? message_format("/dev/mapper/%s", name) : NULL;
}

int partitions_map(const struct dm_align *device)
{
	CLEANUP_FREE char *node = node_of(device);
	/* wait for udev, so that the nodes are there */
	char *kpartx[] = { "kpartx", "-a", "-s", node, NULL };
	CLEANUP_FREE char *output = NULL, *map = NULL;
	struct device self;
	bool has;
	int status;

	if (!node || device_open_devno(&self, device->devno, node))
		return ALIGNCTL_IO;
	has = guard_partition_table(&self);
	device_close(&self);
	if (!has)
		return ALIGNCTL_FINE;
	status = program_run(kpartx, &output);
	if (!status)
		return ALIGNCTL_FINE;
	map = remedy_of_device(REMEDY_MAP_PARTITIONS, node);
	if (status == PROGRAM_MISSING)
		message_error("%s: has partitions, and kpartx is missing; install kpartx, then '%s'",
			      device->name, map);
	else
		message_error("%s: its partitions cannot be mapped: %s",
			      device->name, output);
	return ALIGNCTL_IO;
}

static void visit_holder(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *uuid = sysfs_text(dir, "dm/uuid");

	*(bool *)context |= dm_uuid_partition(uuid);
}

bool partitions_unmap(const struct dm_align *device)
{
	CLEANUP_FREE char *node = node_of(device);
	CLEANUP_FREE char *output = NULL;
	CLEANUP_FREE char *holders = sysfs_path("/sys/dev/block/%u:%u/holders",
						major(device->devno),
						minor(device->devno));
	char *kpartx[] = { "kpartx", "-d", "-s", node, NULL };
	bool mapped = false;

	if (!node)
		return false;
	sysfs_each(holders, visit_holder, &mapped);
	/* kpartx leaves what is open, and the caller sees that */
	if (mapped)
		program_run(kpartx, &output);
	return mapped;
}

void partitions_remap(const struct dm_align *device)
{
	CLEANUP_FREE char *node = node_of(device);
	char *kpartx[] = { "kpartx", "-a", "-s", node, NULL };
	CLEANUP_FREE char *output = NULL, *map = NULL;

	if (!node || !program_run(kpartx, &output))
		return;
	map = remedy_of_device(REMEDY_MAP_PARTITIONS, node);
	message_warning("%s: its partitions that were not open are unmapped; '%s' maps them again",
			device->name, map);
}
