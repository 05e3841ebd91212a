/* SPDX-License-Identifier: GPL-2.0 */
/* Files in sysfs; sysfs.c. */
#ifndef SHIM_SYSFS_H
#define SHIM_SYSFS_H

#include <linux/blkdev.h>
#include <linux/gfp.h>

struct attribute {
	const char *name;
	unsigned short mode;
};

struct attribute_group {
	const char *name;
	struct attribute **attrs;
};

struct device_attribute {
	struct attribute attr;
	ssize_t (*show)(struct device *dev, struct device_attribute *attr,
			char *buf);
};

#define sysfs_attr_init(attr)	((void)(attr))

int sysfs_create_group(struct kobject *kobj, const struct attribute_group *group);
int sysfs_add_file_to_group(struct kobject *kobj, const struct attribute *attr,
			    const char *group);
void sysfs_remove_group(struct kobject *kobj, const struct attribute_group *group);
int sysfs_emit(char *buf, const char *format, ...) __printf(2, 3);

#endif
