/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What 'alignctl probe' has measured and kept of a disk: its physical block, and
 * how fast it rotates, each in a file. A file is found by the disk's own name, its
 * wwid or serial number, because the kernel's names change.
 */
#ifndef ALIGNCTL_PROBED_H
#define ALIGNCTL_PROBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sysfs/device.h"

/**
 * struct probed - the measured blocks of a disk
 * @block: physical block, bytes
 * @offset: alignment offset of the disk, bytes, less than @block
 */
struct probed {
	uint32_t block;
	uint32_t offset;
};

/**
 * struct probed_rotation - the measured rotation of a disk
 * @rpm: revolutions a minute; 0: it does not rotate
 * @least: lower end of the interval of @rpm
 * @most: its upper end
 */
struct probed_rotation {
	uint32_t rpm;
	uint32_t least;
	uint32_t most;
};

/**
 * struct probed_disk - the disk that a file must be of
 * @name: wwid of the disk, or "serial-" and its serial number
 * @bytes: size of the disk
 * @logical: logical block of the disk, bytes
 */
struct probed_disk {
	const char *name;
	uint64_t bytes;
	uint32_t logical;
};

/*
 * Take the text of a file, which may be anything of at most INT_MAX bytes.
 * Return: NULL, or why it cannot be used, for free(), and @probed is unchanged.
 */
char *probed_parse(struct probed *probed, const char *text, size_t length,
		   const struct probed_disk *disk);

/* Take the text of a file with the rotation in the same way. */
char *probed_rotation_parse(struct probed_rotation *rotation, const char *text,
			    size_t length, const struct probed_disk *disk);

/*
 * Return the serial number of a disk as sysfs has it, or of the USB device that
 * it is in, for free(). NULL: it has none.
 */
char *probed_disk_serial(const char *disk_dir);

/*
 * Return what a disk calls itself on each machine and in each slot: its wwid,
 * or "serial-" and its serial number; for free(). NULL: it has neither.
 */
char *probed_disk_name(const char *disk_dir);

/*
 * Read the blocks that are kept of the disk whose folder in sysfs is @disk_dir. Return:
 * false if nothing is, or nothing that can be used; then *@wrong says which file
 * and why, for free(). Else *@wrong is NULL.
 */
bool probed_read(struct probed *probed, const char *disk_dir, char **wrong);

/* Read what is kept of its rotation in the same way. */
bool probed_rotation_read(struct probed_rotation *rotation,
			  const char *disk_dir, char **wrong);

/* Read its blocks, and warn of a file that cannot be used. */
bool probed_read_or_warn(struct probed *probed, const char *disk_dir);

/*
 * Find the blocks of a device by those that were measured of its disk, and warn
 * likewise. Return: false if there are none.
 */
bool probed_find(struct probed *probed, const struct device *device);

/* Put the blocks that were measured in place of those that a device claims. */
void probed_apply(struct device *device);

#endif
