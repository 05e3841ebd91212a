/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_NOTIFIER_H
#define SHIM_NOTIFIER_H
#include <linux/kernel.h>
#define NOTIFY_DONE	0
struct notifier_block {
	int (*notifier_call)(struct notifier_block *notifier,
			     unsigned long event, void *data);
	int priority;
};
#endif
