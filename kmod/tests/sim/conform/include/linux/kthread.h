/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks of the suite's own, and signals to them. */
#ifndef CONFORM_KTHREAD_H
#define CONFORM_KTHREAD_H

#include <linux/sched.h>

#define task_struct		thread
#define SIGKILL			9
#define allow_signal(signal)	((void)(signal))
#define kthread_run(function, data, name)	conform_task(function, data)

struct thread *conform_task(int (*function)(void *data), void *data);

/* Kill a task; it wakes up and looks whether that concerns it. */
static inline int send_sig(int signal, struct thread *task, int by_kernel)
{
	machine_point();
	task->killed = true;
	machine_wake(task);
	return 0;
}

#endif
