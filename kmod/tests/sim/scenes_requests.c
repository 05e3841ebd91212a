// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of the requests that come to the drive: their times, joins and properties.
 */
#include "buffer.h"
#include "scenes.h"
#include "stage.h"

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
 * No request goes across the border of a chunk: a block behind it takes along those
 * in front of it alone, and blocks that follow keep their time.
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

/* Of many neighbours, as many go as one request takes, the oldest among them. */
void scene_full_requests(void)
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

	/* The oldest has neighbours on both sides; surplus ones keep their time. */
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
void scene_gaps(void)
{
	struct queue_limits *limits = &stage.drive->queue->limits;

	stage_open(1, 400, 64);
	/* Limits that device-mapper does not know of: it would cut the write itself. */
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

/* Blocks that a write completes go down with the remainder that follows them. */
void scene_joined(void)
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
	/* No more of the remainder is joined than fits in a request. */
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
void scene_properties(void)
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
	/* The same with touches that come while the block is written. */
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
void scene_properties_of_held(void)
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

/* The @nr-th request is as urgent as a direct write, or is not. */
static void must_hurry(unsigned int nr, bool hurry)
{
	MUST(!!(drive_seen(nr)->opf & REQ_IDLE), hurry);
	MUST(!!(drive_seen(nr)->opf & REQ_SYNC), hurry);
}

/*
 * A held block is urgent when a request waits for it: a discard, or a flush, also
 * where it goes together with a touch or with a neighbour that nothing waits for.
 */
void scene_hurry(void)
{
	struct act *act;

	stage_open(2, 400, 64);
	act_write(stage_at(4) + 1, 1);
	MUST(act_wait(act_send(REQ_OP_DISCARD, stage_at(3), 3 * stage.block)),
	     BLK_STS_OK);
	must_see(0, REQ_OP_READ, stage_at(4), stage.block);
	must_hurry(0, true);
	must_see(1, REQ_OP_WRITE, stage_at(4), stage.block);
	must_hurry(1, true);
	stage_leave_open(stage_at(3), 3 * stage.block);
	/* A neighbour that came behind the flush goes first in the request. */
	act_write(stage_at(9) + 1, 1);
	drive_forget_seen();
	stage_waits(READS);
	act = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
	stage_rest_us(AT_ONCE_US);
	must_see(0, REQ_OP_READ, stage_at(9), stage.block);
	must_hurry(0, true);
	/* A write that is not held joins the block in its turn. */
	MUST(drive_in_flight(), 1);
	act_send(REQ_OP_WRITE | REQ_FUA, stage_at(9), 1);
	stage_rest_us(AT_ONCE_US);
	stage_waits(0);
	MUST(act_wait(act), BLK_STS_OK);
	must_see(1, REQ_OP_WRITE, stage_at(9), stage.block);
	must_hurry(1, true);
	/* A touch has come too late for a request of two blocks, and they go one by one. */
	stage_fails(WRITES, 15, 1);
	act_write(stage_at(14), stage.block / 2);
	act_write(stage_at(15), stage.block / 2);
	drive_forget_seen();
	stage_waits(WRITES);
	stage_rest_ms(401);
	must_see(1, REQ_OP_WRITE, stage_at(14), 2 * stage.block);
	must_hurry(1, false);
	act = act_send(REQ_OP_WRITE | REQ_FUA, stage_at(14), 1);
	stage_rest_us(AT_ONCE_US);
	stage_waits(0);
	MUST(act_wait(act), BLK_STS_OK);
	must_see(2, REQ_OP_WRITE, stage_at(14), stage.block);
	must_hurry(2, true);
	stage_rest_ms(1);
	must_log("degraded: cannot write held blocks to drive");
	stage_fails(0, 0, 0);
	stage_flush();
	stage_rest_ms(1);
	must_log("no longer degraded");
	stage_close();
}

/*
 * The end of a stream waits a moment for its next write, if a write that covers a
 * block in part is in flight.
 */
void scene_delay(void)
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
			/* The rest of the block comes. */
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

/* Touches under a plug are started together, an eighth of max_blocks at a time. */
void scene_plugs(void)
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

/* A read of held sectors alone needs no drive. */
void scene_reads(void)
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

/* Two regions have locks of their own, and share the memory. */
void scene_border(void)
{
	unsigned int at = stage.border, half = stage.block / 2, i;
	struct blk_plug plug;

	stage_open(1, 400, 4);
	/* As many blocks as may be cached are, behind the border. */
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

/* A long write evicts cached blocks below it, but not the one that its end needs. */
void scene_long_write(void)
{
	unsigned int half = stage.block / 2, nr = 90, i;

	/* The write is one request of the drive. */
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
