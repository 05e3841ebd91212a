/* SPDX-License-Identifier: GPL-2.0 */
/* The context of the caller. */
#ifndef CONFORM_PREEMPT_H
#define CONFORM_PREEMPT_H

#include <linux/sched.h>

#define in_task()		(current->context == CONTEXT_TASK)
#define in_hardirq()		(current->context == CONTEXT_HARDIRQ)
#define in_serving_softirq()	(current->context == CONTEXT_SOFTIRQ)
#define in_softirq()		in_serving_softirq()
#define irqs_disabled()		(current->irqs_off)

#endif
