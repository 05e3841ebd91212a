// SPDX-License-Identifier: GPL-2.0
/* Find a file's block device by its number, or else by the mount that it is in. */
#include <libmount.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "sysfs/file_disk.h"
#include "sysfs/sysfs.h"

/* Check for a block device of that number. */
static bool is_device(dev_t devno)
{
	CLEANUP_SYSFS struct sysfs_device device = { 0 };

	return sysfs_device_open(&device, devno);
}

/* Find the device that a mount table names for a path without links. */
static bool find_source(struct libmnt_table *mounts, const char *path,
			dev_t *devno)
{
	struct libmnt_fs *fs = mnt_table_find_mountpoint(mounts, path,
							 MNT_ITER_BACKWARD);
	const char *source = fs ? mnt_fs_get_source(fs) : NULL;
	struct stat found;

	if (!source || *source != '/' || stat(source, &found) ||
	    !S_ISBLK(found.st_mode))
		return false;
	*devno = found.st_rdev;
	return true;
}

dev_t file_disk(const char *path, dev_t device)
{
	CLEANUP_FREE char *mountinfo = sysfs_path("/proc/self/mountinfo");
	CLEANUP_FREE char *real = NULL;
	struct libmnt_table *mounts;
	dev_t found = device;

	if (is_device(device))
		return device;
	real = realpath(path, NULL);
	if (!real)
		return device;
	mounts = memory_or_exit(mnt_new_table());
	if (!mnt_table_parse_file(mounts, mountinfo))
		find_source(mounts, real, &found);
	mnt_unref_table(mounts);
	return found;
}
