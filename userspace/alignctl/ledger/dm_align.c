// SPDX-License-Identifier: GPL-2.0
/* Properties that any align device has by its description. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "ledger/dm_align.h"
#include "sysfs/sysfs.h"

bool dm_align_from_sysfs(struct dm_align *device, const char *dm)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", dm);
	CLEANUP_FREE char *epoch = sysfs_text(dir, "align/epoch");
	int64_t suspended = 0;

	*device = (struct dm_align){ .from_sysfs = true };
	if (!epoch || !sysfs_devno(dir, "dev", &device->devno))
		return false;
	device->name = sysfs_text(dir, "dm/name");
	if (!device->name)
		return false;
	device->dm = message_format("%s", dm);
	device->dir = message_format("%s", dir);
	sysfs_number(dir, "dm/suspended", &suspended);
	device->suspended = suspended;
	return true;
}

bool dm_align_ended(const struct dm_align *device)
{
	CLEANUP_FREE char *epoch = message_format("%s/align/epoch",
						  device->dir);

	return access(epoch, F_OK);
}

void dm_align_free(struct dm_align *device)
{
	free(device->name);
	free(device->dm);
	free(device->dir);
	free(device->uuid);
	targets_free(device->target, device->nr_targets);
	memset(device, 0, sizeof(*device));
}

const struct align_target *dm_align_gone(const struct dm_align *device)
{
	size_t i;

	for (i = 0; i < device->nr_targets; i++)
		if (device->target[i].device_gone)
			return &device->target[i];
	return NULL;
}

const struct align_target *dm_align_smaller(const struct dm_align *device)
{
	size_t i;

	for (i = 0; i < device->nr_targets; i++)
		if (target_offers_smaller(&device->target[i], device->logical))
			return &device->target[i];
	return NULL;
}
