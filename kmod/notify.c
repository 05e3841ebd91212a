// SPDX-License-Identifier: GPL-2.0
/*
 * The notifiers of reboot and sleep, which have what is held by all targets written.
 *
 * device-mapper suspends no device for either. A notifier stops all targets, and
 * waits for all of them at once: each counts itself out of the ending's @left
 * through its waiter of that ending, in engine->endings. A machine that sleeps with
 * held blocks has them in memory only; hibernation writes its image after that,
 * maybe through a target, and then cuts the power without a reboot notifier. So
 * nothing is held from PREPARE until POST. Nothing is known either: the image is
 * older than what is written behind it, and the machine goes on with the image.
 *
 * targets_lock guards the list of targets, @begun of both endings, and sleeps. It is
 * taken outside held->lock and never held while a request is waited for, so a
 * target that hangs keeps no other one from being removed. A notifier looks at a
 * target under targets_lock only. A target leaves the list before hold_exit() fails
 * its waiters, those of the endings included, and is freed after that. A reboot fails
 * all waiters of a target, that of a sleep too; a sleep withdraws its own.
 */
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "block.h"
#include "node.h"

/* How long a reboot waits for all targets together. */
#define NOTIFY_REBOOT_MS	30000
/*
 * How long it waits behind that, within the same time, if it wrote something. An
 * md array below notes on its members that it is clean when it has been idle for
 * a moment, and would be resynced without that. md waits as long for its disks.
 */
#define NOTIFY_REBOOT_QUIET_MS	1000
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

static LIST_HEAD(targets);
static DEFINE_MUTEX(targets_lock);

/*
 * Kinds of sleep. A program that makes or restores the image itself has the kernel
 * call PREPARE when it opens /dev/snapshot, and POST when it closes that. The machine
 * may be suspended in between. Of one kind there is one sleep at a time.
 */
#define SLEEP_SUSPEND		1
#define SLEEP_HIBERNATION	2

/* The kinds that have begun and not ended. */
static unsigned int sleeps;

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
 * Let an ending wait for what a target holds. targets_lock held. Return: false if
 * that is nothing, or cannot be written.
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
 * resumed.
 */
static bool ending_begin(enum align_ending which)
{
	struct align_target *at;
	bool writes = false;

	mutex_lock(&targets_lock);
	endings[which].begun = true;
	/* All before the first is asked: one may lie on another. */
	list_for_each_entry(at, &targets, all)
		writes |= hold_stop(at, endings[which].why);
	list_for_each_entry(at, &targets, all)
		writes |= ending_ask(which, at);
	mutex_unlock(&targets_lock);
	return writes;
}

/* Return the jiffies left of @ms when every target has written, or failed to; or 0. */
static long ending_wait(enum align_ending which, unsigned int ms)
{
	struct ending *ending = &endings[which];

	return wait_event_timeout(ending->settled, !atomic_read(&ending->left),
				  msecs_to_jiffies(ms));
}

/* Wait for a target no longer. targets_lock held. Return: it was waited for. */
static bool ending_withdraw(enum align_ending which, struct align_target *at)
{
	bool late = hold_withdraw(at, &at->engine.endings[which]);

	if (late)
		ending_put(&endings[which]);
	return late;
}

/* Log what a target still holds behind the deadline. targets_lock held. */
static void reboot_report(struct align_target *at)
{
	bool late = ending_withdraw(ALIGN_REBOOT, at);
	unsigned int nr = hold_fail(at);

	if (nr)
		DMERR("%s: %u held blocks were not written before the reboot: error %d",
		      dm_device_name(at->node->md), nr,
		      late ? -ETIMEDOUT : -EIO);
}

/* Write the held blocks of all targets: reboot does not suspend dm devices. */
static int notify_reboot(struct notifier_block *notifier, unsigned long event,
			 void *unused)
{
	bool wrote = ending_begin(ALIGN_REBOOT);
	long left = ending_wait(ALIGN_REBOOT, NOTIFY_REBOOT_MS);
	struct align_target *at;

	if (wrote)
		schedule_timeout_uninterruptible(min_t(long, left,
						       msecs_to_jiffies(NOTIFY_REBOOT_QUIET_MS)));
	hold_send_no_more();

	mutex_lock(&targets_lock);
	list_for_each_entry(at, &targets, all)
		reboot_report(at);
	mutex_unlock(&targets_lock);
	return NOTIFY_DONE;
}

/*
 * As early as can be: what is held goes through md arrays, network drivers and
 * the like, which have notifiers of their own. Of equal priority, the one that
 * was registered first is called first; md has this one, too.
 */
static struct notifier_block reboot_notifier = {
	.notifier_call = notify_reboot,
	.priority = INT_MAX,
};

/*
 * Write the held blocks of all targets, and let none hold or know anything. What
 * could not be written stays held, is in the image of a hibernation, and is tried
 * again: a machine that must sleep is not kept awake by a bad disk.
 */
static void sleep_begin(unsigned int kind)
{
	struct align_target *at;

	mutex_lock(&targets_lock);
	sleeps |= kind;
	mutex_unlock(&targets_lock);
	ending_begin(ALIGN_SLEEP);
	ending_wait(ALIGN_SLEEP, NOTIFY_SLEEP_MS);

	mutex_lock(&targets_lock);
	list_for_each_entry(at, &targets, all) {
		unsigned int nr;

		ending_withdraw(ALIGN_SLEEP, at);
		blocks_forget(at);
		nr = READ_ONCE(at->engine.held.nr);
		if (nr)
			DMERR("%s: %u held blocks were not written before the sleep, and stay held",
			      dm_device_name(at->node->md), nr);
	}
	mutex_unlock(&targets_lock);
}

/*
 * Hold again, unless a sleep of the other kind goes on. Also called for a sleep that
 * never began.
 */
static void sleep_end(unsigned int kind)
{
	struct align_target *at;

	mutex_lock(&targets_lock);
	sleeps &= ~kind;
	if (!sleeps) {
		endings[ALIGN_SLEEP].begun = false;
		list_for_each_entry(at, &targets, all)
			hold_start(at, HOLD_STOPPED_SLEEP);
	}
	mutex_unlock(&targets_lock);
}

static int notify_sleep(struct notifier_block *notifier, unsigned long event,
			void *unused)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
		sleep_begin(SLEEP_SUSPEND);
		break;
	case PM_POST_SUSPEND:
		sleep_end(SLEEP_SUSPEND);
		break;
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		sleep_begin(SLEEP_HIBERNATION);
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		sleep_end(SLEEP_HIBERNATION);
		break;
	}
	return NOTIFY_DONE;
}

/* First, as at a reboot: what is held goes through drivers that prepare, too. */
static struct notifier_block sleep_notifier = {
	.notifier_call = notify_sleep,
	.priority = INT_MAX,
};

int notify_init(void)
{
	int ret = register_reboot_notifier(&reboot_notifier);

	if (ret)
		return ret;
	ret = register_pm_notifier(&sleep_notifier);
	if (ret)
		unregister_reboot_notifier(&reboot_notifier);
	return ret;
}

void notify_exit(void)
{
	unregister_pm_notifier(&sleep_notifier);
	unregister_reboot_notifier(&reboot_notifier);
}

/**
 * notify_add - let a target know of reboots and sleeps from now on
 * @at: the target
 */
void notify_add(struct align_target *at)
{
	unsigned int i;

	mutex_lock(&targets_lock);
	for (i = 0; i < ALIGN_ENDINGS; i++)
		if (endings[i].begun)
			hold_stop(at, endings[i].why);
	list_add_tail(&at->all, &targets);
	mutex_unlock(&targets_lock);
}

/* Undo notify_add(), before the target's waiters fail. */
void notify_remove(struct align_target *at)
{
	mutex_lock(&targets_lock);
	list_del(&at->all);
	mutex_unlock(&targets_lock);
}
