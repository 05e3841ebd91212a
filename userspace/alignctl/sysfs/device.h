/* SPDX-License-Identifier: GPL-2.0 */
/* A block device or regular file, and its geometry. */
#ifndef ALIGNCTL_DEVICE_H
#define ALIGNCTL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/maybe.h"
#include "base/units.h"
#include "sysfs/sysfs.h"

/* Kinds of options.h for a device's blocks, as align_geometry_init() takes them. */
#define ARG_LOGICAL	ARG_POWER(ALIGN_SECTOR_SIZE, ALIGN_MAX_LOGICAL)
#define ARG_PHYSICAL	ARG_POWER(ALIGN_SECTOR_SIZE, ALIGN_MAX_BLOCK_SIZE)
#define ARG_OFFSET							\
	ARG_NUMBER(0, ALIGN_MAX_BLOCK_SIZE - ALIGN_SECTOR_SIZE,		\
		   .multiple = ALIGN_SECTOR_SIZE)

/* Physical block that a regular file is taken to have. */
#define DEVICE_FILE_PHYSICAL	PAGE_BYTES
/* The largest block of a page cache: a page, of 64 KiB at most. */
#define DEVICE_MAX_CACHE_BLOCK	65536U

/**
 * struct device - a block device or regular file
 * @path: path as the user wrote it
 * @block: a block device; else a regular file
 * @devno: device number of the block device, or of the file's file system
 * @inode: inode number of the file
 * @diskseq: number of the disk that no other one has, and no other medium, since
 *	the machine began; 0 if not known
 * @sys: the block device in sysfs
 * @sectors: size in sectors of 512 bytes
 * @logical: logical block, bytes; of a file, the alignment of O_DIRECT
 * @physical: physical block, bytes, according to the kernel or, of a mapped
 *	device, its align target
 * @alignment_offset: alignment offset, bytes
 * @io_min: minimum_io_size, bytes; 0 if not known
 * @io_opt: optimal_io_size, bytes; 0 if not known
 * @rotational: the device is rotational
 */
struct device {
	const char *path;
	bool block;
	dev_t devno;
	ino_t inode;
	uint64_t diskseq;
	struct sysfs_device sys;
	uint64_t sectors;
	uint32_t logical;
	uint32_t physical;
	struct maybe alignment_offset;
	uint32_t io_min;
	uint32_t io_opt;
	bool rotational;
};

/*
 * Read a device's geometry, following links; the device itself is not opened. A
 * block device of no size, as a drive without a medium is, is refused.
 * Return: enum alignctl_exit; errors have been reported and leave nothing to
 * close.
 */
int device_open(struct device *device, const char *path);

/* Read a block device's geometry, given its number; @path is for messages. */
int device_open_devno(struct device *device, dev_t devno, const char *path);
void device_close(struct device *device);

/*
 * Check that a descriptor is of the device. A path may lead to another one after a
 * while: links of udev move, and a file may be replaced.
 */
bool device_is_open_as(const struct device *device, int fd);

/*
 * Check that a block device's number is still that of the same disk, with the same
 * medium: when it is removed, the next disk may get its number.
 */
bool device_is_same(const struct device *device);

/*
 * Return the physical block that io_min of a large-unit SSD suggests: a power
 * of two above the physical block, at most 262144, not rotational. 0: none.
 */
uint32_t device_suggested_physical(const struct device *device);

/*
 * Open the device and return its page cache's block, bytes: the block size of a
 * block device, which a user may have set, or of a file's file system.
 */
uint32_t device_cache_block(const struct device *device);

/*
 * Return the page-cache block, bytes, that the kernel gives a block device of
 * @bytes: the largest that divides @bytes, from the logical block to a page.
 */
uint32_t device_default_cache_block(uint32_t logical, uint64_t bytes);

/*
 * Compute the alignment offset, bytes, for a physical block of @physical.
 * Return: false with @offset 0 if the device's start on a disk is not known, as
 * of a volume, an array or a loop device.
 */
bool device_offset_for(const struct device *device, uint32_t physical,
		       uint32_t *offset);

/*
 * Return why another host may write to the device, for people and for free();
 * NULL if there is no sign of that.
 */
char *device_shared_reason(const struct device *device);

/* Return by what network the device is reached, likewise; NULL: by none. */
char *device_network_reason(const struct device *device);

#endif
