/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel module behind the target: is it there, and if not, why not. */
#ifndef ALIGNCTL_MODULE_H
#define ALIGNCTL_MODULE_H

#include <stdbool.h>

enum module_failure {
	MODULE_MISSING,		/* none is installed for this kernel */
	MODULE_KEY,		/* its signature is not one the kernel trusts */
	MODULE_LOCKDOWN,	/* the kernel is locked down */
	MODULE_PERMISSION,	/* not root */
	MODULE_OTHER,
};

/*
 * Sorts what modprobe printed. @lockdown is /sys/kernel/security/lockdown, or
 * NULL if that cannot be read; @root: did it run as root, so that only a
 * lockdown can forbid it?
 */
enum module_failure module_sort_failure(const char *output,
					const char *lockdown, bool root);

/*
 * Sees to it that tables with an align target can be loaded. Return: enum
 * alignctl_exit; what is wrong, and the way out, has been reported.
 */
int module_ensure(void);

#endif
