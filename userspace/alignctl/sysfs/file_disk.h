/* SPDX-License-Identifier: GPL-2.0 */
/* The block device that a file's data is on. */
#ifndef ALIGNCTL_FILE_DISK_H
#define ALIGNCTL_FILE_DISK_H

#include <sys/types.h>

/*
 * Return the number of the block device with the file system that @path is in. @device:
 * the path's st_dev, which of Btrfs is a number of no device: the device is the one that
 * was mounted, of several the first. Return @device if no device is found, as of a
 * network's file system or of memory.
 */
dev_t file_disk(const char *path, dev_t device);

#endif
