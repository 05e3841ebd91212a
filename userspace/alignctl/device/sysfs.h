/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading /sys and /proc. The environment variable ALIGNCTL_SYSROOT puts
 * another folder in front of both, so that a captured or made-up machine can
 * be looked at; it is ignored in a setuid program.
 */
#ifndef ALIGNCTL_SYSFS_H
#define ALIGNCTL_SYSFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct sysfs_device - a block device's place in sysfs
 * @devno: its number
 * @name: the kernel's name for it, e.g. "sda1" or "dm-0"
 * @dir: its folder
 * @disk_dir: the folder of the whole disk, which has queue/; @dir for a disk
 * @partition: is it a partition?
 */
struct sysfs_device {
	dev_t devno;
	char *name;
	char *dir;
	char *disk_dir;
	bool partition;
};

/* Is another folder in front, so that what is read is not this machine's? */
bool sysfs_elsewhere(void);

/* The path of a file below the root in use, for free(). */
char *sysfs_path(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Finds a device by its number; false, with nothing to free, if it is gone. */
bool sysfs_device_open(struct sysfs_device *device, dev_t devno);
void sysfs_device_close(struct sysfs_device *device);

/* A file's text without trailing blanks, for free(); NULL if unreadable. */
char *sysfs_text(const char *dir, const char *file);

/* A file's number; false if unreadable or no number. */
bool sysfs_number(const char *dir, const char *file, int64_t *number);

/* The number in a file like "dev", which says "major:minor". */
bool sysfs_devno(const char *dir, const char *file, dev_t *devno);

/*
 * Is a device that somebody has open no longer there? A disk that is pulled out
 * or deleted leaves sysfs at once, but its number stays taken until the last
 * opener closes it, so no other disk gets it meanwhile: a number that is missing
 * means that very device. False if sysfs cannot be read.
 */
bool sysfs_device_gone(dev_t devno);

/* Calls @visit for each entry of a folder but . and .., in order of name. */
void sysfs_each(const char *dir, void (*visit)(const char *name, void *context),
		void *context);

#endif
