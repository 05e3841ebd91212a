/* SPDX-License-Identifier: GPL-2.0 */
/* RCU; rcu.c. A grace period ends when all readers of its begin have left. */
#ifndef SHIM_RCUPDATE_H
#define SHIM_RCUPDATE_H

#include <linux/wait.h>

void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);
void shim_rcu_ignore(void);
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));

#define rcu_assign_pointer(p, v)	smp_store_release(&(p), v)
#define RCU_INIT_POINTER(p, v)		((p) = (v))
#define rcu_dereference_raw(p)		READ_ONCE(p)
#define rcu_dereference_check(p, c)	READ_ONCE(p)

#endif
