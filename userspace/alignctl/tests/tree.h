/* SPDX-License-Identifier: GPL-2.0 */
/* A made-up machine: a folder with its own /sys and /proc. */
#ifndef ALIGNCTL_TREE_H
#define ALIGNCTL_TREE_H

/* Makes an empty one and points ALIGNCTL_SYSROOT at it. */
void tree_open(void);

/* Removes it. */
void tree_close(void);

/* A file below it, its folders included. */
void tree_file(const char *path, const char *text);

/* A symbolic link below it to another path below it. */
void tree_link(const char *path, const char *target);

/*
 * A disk (@partition 0) or partition @number:minor in a disk's folder, with
 * the links that sysfs has; @folder is below /sys/devices.
 */
void tree_device(const char *folder, const char *name, const char *devno,
		 int partition);

#endif
