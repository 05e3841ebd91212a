// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of writes that are counted and not registered, and of blocks that wait for
 * them.
 */
#include <linux/percpu.h>

#include "block_state.h"
#include "scenes.h"
#include "stage.h"

/*
 * Writes of whole blocks are counted where no block is in memory, and registered
 * where one is, or was a moment ago. The first block waits for the counted ones.
 */
void scene_quiet_areas(void)
{
	struct align_quiet *quiet;
	struct act *slow, *touch, *next;
	unsigned int area;

	stage_open(1, 400, 64);
	quiet = &stage.at->engine.quiet;
	area = area_index(stage.at, align_block_of(&stage.at->geometry,
						   stage.start + stage_at(4)));
	stage_waits(WRITES);
	slow = act_send(REQ_OP_WRITE, stage_at(6), stage.block);
	stage_rest_us(AT_ONCE_US);
	MUST(quiet_is_empty(quiet, area), false);
	MUST(quiet_is_over(quiet, area), false);
	drive_forget_seen();
	touch = act_send(REQ_OP_WRITE, stage_at(4) + 1, 1);
	next = act_send(REQ_OP_WRITE, stage_at(8), stage.block);
	stage_rest_us(AT_ONCE_US);
	must_see(0, REQ_OP_WRITE, stage_at(8), stage.block);
	must_see_no(1);
	MUST(quiet_is_over(quiet, area), true);
	stage_waits(0);
	MUST(act_wait(slow) | act_wait(next) | act_wait(touch), BLK_STS_OK);
	MUST(quiet_is_empty(quiet, area), true);
	must_have_seen(REQ_OP_READ, stage_at(4), stage.block);
	/* The block is cached for a while, and its area stays busy behind it. */
	stage_rest_ms(ALIGN_CACHED_MS + 900);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
	MUST(quiet_is_over(quiet, area), true);
	stage_rest_ms(1200);
	MUST(quiet_is_over(quiet, area), false);
	/* Nor does the area stay busy if an eviction meets a block in flight. */
	stage_waits(READS);
	touch = act_send(REQ_OP_WRITE, stage_at(4) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	MUST(stage_message("flush", NULL), 0);
	MUST(quiet_is_over(quiet, area), true);
	stage_waits(0);
	MUST(act_wait(touch), BLK_STS_OK);
	stage_rest_ms(ALIGN_CACHED_MS + 2100);
	MUST(quiet_is_over(quiet, area), false);
	/* The eviction of its last block makes an area quiet at once. */
	act_write(stage_at(4) + 1, 1);
	MUST(quiet_is_over(quiet, area), true);
	MUST(stage_message("flush", NULL), 0);
	MUST(quiet_is_over(quiet, area), false);
	stage_close();
}

/* More blocks wait for a counted write than one lock hold lets go on. */
void scene_many_wait(void)
{
	unsigned int nr = BLOCKS_BATCH + 6, i;
	struct act *slow, *touch[BLOCKS_BATCH + 6];

	if (stage.block > 16)
		return;
	stage_open(1, 400, 256);
	stage_waits(WRITES);
	slow = act_send(REQ_OP_WRITE, stage_at(2), stage.block);
	stage_rest_us(AT_ONCE_US);
	drive_forget_seen();
	for (i = 0; i < nr; i++)
		touch[i] = act_send(REQ_OP_WRITE, stage_at(4 + 2 * i) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	MUST(COUNT(pad_reads), 0);
	stage_waits(0);
	MUST(act_wait(slow), BLK_STS_OK);
	for (i = 0; i < nr; i++)
		MUST(act_wait(touch[i]), BLK_STS_OK);
	stage_close();
}

/*
 * Only the sender of a polled write polls for it, and other requests may wait for it.
 * So no write goes down polled but in report, where nothing waits.
 */
void scene_polled(void)
{
	unsigned int mode, i;

	for (mode = 0; mode < 3; mode++) {
		const struct drive_seen *seen;
		unsigned int polled = 0;

		stage_open(mode, 400, 64);
		MUST(act_wait(act_send(REQ_OP_WRITE | REQ_POLLED, stage_at(6),
				       stage.block)), BLK_STS_OK);
		MUST(act_wait(act_send(REQ_OP_WRITE | REQ_POLLED,
				       stage_at(4) + 1, 1)), BLK_STS_OK);
		MUST(act_wait(act_send(REQ_OP_WRITE | REQ_POLLED, stage_at(8),
				       stage.block)), BLK_STS_OK);
		/* A part of a block that is not the target's goes down unmodified. */
		if (stage.lead)
			MUST(act_wait(act_send(REQ_OP_WRITE | REQ_POLLED, 0, 1)),
			     BLK_STS_OK);
		for (i = 0; (seen = drive_seen(i)); i++)
			polled += !!(seen->opf & REQ_POLLED);
		MUST(polled, mode ? 0 : 3 + !!stage.lead);
		stage_close();
	}
}

/* An area, writes that have been counted in it, and threads that count more. */
static struct {
	struct align_quiet quiet;
	unsigned int inside, counters;
} counted;

static void pass_points(unsigned int points)
{
	while (points--)
		machine_point();
}

/* Task 0 has its write in flight while the other tasks' writes come and go. */
static void count_write(void *number)
{
	bool left;

	pass_points(number ? machine_choose(24) : 0);
	if (quiet_enter(&counted.quiet, 5, &left)) {
		counted.inside++;
		pass_points(number ? machine_choose(4) : 100);
		counted.inside--;
		quiet_leave(&counted.quiet, 5);
	}
	counted.counters--;
}

/* No sum of counted writes hides one of them, wherever the others come and go. */
void scene_counted_writes(void)
{
	unsigned int round;
	unsigned long i;
	bool empty;

	memset(&counted, 0, sizeof(counted));
	MUST(quiet_init(&counted.quiet), 0);
	for (round = 0; round < 400; round++) {
		counted.counters = 5;
		for (i = 0; i < 5; i++)
			machine_start(CONTEXT_TASK, "counter", count_write,
				      (void *)i);
		pass_points(machine_choose(48));
		empty = !quiet_end(&counted.quiet, 5);
		for (i = 0; i < 3; i++) {
			if (empty)
				MUST(counted.inside, 0);
			empty = quiet_is_empty(&counted.quiet, 5);
		}
		while (counted.counters)
			stage_rest_us(1);
		MUST(quiet_is_empty(&counted.quiet, 5), true);
		quiet_begin(&counted.quiet, 5);
	}
	quiet_exit(&counted.quiet);
}
