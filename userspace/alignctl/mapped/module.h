/* SPDX-License-Identifier: GPL-2.0 */
/* Load the target's kernel module, and explain why it cannot be loaded. */
#ifndef ALIGNCTL_MODULE_H
#define ALIGNCTL_MODULE_H

#include <stdbool.h>

enum module_failure {
	MODULE_MISSING,		/* none is installed for this kernel */
	MODULE_KEY,		/* the kernel does not trust its signature */
	MODULE_LOCKDOWN,	/* the kernel is locked down */
	MODULE_PERMISSION,	/* not root */
	MODULE_OTHER,
};

/*
 * Find the kind of failure in modprobe's output. @lockdown is the content of
 * /sys/kernel/security/lockdown, or NULL; @root: modprobe ran as root, which
 * only a lockdown forbids to load modules.
 */
enum module_failure module_sort_failure(const char *output,
					const char *lockdown, bool root);

/*
 * Load the module unless the align target is registered. Return: enum
 * alignctl_exit; the cause and what to do have been reported.
 */
int module_ensure(void);

#endif
