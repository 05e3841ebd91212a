// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of requests that wait, or must not, and of waits that are given up: for memory,
 * for a gate, for a drive that takes its time.
 */
#include <linux/reboot.h>

#include "block_state.h"
#include "hold.h"
#include "scenes.h"
#include "shard.h"
#include "stage.h"

/* As many blocks as may be read into memory of their own, and some more. */
#define MANY_BLOCKS	20U

/* Find the @nr-th request of an operation that the drive has got. */
static const struct drive_seen *seen_of(enum req_op op, unsigned int nr)
{
	const struct drive_seen *seen;
	unsigned int i;

	for (i = 0; (seen = drive_seen(i)); i++)
		if (seen->op == op && !nr--)
			return seen;
	machine_fail("scene %s: the drive gets too few requests %u",
		     stage.scene, op);
}

/* A write that is in flight fails when a part of it is given up. */
void scene_dropped(void)
{
	unsigned int half = stage.block / 2;
	struct act *slow, *act;

	stage_open(2, 400, 64);
	/* A block that is cached needs no read. */
	act_write(stage_at(4), 1);
	stage_flush();
	stage_waits(READS);
	slow = act_send(REQ_OP_WRITE | REQ_FUA, stage_at(6) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	/* The write's first part is held, the rest waits for the slow write. */
	act = act_send(REQ_OP_WRITE, stage_at(4) + half, half + 2 * stage.block);
	stage_fails(WRITES, 4, 1);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0)),
	     BLK_STS_IOERR);
	stage_rest_ms(1);
	must_log("degraded");
	MUST(stage_message("drop_failed", NULL), 0);
	must_log("lost: 1 held writes to the block");
	stage_rest_ms(1);
	must_log("no longer degraded");
	MUST(act->ended, false);
	stage_waits(0);
	MUST(act_wait(slow), BLK_STS_OK);
	MUST(act_wait(act), BLK_STS_IOERR);
	stage_fails(0, 0, 0);
	stage_leave_open(stage_at(4), 3 * stage.block);
	stage_close();
}

/* Of blocks that wait for the one spare run, the first that came gets it first. */
void scene_starved(void)
{
	unsigned int nr = 4, i;
	struct act *flush;

	stage_open(2, 400, 64);
	for (i = 0; i < nr; i++)
		act_write(stage_at(4 + 4 * i), 1);
	shim_faults.nowait_one_in = 1;
	stage_waits(READS);
	flush = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	/* All have tried. */
	stage_rest_us(AT_ONCE_US);
	must_see_no(1);
	stage_waits(0);
	MUST(act_wait(flush), BLK_STS_OK);
	shim_faults.nowait_one_in = 0;
	/* Behind the second, two may be woken at a time. */
	for (i = 0; i < 2; i++)
		MUST(seen_of(REQ_OP_READ, i)->sector,
		     stage.start + stage_at(4 + 4 * i));
	stage_close();
}

/* Pieces of a write for which memory lacks go down as earlier ones come back. */
void scene_few_pieces(void)
{
	unsigned int nr = 8, i;
	struct act *act;

	stage_open(1, 400, 64);
	stage.drive->queue->limits.max_sectors = stage.block;
	shim_faults.nowait_one_in = 1;
	stage_waits(WRITES);
	act = act_send(REQ_OP_WRITE, stage_at(4), nr * stage.block);
	stage_rest_us(AT_ONCE_US);
	must_see_no(BIO_POOL_SIZE);
	stage_waits(0);
	MUST(act_wait(act), BLK_STS_OK);
	for (i = 0; i < nr; i++)
		must_have_seen(REQ_OP_WRITE, stage_at(4 + i), stage.block);
	shim_faults.nowait_one_in = 0;
	stage.drive->queue->limits.max_sectors = 2048;
	stage_close();
}

/* A read that ends while a write over a held block is in flight finds the held bytes. */
void scene_passed_over(void)
{
	struct act *read, *range;
	u64 held[2];

	stage_open(2, 400, 64);
	stage_waits(READS | WRITES);
	/* The last sector of a block, and the first of the next one. */
	read = act_send(REQ_OP_READ, stage_at(5) - 1, 2);
	act_write(stage_at(5) - 1, 1);
	act_write(stage_at(5), 1);
	memcpy(held, stage.content + stage_at(5) - 1, sizeof(held));
	range = act_send(REQ_OP_WRITE, stage_at(4), 2 * stage.block);
	stage_rest_us(AT_ONCE_US);
	must_see(1, REQ_OP_WRITE, stage_at(4), 2 * stage.block);
	stage_waits(WRITES);
	MUST(act_wait(read), BLK_STS_OK);
	MUST(range->ended, false);
	MUST(read->memory[0], held[0]);
	MUST(read->memory[SECTOR_SIZE / sizeof(u64)], held[1]);
	stage_waits(0);
	MUST(act_wait(range), BLK_STS_OK);
	stage_close();
}

/* Write-zeroes are cut by the limit of this moment. */
void scene_zeroes(void)
{
	struct queue_limits *limits = &stage.drive->queue->limits;
	unsigned int before = limits->max_write_zeroes_sectors, most, at = 10;

	limits->max_write_zeroes_sectors = 8 * stage.block;
	stage_open(1, 400, 64);
	/* A cut may have to be at a multiple of the block size on the drive, too. */
	for (most = 6; most > 1; most -= 2, at += 10) {
		limits->max_write_zeroes_sectors = most * stage.block;
		drive_forget_seen();
		MUST(act_wait(act_send(REQ_OP_WRITE_ZEROES, stage_at(at),
				       8 * stage.block)), BLK_STS_OK);
		MUST_LIE(seen_of(REQ_OP_WRITE_ZEROES, 0)->nr,
			 (most - 1) * stage.block, most * stage.block);
	}
	limits->max_write_zeroes_sectors = before;
	stage_close();
}

/* A whole block waits for the next one only if that is held. */
void scene_no_stream(void)
{
	unsigned int half = stage.block / 2;
	struct act *slow, *act;

	stage_open(2, 400, 64);
	act_write(stage_at(4), half);
	stage_waits(READS);
	slow = act_send(REQ_OP_WRITE | REQ_FUA, stage_at(5), 1);
	stage_rest_us(AT_ONCE_US);
	act = act_send(REQ_OP_WRITE, stage_at(4) + half, stage.block - half + 1);
	stage_rest_us(AT_ONCE_US);
	must_have_seen(REQ_OP_WRITE, stage_at(4), stage.block);
	stage_waits(0);
	MUST(act_wait(slow) | act_wait(act), BLK_STS_OK);
	stage_close();
}

static bool suspended;
static unsigned int nr_done;

/* Have the target suspended, as at a removal: without a wait for its bios before. */
static void suspend_target(void *unused)
{
	stage.at->ti->type->postsuspend(stage.at->ti);
	suspended = true;
}

static void suspend_device(void *unused)
{
	MUST(shim_md_suspend(stage.md), 0);
	suspended = true;
}

static void begin_suspend(void (*suspend)(void *unused))
{
	suspended = false;
	machine_start(CONTEXT_TASK, "admin", suspend, NULL);
	stage_rest_ms(1);
	MUST(suspended, false);
}

/* A removal goes on as soon as the flushes that it waits for have ended. */
void scene_late_flush(void)
{
	unsigned int i;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	stage_waits(DRIVE_OP(REQ_OP_FLUSH));
	for (i = 0; i < 2; i++)
		act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	stage_rest_ms(1);
	seen_of(REQ_OP_FLUSH, 1);
	begin_suspend(suspend_target);
	stage_waits(0);
	stage_rest_ms(20);
	MUST(suspended, true);
	stage.at->ti->type->resume(stage.at->ti);
	stage_close();
}

static void note_done(struct align_waiter *waiter)
{
	MUST(stage.at->engine.held.lock.owner == machine_current, true);
	nr_done++;
}

/* Waiters for blocks that must stay are told so, under the lock and once. */
void scene_frozen(void)
{
	struct align_waiter waiter = { .done = note_done };
	unsigned int i;

	stage_open(2, 1000, 64);
	for (i = 0; i < MANY_BLOCKS; i++)
		act_write(stage_at(4 + 2 * i), 1);
	stage_waits(READS);
	nr_done = 0;
	MUST(hold_ask(stage.at, &waiter), 1);
	begin_suspend(suspend_target);
	stage_rest_ms(30100);
	must_log("drive did not complete all held blocks within 30 s");
	MUST(suspended, false);
	MUST(nr_done, 0);
	stage_waits(0);
	stage_rest_ms(20);
	MUST(suspended, true);
	MUST(nr_done, 1);
	MUST(waiter.failed, true);
	MUST_LIE(stage.at->engine.held.nr, 1, MANY_BLOCKS - 1);
	stage.at->ti->type->resume(stage.at->ti);
	stage_close();
}

/* The flush of a suspend is charged to no cgroup, as one might be throttled. */
void scene_own_flush(void)
{
	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	/* Delay the read: a block that is written at once needs no flush. */
	stage_waits(READS);
	begin_suspend(suspend_device);
	stage_waits(0);
	stage_rest_ms(20);
	MUST(suspended, true);
	MUST(seen_of(REQ_OP_FLUSH, 0)->nobodys, true);
	MUST(shim_md_resume(stage.md), 0);
	stage_close();
}

/* Check that all held blocks have been written. */
static void all_is_written(void)
{
	stage_rest_ms(20);
	MUST(stage.at->engine.held.nr, 0);
}

/* The target is resumed, and its drive writes again. */
static void is_resumed(void)
{
	stage_fails(0, 0, 0);
	stage.at->ti->type->resume(stage.at->ti);
}

/*
 * A reboot keeps its quiet second, though its targets write, or are resumed, before
 * it asks for held blocks.
 */
void scene_quiet_reboot(void)
{
	u64 began;

	stage_open(2, 400, 64);
	if (machine_choose(2)) {
		stage_when_stopped = all_is_written;
	} else {
		stage_fails(WRITES, 4, 1);
		stage_when_stopped = is_resumed;
	}
	act_write(stage_at(4), 1);
	if (stage_when_stopped == is_resumed) {
		stage.at->ti->type->postsuspend(stage.at->ti);
		must_log("suspended with held blocks that drive failed to write");
	}
	began = machine_now();
	shim_reboot();
	stage_when_stopped = NULL;
	MUST(stage.at->engine.held.nr, 0);
	MUST_LIE(machine_now() - began, 996 * STAGE_MS, 1100 * STAGE_MS);
	machine_stop("done");
}

/* Writes that come behind one of a whole block, and complete it, need no read. */
void scene_deferred(void)
{
	unsigned int half = stage.block / 2, i;
	struct act *act[4];

	if (stage.block < 2)
		return;
	stage_open(1, 400, 64);
	stage_waits(WRITES);
	act[0] = act_send(REQ_OP_WRITE, stage_at(4), 1);
	stage_rest_us(AT_ONCE_US);
	act[1] = act_send(REQ_OP_WRITE, stage_at(4), stage.block);
	act[2] = act_send(REQ_OP_WRITE, stage_at(4), half);
	act[3] = act_send(REQ_OP_WRITE, stage_at(4) + half, half);
	stage_rest_us(AT_ONCE_US);
	stage_waits(0);
	for (i = 0; i < ARRAY_SIZE(act); i++)
		MUST(act_wait(act[i]), BLK_STS_OK);
	MUST(COUNT(pad_reads), 1);
	MUST(COUNT(rmw_avoided_complete), 2);
	/* Nor do touches that follow: the block's content is cached. */
	act_write(stage_at(4), 1);
	MUST(COUNT(pad_reads), 1);
	MUST(COUNT(rmw_avoided_known), 1);
	stage_close();
}

static unsigned int writers;

static void write_one(void *number)
{
	unsigned int points;

	for (points = machine_choose(400); points; points--)
		machine_point();
	act_write(stage_at(10 + 4 * (unsigned long)number), stage.block);
	writers--;
}

/* Writes that come at the moment when the gate opens pass, or are let in. */
void scene_many_modes(void)
{
	char *modes[] = { "report", "pad" };
	unsigned long i;
	unsigned int round;

	stage_open(1, 400, 64);
	for (round = 0; round < 50; round++) {
		writers = 5;
		for (i = 0; i < 5; i++)
			machine_start(CONTEXT_TASK, "writer", write_one,
				      (void *)i);
		MUST(stage_message("mode", modes[round % 2]), 0);
		stage_rest_ms(20);
		MUST(writers, 0);
	}
	stage_close();
}

/*
 * Fail all waiters when the last block is settled and some are still to be ended, as
 * hold_fail_waiters() does on another CPU, if that gets the lock next.
 */
static void fail_when_settled(void)
{
	struct align_engine *engine = &stage.at->engine;

	if (engine->held.lock.owner != machine_current || engine->held.nr ||
	    engine->jobs.lock.owner == machine_current ||
	    !engine->held.waiters.tree.rb_leftmost)
		return;
	shim_unlocks = NULL;
	waiters_fail_all(&engine->held.waiters, UINT_MAX);
}

/* Waiters whose blocks are settled do not fail when all other waiters are made to. */
void scene_settled(void)
{
	struct act *flush[12];
	unsigned int i, failed = 0;

	stage_open(2, 1000, 64);
	act_write(stage_at(4), 1);
	stage_waits(READS | WRITES);
	for (i = 0; i < ARRAY_SIZE(flush); i++)
		flush[i] = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	stage_rest_ms(1);
	MUST(stage.at->engine.held.nr, 1);
	shim_unlocks = fail_when_settled;
	stage_waits(0);
	for (i = 0; i < ARRAY_SIZE(flush); i++)
		failed += act_wait(flush[i]) != BLK_STS_OK;
	MUST(!shim_unlocks, true);
	MUST(stage.at->engine.held.nr, 0);
	MUST(failed, 0);
	stage_close();
}

/* A waiter that is withdrawn when nothing is held any more, and the result. */
static struct {
	struct align_waiter waiter;
	bool waited, withdrawn;
	unsigned int done;
} late;

static void count_done(struct align_waiter *waiter)
{
	late.done++;
}

static void withdraw_when_settled(void *unused)
{
	unsigned int looks;

	/* Time goes on only while no thread can: held blocks may wait for a timer. */
	for (looks = 1; READ_ONCE(stage.at->engine.held.nr); looks++)
		if (looks % 64)
			machine_point();
		else
			machine_sleep(&late, machine_now() + NSEC_PER_USEC);
	late.waited = hold_withdraw(stage.at, &late.waiter);
	late.withdrawn = true;
}

/* A waiter whose blocks are settled is done, and has not waited in vain. */
void scene_withdrawn(void)
{
	struct act *flush[12];
	unsigned int round, i;

	stage_open(2, 1000, 64);
	for (round = 0; round < 4; round++) {
		memset(&late, 0, sizeof(late));
		late.waiter.done = count_done;
		act_write(stage_at(4), 1);
		stage_waits(READS | WRITES);
		for (i = 0; i < ARRAY_SIZE(flush); i++)
			flush[i] = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
		MUST(hold_ask(stage.at, &late.waiter), 1);
		stage_rest_ms(1);
		machine_start(CONTEXT_TASK, "withdraws", withdraw_when_settled,
			      NULL);
		stage_waits(0);
		for (i = 0; i < ARRAY_SIZE(flush); i++)
			MUST(act_wait(flush[i]), BLK_STS_OK);
		stage_rest_ms(1);
		MUST(late.withdrawn, true);
		MUST(late.waited, false);
		MUST(late.done, 1);
	}
	stage_close();
}

/* A range over the border of two regions waits for a block in each, from @first on. */
static void waits_for_both(unsigned int first, unsigned int second)
{
	unsigned int from = stage_at(min(first, second)), block = stage.block;
	struct act *early, *late, *range;

	stage_open(1, 400, 64);
	stage_waits(WRITES);
	early = act_send(REQ_OP_WRITE, stage_at(first), block / 2);
	stage_rest_ms(1);
	must_see(0, REQ_OP_READ, stage_at(first), block);
	must_see(1, REQ_OP_WRITE, stage_at(first), block);
	stage_waits(WRITES | READS);
	late = act_send(REQ_OP_WRITE, stage_at(second), block / 2);
	range = act_send(REQ_OP_WRITE, from, 2 * block);
	stage_rest_ms(1);
	stage_waits(READS);
	MUST(act_wait(early), BLK_STS_OK);
	stage_rest_ms(1);
	must_see(2, REQ_OP_READ, stage_at(second), block);
	must_see_no(3);
	stage_waits(0);
	MUST(act_wait(late), BLK_STS_OK);
	MUST(act_wait(range), BLK_STS_OK);
	must_see(3, REQ_OP_WRITE, stage_at(second), block);
	must_see(4, REQ_OP_WRITE, from, 2 * block);
	must_see_no(5);
	MUST(COUNT(waits), 1);
	stage_close();
}

/* The shard of a block of the stage. */
static unsigned int shard_at(unsigned int nr)
{
	u64 sector = stage.start + stage_at(nr);

	return shard_index(stage.at, align_block_of(&stage.at->geometry, sector));
}

void scene_two_regions(void)
{
	unsigned int behind = stage.border - 1;

	stage_open(1, 400, 64);
	while (shard_at(behind) == shard_at(behind - 1))
		behind++;
	stage_close();
	waits_for_both(behind - 1, behind);
	waits_for_both(behind, behind - 1);
}

/* Behind the deadline of a reboot, a range passes a block that a plug has kept. */
void scene_late_plug(void)
{
	unsigned int half = stage.block / 2;
	struct blk_plug plug;
	struct act *range;

	stage_open(2, 400, 64);
	blk_start_plug(&plug);
	act_send(REQ_OP_WRITE, stage_at(4), half);
	act_send(REQ_OP_WRITE, stage_at(4) + half, stage.block - half);
	range = act_send(REQ_OP_WRITE, stage_at(4), stage.block);
	MUST(stage.at->engine.held.nr, 1);
	hold_stop_all();
	blk_finish_plug(&plug);
	MUST(act_wait(range), BLK_STS_OK);
	must_see(0, REQ_OP_WRITE, stage_at(4), stage.block);
	must_see_no(1);
	stage_rest_ms(1);
	MUST(stage.at->engine.held.nr, 0);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
	stage_close();
}

/* A request that must not wait comes back where it would. */
void scene_nowait(void)
{
	struct act *slow;

	stage_open(1, 400, 64);
	stage_waits(READS);
	slow = act_send(REQ_OP_WRITE, stage_at(4), 1);
	stage_rest_us(AT_ONCE_US);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_NOWAIT, stage_at(4),
			       stage.block)), BLK_STS_AGAIN);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_NOWAIT, stage_at(8), 1)),
	     BLK_STS_AGAIN);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_NOWAIT, stage_at(8),
			       stage.block)), BLK_STS_OK);
	stage_waits(0);
	MUST(act_wait(slow), BLK_STS_OK);
	MUST(COUNT(nowait_again), 2);
	act_write(stage_at(4), stage.block);
	stage_close();
}
