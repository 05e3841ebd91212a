/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_SUSPEND_H
#define SHIM_SUSPEND_H
#include <linux/notifier.h>
#define PM_HIBERNATION_PREPARE	1
#define PM_POST_HIBERNATION	2
#define PM_SUSPEND_PREPARE	3
#define PM_POST_SUSPEND		4
#define PM_RESTORE_PREPARE	5
#define PM_POST_RESTORE		6
int register_pm_notifier(struct notifier_block *notifier);
int unregister_pm_notifier(struct notifier_block *notifier);
#endif
