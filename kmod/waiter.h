/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiters: each waits until all that is held at a moment is settled.
 */
#ifndef DM_ALIGN_WAITER_H
#define DM_ALIGN_WAITER_H

#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct align_waiter - waits until all blocks held at a moment are settled
 * @node: entry in the waiters' tree
 * @seq: the waiter waits for held blocks with a number up to this one
 * @arrival: number of the waiter, by the order of arrival
 * @left: blocks that are not settled, and that no waiter in front waits for
 * @fails: waiters from this one up to that arrival have failed, if it is not less
 *	than @arrival
 * @waits: the waiter is in the tree
 * @failed: one of its blocks could not be written; valid in @done
 * @done: called when it and all in front have nothing left, or when all waiters
 *	fail, under the waiters' lock; it is not in the tree then
 */
struct align_waiter {
	struct rb_node node;
	u64 seq;
	u64 arrival;
	unsigned int left;
	u64 fails;
	bool waits;
	bool failed;
	void (*done)(struct align_waiter *waiter);
};

/**
 * struct align_waiters - the waiters of a target; guarded by a lock of the caller's
 * @tree: waiters by @seq, which rises with @arrival
 * @arrivals: number of the waiter that came last
 * @later: held blocks that no waiter waits for
 */
struct align_waiters {
	struct rb_root_cached tree;
	u64 arrivals;
	unsigned int later;
};

void waiters_init(struct align_waiters *waiters);
void waiters_hold(struct align_waiters *waiters);
void waiters_settle(struct align_waiters *waiters, u64 seq);
void waiters_fail(struct align_waiters *waiters, u64 seq);
void waiters_add(struct align_waiters *waiters, struct align_waiter *waiter,
		 u64 seq);
bool waiters_remove(struct align_waiters *waiters,
		    struct align_waiter *waiter);
bool waiters_end(struct align_waiters *waiters, unsigned int most);
bool waiters_fail_all(struct align_waiters *waiters, unsigned int most);

#endif
