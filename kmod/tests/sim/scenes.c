// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes, each of a device of its own: when requests come to the drive, which, with
 * which properties, and what is counted and logged. Blocks are numbered from the
 * first whole one on.
 */
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "block_state.h"
#include "buffer.h"
#include "hold.h"
#include "media.h"
#include "scenes.h"
#include "stage.h"
#include "world.h"

#define HELD		(stage.at->engine.held.nr)

/* Times of holding: from when to when a block may be sent after @ms. */
static void must_come(const struct drive_seen *seen, u64 began, unsigned int ms)
{
	MUST_LIE(seen->ns, began + (ms - 4) * STAGE_MS, began + (ms + 1) * STAGE_MS);
}

/* A block is held for hold_ms, and neighbours that have been for half of it go along. */
static void times(void)
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

/* Of neighbours no more go as one than the drive takes segments. */
static void segments(void)
{
	unsigned short max = stage.drive->queue->limits.max_segments;
	unsigned int i;

	stage_open(2, 40, 64);
	stage.drive->queue->limits.max_segments = 2 * buffer_max_segments(stage.at);
	for (i = 0; i < 4; i++)
		act_write(stage_at(6 + i), 1);
	stage_rest_ms(60);
	MUST(HELD, 0);
	MUST(COUNT(pad_reads), 2);
	stage.drive->queue->limits.max_segments = max;
	stage_close();
}

/*
 * None goes across the border of a chunk: a block behind it takes along those in front
 * of it alone, and what follows keeps its time.
 */
static void chunks(void)
{
	unsigned int chunk = 4 * stage.block, at = 8, i;

	while ((stage.start + stage_at(at)) % chunk)
		at++;
	stage.drive->queue->limits.chunk_sectors = chunk;
	stage_open(2, 400, 64);
	act_write(stage_at(at), 1);
	for (i = 1; i < 4; i++)
		act_write(stage_at(at - i), 1);
	stage_rest_ms(150);
	for (i = 1; i < 4; i++)
		act_write(stage_at(at + i), 1);
	stage_rest_ms(300);
	MUST(HELD, 3);
	stage_rest_ms(150);
	MUST(HELD, 0);
	stage.drive->queue->limits.chunk_sectors = 0;
	stage_close();
}

/* Of many neighbours those go that one request takes, the oldest among them. */
static void full_requests(void)
{
	unsigned int i;

	stage.drive->queue->limits.max_sectors = 2 * stage.block;
	stage_open(2, 40, 64);
	for (i = 0; i < 4; i++)
		act_write(stage_at(9 - i), 1);
	stage_rest_ms(60);
	must_see(0, REQ_OP_READ, stage_at(8), 2 * stage.block);
	must_have_seen(REQ_OP_READ, stage_at(6), 2 * stage.block);
	MUST(HELD, 0);
	stage.drive->queue->limits.max_sectors = 2048;
	stage_close();

	/* The oldest has neighbours on both sides; those that do not fit keep their time. */
	stage.drive->queue->limits.max_sectors = 3 * stage.block;
	stage_open(2, 400, 64);
	act_write(stage_at(7), 1);
	act_write(stage_at(6), 1);
	act_write(stage_at(8), 1);
	stage_rest_ms(150);
	act_write(stage_at(9), 1);
	act_write(stage_at(10), 1);
	stage_rest_ms(300);
	must_see(0, REQ_OP_READ, stage_at(6), 3 * stage.block);
	MUST(HELD, 2);
	stage_rest_ms(150);
	must_have_seen(REQ_OP_READ, stage_at(9), 2 * stage.block);
	MUST(HELD, 0);
	stage.drive->queue->limits.max_sectors = 2048;
	stage_close();
	segments();
	chunks();
}

/* A drive that wants no gaps in memory gets requests as long as others do. */
static void gaps(void)
{
	struct queue_limits *limits = &stage.drive->queue->limits;

	stage_open(1, 400, 64);
	/* What device-mapper does not know of: it would cut the write itself. */
	limits->max_sectors = 2 * stage.block;
	limits->virt_boundary_mask = PAGE_SIZE - 1;
	act_write(stage_at(4), 4 * stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(4), 2 * stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(6), 2 * stage.block);
	must_see_no(2);
	MUST(COUNT(uncut), 0);
	/* The gap is behind the first sector: a block is left to the drive. */
	limits->max_sectors = 2048;
	act_place.alone = 1;
	drive_forget_seen();
	act_write(stage_at(10), 4 * stage.block);
	act_place.alone = 0;
	must_see(0, REQ_OP_WRITE, stage_at(10), stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(11), 3 * stage.block);
	must_see_no(2);
	MUST(COUNT(uncut), 1);
	limits->virt_boundary_mask = 0;
	limits->max_sectors = 2048;
	stage_close();
}

/* A shorter time counts at once. */
static void shorter_time(void)
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
static void pressure(void)
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
static void stream(void)
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

/* Blocks that a write completes go down with what follows them in it. */
static void joined(void)
{
	unsigned int half = stage.block / 2;
	struct act *act;

	stage_open(2, 400, 64);
	act_place = (struct act_place) { .cgroup = 5 };
	act_write(stage_at(2), half);
	act_write(stage_at(2) + half, half + 2 * stage.block);
	MUST(must_see(0, REQ_OP_WRITE, stage_at(2), 3 * stage.block)->nobodys,
	     true);
	must_see_no(1);
	/* With the whole block in front of it. */
	act_write(stage_at(8), half);
	act_write(stage_at(8) + half, stage.block);
	drive_forget_seen();
	act_write(stage_at(9) + half, half + stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(8), 3 * stage.block);
	must_see_no(1);
	stage_close();

	stage_open(1, 400, 64);
	act_write(stage_at(2), half);
	drive_forget_seen();
	act_place = (struct act_place) { .ioprio = 7, .hint = 3, .cgroup = 5 };
	act = act_send(REQ_OP_WRITE | REQ_META | REQ_RAHEAD, stage_at(2) + half,
		       half + stage.block);
	MUST(act_wait(act), BLK_STS_OK);
	must_see(0, REQ_OP_WRITE, stage_at(2), 2 * stage.block);
	MUST(drive_seen(0)->nobodys, false);
	MUST(drive_seen(0)->cgroup, 5);
	MUST(drive_seen(0)->ioprio, 7);
	MUST(drive_seen(0)->hint, 3);
	MUST(drive_seen(0)->opf & (REQ_META | REQ_RAHEAD), REQ_META);
	must_see_no(1);
	/* No more of it than fits in a request. */
	stage.drive->queue->limits.max_sectors = 3 * stage.block;
	act_write(stage_at(12), half);
	drive_forget_seen();
	act_write(stage_at(12) + half, half + 4 * stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(12), 3 * stage.block);
	must_have_seen(REQ_OP_WRITE, stage_at(15), 2 * stage.block);
	must_see_no(2);
	MUST(COUNT(cuts), 1);
	stage.drive->queue->limits.max_sectors = 2048;
	stage_close();
}

/* Reads and writes of a block have the properties of the write that they are for. */
static void properties(void)
{
	blk_opf_t asked = REQ_META | REQ_PRIO | REQ_SYNC | REQ_RAHEAD |
			  REQ_BACKGROUND;
	struct blk_plug plug;
	struct act *acts[2];
	unsigned int i;

	stage_open(1, 400, 64);
	act_place = (struct act_place) {
		.ioprio = 7, .hint = 3, .stream = 2, .cgroup = 5
	};
	MUST(act_wait(act_send(REQ_OP_WRITE | asked, stage_at(4) + 1, 1)),
	     BLK_STS_OK);
	must_see(0, REQ_OP_READ, stage_at(4), stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(4), stage.block);
	for (i = 0; i < 2; i++) {
		const struct drive_seen *seen = drive_seen(i);

		MUST(seen->opf & ~REQ_OP_MASK, asked & ~REQ_RAHEAD);
		MUST(seen->ioprio, 7);
		MUST(seen->cgroup, 5);
		MUST(seen->nobodys, false);
	}
	MUST(drive_seen(1)->hint, 3);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_FUA, stage_at(14), 1)),
	     BLK_STS_OK);
	MUST(drive_seen(3)->opf & REQ_FUA, REQ_FUA);
	/* The first write is the one that a block takes after. */
	stage_waits(READS);
	acts[0] = act_send(REQ_OP_WRITE | REQ_META, stage_at(18), 1);
	act_place.hint = 4;
	acts[1] = act_send(REQ_OP_WRITE | REQ_PRIO, stage_at(18) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	stage_waits(0);
	MUST(act_wait(acts[0]) | act_wait(acts[1]), BLK_STS_OK);
	must_see(5, REQ_OP_WRITE, stage_at(18), stage.block);
	MUST(drive_seen(5)->opf & (REQ_META | REQ_PRIO), REQ_META);
	MUST(drive_seen(5)->hint, 3);
	/* So it is with those that come while the block is written. */
	stage_waits(WRITES);
	drive_forget_seen();
	act_send(REQ_OP_WRITE, stage_at(18), 1);
	stage_rest_us(AT_ONCE_US);
	act_place.hint = 3;
	acts[0] = act_send(REQ_OP_WRITE | REQ_META, stage_at(18), 1);
	act_place.hint = 4;
	acts[1] = act_send(REQ_OP_WRITE | REQ_PRIO, stage_at(18) + 1, 1);
	stage_waits(0);
	MUST(act_wait(acts[0]) | act_wait(acts[1]), BLK_STS_OK);
	must_see(1, REQ_OP_WRITE, stage_at(18), stage.block);
	MUST(drive_seen(1)->opf & (REQ_META | REQ_PRIO), REQ_META);
	MUST(drive_seen(1)->hint, 3);
	/* Neighbours go as one, with a placement if they have one in common. */
	for (i = 0; i < 2; i++) {
		drive_forget_seen();
		blk_start_plug(&plug);
		act_place.hint = 4;
		acts[0] = act_send(REQ_OP_WRITE, stage_at(22 + 4 * i) + 1, 1);
		act_place.hint = 4 + i;
		acts[1] = act_send(REQ_OP_WRITE, stage_at(21 + 4 * i) + 1, 1);
		blk_finish_plug(&plug);
		MUST(act_wait(acts[0]) | act_wait(acts[1]), BLK_STS_OK);
		must_see(0, REQ_OP_READ, stage_at(21 + 4 * i), 2 * stage.block);
		must_see(1, REQ_OP_WRITE, stage_at(21 + 4 * i), 2 * stage.block);
		MUST(drive_seen(1)->hint, i ? 0 : 4);
		must_see_no(2);
	}
	stage_close();
}

/* Held blocks are on no cgroup's account, and of no hurry until a flush waits for them. */
static void properties_of_held(void)
{
	const struct drive_seen *seen;
	struct act *flush;
	unsigned int i;

	stage_open(2, 20, 64);
	act_place = (struct act_place) {
		.ioprio = 7, .hint = 3, .stream = 2, .cgroup = 5
	};
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_META | REQ_SYNC,
			       stage_at(4) + 1, 1)), BLK_STS_OK);
	stage_rest_ms(25);
	must_see(0, REQ_OP_READ, stage_at(4), stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(4), stage.block);
	for (i = 0; i < 2; i++) {
		MUST(drive_seen(i)->opf & ~REQ_OP_MASK, 0);
		MUST(drive_seen(i)->nobodys, true);
		MUST(drive_seen(i)->cgroup, 0);
	}
	MUST(drive_seen(1)->hint, 3);
	act_write(stage_at(14) + 1, 1);
	drive_forget_seen();
	flush = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	MUST(act_wait(flush), BLK_STS_OK);
	MUST(drive_seen(0)->opf & (REQ_SYNC | REQ_IDLE), REQ_SYNC | REQ_IDLE);
	MUST(drive_seen(1)->opf & (REQ_SYNC | REQ_IDLE), REQ_SYNC | REQ_IDLE);
	MUST(drive_seen(2)->op, REQ_OP_FLUSH);
	/* With a write that is not held, the request is of that one. */
	act_place = (struct act_place) { 0 };
	act_write(stage_at(18) + 1, 1);
	drive_forget_seen();
	act_place = (struct act_place) { .ioprio = 7 };
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_FUA | REQ_META,
			       stage_at(18), 1)), BLK_STS_OK);
	/* The two complete a block of two sectors, which is not read. */
	seen = must_see(stage.block > 2, REQ_OP_WRITE, stage_at(18), stage.block);
	MUST(seen->opf & REQ_META, REQ_META);
	MUST(seen->ioprio, 7);
	/* Neighbours with one placement, and with two. */
	for (i = 0; i < 2; i++) {
		act_place.hint = 4;
		act_write(stage_at(21 + 4 * i), 1);
		act_place.hint = 4 + i;
		act_write(stage_at(22 + 4 * i), 1);
		drive_forget_seen();
		stage_flush();
		must_see(1, REQ_OP_WRITE, stage_at(21 + 4 * i), 2 * stage.block);
		MUST(drive_seen(1)->hint, i ? 0 : 4);
	}
	stage_close();
}

/* Memory is told to the byte: blocks, and what a run reads into. */
static void memory(void)
{
	unsigned int i, physical = stage.plan->physical;
	struct act *flush;
	s64 of_block;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	of_block = atomic64_read(&stage.at->engine.blocks.bytes);
	MUST_LIE(of_block, physical + sizeof(void *), physical + 4096);
	for (i = 5; i < 7; i++)
		act_write(stage_at(i), 1);
	MUST(atomic64_read(&stage.at->engine.blocks.bytes), 3 * of_block);
	stage_waits(READS);
	flush = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	stage_rest_us(AT_ONCE_US);
	must_see(0, REQ_OP_READ, stage_at(4), 3 * stage.block);
	MUST(atomic64_read(&stage.at->engine.blocks.bytes),
	     3 * of_block + 3 * physical);
	stage_waits(0);
	MUST(act_wait(flush), BLK_STS_OK);
	MUST(atomic64_read(&stage.at->engine.blocks.bytes), 3 * of_block);
	MUST(atomic64_read(&stage.at->engine.blocks.bytes_high),
	     3 * of_block + 3 * physical);
	stage_close();

	/* Nothing is held in mode pad: a block is read into its own memory. */
	stage_open(1, 400, 64);
	stage_waits(READS);
	act_send(REQ_OP_WRITE, stage_at(4) + 1, stage.block);
	stage_rest_us(AT_ONCE_US);
	must_see(0, REQ_OP_READ, stage_at(4), 2 * stage.block);
	MUST(atomic64_read(&stage.at->engine.blocks.bytes), 2 * of_block);
	stage_waits(0);
	stage_close();
}

/*
 * The end of a stream waits a moment for what is on its way, if something is that
 * covers a block in part.
 */
static void delay(void)
{
	unsigned int half = stage.block / 2, part = (half + 1) / 2, i;
	struct act *slow = NULL, *act, *next;
	u64 began;

	stage_open(1, 400, 64);
	for (i = 0; i < 4; i++) {
		unsigned int at = stage_at(10 + 8 * i);

		act_write(at - half, half);
		stage_waits(WRITES);
		slow = act_send(REQ_OP_WRITE, stage_at(90) + !!i,
				i ? 1 : stage.block);
		stage_rest_us(AT_ONCE_US);
		drive_forget_seen();
		began = machine_now();
		act = act_send(REQ_OP_WRITE, at, part);
		stage_rest_us(2 * AT_ONCE_US);
		if (!i) {
			must_see(0, REQ_OP_READ, at, stage.block);
			stage_waits(0);
			MUST(act_wait(act) | act_wait(slow), BLK_STS_OK);
			MUST(COUNT(blocks_delayed), 0);
			continue;
		}
		must_see_no(0);
		MUST(COUNT(blocks_delayed), i);
		if (i == 1) {
			stage_rest_us(300);
			must_see(0, REQ_OP_READ, at, stage.block);
			MUST_LIE(drive_seen(0)->ns, began + 300000,
				 began + 300000 + 1000 * AT_ONCE_US);
		} else if (i == 2) {
			/* The other write ends. */
			stage_waits(0);
			MUST(act_wait(slow), BLK_STS_OK);
			stage_rest_us(AT_ONCE_US);
			must_see(0, REQ_OP_READ, at, stage.block);
		} else {
			/* The rest comes. */
			next = act_send(REQ_OP_WRITE, at + part,
					stage.block - part);
			stage_rest_us(AT_ONCE_US);
			must_see(0, REQ_OP_WRITE, at, stage.block);
			stage_waits(0);
			MUST(act_wait(next), BLK_STS_OK);
		}
		stage_waits(0);
		MUST(act_wait(act) | act_wait(slow), BLK_STS_OK);
		MUST(atomic_read(&stage.at->engine.delay.writes), 0);
	}
	stage_close();
}

/* What comes behind a plug starts together, an eighth of max_blocks at a time. */
static void plugs(void)
{
	struct blk_plug plug;
	unsigned int i;

	stage_open(1, 400, 32);
	blk_start_plug(&plug);
	for (i = 0; i < 9; i++) {
		act_send(REQ_OP_WRITE, stage_at(10 + 3 * i) + 1, 1);
		MUST(COUNT(pad_reads), (i + 1) / 4 * 4);
	}
	blk_finish_plug(&plug);
	MUST(COUNT(pad_reads), 9);
	stage_rest_ms(1);
	/* Two blocks of a write count as two; neighbours go as one. */
	blk_start_plug(&plug);
	act_send(REQ_OP_WRITE, stage_at(63) + 1, stage.block);
	MUST(COUNT(pad_reads), 9);
	act_send(REQ_OP_WRITE, stage_at(61) + 1, stage.block);
	MUST(COUNT(pad_reads), 10);
	blk_finish_plug(&plug);
	stage_rest_ms(1);
	MUST(COUNT(pad_read_bytes), 13 * stage.plan->physical);
	stage_close();
}

/* What is written over what is held. */
static void over_held(void)
{
	struct act *act;

	stage_open(2, 400, 64);
	act_write(stage_at(4) + 1, 1);
	act_write(stage_at(4), stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(4), stage.block);
	must_see_no(1);
	MUST(COUNT(rmw_avoided_superseded), 1);
	MUST(HELD, 0);
	/* Two that come while it is young go over it at once. */
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
	/* A discard waits: what is held is newer than what it would leave. */
	act_write(stage_at(8) + 1, 1);
	drive_forget_seen();
	act = act_send(REQ_OP_DISCARD, stage_at(7), 3 * stage.block);
	MUST(act_wait(act), BLK_STS_OK);
	must_see(0, REQ_OP_READ, stage_at(8), stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(8), stage.block);
	must_see(2, REQ_OP_DISCARD, stage_at(7), 3 * stage.block);
	/* An erasure of a part ends what is held of that. */
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

/* A read of what is held alone needs no drive. */
static void reads(void)
{
	unsigned int half = stage.block / 2;

	stage_open(2, 400, 64);
	act_write(stage_at(4), half);
	act_read(stage_at(4), half);
	act_read(stage_at(4), 1);
	must_see_no(0);
	MUST(COUNT(reads_overlaid), 2);
	act_read(stage_at(4) - 1, 3);
	must_see(0, REQ_OP_READ, stage_at(4) - 1, 3);
	must_see_no(1);
	stage_close();
}

/*
 * By what the blocks 4 and 5, of which the write failed, are tried again as one, or
 * REQ_OP_FLUSH: they failed in the other order, or only one needs a read.
 */
static enum req_op tried_as_one_by(void)
{
	u64 number = align_block_of(&stage.at->geometry,
				    stage.start + stage_at(4));
	const struct rb_root_cached *failed =
		&shard_of(stage.at, number)->failed;
	struct align_block *first, *second;

	first = block_rests_first(failed);
	second = rb_entry(rb_last(&failed->rb_root), struct align_block, rest);
	if (first->number != number || first->valid != second->valid)
		return REQ_OP_FLUSH;
	return first->valid ? REQ_OP_WRITE : REQ_OP_READ;
}

/* What cannot be written stays held, is told, and is tried again. */
static void degraded(void)
{
	unsigned int events = shim_nr_events;
	struct act *flush;
	enum req_op first;
	u64 failed;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	act_write(stage_at(5), 1);
	stage_fails(WRITES, 4, 2);
	flush = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	MUST(act_wait(flush), BLK_STS_IOERR);
	failed = machine_now();
	stage_rest_ms(1);
	must_log("degraded: cannot write held blocks to drive");
	must_log_nothing();
	MUST(shim_nr_events - events, 1);
	MUST(COUNT(times_degraded), 1);
	MUST(COUNT(degraded), 2);
	MUST(COUNT(flushes_failed), 1);
	MUST(HELD, 2);
	/* One request, and each of both alone. */
	must_see(0, REQ_OP_READ, stage_at(4), 2 * stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(4), 2 * stage.block);
	must_see(2, REQ_OP_WRITE, stage_at(4), stage.block);
	must_see(3, REQ_OP_WRITE, stage_at(5), stage.block);
	must_see_no(4);
	MUST(stage_message("mode", "pad"), -EIO);
	must_log("message \"mode\": cannot write held blocks; drop_failed discards them");
	MUST(stage.at->mode, ALIGN_COALESCE);
	MUST(stage_message("flush", NULL), -EIO);
	must_log("message \"flush\": cannot write held blocks; drop_failed discards them");
	MUST(shim_nr_events - events, 1);
	failed = machine_now();
	stage_rest_ms(1);
	drive_forget_seen();
	first = tried_as_one_by();
	stage_rest_ms(4979);
	must_see_no(0);
	stage_rest_ms(30);
	/* Neighbours that failed one after the other go as one. */
	if (first != REQ_OP_FLUSH)
		must_see(0, first, stage_at(4), 2 * stage.block);
	MUST(!!drive_seen(0), true);
	MUST_LIE(drive_seen(0)->ns - failed, 4980 * STAGE_MS, 5004 * STAGE_MS);
	stage_fails(0, 0, 0);
	stage_rest_ms(5010);
	MUST(HELD, 0);
	must_log("no longer degraded");
	MUST(shim_nr_events - events, 2);
	MUST(COUNT(times_degraded), 1);
	MUST(COUNT(degraded), 0);
	MUST(COUNT(rmw_lost), 0);
	stage_flush();
	stage_close();
}

/* Each block is tried again when its own time has come, not at another one's. */
static void retries(void)
{
	unsigned int block[2] = { 4, machine_choose(2) ? 20 : stage.border + 8 };
	u64 retry[2];
	unsigned int i;

	stage_open(2, 40, 64);
	stage_fails(WRITES, block[0], block[1] + 1 - block[0]);
	for (i = 0; i < 2; i++) {
		stage_rest_ms(100 * machine_choose(40));
		act_write(stage_at(block[i]), 1);
		stage_rest_ms(45);
		MUST(COUNT(degraded), i + 1);
		retry[i] = drive_seen(2 * i + 1)->ns + 5000 * STAGE_MS;
	}
	drive_forget_seen();
	for (i = 0; i < 2; i++) {
		machine_sleep("a retry", retry[i] - 4 * STAGE_MS);
		must_see_no(i);
		stage_rest_ms(8);
		/* The block has been read. */
		must_see(i, REQ_OP_WRITE, stage_at(block[i]), stage.block);
	}
	stage_fails(0, 0, 0);
	stage_flush();
	stage_rest_ms(1);
	must_log("degraded: cannot write held blocks to drive");
	must_log("no longer degraded");
	stage_close();
}

/* Which blocks a flush waits for: a younger one that fails is none of them. */
static void younger_fails(void)
{
	unsigned int half = stage.block / 2;
	struct act *flush;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	stage_waits(READS);
	flush = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	stage_rest_us(AT_ONCE_US);
	stage_fails(WRITES, 8, 1);
	act_write(stage_at(8), half);
	act_write(stage_at(8) + half, stage.block - half);
	stage_rest_ms(1);
	must_log("degraded");
	MUST(HELD, 2);
	MUST(flush->ended, false);
	stage_waits(0);
	MUST(act_wait(flush), BLK_STS_OK);
	stage_fails(0, 0, 0);
	stage_flush();
	stage_rest_ms(1);
	must_log("no longer degraded");
	stage_close();
}

/* A block that cannot be read: its touches go as they came. */
static void unreadable(void)
{
	unsigned int physical = stage.plan->physical;
	struct act *act;

	stage_open(1, 400, 64);
	stage_fails(READS, 4, 2);
	act_place = (struct act_place) {
		.ioprio = 7, .hint = 3, .stream = 2, .cgroup = 5
	};
	act = act_send(REQ_OP_WRITE | REQ_META, stage_at(4) + 1, 1);
	MUST(act_wait(act), BLK_STS_OK);
	must_see(0, REQ_OP_READ, stage_at(4), stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(4) + 1, 1);
	MUST(drive_seen(1)->opf & REQ_META, REQ_META);
	MUST(drive_seen(1)->hint, 3);
	MUST(COUNT(rmw_drive_read_error), 1);
	MUST(COUNT(sent_block_bytes), physical);
	act = act_send(REQ_OP_WRITE_ZEROES, stage_at(5) + 1, 1);
	MUST(act_wait(act), BLK_STS_OK);
	must_see(3, REQ_OP_WRITE_ZEROES, stage_at(5) + 1, 1);
	MUST(COUNT(rmw_drive_read_error), 2);
	MUST(COUNT(sent_block_bytes), physical);
	stage_fails(0, 0, 0);
	stage_close();

	stage_open(2, 400, 64);
	stage_fails(READS, 4, 1);
	act_place.hint = 3;
	act_write(stage_at(4), 1);
	if (stage.block > 2)
		act_write(stage_at(4) + 2, 1);
	stage_flush();
	must_see(1, REQ_OP_WRITE, stage_at(4), 1);
	MUST(drive_seen(1)->hint, 3);
	if (stage.block > 2)
		must_see(2, REQ_OP_WRITE, stage_at(4) + 2, 1);
	MUST(HELD, 0);
	stage_fails(0, 0, 0);
	stage_close();
}

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
static void suspends(void)
{
	struct act *act;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	stage_waits(WRITES);
	begin(suspend_task);
	/* It is written at once, while the suspend waits. */
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
static void slow_suspend(void)
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

/*
 * What is cached of a block ends with a suspend, though it is held and has
 * failed.
 */
static void forgotten(void)
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
static void gate(void)
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
	/* One that waits for this message is killed alone. */
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

/* A request that must not wait comes back where it would. */
static void nowait(void)
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

/* The machine goes to sleep and comes back, twice. */
static void sleeps(void)
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

/* What is made in a sleep knows no block either, until the machine goes on. */
static void woken(void)
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
static void removal(void)
{
	unsigned int first = stage_at(4), second = stage_at(8);

	stage_open(2, 400, 64);
	act_write(first, 1);
	act_write(second, 1);
	stage_remove();
	MUST(stage_medium(first), stage.content[first]);
	MUST(stage_medium(second), stage.content[second]);
}

/* What a message that is refused leaves in the log, and what a table is answered. */
static void refusals(void)
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

/* Who opens a device while its cache is off sends no flush, and nothing is held. */
static void cache(void)
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
	/* So it is with a device that is in the mode already. */
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
static void cache_stays(void)
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

		shim_nr_allocations = 0;
		shim_faults.nth = nth;
		ret = shim_md_load(md, 64, ARRAY_SIZE(argv), argv, &error);
		refused = shim_nr_allocations >= nth;
		shim_faults.nth = 0;
		MUST(ret, refused ? -ENOMEM : 0);
	}
	MUST_LIE(nth, 10, 30);
	shim_md_remove(md);
}

/* A table for which memory lacks, at each allocation in turn. */
static void no_memory(void)
{
	char *argv[] = { "drive", "0", "2", "write_cache", "on" };
	struct mapped_device *md;
	bool refused = true;
	unsigned int nth;

	for (nth = 1; refused; nth++) {
		char *error = NULL;
		int ret;

		md = shim_md_new("small", 4);
		shim_nr_allocations = 0;
		shim_faults.nth = nth;
		ret = shim_md_load(md, 64, ARRAY_SIZE(argv), argv, &error);
		refused = shim_nr_allocations >= nth;
		shim_faults.nth = 0;
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

/* What a reboot writes, and in which time. */
static void reboot_in_time(void)
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
static void late_reboot(void)
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
	/* As many as may read into memory of their own; the others rest. */
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
	/* What has been read by then is written; what rests is lost. */
	stage_waits(0);
	act_write(stage_at(110), 1);
	stage_rest_ms(6000);
	MUST(HELD, 4);
	MUST(COUNT(pad_reads), 17);
	must_log_nothing();
	/* The machine goes off. */
	machine_stop("done");
}

/* Two regions have locks of their own, and share the memory. */
static void border(void)
{
	unsigned int at = stage.border, half = stage.block / 2, i;
	struct blk_plug plug;

	stage_open(1, 400, 4);
	/* All that may be cached is, behind the border. */
	for (i = 0; i < 4; i++)
		act_write(stage_at(at + 2 * i) + half, half);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 4);
	act_write(stage_at(at - 4), half);
	act_write(stage_at(at + 2), half);
	act_write(stage_at(at - 8), half);
	act_write(stage_at(at - 6), half);
	act_write(stage_at(at + 8), half);
	MUST(COUNT(rmw_drive), 0);
	MUST(COUNT(rmw_avoided_known), 1);
	MUST(stage_message("flush", NULL), 0);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
	stage_close();

	stage_open(2, 400, 64);
	act_write(stage_at(at) - half, stage.block);
	MUST(HELD, 2);
	act_read(stage_at(at) - half, stage.block);
	must_see_no(0);
	act_read(stage_at(at) - half, stage.block + 1);
	drive_forget_seen();
	stage_flush();
	must_have_seen(REQ_OP_WRITE, stage_at(at - 1), stage.block);
	must_have_seen(REQ_OP_WRITE, stage_at(at), stage.block);
	stage_close();

	stage_open(1, 400, 64);
	blk_start_plug(&plug);
	act_send(REQ_OP_WRITE, stage_at(at + 1), half);
	act_send(REQ_OP_WRITE, stage_at(at - 3), half);
	act_send(REQ_OP_WRITE, stage_at(at) - half, stage.block);
	blk_finish_plug(&plug);
	stage_rest_ms(1);
	must_have_seen(REQ_OP_READ, stage_at(at), 2 * stage.block);
	must_have_seen(REQ_OP_READ, stage_at(at - 1), stage.block);
	must_have_seen(REQ_OP_READ, stage_at(at - 3), stage.block);
	MUST(COUNT(pad_reads), 3);
	stage_close();
}

/* Tasks of a crowd that go on; what each does. */
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

/* What several tasks do at once, in regions of their own and in the same one. */
static void crowd(void)
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
	/* Which one came last is not known. */
	stage_leave_open(stage_at(10), 180 * stage.block);
	stage_close();
}

/* A long write evicts what is cached below it, but not what its last part needs. */
static void long_write(void)
{
	unsigned int half = stage.block / 2, nr = 90, i;

	/* It is one request of the drive. */
	if (stage.block > 16)
		return;
	stage_open(1, 400, 128);
	for (i = 0; i < 50; i++)
		act_write(stage_at(4 + 2 * i), half);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 50);
	drive_forget_seen();
	act_write(stage_at(4), nr * stage.block + half);
	/* The block that it ends in is cached, and so are those behind it. */
	MUST(COUNT(rmw_avoided_known), 1);
	MUST(atomic_read(&stage.at->engine.blocks.nr), 5);
	must_have_seen(REQ_OP_WRITE, stage_at(4), nr * stage.block);
	must_have_seen(REQ_OP_WRITE, stage_at(4 + nr), stage.block);
	must_see_no(2);
	stage_close();
}

static void reset_task(void *unused)
{
	MUST(stage_message("reset_stats", NULL), 0);
}

/* Resets of the ledger that come together need the memory for it once. */
static void two_resets(void)
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

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "times", times }, { "full requests", full_requests },
	{ "gaps", gaps }, { "shorter time", shorter_time },
	{ "pressure", pressure }, { "stream", stream }, { "joined", joined },
	{ "properties", properties },
	{ "properties of held", properties_of_held }, { "memory", memory },
	{ "delay", delay }, { "plugs", plugs }, { "over held", over_held },
	{ "reads", reads }, { "degraded", degraded }, { "retries", retries },
	{ "younger fails", younger_fails }, { "unreadable", unreadable },
	{ "suspends", suspends }, { "slow suspend", slow_suspend },
	{ "forgotten", forgotten }, { "gate", gate }, { "nowait", nowait },
	{ "sleeps", sleeps }, { "woken", woken }, { "removal", removal }, { "refusals", refusals }, { "cache", cache },
	{ "cache stays", cache_stays }, { "no memory", no_memory },
	{ "dropped", scene_dropped }, { "starved", scene_starved },
	{ "few pieces", scene_few_pieces },
	{ "passed over", scene_passed_over },
	{ "zeroes", scene_zeroes }, { "no stream", scene_no_stream },
	{ "late flush", scene_late_flush }, { "frozen", scene_frozen },
	{ "own flush", scene_own_flush }, { "many modes", scene_many_modes },
	{ "border", border },
	{ "long write", long_write }, { "batches", scene_batches },
	{ "crowd", crowd }, { "settled", scene_settled },
	{ "quiet areas", scene_quiet_areas },
	{ "counted writes", scene_counted_writes }, { "lines", scene_lines },
	{ "many wait", scene_many_wait }, { "polled", scene_polled },
	{ "withdrawn", scene_withdrawn }, { "patched", scene_patched },
	{ "two regions", scene_two_regions }, { "cut", scene_cut },
	{ "long run", scene_long_run }, { "files", scene_files },
	{ "lost files", scene_lost_files }, { "fresh", scene_fresh },
	{ "given back", scene_given_back }, { "read once", scene_read_once },
	{ "lowered", scene_lowered }, { "relieved", scene_relieved },
	{ "ceiling", scene_ceiling }, { "crowded", scene_crowded },
	{ "in order", scene_in_order }, { "waits once", scene_waits_once },
	{ "edge", scene_edge }, { "front edge", scene_front_edge },
	{ "shared reads", scene_shared_reads },
	{ "whole reads", scene_whole_reads },
	{ "indivisible", scene_indivisible }, { "bad block", scene_bad_block },
	{ "many parts", scene_many_parts }, { "deferred", scene_deferred },
	{ "two resets", two_resets },
}, last_scenes[] = {
	/* A reboot is not undone. */
	{ "reboot in time", reboot_in_time }, { "late reboot", late_reboot },
	{ "late plug", scene_late_plug }, { "quiet reboot", scene_quiet_reboot },
};

void scenes_play(const struct world_plan *plan, struct gendisk *drive)
{
	unsigned int first = machine_choose(ARRAY_SIZE(scenes)), i;

	stage_begin(plan, drive);
	for (i = 0; i < ARRAY_SIZE(scenes); i++) {
		unsigned int nr = (first + i) % ARRAY_SIZE(scenes);

		stage.scene = scenes[nr].name;
		scenes[nr].play();
	}
	i = machine_choose(ARRAY_SIZE(last_scenes));
	stage.scene = last_scenes[i].name;
	last_scenes[i].play();
	stage_end();
}
