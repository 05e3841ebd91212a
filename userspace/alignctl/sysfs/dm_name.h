/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ALIGNCTL_DM_NAME_H
#define ALIGNCTL_DM_NAME_H

/*
 * Return a name as the kernel has it, for free(): libdevmapper writes "\xNN" for
 * each unusual byte.
 */
char *dm_kernel_name(const char *name);

#endif
