// SPDX-License-Identifier: GPL-2.0
/*
 * The reboot notifier, which has what is held by all targets written.
 *
 * It stops all targets, and waits for all of them at once: each counts itself out
 * of reboot_left through blocks->reboot.
 *
 * targets_lock guards the list of targets and rebooting. It is taken outside
 * blocks->lock and never held while a request is waited for, so a target that
 * hangs keeps no other one from being removed. The notifier looks at a target
 * under targets_lock only. A target leaves the list before hold_exit() fails its
 * waiters, reboot_left included, and is freed after that.
 */
#include <linux/reboot.h>

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

static LIST_HEAD(targets);
static DEFINE_MUTEX(targets_lock);
static bool rebooting;
static atomic_t reboot_left;
static DECLARE_WAIT_QUEUE_HEAD(reboot_settled);

static void reboot_done(struct align_waiter *waiter)
{
	if (atomic_dec_and_test(&reboot_left))
		wake_up(&reboot_settled);
}

/*
 * Let the reboot wait for what a target holds. targets_lock held. Return: false
 * if that is nothing, or cannot be written.
 */
static bool reboot_ask(struct align_target *at)
{
	/* Before, as the waiter may be done at once. */
	atomic_inc(&reboot_left);
	at->blocks.reboot.done = reboot_done;
	if (hold_ask(at, &at->blocks.reboot) > 0)
		return true;
	atomic_dec(&reboot_left);
	return false;
}

/* Log what a target still holds behind the deadline. targets_lock held. */
static void reboot_report(struct align_target *at)
{
	bool late = hold_withdraw(at, &at->blocks.reboot);
	unsigned int nr = hold_fail(at);

	if (late)
		reboot_done(&at->blocks.reboot);
	if (nr)
		DMERR("%s: %u held blocks were not written before the reboot: error %d",
		      dm_device_name(at->node->md), nr,
		      late ? -ETIMEDOUT : -EIO);
}

/* Write the held blocks of all targets: reboot does not suspend dm devices. */
static int notify_reboot(struct notifier_block *notifier, unsigned long event,
			 void *unused)
{
	struct align_target *at;
	bool wrote = false;
	long left;

	mutex_lock(&targets_lock);
	rebooting = true;
	/* All before the first is asked: one may lie on another. */
	list_for_each_entry(at, &targets, all)
		hold_stop(at, HOLD_STOPPED_REBOOT);
	list_for_each_entry(at, &targets, all)
		wrote |= reboot_ask(at);
	mutex_unlock(&targets_lock);

	left = wait_event_timeout(reboot_settled, !atomic_read(&reboot_left),
				  msecs_to_jiffies(NOTIFY_REBOOT_MS));
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

int notify_init(void)
{
	return register_reboot_notifier(&reboot_notifier);
}

void notify_exit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
}

/**
 * notify_add - let a target know of reboots from now on
 * @at: the target
 */
void notify_add(struct align_target *at)
{
	mutex_lock(&targets_lock);
	if (rebooting)
		hold_stop(at, HOLD_STOPPED_REBOOT);
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
