/* SPDX-License-Identifier: GPL-2.0 */
/* Refusing a device that is in use or holds data, and opening one to write to it. */
#ifndef ALIGNCTL_OVERWRITE_H
#define ALIGNCTL_OVERWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "sysfs/device.h"

/* The row of verbs that write to a device; designators set more members. */
#define OPTION_FORCE(...)						\
	OPTION("force", ARG_DEVICE,					\
	       "write to DEV although it is in use or holds data", ##__VA_ARGS__)

/**
 * struct overwrite - a device that a verb wants to write to
 * @device: the device
 * @verb: name of the verb, for messages
 * @named_by: word before the device's path in messages, as "--on is"
 * @force: argument of --force, or the path that a person has typed; NULL: neither
 * @ask: a person at a terminal may confirm instead of --force
 * @keeps: what the device holds is not lost, so that only its users matter, and
 *	programs that write to it
 * @end: byte of a file before which it is written
 */
struct overwrite {
	const struct device *device;
	const char *verb;
	const char *named_by;
	const char *force;
	bool ask;
	bool keeps;
	uint64_t end;
};

/*
 * Refuse a device that is in use or holds data, unless --force names it or
 * a person types its name, which sets @force. Return: enum alignctl_exit, reported.
 */
int overwrite_guard(struct overwrite *overwrite);

/*
 * Open a device with these flags of open(2); a block device exclusively, if
 * @exclusive. Refuse if its path leads to another one since device_open(), as links
 * of udev may while a person is asked. @instead is put before what else can be done where direct I/O is
 * not possible, as "--buffered, or ". Return: enum alignctl_exit, reported.
 */
int overwrite_open(const struct device *device, int flags, bool exclusive,
		   const char *instead, int *fd);

#endif
