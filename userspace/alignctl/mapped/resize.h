/* SPDX-License-Identifier: GPL-2.0 */
/* Grow an align device with the device below it. */
#ifndef ALIGNCTL_RESIZE_H
#define ALIGNCTL_RESIZE_H

#include "mapped/dm.h"

/*
 * Grow the last segment of a device to the end of the device below it, under
 * the device's users, and print the old and the new size. All else stays as the
 * table has it. A device is never shrunk. Return: enum alignctl_exit; errors
 * have been reported.
 */
int resize_device(const struct dm_align *device);

#endif
