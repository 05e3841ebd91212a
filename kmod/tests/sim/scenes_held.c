// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of how long touches are held, of requests that have them written before that
 * time, and of writes over them.
 */
#include "hold.h"
#include "scenes.h"
#include "stage.h"

/* Times of holding: from when to when a block may be sent after @ms. */
static void must_come(const struct drive_seen *seen, u64 began, unsigned int ms)
{
	MUST_LIE(seen->ns, began + (ms - 4) * STAGE_MS, began + (ms + 1) * STAGE_MS);
}

/* A block is held for hold_ms, and neighbours that have been for half of it go along. */
void scene_times(void)
{
	unsigned int ms = 4 * (1 + machine_choose(10));
	u64 began;

	stage_open(2, 10 * ms, 64);
	began = machine_now();
	act_write(stage_at(9) + 1, 1);
	stage_rest_ms(2 * ms);
	act_write(stage_at(8), 1);
	stage_rest_ms(ms);
	act_write(stage_at(20), stage.block - 1);
	stage_rest_ms(4 * ms);
	act_write(stage_at(10) + 1, 1);
	MUST(hold_oldest_ns(stage.at) - began < STAGE_MS, true);
	must_see_no(0);
	stage_rest_ms(3 * ms + 2);
	must_come(must_see(0, REQ_OP_READ, stage_at(8), 2 * stage.block), began,
		  10 * ms);
	must_see(1, REQ_OP_WRITE, stage_at(8), 2 * stage.block);
	must_see_no(2);
	stage_rest_ms(3 * ms);
	must_come(must_see(2, REQ_OP_READ, stage_at(20), stage.block), began,
		  13 * ms);
	must_see(3, REQ_OP_WRITE, stage_at(20), stage.block);
	stage_rest_ms(4 * ms);
	must_come(must_see(4, REQ_OP_READ, stage_at(10), stage.block), began,
		  17 * ms);
	must_see(5, REQ_OP_WRITE, stage_at(10), stage.block);
	MUST(HELD, 0);
	MUST(hold_oldest_ns(stage.at), ~0ULL);
	stage_close();
}

/* A shorter time counts at once. */
void scene_shorter_time(void)
{
	stage_open(2, 400, 64);
	act_write(stage_at(3), 1);
	stage_rest_ms(30);
	must_see_no(0);
	MUST(stage_message("hold_ms", "20"), 0);
	stage_rest_us(2 * AT_ONCE_US);
	must_see(0, REQ_OP_READ, stage_at(3), stage.block);
	stage_close();
}

/* Hold a part of each of @nr blocks, every second one from @first on. */
static void hold_apart(unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		act_write(stage_at(first + 2 * i), 1);
}

/* Behind three quarters of max_blocks the oldest go, until it is half. */
void scene_pressure(void)
{
	stage_open(2, 400, 32);
	hold_apart(1, 24);
	stage_rest_ms(1);
	must_see_no(0);
	act_write(stage_at(60), 1);
	stage_rest_ms(2);
	MUST(HELD, 16);
	MUST(COUNT(held_blocks), 16);
	must_see(0, REQ_OP_READ, stage_at(1), stage.block);
	MUST(COUNT(pad_reads), 9);
	MUST(stage_message("max_blocks", "20"), 0);
	stage_rest_ms(2);
	MUST(HELD, 10);
	MUST(COUNT(touches_held), 25);
	stage_close();
}

/*
 * A stream of writes that each complete a block and begin the next: whole blocks
 * wait for a request that they fill.
 */
void scene_stream(void)
{
	unsigned int half = stage.block / 2, i;

	stage.drive->queue->limits.max_sectors = 4 * stage.block;
	stage_open(2, 400, 64);
	act_write(stage_at(3), half);
	for (i = 3; i < 6; i++) {
		act_write(stage_at(i) + half, stage.block);
		stage_rest_us(AT_ONCE_US);
		must_see_no(0);
	}
	act_write(stage_at(6) + half, stage.block);
	stage_rest_us(AT_ONCE_US);
	must_see(0, REQ_OP_WRITE, stage_at(3), 4 * stage.block);
	must_see_no(1);
	MUST(HELD, 1);
	MUST(COUNT(rmw_avoided_complete), 8);
	/* A young whole block goes with a neighbour that is due. */
	stage_flush();
	act_write(stage_at(9), half);
	stage_rest_ms(390);
	act_write(stage_at(10), half);
	act_write(stage_at(10) + half, stage.block);
	drive_forget_seen();
	stage_rest_ms(20);
	must_have_seen(REQ_OP_READ, stage_at(9), stage.block);
	must_have_seen(REQ_OP_WRITE, stage_at(10), stage.block);
	MUST(HELD, 1);
	stage.drive->queue->limits.max_sectors = 2048;
	stage_close();
}

/* Requests over held blocks. */
void scene_over_held(void)
{
	struct act *act;

	stage_open(2, 400, 64);
	act_write(stage_at(4) + 1, 1);
	act_write(stage_at(4), stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(4), stage.block);
	must_see_no(1);
	MUST(COUNT(rmw_avoided_superseded), 1);
	MUST(HELD, 0);
	/* Two writes that come while the block is young go over it at once. */
	act_write(stage_at(6) + 1, 1);
	stage_waits(WRITES);
	drive_forget_seen();
	act = act_send(REQ_OP_WRITE, stage_at(6), stage.block);
	act_send(REQ_OP_WRITE, stage_at(6), stage.block);
	stage_rest_us(AT_ONCE_US);
	must_see(1, REQ_OP_WRITE, stage_at(6), stage.block);
	MUST(HELD, 1);
	stage_waits(0);
	MUST(act_wait(act), BLK_STS_OK);
	stage_leave_open(stage_at(6), stage.block);
	/* A discard waits: the held data are newer than those that it would leave. */
	act_write(stage_at(8) + 1, 1);
	drive_forget_seen();
	act = act_send(REQ_OP_DISCARD, stage_at(7), 3 * stage.block);
	MUST(act_wait(act), BLK_STS_OK);
	must_see(0, REQ_OP_READ, stage_at(8), stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(8), stage.block);
	must_see(2, REQ_OP_DISCARD, stage_at(7), 3 * stage.block);
	/* An erasure of a part of a block drops the held data of that part. */
	if (stage.block > 2) {
		act_write(stage_at(12) + 1, 3);
		act = act_send(REQ_OP_SECURE_ERASE, stage_at(12) + 1, 2);
		MUST(act_wait(act), BLK_STS_OK);
		MUST(HELD, 1);
		MUST(COUNT(held_bytes), SECTOR_SIZE);
		MUST(COUNT(rmw_avoided_superseded), 2);
		act_read(stage_at(12), stage.block);
		stage_flush();
	}
	stage_close();
}

/* Tasks of a crowd that have not ended yet. */
static unsigned int crowd_left;
static wait_queue_head_t crowd_ends;

static void end_in_crowd(void)
{
	crowd_left--;
	wake_up(&crowd_ends);
}

static void begin_crowd(void (*task)(void *number), unsigned int nr)
{
	unsigned long i;

	crowd_left = nr;
	for (i = 0; i < nr; i++)
		machine_start(CONTEXT_TASK, "crowd", task, (void *)i);
	wait_event(crowd_ends, !crowd_left);
}

static unsigned int crowd_round;

/* Hold a part of a block on one side of the border of two regions. */
static void hold_in_crowd(void *number)
{
	unsigned int nr = 2 * crowd_round + (unsigned long)number / 2 + 2;

	act_write(stage_at((unsigned long)number % 2 ? stage.border + nr :
			   stage.border - nr), 1);
	end_in_crowd();
}

/* Write many blocks, or parts of some of them. */
static void write_in_crowd(void *number)
{
	unsigned int i, first = 10 + 100 * ((unsigned long)number / 2);

	for (i = 0; i < 4; i++)
		if ((unsigned long)number % 2)
			MUST(act_wait(act_send(REQ_OP_DISCARD, stage_at(first),
					       80 * stage.block)), BLK_STS_OK);
		else
			act_write(stage_at(first + 8 * i), 1);
	end_in_crowd();
}

/* Several tasks at once, in regions of their own and in the same one. */
void scene_crowd(void)
{
	stage_open(2, 400, 64);
	shim_watched = &stage.at->engine.blocks.bytes;
	shim_watched_most = 0;
	for (crowd_round = 0; crowd_round < 3; crowd_round++) {
		begin_crowd(hold_in_crowd, 4);
		MUST(atomic64_read(&stage.at->engine.blocks.bytes_high),
		     shim_watched_most);
	}
	shim_watched = NULL;
	stage_close();
	if (stage.block > 16)
		return;
	stage_open(1, 400, 256);
	for (crowd_round = 0; crowd_round < 40; crowd_round++)
		act_write(stage_at(10 + 2 * crowd_round), 1);
	begin_crowd(write_in_crowd, 4);
	/* The order of the tasks' writes is not known. */
	stage_leave_open(stage_at(10), 180 * stage.block);
	stage_close();
}
