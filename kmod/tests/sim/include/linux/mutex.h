/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_MUTEX_H
#define SHIM_MUTEX_H

#include <linux/wait.h>

struct mutex {
	struct thread *owner;
	wait_queue_head_t wait;
};

#define DEFINE_MUTEX(name) \
	struct mutex name = { NULL, __WAIT_QUEUE_HEAD_INITIALIZER(name.wait) }

void mutex_init(struct mutex *mutex);
void mutex_destroy(struct mutex *mutex);
void mutex_lock(struct mutex *mutex);
int mutex_lock_killable(struct mutex *mutex);
int mutex_trylock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

#endif
