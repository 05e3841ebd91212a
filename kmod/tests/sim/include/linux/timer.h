/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_TIMER_H
#define SHIM_TIMER_H

#include <linux/jiffies.h>

/* TIMER_DEFERRABLE, TIMER_PINNED and TIMER_IRQSAFE */
#define TIMER_INIT_FLAGS	0x00380000U

struct timer_list {
	struct machine_timer timer;
	void (*function)(struct timer_list *timer);
};

void timer_setup(struct timer_list *timer,
		 void (*function)(struct timer_list *timer),
		 unsigned int flags);
int timer_reduce(struct timer_list *timer, unsigned long expires);
int timer_delete_sync(struct timer_list *timer);

#endif
