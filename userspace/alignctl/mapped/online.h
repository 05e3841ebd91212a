/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replace the table of a device while it is in use: one load, one suspend and
 * one resume. After a failure, the device goes on with the table that it had.
 */
#ifndef ALIGNCTL_ONLINE_H
#define ALIGNCTL_ONLINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "mapped/mapping.h"

/**
 * struct online - a device whose table is to be replaced
 * @name: name that the device had below /dev/mapper when it was read
 * @devno: device number, which a device keeps when it is renamed
 * @uuid: UUID of the device; "": none
 * @read_only: the device is read-only
 * @mapping: the live table
 */
struct online {
	char *name;
	dev_t devno;
	char *uuid;
	bool read_only;
	struct mapping mapping;
};

/*
 * Read a device by its name, and check that no other program is replacing its
 * table. Return: enum alignctl_exit; errors have been reported and leave
 * nothing to close.
 */
int online_open(struct online *device, const char *name);
void online_close(struct online *device);

/*
 * Replace the table by @next. Held blocks are written first; if that fails, or
 * the live table is not the one that was read, the old table stays. With
 * @drop_held the table is replaced all the same, and the kernel logs each block
 * that is lost. Return: enum alignctl_exit; errors have been reported.
 */
int online_replace(const struct online *device, const struct mapping *next,
		   bool drop_held);

/*
 * Return which program makes the device's table anew, and by which command, for
 * people and for free(); NULL if none is known.
 */
char *online_maker(const struct online *device);

/*
 * Find the devices below the one whose folder in sysfs is @dir that align can
 * be put on: the first ones on the way down that are linear or no mapped
 * devices. Return: the commands, for people and for free(), or NULL. @online:
 * set to whether they leave all devices in use.
 */
char *online_below(const char *dir, bool *online);

/* Return a device's path below /dev, for free(). */
char *online_path(dev_t devno);

#endif
