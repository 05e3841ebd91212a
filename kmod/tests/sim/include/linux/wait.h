/* SPDX-License-Identifier: GPL-2.0 */
/* Wait queues and completions; wait.c. */
#ifndef SHIM_WAIT_H
#define SHIM_WAIT_H

#include <linux/jiffies.h>
#include <linux/spinlock.h>

#define SHIM_MOST_WAITERS	256

/**
 * struct wait_queue_head - threads that wait
 * @thread: the waiting threads, oldest first
 * @nr: number of threads
 */
typedef struct wait_queue_head {
	struct thread *thread[SHIM_MOST_WAITERS];
	unsigned int nr;
} wait_queue_head_t;

#define __WAIT_QUEUE_HEAD_INITIALIZER(name) { .nr = 0 }
#define DECLARE_WAIT_QUEUE_HEAD(name) \
	wait_queue_head_t name = __WAIT_QUEUE_HEAD_INITIALIZER(name)

void init_waitqueue_head(wait_queue_head_t *queue);
void wake_up(wait_queue_head_t *queue);
void wake_up_all(wait_queue_head_t *queue);
/* Wake the thread that has waited longest. */
void shim_wake_one(wait_queue_head_t *queue);
bool wq_has_sleeper(wait_queue_head_t *queue);

void shim_wait_prepare(wait_queue_head_t *queue);
void shim_wait_finish(wait_queue_head_t *queue);
/* Sleep until woken, or @until_ns, or a fatal signal if @killable. */
void shim_wait_sleep(wait_queue_head_t *queue, u64 until_ns);

/* As ___wait_event(): look, sleep, look again. */
#define wait_event_timeout(queue, condition, timeout) \
	({ \
		u64 _until = shim_jiffies_until(timeout); \
		long _left; \
		for (;;) { \
			bool _done; \
			shim_wait_prepare(&(queue)); \
			_done = (condition); \
			_left = shim_jiffies_left(_until); \
			if (_done || !_left) { \
				if (_done && !_left) \
					_left = 1; \
				break; \
			} \
			shim_wait_sleep(&(queue), _until); \
		} \
		shim_wait_finish(&(queue)); \
		_left; \
	})
#define wait_event(queue, condition) \
	((void)wait_event_timeout(queue, condition, MAX_SCHEDULE_TIMEOUT))

struct completion {
	unsigned int done;
	wait_queue_head_t wait;
};

void init_completion(struct completion *completion);
void complete(struct completion *completion);
void wait_for_completion(struct completion *completion);
int wait_for_completion_killable(struct completion *completion);
unsigned long wait_for_completion_timeout(struct completion *completion,
					  unsigned long timeout);
long wait_for_completion_killable_timeout(struct completion *completion,
					  unsigned long timeout);

void cond_resched(void);
long schedule_timeout_uninterruptible(long timeout);

#define TASK_UNINTERRUPTIBLE	2
#define TASK_KILLABLE		0x102

#endif
