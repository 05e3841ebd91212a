/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collect the description of a stack: from sysfs and libmount, and, where
 * devices may be opened, from ioctls, libblkid and on-disk headers.
 * Nothing is written, and no device is opened exclusively.
 */
#ifndef ALIGNCTL_COLLECT_H
#define ALIGNCTL_COLLECT_H

#include "audit/stack.h"

/**
 * struct collect_options - what is taken for true, instead of what is said
 * @logical: logical block of an image; 0: 512
 * @physical: physical block of the disks; 0: as they say, of an image 4096
 * @offset: alignment offset of the disks; unknown: as they say, of an image 0
 */
struct collect_options {
	uint32_t logical;
	uint32_t physical;
	struct maybe offset;
};

/*
 * Add the machine's block devices as sysfs describes them; no device is opened.
 * Return: enum alignctl_exit; errors have been reported.
 */
int collect_stack(struct stack *stack);

/*
 * Add the machine's block devices; @wanted are the numbers of those that are
 * asked about, all but CD drives if @nr is 0. Return: enum alignctl_exit; errors have been
 * reported.
 */
int collect_devices(struct stack *stack, const dev_t *wanted, size_t nr,
		    const struct collect_options *options);

/*
 * Add an image of a disk and its partitions. Return: enum alignctl_exit; errors
 * have been reported.
 */
int collect_image(struct stack *stack, const char *path,
		  const struct collect_options *options);

#endif
