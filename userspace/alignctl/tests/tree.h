/* SPDX-License-Identifier: GPL-2.0 */
/* A fake machine: a folder with its own /sys and /proc. */
#ifndef ALIGNCTL_TREE_H
#define ALIGNCTL_TREE_H

/* Create an empty machine and point ALIGNCTL_SYSROOT at it. */
void tree_open(void);

/* Remove the machine. */
void tree_close(void);

/* Write a file of the machine, and create the folders above it. */
void tree_file(const char *path, const char *text);

/* Create a symbolic link from one path of the machine to another. */
void tree_link(const char *path, const char *target);

/*
 * Create a disk (@partition 0) or a partition with device number @devno, and
 * the links that sysfs has; @folder is below /sys/devices.
 */
void tree_device(const char *folder, const char *name, const char *devno,
		 int partition);

#endif
