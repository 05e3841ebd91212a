/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ALIGNCTL_DM_NAME_H
#define ALIGNCTL_DM_NAME_H

#include <sys/types.h>

/*
 * Return a name as the kernel has it, for free(): libdevmapper writes "\xNN" for
 * each unusual byte.
 */
char *dm_kernel_name(const char *name);

/* Read the name of a device-mapper device, for free(); NULL if it is gone, or none. */
char *dm_name_of(dev_t devno);

#endif
