/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_REBOOT_H
#define SHIM_REBOOT_H
#include <linux/notifier.h>
int register_reboot_notifier(struct notifier_block *notifier);
int unregister_reboot_notifier(struct notifier_block *notifier);
/* Call the notifiers, as a reboot or a sleep does. */
void shim_reboot(void);
void shim_sleep_event(unsigned long event);
#endif
