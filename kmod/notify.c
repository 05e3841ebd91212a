// SPDX-License-Identifier: GPL-2.0
/*
 * The notifiers of reboot and sleep, which have the held data of all targets written.
 *
 * device-mapper suspends no device for either. A notifier stops all targets, and
 * waits for all of them at once: see ending.c. A machine that sleeps with
 * held blocks has them in memory only; hibernation writes its image after that,
 * maybe through a target, and then cuts the power without a reboot notifier. So
 * nothing is held from PREPARE until POST. Nothing is cached either: the image is
 * older than data written behind it, and the machine goes on with the image.
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
#include "ending.h"

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

#ifdef CONFIG_DM_ALIGN_COALESCE

/* How long a reboot waits for all targets together. */
#define NOTIFY_REBOOT_MS	30000
/*
 * How long it waits behind that, within the same time, if it wrote something. An
 * md array below notes on its members that it is clean when it has been idle for
 * a moment, and would be resynced without that. md waits as long for its disks.
 */
#define NOTIFY_REBOOT_QUIET_MS	1000

/* Log how much data a target still holds at the deadline. targets_lock held. */
static void reboot_report(struct align_target *at)
{
	bool late = ending_withdraw(ALIGN_REBOOT, at);
	unsigned int nr = hold_fail(at);

	lockdep_assert_held(&targets_lock);
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
	bool wrote;
	long left;

	mutex_lock(&targets_lock);
	wrote = ending_begin(ALIGN_REBOOT, &targets);
	mutex_unlock(&targets_lock);
	left = ending_wait(ALIGN_REBOOT, NOTIFY_REBOOT_MS);

	if (wrote)
		schedule_timeout_uninterruptible(min_t(long, left,
						       msecs_to_jiffies(NOTIFY_REBOOT_QUIET_MS)));
	hold_stop_all();

	mutex_lock(&targets_lock);
	list_for_each_entry(at, &targets, all)
		reboot_report(at);
	mutex_unlock(&targets_lock);
	return NOTIFY_DONE;
}

/*
 * As early as can be: held data goes through md arrays, network drivers and the
 * like, which have notifiers of their own. Of equal priority, the notifier that
 * was registered first is called first; md has this one, too.
 */
static struct notifier_block reboot_notifier = {
	.notifier_call = notify_reboot,
	.priority = INT_MAX,
};

static int reboot_init(void)
{
	return register_reboot_notifier(&reboot_notifier);
}

static void reboot_exit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
}

#else	/* a reboot loses nothing where nothing is held */

static int reboot_init(void)
{
	return 0;
}

static void reboot_exit(void)
{
}

#endif

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
	list_for_each_entry(at, &targets, all)
		WRITE_ONCE(at->engine.blocks.asleep, true);
	ending_sleep_begin(&targets);
	mutex_unlock(&targets_lock);
	ending_sleep_wait();

	mutex_lock(&targets_lock);
	list_for_each_entry(at, &targets, all) {
		ending_sleep_withdraw(at);
		blocks_evict(at);
		ending_sleep_report(at);
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
		list_for_each_entry(at, &targets, all)
			WRITE_ONCE(at->engine.blocks.asleep, false);
		ending_sleep_undo(&targets);
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

/* First, as at a reboot: held data goes through drivers that prepare, too. */
static struct notifier_block sleep_notifier = {
	.notifier_call = notify_sleep,
	.priority = INT_MAX,
};

int notify_init(void)
{
	int ret = reboot_init();

	if (ret)
		return ret;
	ret = register_pm_notifier(&sleep_notifier);
	if (ret)
		reboot_exit();
	return ret;
}

void notify_exit(void)
{
	unregister_pm_notifier(&sleep_notifier);
	reboot_exit();
}

/**
 * notify_add - let a target know of reboots and sleeps from now on
 * @at: the target
 */
void notify_add(struct align_target *at)
{
	mutex_lock(&targets_lock);
	at->engine.blocks.asleep = sleeps;
	ending_add(at);
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
