/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A physical volume of LVM below an align device. LVM finds the volume there
 * and on the align device, and refuses its group; or, with a devices file, finds
 * it below only and bypasses the align device: the kernel lets two device-mapper
 * devices share the device below. (But not a disk and one of its partitions:
 * then the group cannot be activated.)
 */
#ifndef ALIGNCTL_LVM_H
#define ALIGNCTL_LVM_H

#include <stdbool.h>

#include "sysfs/device.h"

/* Folder of udev's links to devices below the lines of aligntab, in /dev. */
#define LVM_LINKS_BELOW		"align/below/"
#define LVM_FOLDER_BELOW	"/dev/" LVM_LINKS_BELOW

/* Line of lvm.conf that hides them, by any name in the kernel. */
#define LVM_FILTER_BELOW	\
	"devices { global_filter = [ \"r|^" LVM_FOLDER_BELOW "|\" ] }"

/**
 * struct lvm_volume - a physical volume on a device, or on a partition of it
 * @below: node of the volume; NULL: there is no volume
 * @above: node of the same volume on the align device
 * @filter: line of lvm.conf that hides the device and its partitions
 * @listed: LVM uses only what its devices file lists
 */
struct lvm_volume {
	char *below;
	char *above;
	char *filter;
	bool listed;
};

/* Find the volume on @device, or on its align device called @name. */
void lvm_volume_find(struct lvm_volume *volume, const char *name,
		     const struct device *device);
void lvm_volume_free(struct lvm_volume *volume);

/* Warn of a volume, and say what to do. */
void lvm_warn(const char *name, const struct device *device);

/*
 * Ask LVM, with the configuration in force, whether it would use the node;
 * false also if LVM is not installed.
 */
bool lvm_sees(const char *node);

/*
 * Replace one node of a volume by the other in the devices file; after
 * a failure, the old one is listed. Return: enum alignctl_exit; errors have been
 * reported.
 */
int lvm_replace(const char *old, const char *new);

#endif
