/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a disk in sysfs, as scenes read them. */
#ifndef SIM_SYSFS_READ_H
#define SIM_SYSFS_READ_H

#include <linux/types.h>

struct gendisk;

/* Read the file that has a name. Return: as its show(), or -ENXIO. */
ssize_t shim_file_read_named(struct gendisk *disk, const char *name, char *buf);
/* Count the files of a disk. */
unsigned int shim_nr_files(struct gendisk *disk);

#endif
