/* SPDX-License-Identifier: GPL-2.0 */
/* Find the device that a line of aligntab means, by what udev knows of it. */
#ifndef ALIGNCTL_FIND_H
#define ALIGNCTL_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "boot/aligntab.h"

/* Return a property of a device, as udev calls it, or NULL. */
typedef const char *find_property(const char *name, void *context);

/*
 * Check whether a line means the device with these properties. A device that
 * attach made, a partition on one and a path of multipath are never meant.
 */
bool find_means(const struct aligntab_line *line, find_property *property,
		void *context);

/**
 * struct find_device - a device that a line means
 * @devno: device number
 * @node: path of the device
 */
struct find_device {
	dev_t devno;
	char *node;
};

/**
 * struct find_result - all devices that a line means
 * @nr: number of devices; more than one is an error of the line
 * @device: the devices
 */
struct find_result {
	size_t nr;
	struct find_device *device;
};

/* Find the devices that a line means now. */
void find_now(const struct aligntab_line *line, struct find_result *result);
void find_free(struct find_result *result);

/* Check whether a device is among those found. */
bool find_has(const struct find_result *result, dev_t devno);

/*
 * Find the one device that a line means; wait for at most @seconds until it is there
 * and has a size.
 * Return: enum alignctl_exit; several devices have been reported as
 * ALIGNCTL_BUSY. ALIGNCTL_FINE with no device: it did not come.
 */
int find_wait(const struct aligntab_line *line, unsigned int seconds,
	      struct find_result *result);

/* The first rank of a link that a disk may have. */
#define FIND_RANK_DISK	2U

/*
 * Return the rank of a link below /dev/disk/by-id, given without the folder, 0 for
 * the best; SIZE_MAX: it is no name of the device, as it tells what this contains.
 * A mapped device's own come first: a multipath device also has the names of the
 * disk, which mean one of its paths until it is made, and so has a partition on it.
 */
size_t find_link_rank(const char *link);

/*
 * Return the most stable name for a line of aligntab that means the device and
 * no other one, for free(): of a mapped device the ID= that has its UUID, else
 * PARTUUID=, ID=, UUID=, or else its path. @stable:
 * set to whether it is better than a path that the kernel may give to another
 * device.
 */
char *find_stable_name(dev_t devno, const char *path, bool *stable);

#endif
