/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The question of udev's rule: is this device below a line of aligntab, and so
 * to be hidden from everything but its align device?
 */
#ifndef ALIGNCTL_LOWER_H
#define ALIGNCTL_LOWER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Read a device's properties from the environment, as udev's IMPORT{program}
 * sets them, and print those that the rule needs, as "NAME=value":
 *
 * ALIGN_LOWER	name of the line, as an instance of a unit; of a partition, the
 *		rule has imported it from the disk
 * ALIGN_LINKS	links that the device keeps, below /dev; if they are too long for
 *		one list of udev's, ALIGN_LINKS_2 and so on have the rest
 * ALIGN_UNIT	unit to start, if the line is to be brought up and is not
 *
 * Nothing is printed for any other device, nor for one that something other
 * than an align device uses: systemd would unmount it. Return: enum
 * alignctl_exit; errors have been reported.
 */
int lower_print(void);

/*
 * Print the path of the align device through which a device is to be used, if
 * there is one: of a partition of a hidden disk, the partition on the align
 * device. Return: enum alignctl_exit; errors have been reported.
 */
int lower_print_above(const char *node);

/*
 * Let udev look at a device and its partitions again, and wait until it has:
 * their links go or come back.
 */
void lower_trigger(dev_t devno);

#endif
