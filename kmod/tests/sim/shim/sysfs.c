// SPDX-License-Identifier: GPL-2.0
/* Files in sysfs: they may be read at any time, and their removal waits for readers. */
#include <stdarg.h>

#include <linux/sched.h>
#include <linux/sysfs.h>

#include "node.h"
#include "../shim.h"
#include "../sysfs_read.h"

int vsnprintf(char *buffer, size_t size, const char *format, va_list list);

#define MOST_GROUPS	4
#define MOST_FILES	512

/**
 * struct group - the files of a device
 * @kobj: the device; NULL: the entry is free
 * @file: the files
 * @nr: number of @file
 * @readers: readers of one of them
 * @going: the files are being removed: there are no new readers
 */
static struct group {
	struct kobject *kobj;
	const struct attribute *file[MOST_FILES];
	unsigned int nr;
	unsigned int readers;
	bool going;
} groups[MOST_GROUPS];
static wait_queue_head_t left;
static bool is_read;
bool shim_files;

void shim_files_read(bool reads)
{
	is_read = reads;
	wake_up(&left);
}

static struct group *find_group(struct kobject *kobj)
{
	unsigned int i;

	for (i = 0; i < MOST_GROUPS; i++)
		if (groups[i].kobj == kobj)
			return &groups[i];
	return NULL;
}

static int add(struct group *group, const struct attribute *attr)
{
	machine_point();
	if (group->nr == MOST_FILES)
		machine_fail("a device has more than %d files", MOST_FILES);
	group->file[group->nr++] = attr;
	return 0;
}

int sysfs_create_group(struct kobject *kobj, const struct attribute_group *group)
{
	struct group *own = find_group(NULL);
	unsigned int i;

	might_sleep();
	if (find_group(kobj))
		return -EEXIST;
	if (!own)
		machine_fail("more than %d devices have files", MOST_GROUPS);
	*own = (struct group) { .kobj = kobj };
	for (i = 0; group->attrs[i]; i++)
		add(own, group->attrs[i]);
	return 0;
}

int sysfs_add_file_to_group(struct kobject *kobj, const struct attribute *attr,
			    const char *group)
{
	might_sleep();
	return add(find_group(kobj), attr);
}

void sysfs_remove_group(struct kobject *kobj, const struct attribute_group *group)
{
	struct group *own = find_group(kobj);

	might_sleep();
	own->going = true;
	wait_event(left, !own->readers && !is_read);
	own->kobj = NULL;
}

static ssize_t read_file(struct gendisk *disk, struct group *group,
			 const struct attribute *file, char *buf)
{
	struct device_attribute *attr = container_of(file, struct device_attribute, attr);
	ssize_t bytes;

	group->readers++;
	machine_point();
	bytes = attr->show(disk_to_dev(disk), attr, buf);
	machine_point();
	if (file->mode != 0444)
		machine_fail("file %s has mode %#o", file->name, file->mode);
	if (bytes != -ENODEV &&
	    (bytes <= 0 || bytes >= (ssize_t)PAGE_SIZE || buf[bytes - 1] != '\n'))
		machine_fail("file %s is read as %ld bytes", file->name, (long)bytes);
	group->readers--;
	wake_up(&left);
	return bytes;
}

static struct group *group_of(struct gendisk *disk)
{
	struct group *group = find_group(&disk_to_dev(disk)->kobj);

	return group && !group->going && group->nr ? group : NULL;
}

ssize_t shim_file_read(struct gendisk *disk, char *buf)
{
	struct group *group = group_of(disk);

	if (!group)
		return 0;
	return read_file(disk, group, group->file[machine_choose(group->nr)], buf);
}

ssize_t shim_file_read_named(struct gendisk *disk, const char *name, char *buf)
{
	struct group *group = group_of(disk);
	unsigned int i;

	for (i = 0; group && i < group->nr; i++)
		if (!strcmp(group->file[i]->name, name))
			return read_file(disk, group, group->file[i], buf);
	return -ENXIO;
}

unsigned int shim_nr_files(struct gendisk *disk)
{
	struct group *group = group_of(disk);

	return group ? group->nr : 0;
}

int sysfs_emit(char *buf, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(buf, PAGE_SIZE, format, list);
	va_end(list);
	return min(length, (int)PAGE_SIZE - 1);
}

char *kasprintf(gfp_t gfp, const char *format, ...)
{
	va_list list;
	char *text;
	int length;

	va_start(list, format);
	length = vsnprintf(NULL, 0, format, list);
	va_end(list);
	text = kzalloc(length + 1, gfp);
	if (!text)
		return NULL;
	va_start(list, format);
	vsnprintf(text, length + 1, format, list);
	va_end(list);
	return text;
}

/* Make the files of a node in worlds that have some. */
void __real_sysfs_publish(struct align_node *node, unsigned int index);
void __wrap_sysfs_publish(struct align_node *node, unsigned int index);
void __wrap_sysfs_publish(struct align_node *node, unsigned int index)
{
	if (shim_files)
		__real_sysfs_publish(node, index);
}
