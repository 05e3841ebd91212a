/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The context of the caller. With preemption off a thread keeps its CPU, to which
 * only interrupts come.
 */
#ifndef SHIM_PREEMPT_H
#define SHIM_PREEMPT_H

#include <linux/sched.h>

#define in_task()		(current->context == CONTEXT_TASK)
#define in_hardirq()		(current->context == CONTEXT_HARDIRQ)
#define in_serving_softirq()	(current->context == CONTEXT_SOFTIRQ)
#define in_softirq()		in_serving_softirq()
#define irqs_disabled()		(current->irqs_off)

static inline void preempt_disable(void)
{
	current->preempt++;
	/* Or the compiler leaves out both, and other threads go on in between. */
	barrier();
}

static inline void preempt_enable(void)
{
	barrier();
	current->preempt--;
	machine_bare_point();
}

#endif
