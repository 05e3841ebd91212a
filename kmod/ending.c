// SPDX-License-Identifier: GPL-2.0
/*
 * Endings: a reboot and a sleep, which stop all targets from holding, and wait for all
 * of them at once. Each target counts itself out of the ending's @left through its
 * waiter of that ending, in engine->endings.
 *
 * "targets_lock" is the lock of notify.c, which has the list of targets.
 */
#include "ending.h"

/* How long a sleep waits for all targets together. */
#define NOTIFY_SLEEP_MS	30000

/**
 * struct ending - an event that waits until no target holds anything
 * @why: reason against holding from then on, HOLD_STOPPED_...
 * @done: done() of its waiter of each target, which counts the target out
 * @begun: the event has begun and not been undone
 * @left: targets that have to be waited for
 * @settled: woken when @left is 0
 */
struct ending {
	unsigned int why;
	void (*done)(struct align_waiter *waiter);
	bool begun;
	atomic_t left;
	wait_queue_head_t settled;
};

static void reboot_done(struct align_waiter *waiter);
static void sleep_done(struct align_waiter *waiter);

static struct ending endings[ALIGN_ENDINGS] = {
	[ALIGN_REBOOT] = {
		.why = HOLD_STOPPED_REBOOT,
		.done = reboot_done,
		.settled = __WAIT_QUEUE_HEAD_INITIALIZER(endings[ALIGN_REBOOT].settled),
	},
	[ALIGN_SLEEP] = {
		.why = HOLD_STOPPED_SLEEP,
		.done = sleep_done,
		.settled = __WAIT_QUEUE_HEAD_INITIALIZER(endings[ALIGN_SLEEP].settled),
	},
};

static void ending_put(struct ending *ending)
{
	if (atomic_dec_and_test(&ending->left))
		wake_up(&ending->settled);
}

static void reboot_done(struct align_waiter *waiter)
{
	ending_put(&endings[ALIGN_REBOOT]);
}

static void sleep_done(struct align_waiter *waiter)
{
	ending_put(&endings[ALIGN_SLEEP]);
}

/*
 * Let an ending wait for the held data of a target. targets_lock held. Return: false if
 * nothing is held, or the held data cannot be written.
 */
static bool ending_ask(enum align_ending which, struct align_target *at)
{
	struct align_waiter *waiter = &at->engine.endings[which];
	struct ending *ending = &endings[which];

	waiter->done = ending->done;
	/* Before, as the waiter may be done at once. */
	atomic_inc(&ending->left);
	if (hold_ask(at, waiter) > 0)
		return true;
	atomic_dec(&ending->left);
	return false;
}

/*
 * Let no target hold anything. Return: whether one has begun to write for that. It
 * may have written all before it is asked, and one that was suspended may have been
 * resumed. targets_lock held.
 */
bool ending_begin(enum align_ending which, struct list_head *targets)
{
	struct align_target *at;
	bool writes = false;

	endings[which].begun = true;
	/* All before the first is asked: one may lie on another. */
	list_for_each_entry(at, targets, all)
		writes |= hold_stop(at, endings[which].why);
	list_for_each_entry(at, targets, all)
		writes |= ending_ask(which, at);
	return writes;
}

/* Return the jiffies left of @ms when every target has written, or failed to; or 0. */
long ending_wait(enum align_ending which, unsigned int ms)
{
	struct ending *ending = &endings[which];

	return wait_event_timeout(ending->settled, !atomic_read(&ending->left),
				  msecs_to_jiffies(ms));
}

/* Wait for a target no longer. targets_lock held. Return: it was waited for. */
bool ending_withdraw(enum align_ending which, struct align_target *at)
{
	bool late = hold_withdraw(at, &at->engine.endings[which]);

	if (late)
		ending_put(&endings[which]);
	return late;
}

/* Wait until every target has written for a sleep, or failed to. */
void ending_sleep_wait(void)
{
	ending_wait(ALIGN_SLEEP, NOTIFY_SLEEP_MS);
}

/* Wait for a target no longer, because a sleep has waited enough. targets_lock held. */
void ending_sleep_withdraw(struct align_target *at)
{
	ending_withdraw(ALIGN_SLEEP, at);
}

/* Log how much data a target still holds when the machine goes to sleep. */
void ending_sleep_report(struct align_target *at)
{
	unsigned int nr = READ_ONCE(at->engine.held.nr);

	if (nr)
		DMERR("%s: %u held blocks were not written before the sleep, and stay held",
		      dm_device_name(at->node->md), nr);
}

/* Let all targets hold again behind a sleep. targets_lock held. */
void ending_sleep_undo(struct list_head *targets)
{
	struct align_target *at;

	endings[ALIGN_SLEEP].begun = false;
	list_for_each_entry(at, targets, all)
		hold_start(at, HOLD_STOPPED_SLEEP);
}

/* Let a new target hold nothing if an ending has begun. targets_lock held. */
void ending_add(struct align_target *at)
{
	unsigned int i;

	for (i = 0; i < ALIGN_ENDINGS; i++)
		if (endings[i].begun)
			hold_stop(at, endings[i].why);
}
