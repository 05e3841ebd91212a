/* SPDX-License-Identifier: GPL-2.0 */
/* A block device or regular file, and what is known about its geometry. */
#ifndef ALIGNCTL_DEVICE_H
#define ALIGNCTL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/units.h"
#include "device/sysfs.h"

/* Physical block of a regular file, which has none: the usual page. */
#define DEVICE_FILE_PHYSICAL	PAGE_BYTES

/**
 * struct device - what a path leads to
 * @path: as the user wrote it
 * @block: a block device? else a regular file
 * @devno: a block device's own number; of a file, that of its file system
 * @inode: of a file
 * @sys: a block device's place in sysfs
 * @sectors: size in sectors of 512 bytes
 * @logical: logical block, bytes; of a file, what O_DIRECT asks for
 * @physical: physical block, bytes, as the kernel says, or the align target of
 *	a mapped device
 * @alignment_offset: bytes; -1 if they cannot say
 * @io_min: bytes, 0 if not known
 * @io_opt: bytes, 0 if not known
 * @rotational: does it turn?
 */
struct device {
	const char *path;
	bool block;
	dev_t devno;
	ino_t inode;
	struct sysfs_device sys;
	uint64_t sectors;
	uint32_t logical;
	uint32_t physical;
	int64_t alignment_offset;
	uint32_t io_min;
	uint32_t io_opt;
	bool rotational;
};

/*
 * Looks at @path, following links. Return: enum alignctl_exit; anything but
 * ALIGNCTL_FINE has been reported and leaves nothing to close.
 */
int device_open(struct device *device, const char *path);

/* The same for a block device of which only the number is known. */
int device_open_devno(struct device *device, dev_t devno, const char *path);
void device_close(struct device *device);

/*
 * A larger physical block that a large-unit SSD gives away by io_min: a power
 * of two above the physical block, at most 65536, not rotational. 0: none.
 */
uint32_t device_suggested_physical(const struct device *device);

/*
 * The block of its page cache, bytes: of a block device as the kernel says (its
 * user may have set it), of a file that of its file system. Opens it.
 */
uint32_t device_cache_block(const struct device *device);

/*
 * The blocks of page cache that the kernel gives a block device of so many
 * bytes: the longest that divide it, from its logical block to a page.
 */
uint32_t device_default_cache_block(uint32_t logical, uint64_t bytes);

/*
 * The alignment offset, bytes, that the device would have if its physical block
 * were @physical. False if its start on a disk is not known (a volume, an
 * array, a loop device) and so nothing can be said; @offset is 0 then.
 */
bool device_offset_for(const struct device *device, uint32_t physical,
		       uint32_t *offset);

/*
 * Why another host may write to the same device, for people; NULL if nothing
 * hints at it. For free().
 */
char *device_shared_reason(const struct device *device);

#endif
