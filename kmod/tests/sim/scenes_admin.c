// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of actions of an administrator, or of the kernel in his place: suspends,
 * changes of the mode, removals, tables, messages, sleeps of the machine and reboots.
 */
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "hold.h"
#include "media.h"
#include "scenes.h"
#include "stage.h"
#include "world.h"

static struct thread *admin;
static int answer;
static bool answered;

static void suspend_task(void *unused)
{
	admin = machine_current;
	answer = shim_md_suspend(stage.md);
	answered = true;
}

static void mode_task(void *unused)
{
	admin = machine_current;
	answer = stage_message("mode", "report");
	answered = true;
}

static void flush_task(void *unused)
{
	admin = machine_current;
	answer = stage_message("flush", NULL);
	answered = true;
}

static void reboot_task(void *unused)
{
	shim_reboot();
	answered = true;
}

/* Have another task begin something. */
static void begin(void (*task)(void *unused))
{
	answered = false;
	machine_start(CONTEXT_TASK, "admin", task, NULL);
	stage_rest_us(AT_ONCE_US);
}

static void kill_admin(void)
{
	MUST(answered, false);
	admin->killed = true;
	machine_wake(admin);
	stage_rest_ms(20);
	MUST(answered, true);
}

/* Suspends that are killed, that end, and that a drive keeps waiting. */
void scene_suspends(void)
{
	struct act *act;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	stage_waits(WRITES);
	begin(suspend_task);
	/* The block is written at once, while the suspend waits. */
	must_see(0, REQ_OP_READ, stage_at(4), stage.block);
	stage_rest_ms(50);
	kill_admin();
	MUST(answer, -ERESTARTSYS);
	MUST(stage.at->engine.held.holding, true);
	stage_waits(0);
	act_write(stage_at(8), 1);
	MUST(COUNT(touches_held), 2);
	begin(suspend_task);
	stage_rest_ms(40);
	MUST(answered, true);
	MUST(answer, 0);
	MUST(HELD, 0);
	drive_forget_seen();
	act = act_send(REQ_OP_WRITE, stage_at(12), 1);
	stage_rest_ms(10);
	MUST(act->ended, false);
	must_see_no(0);
	MUST(shim_md_resume(stage.md), 0);
	MUST(act_wait(act), BLK_STS_OK);
	/* The openers knew of the cache all the time. */
	MUST(COUNT(touches_held), 3);
	stage_close();
}

/* Without memory for a flush of its own, a suspend waits by itself. */
void scene_slow_suspend(void)
{
	unsigned int i;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	stage_waits(WRITES);
	shim_faults.nowait_one_in = 1;
	begin(suspend_task);
	stage_rest_ms(29900);
	must_log_nothing();
	stage_rest_ms(200);
	must_log("drive did not complete all held blocks within 30 s");
	must_log_nothing();
	for (i = 0; i < 3; i++) {
		stage_rest_ms(30100);
		must_log("still waiting for drive to complete writes of held blocks");
		must_log_nothing();
		MUST(answered, false);
	}
	stage_waits(0);
	stage_rest_ms(20);
	shim_faults.nowait_one_in = 0;
	MUST(answered, true);
	MUST(answer, 0);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
	MUST(shim_md_resume(stage.md), 0);
	stage_close();
}

/* From now on a held block cannot be written, and that is known. */
static void fail_to_flush(unsigned int block)
{
	stage_fails(WRITES, block, 1);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0)),
	     BLK_STS_IOERR);
	stage_rest_ms(1);
	must_log("degraded");
}

/* A suspend evicts the cached content of a block, though it is held and has failed. */
void scene_forgotten(void)
{
	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	stage_flush();
	act_write(stage_at(4) + 1, 1);
	fail_to_flush(4);
	MUST(shim_md_suspend(stage.md), 0);
	must_log("suspended with held blocks that drive failed to write");
	/* Another program writes below. */
	stage.content[stage_at(4)] = 77;
	media_write(stage.start - stage.plan->base + stage_at(4), 77);
	stage_fails(0, 0, 0);
	MUST(shim_md_resume(stage.md), 0);
	stage_flush();
	stage_rest_ms(1);
	must_log("no longer degraded");
	act_read(stage_at(4), 2);
	/* An ioctl that passes has everything written and nothing cached. */
	act_write(stage_at(8), 1);
	{
		struct block_device *bdev;
		bool forward;

		MUST((u64)stage.at->ti->type->prepare_ioctl(stage.at->ti, &bdev,
							    0, 0, &forward), 1);
	}
	MUST(HELD, 0);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
	stage_close();
}

/* A change of the mode waits for writes in flight, unless it is killed. */
void scene_gate(void)
{
	struct act *act, *later;
	struct thread *first;

	stage_open(1, 400, 64);
	stage_waits(WRITES);
	act = act_send(REQ_OP_WRITE, stage_at(4), stage.block);
	begin(mode_task);
	later = act_send(REQ_OP_WRITE, stage_at(8), stage.block);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_NOWAIT, stage_at(12),
			       stage.block)), BLK_STS_AGAIN);
	stage_rest_ms(10);
	must_see_no(1);
	kill_admin();
	MUST(answer, -ERESTARTSYS);
	MUST(stage.at->mode, ALIGN_PAD);
	must_see(1, REQ_OP_WRITE, stage_at(8), stage.block);
	begin(mode_task);
	first = admin;
	stage_rest_ms(10);
	MUST(answered, false);
	/* An administrator who waits for this message is killed alone. */
	begin(mode_task);
	MUST(admin != first, true);
	kill_admin();
	MUST(answer, -EINTR);
	answered = false;
	stage_waits(0);
	stage_rest_ms(10);
	MUST(answered, true);
	MUST(answer, 0);
	MUST(act_wait(act) | act_wait(later), BLK_STS_OK);
	MUST(COUNT(nowait_again), 1);
	/* The write that was sent back has written nothing. */
	act_write(stage_at(12), stage.block);
	stage_close();
}

/* The machine goes to sleep and comes back, twice. */
void scene_sleeps(void)
{
	unsigned int i;
	u64 began;

	stage_open(2, 400, 64);
	for (i = 0; i < 2; i++) {
		act_write(stage_at(4 + 4 * i), 1);
		act_write(stage_at(5 + 4 * i), 1);
		began = machine_now();
		shim_sleep_event(i ? PM_HIBERNATION_PREPARE :
				     PM_SUSPEND_PREPARE);
		MUST_LIE(machine_now() - began, 0, STAGE_MS);
		MUST(HELD, 0);
		MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
		/* With nothing to write. */
		shim_sleep_event(i ? PM_SUSPEND_PREPARE : PM_RESTORE_PREPARE);
		MUST_LIE(machine_now() - began, 0, 2 * STAGE_MS);
		act_write(stage_at(40 + 4 * i), 1);
		MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
		shim_sleep_event(PM_POST_SUSPEND);
		MUST(stage.at->engine.held.holding, false);
		shim_sleep_event(PM_POST_RESTORE);
		MUST(stage.at->engine.held.holding, true);
	}
	act_write(stage_at(20), 1);
	fail_to_flush(20);
	shim_sleep_event(PM_SUSPEND_PREPARE);
	must_log("1 held blocks were not written before the sleep, and stay held");
	stage_fails(0, 0, 0);
	shim_sleep_event(PM_POST_SUSPEND);
	stage_flush();
	stage_rest_ms(1);
	must_log("no longer degraded");
	stage_close();
}

/* A device created in a sleep caches no block either, until the machine goes on. */
void scene_woken(void)
{
	shim_sleep_event(PM_HIBERNATION_PREPARE);
	stage_open(1, 400, 64);
	act_write(stage_at(4), 1);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
	shim_sleep_event(PM_POST_HIBERNATION);
	act_write(stage_at(8), 1);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 1);
	stage_close();
}

/* A device that holds something is removed: it is written, and nothing comes behind. */
void scene_removal(void)
{
	unsigned int first = stage_at(4), second = stage_at(8);

	stage_open(2, 400, 64);
	act_write(first, 1);
	act_write(second, 1);
	stage_remove();
	MUST(stage_medium(first), stage.content[first]);
	MUST(stage_medium(second), stage.content[second]);
}

/* The log line of each refused message, and the error of a refused table. */
void scene_refusals(void)
{
	char *argv[] = { "drive", "0", "14", "mode", "pad" }, *error = NULL;

	stage_open(1, 400, 64);
	MUST(stage_message("hold_ms", "nothing"), -EINVAL);
	must_log("stage: message \"hold_ms nothing\": hold_ms must be a number from 1 to 600000");
	MUST(stage_message("max_blocks", "0"), -EINVAL);
	must_log("stage: message \"max_blocks 0\": max_blocks must be a number from 1 to 262144");
	MUST(stage_message("mode", NULL), -EINVAL);
	must_log("stage: message \"mode\": must be mode|hold_ms|max_blocks <value> or reset_stats|flush|drop_failed");
	MUST(shim_md_load(stage.md, stage.plan->sectors, ARRAY_SIZE(argv), argv,
			  &error), -EINVAL);
	MUST(strcmp(error, "the number of feature arguments must be even and at most 14"),
	     0);
	stage_close();
}

/* An opener that came while the cache was off sends no flush, so nothing is held. */
void scene_cache(void)
{
	struct gendisk *disk;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		stage_open(1, 400, 64);
		disk = dm_disk(stage.md);
		disk->write_cache = false;
		if (i)
			act_read(0, 1);
		else
			act_write(stage_at(4), stage.block);
		disk->write_cache = true;
		MUST(stage_message("mode", "coalesce"), -EINVAL);
		must_log("coalesce: the device was open without a write cache");
		MUST(shim_md_suspend(stage.md), 0);
		MUST(shim_md_resume(stage.md), 0);
		MUST(stage_message("mode", "coalesce"), -EINVAL);
		must_log("coalesce: the device was open without a write cache");
		stage_close();
	}
	/* The same with a device that is in the mode already. */
	stage_open(2, 400, 64);
	disk = dm_disk(stage.md);
	disk->write_cache = false;
	act_write(stage_at(4), 1);
	disk->write_cache = true;
	act_write(stage_at(8), 1);
	MUST(COUNT(touches_held), 0);
	MUST(shim_md_suspend(stage.md), 0);
	MUST(shim_md_resume(stage.md), 0);
	must_log("coalesce holds nothing: device was open while it had no write cache");
	stage_close();
}

/* Load a table when another one has taken the target's place, which is going. */
static void load_task(void *unused)
{
	while (shim_md_target(stage.md)->private == stage.at)
		stage_rest_us(1);
	stage_load(2, 400, 64);
	answered = true;
}

/* Tables that take each other's place have a cache, and openers know of it. */
void scene_cache_stays(void)
{
	char start[16], drive[] = "drive", *argv[] = { drive, start }, *error;
	struct shim_target linear = { .linear = true, .argc = 2, .argv = argv };

	stage_open(2, 400, 64);
	linear.sectors = stage.plan->sectors;
	scnprintf(start, sizeof(start), "%u", stage.start);
	MUST(shim_md_load_targets(stage.md, &linear, 1, &error), 0);
	begin(load_task);
	MUST(shim_md_resume(stage.md), 0);
	stage_rest_ms(1);
	MUST(answered, true);
	MUST(shim_md_resume(stage.md), 0);
	must_log_nothing();
	stage.at = shim_md_target(stage.md)->private;
	act_write(stage_at(4), 1);
	MUST(COUNT(touches_held), 1);
	stage_close();
}

/* A second table of a device, which keeps the first, at each allocation in turn. */
static void no_memory_for_second(void)
{
	char *argv[] = { "drive", "0", "2", "write_cache", "on" };
	struct mapped_device *md = shim_md_new("small", 4);
	bool refused = true;
	char *error = NULL;
	unsigned int nth;

	MUST(shim_md_load(md, 64, ARRAY_SIZE(argv), argv, &error), 0);
	MUST(shim_md_resume(md), 0);
	for (nth = 1; refused; nth++) {
		int ret;

		stage_refuse(nth);
		ret = shim_md_load(md, 64, ARRAY_SIZE(argv), argv, &error);
		refused = stage_has_refused();
		MUST(ret, refused ? -ENOMEM : 0);
	}
	MUST_LIE(nth, 10, 30);
	shim_md_remove(md);
}

/* A table for which memory lacks, at each allocation in turn. */
void scene_no_memory(void)
{
	char *argv[] = { "drive", "0", "2", "write_cache", "on" };
	struct mapped_device *md;
	bool refused = true;
	unsigned int nth;

	for (nth = 1; refused; nth++) {
		char *error = NULL;
		int ret;

		md = shim_md_new("small", 4);
		stage_refuse(nth);
		ret = shim_md_load(md, 64, ARRAY_SIZE(argv), argv, &error);
		refused = stage_has_refused();
		MUST(ret, refused ? -ENOMEM : 0);
		if (refused && strcmp(error, "no memory for the target") &&
		    strcmp(error, "cannot open the underlying device"))
			machine_fail("without memory a table is answered with \"%s\"",
				     error);
		shim_md_remove(md);
	}
	MUST_LIE(nth, 10, 30);
	no_memory_for_second();
}

static void reset_task(void *unused)
{
	MUST(stage_message("reset_stats", NULL), 0);
}

/* Resets of the ledger that come together need the memory for it once. */
void scene_two_resets(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		stage_open(0, 400, 64);
		machine_start(CONTEXT_TASK, "reset", reset_task, NULL);
		reset_task(NULL);
		stage_rest_us(AT_ONCE_US);
		stage_close();
	}
}

/* A reboot writes held blocks, and waits a second more; without any it ends at once. */
void scene_reboot_in_time(void)
{
	u64 began;

	stage_open(2, 400, 64);
	if (machine_choose(2)) {
		act_write(stage_at(4), 1);
		stage_waits(WRITES);
		begin(reboot_task);
		stage_rest_ms(100);
		MUST(answered, false);
		stage_waits(0);
		/* A moment more, for an array below. */
		stage_rest_ms(990);
		MUST(answered, false);
		MUST(HELD, 0);
		stage_rest_ms(20);
		MUST(answered, true);
		must_see(1, REQ_OP_WRITE, stage_at(4), stage.block);
	} else {
		began = machine_now();
		shim_reboot();
		MUST_LIE(machine_now() - began, 0, STAGE_MS);
	}
	act_write(stage_at(8), 1);
	MUST(HELD, 0);
	stage_close();
}

/* Behind its deadline nothing held is sent or waited for. */
void scene_late_reboot(void)
{
	struct act *zeroes;
	unsigned int nr = 100, i;
	u64 began;

	stage.drive->queue->limits.max_sectors = stage.block;
	stage_open(2, 400, 512);
	for (i = 0; i < nr; i++)
		act_write(stage_at(4 + i), 1);
	stage_waits(READS);
	begin(flush_task);
	stage_rest_ms(1);
	/* As many blocks as may read into memory of their own; the others rest. */
	MUST(drive_in_flight(), 16);
	drive_forget_seen();
	zeroes = act_send(REQ_OP_WRITE_ZEROES, stage_at(4 + 20),
			  (nr - 20) * stage.block);
	began = machine_now();
	shim_reboot();
	MUST_LIE(machine_now() - began, 29990 * STAGE_MS, 30010 * STAGE_MS);
	must_log("held blocks were not written before the reboot: error -110");
	stage_rest_ms(20);
	MUST(answered, true);
	MUST(answer, -EIO);
	must_log("message \"flush\": cannot write held blocks");
	MUST(act_wait(zeroes), BLK_STS_OK);
	MUST(COUNT(rmw_avoided_superseded), nr - 20);
	for (i = 0; drive_seen(i); i++)
		MUST(drive_seen(i)->op, REQ_OP_WRITE_ZEROES);
	/* Blocks that have been read by then are written; resting ones are lost. */
	stage_waits(0);
	act_write(stage_at(110), 1);
	stage_rest_ms(6000);
	MUST(HELD, 4);
	MUST(COUNT(pad_reads), 17);
	must_log_nothing();
	/* The machine goes off. */
	machine_stop("done");
}
