/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read /sys and /proc. The environment variable ALIGNCTL_SYSROOT is a folder to
 * read both from, for a captured or made-up machine; it is ignored in a setuid
 * program.
 */
#ifndef ALIGNCTL_SYSFS_H
#define ALIGNCTL_SYSFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct sysfs_device - a block device in sysfs
 * @devno: device number
 * @name: the kernel's name of the device, e.g. "sda1" or "dm-0"
 * @dir: folder of the device
 * @disk_dir: folder of the whole disk, which has queue/; equals @dir for a disk
 * @partition: the device is a partition
 */
struct sysfs_device {
	dev_t devno;
	char *name;
	char *dir;
	char *disk_dir;
	bool partition;
};

/* Check whether another machine's /sys is read, by ALIGNCTL_SYSROOT. */
bool sysfs_elsewhere(void);

/* Return the path of a file below the root in use, for free(). */
char *sysfs_path(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Find a device by its number; false, with nothing to free, if it is gone. */
bool sysfs_device_open(struct sysfs_device *device, dev_t devno);
void sysfs_device_close(struct sysfs_device *device);

/* Close a device, initialised by 0 or opened, at the end of the variable's scope. */
#define CLEANUP_SYSFS	__attribute__((cleanup(sysfs_device_close)))

/* Return the kernel's name of a device, or "major:minor" if it is gone; for free(). */
char *sysfs_name(dev_t devno);

/*
 * Read a file's text without trailing blanks, for free(); NULL if unreadable.
 */
char *sysfs_text(const char *dir, const char *file);

/* Read a file's number; false if unreadable or no number. */
bool sysfs_number(const char *dir, const char *file, int64_t *number);

/*
 * Return the subsystem that a disk is attached by, "scsi" or "nvme", for free();
 * NULL: none, as of a virtual one.
 */
char *sysfs_subsystem(const char *disk_dir);

/* Return the logical block of a disk, bytes; 0 if sysfs does not say. */
uint32_t sysfs_logical(const char *disk_dir);

/* Read a device number, "major:minor", from a file like "dev". */
bool sysfs_devno(const char *dir, const char *file, dev_t *devno);

/*
 * Find a block device by the kernel's name or, of a captured machine, which has
 * nothing else, also by its path. Return: false if there is none.
 */
bool sysfs_named(const char *word, dev_t *devno);

/*
 * Check whether an open device has been removed. A disk that is pulled out or
 * deleted leaves sysfs at once, but its number stays taken until the last
 * close, so a missing number cannot mean another disk. Return: false also if
 * sysfs cannot be read.
 */
bool sysfs_device_gone(dev_t devno);

/* Call @visit for each entry of a folder but . and .., in order of name. */
void sysfs_each(const char *dir, void (*visit)(const char *name, void *context),
		void *context);

#endif
