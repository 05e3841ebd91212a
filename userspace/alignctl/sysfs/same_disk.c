// SPDX-License-Identifier: GPL-2.0
/*
 * Find whether two devices lie on one disk, whose power cut both would share.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "sysfs/file_disk.h"
#include "sysfs/same_disk.h"
#include "sysfs/sysfs.h"

#define DEPTH_MAX	8	/* deepest stack of devices; ends a loop */

/**
 * struct disks - the devices below one, itself included
 * @devno: their device numbers
 * @nr: number of these
 * @depth: devices between the first one and the one being visited
 */
struct disks {
	dev_t *devno;
	size_t nr;
	unsigned int depth;
};

static void add_below(struct disks *disks, dev_t devno);

static void add_slave(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	dev_t devno;

	if (sysfs_devno(dir, "dev", &devno))
		add_below(context, devno);
}

static void add_below(struct disks *disks, dev_t devno)
{
	CLEANUP_SYSFS struct sysfs_device device = { 0 };
	struct stat file;
	dev_t disk;

	if (disks->depth > DEPTH_MAX)
		return;
	*ARRAY_APPEND(disks->devno, disks->nr) = devno;
	/* a number of no device is that of a network's file system, or of memory */
	if (!sysfs_device_open(&device, devno))
		return;
	CLEANUP_FREE char *slaves = message_format("%s/slaves", device.dir);
	CLEANUP_FREE char *backing = sysfs_text(device.disk_dir,
						"loop/backing_file");

	disks->depth++;
	if (device.partition && sysfs_devno(device.disk_dir, "dev", &disk))
		add_below(disks, disk);
	if (backing && !stat(backing, &file))
		add_below(disks, S_ISBLK(file.st_mode) ? file.st_rdev :
				 file_disk(backing, file.st_dev));
	sysfs_each(slaves, add_slave, disks);
	disks->depth--;
}

bool same_disk(const struct device *device, dev_t other)
{
	struct disks one = { 0 }, two = { 0 };
	bool same = false;
	size_t i, k;

	add_below(&one, device->devno);
	add_below(&two, other);
	for (i = 0; i < one.nr; i++)
		for (k = 0; k < two.nr; k++)
			same |= one.devno[i] == two.devno[k];
	free(one.devno);
	free(two.devno);
	return same;
}
