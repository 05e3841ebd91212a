/* SPDX-License-Identifier: GPL-2.0 */
/* Do two devices lie on the same disk, and lose power together? */
#ifndef ALIGNCTL_SAME_DISK_H
#define ALIGNCTL_SAME_DISK_H

#include <stdbool.h>
#include <sys/types.h>

#include "sysfs/device.h"

/*
 * Check whether what has the device number @other, as a file system that stat(2)
 * names, lies on a disk that @device, or the file system of a file, lies on, too:
 * through partitions, mappings, arrays, and loop devices of files. Return: false
 * also where that cannot be told, as of a network's or of a virtual machine's disk.
 */
bool same_disk(const struct device *device, dev_t other);

#endif
