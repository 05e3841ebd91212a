// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: How a flush waits
 *
 * Blocks that begin to hold are numbered. A flush, the message flush and
 * suspend are waiters: each notes the last number, waits for all blocks up to
 * it, and is done when each of these is settled, or fails. A block that fails
 * gets a new number, so that later waiters wait for the next attempt. The drain
 * work sends all blocks up to the highest number that has a waiter, in runs of
 * blocks.
 *
 * So waiters are in the order of arrival, and each waits for the blocks of all
 * waiters in front, too. A block is therefore counted once: by the first waiter
 * that waits for it, or among the blocks that are held for no waiter yet, all of
 * which the next waiter takes. A waiter is done when its own blocks are settled,
 * and it is the first one. So the cost of a settled block does not grow with the
 * number of waiters, but for the search in a tree.
 *
 * A block that could not be written has failed all waiters that wait for it:
 * the one that counts it and all behind that have arrived by then. The first of
 * them notes up to which that reaches, and hands that on when it leaves.
 */
#include "waiter.h"

static struct align_waiter *waiter_first(const struct align_waiters *waiters)
{
	return rb_entry_safe(rb_first_cached(&waiters->tree),
			     struct align_waiter, node);
}

static struct align_waiter *waiter_next(struct align_waiter *waiter)
{
	return rb_entry_safe(rb_next(&waiter->node), struct align_waiter, node);
}

/* Find the first waiter that waits for the block with a number, or NULL. */
static struct align_waiter *waiter_of(const struct align_waiters *waiters,
				      u64 seq)
{
	struct rb_node *node = waiters->tree.rb_root.rb_node;
	struct align_waiter *found = NULL;

	while (node) {
		struct align_waiter *waiter =
			rb_entry(node, struct align_waiter, node);

		if (waiter->seq >= seq) {
			found = waiter;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/* Take a waiter out; the next one has its failures from now on. */
static void waiter_leave(struct align_waiters *waiters,
			 struct align_waiter *waiter)
{
	struct align_waiter *next = waiter_next(waiter);

	if (next && next->fails < waiter->fails)
		next->fails = waiter->fails;
	rb_erase_cached(&waiter->node, &waiters->tree);
	waiter->waits = false;
}

/* Initialise waiters: there are none, and nothing is held. */
void waiters_init(struct align_waiters *waiters)
{
	waiters->tree = RB_ROOT_CACHED;
}

/* Note that a block begins to hold, with a number above all others. */
void waiters_hold(struct align_waiters *waiters)
{
	waiters->later++;
}

/**
 * waiters_settle - note that a held block is settled
 * @waiters: the waiters
 * @seq: its number
 *
 * waiters_end() may have waiters to end then.
 */
void waiters_settle(struct align_waiters *waiters, u64 seq)
{
	struct align_waiter *waiter = waiter_of(waiters, seq);

	if (waiter)
		waiter->left--;
	else
		waiters->later--;
}

/**
 * waiters_fail - note that a held block could not be written
 * @waiters: the waiters
 * @seq: its number until now; it is held with a new one, above all others
 *
 * waiters_end() may have waiters to end then.
 */
void waiters_fail(struct align_waiters *waiters, u64 seq)
{
	struct align_waiter *waiter = waiter_of(waiters, seq);

	if (!waiter)
		return;
	waiter->left--;
	waiter->fails = waiters->arrivals;
	waiters->later++;
}

static bool waiter_is_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct align_waiter, node)->seq <
	       rb_entry(b, struct align_waiter, node)->seq;
}

/**
 * waiters_add - let a waiter wait for all blocks that are held now
 * @waiters: the waiters
 * @waiter: the waiter, with @done
 * @seq: number of the block that began to hold last
 */
void waiters_add(struct align_waiters *waiters, struct align_waiter *waiter,
		 u64 seq)
{
	waiter->seq = seq;
	waiter->arrival = ++waiters->arrivals;
	waiter->left = waiters->later;
	waiter->fails = 0;
	waiter->waits = true;
	waiter->failed = false;
	waiters->later = 0;
	rb_add_cached(&waiter->node, &waiters->tree, waiter_is_before);
}

/**
 * waiters_remove - end the wait of a waiter
 * @waiters: the waiters
 * @waiter: a waiter that was in the tree once, or is zeroed
 *
 * Return: whether it still waited; its done() is not called then.
 */
bool waiters_remove(struct align_waiters *waiters, struct align_waiter *waiter)
{
	struct align_waiter *next;

	if (!waiter->waits)
		return false;
	next = waiter_next(waiter);
	if (next)
		next->left += waiter->left;
	else
		waiters->later += waiter->left;
	waiter_leave(waiters, waiter);
	return true;
}

/**
 * waiters_end - end waiters whose blocks are all settled
 * @waiters: the waiters
 * @most: how many
 *
 * Return: whether there are more of them.
 */
bool waiters_end(struct align_waiters *waiters, unsigned int most)
{
	struct align_waiter *waiter = waiter_first(waiters);

	for (; waiter && !waiter->left; waiter = waiter_first(waiters)) {
		if (!most--)
			return true;
		waiter->failed = waiter->fails >= waiter->arrival;
		waiter_leave(waiters, waiter);
		waiter->done(waiter);
	}
	return false;
}

/**
 * waiters_fail_all - end waiters, and fail those that wait for a block
 * @waiters: the waiters
 * @most: how many
 *
 * Return: whether there are more.
 */
bool waiters_fail_all(struct align_waiters *waiters, unsigned int most)
{
	struct align_waiter *waiter = waiter_first(waiters);

	for (; waiter; waiter = waiter_first(waiters)) {
		if (!most--)
			return true;
		/* A block that the waiter leaves to the next one fails that one, too. */
		waiter->failed = waiter->left ||
				 waiter->fails >= waiter->arrival;
		waiters_remove(waiters, waiter);
		waiter->done(waiter);
	}
	return false;
}
