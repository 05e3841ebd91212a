/* SPDX-License-Identifier: GPL-2.0 */
/* Workqueues; work.c. */
#ifndef SHIM_WORKQUEUE_H
#define SHIM_WORKQUEUE_H

#include <linux/list.h>
#include <linux/timer.h>
#include <linux/wait.h>

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
	struct list_head entry;
	work_func_t func;
	bool pending;
	unsigned int disabled;	/* depth of cancel_work_sync() */
};

struct workqueue_struct;

struct delayed_work {
	struct work_struct work;
	struct timer_list timer;
	struct workqueue_struct *wq;
};

#define WQ_UNBOUND	2
#define WQ_MEM_RECLAIM	8
#define WQ_HIGHPRI	16
#define WQ_MAX_ACTIVE	2048

void shim_init_work(struct work_struct *work, work_func_t func);
void shim_init_delayed_work(struct delayed_work *work, work_func_t func);
#define INIT_WORK(work, func)		shim_init_work(work, func)
#define INIT_DELAYED_WORK(work, func)	shim_init_delayed_work(work, func)

static inline struct delayed_work *to_delayed_work(struct work_struct *work)
{
	return container_of(work, struct delayed_work, work);
}

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max_active, ...);
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
			unsigned long delay);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay);
bool schedule_work(struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);
bool cancel_delayed_work_sync(struct delayed_work *work);

/* Start the pool with so many workers at most, rescuers not counted. */
void shim_work_start(unsigned int workers);
/* The shim's own: memory is about to be freed; and a thread is about to sleep. */
void shim_work_freed(const void *memory, size_t bytes);
void shim_work_sleeps(void);
/* Free the pool, when nothing is queued any more. */
void shim_work_stop(void);

#endif
