/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_SCHED_H
#define SHIM_SCHED_H
#include <linux/wait.h>
#define current		machine_current
#define PF_MEMALLOC_NOIO	0x80000
#define PF_KTHREAD	0x200000
#endif
