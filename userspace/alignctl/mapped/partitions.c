// SPDX-License-Identifier: GPL-2.0
/* Run kpartx to map and unmap the partitions of an align device. */
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/program.h"
#include "mapped/partitions.h"
#include "mapped/task.h"
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

/**
 * struct maps - search for the maps of a device's partitions
 * @nr: number of them
 * @open: the name of one that is open, or NULL
 * @align: the name of one that 'attach --online' has made an align device, or NULL
 */
struct maps {
	size_t nr;
	char *open;
	char *align;
};

static void maps_free(struct maps *maps)
{
	free(maps->open);
	free(maps->align);
}

#define CLEANUP_MAPS	__attribute__((cleanup(maps_free)))

static bool is_open(dev_t devno)
{
	struct dm_info info;
	CLEANUP_TASK struct dm_task *task = task_query_devno(DM_DEVICE_INFO,
							     devno, &info);

	return task && info.open_count;
}

static void visit_holder(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *uuid = sysfs_text(dir, "dm/uuid");
	CLEANUP_FREE char *epoch = sysfs_text(dir, "align/epoch");
	struct maps *maps = context;
	dev_t devno;

	if (!dm_uuid_partition(uuid) || !sysfs_devno(dir, "dev", &devno))
		return;
	maps->nr++;
	if (!maps->open && is_open(devno))
		maps->open = sysfs_text(dir, "dm/name");
	if (epoch && !maps->align)
		maps->align = sysfs_text(dir, "dm/name");
}

/* Find the maps of a device's partitions, for maps_free(). */
static struct maps find_maps(const struct dm_align *device)
{
	CLEANUP_FREE char *holders = sysfs_path("/sys/dev/block/%u:%u/holders",
						major(device->devno),
						minor(device->devno));
	struct maps maps = { 0 };

	sysfs_each(holders, visit_holder, &maps);
	return maps;
}

/*
 * Leave the partitions as they are where @align, if it is not NULL, is one that is an
 * align device: 'kpartx -a' would make it linear without a look at what it holds, and
 * 'kpartx -d' does not remove it. Return: whether there is one, which has been said.
 */
static bool keep_align(const struct dm_align *device, const char *align)
{
	CLEANUP_FREE char *detach = NULL;

	if (!align)
		return false;
	detach = remedy_of_name(REMEDY_DETACH, align);
	message_warning("%s: its partitions are left as they are, as %s is an align device, too, which kpartx would make linear; first: %s",
			device->name, align, detach);
	return true;
}

/* Return the number of partitions that kpartx would map; 0 if it cannot be told. */
static size_t count_partitions(char *node)
{
	char *kpartx[] = { "kpartx", "-l", node, NULL };
	CLEANUP_FREE char *output = NULL;
	char *rest, *line;
	size_t nr = 0;

	if (program_run(kpartx, &output))
		return 0;
	rest = output;
	/* "align-sda1 : 0 2048 /dev/mapper/align-sda 2048", beside its complaints */
	while ((line = strsep(&rest, "\n")))
		nr += !!strstr(line, " : 0 ");
	return nr;
}

/*
 * Leave the partitions as they are where one is open: kpartx would map that one anew,
 * too, by a table that may have changed. Return: whether one is.
 */
static bool keep_open(const struct dm_align *device, char *node,
		      const struct maps *maps)
{
	CLEANUP_FREE char *map = NULL;
	size_t nr;

	if (!maps->open)
		return false;
	nr = node ? count_partitions(node) : 0;
	if (nr > maps->nr) {
		map = remedy_of_device(REMEDY_MAP_PARTITIONS, node);
		message_warning("%s: %zu of its %zu partitions are not mapped, as %s is open; close that one, then '%s'",
				device->name, nr - maps->nr, nr, maps->open, map);
	}
	return true;
}

int partitions_map(const struct dm_align *device)
{
	CLEANUP_FREE char *node = node_of(device);
	/* wait for udev, so that the nodes are there */
	char *kpartx[] = { "kpartx", "-a", "-s", node, NULL };
	CLEANUP_FREE char *output = NULL, *map = NULL;
	CLEANUP_MAPS struct maps maps = find_maps(device);
	struct device self;
	bool has;
	int status;

	if (keep_align(device, maps.align) || keep_open(device, node, &maps))
		return ALIGNCTL_FINE;
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

bool partitions_unmap(const struct dm_align *device)
{
	CLEANUP_FREE char *node = node_of(device);
	CLEANUP_FREE char *output = NULL;
	CLEANUP_MAPS struct maps maps = find_maps(device);
	char *kpartx[] = { "kpartx", "-d", "-s", node, NULL };

	if (!node || !maps.nr || keep_align(device, maps.align) || maps.open)
		return false;
	/* kpartx leaves what has been opened meanwhile, and the caller sees that */
	program_run(kpartx, &output);
	return true;
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
