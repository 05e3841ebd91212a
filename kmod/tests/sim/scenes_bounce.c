// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of reads where smaller logical blocks are offered than the drive has, and of
 * writes that cannot be cut there.
 */
#include <linux/highmem.h>

#include "scenes.h"
#include "stage.h"

/* Blocks so far apart are found by one bucket of bounce.c. */
#define BUCKETS	64
/* Copies that are sent in map at most. */
#define MAP_COPIES	256U

/* However many reads of parts of a block there are, two requests serve them. */
void scene_shared_reads(void)
{
	/* In an order that gives a tree both sides. */
	static const unsigned int of[] = { 1, 0, 2 };
	struct act *read[3 * ARRAY_SIZE(of)];
	unsigned int flushed = shim_nr_pages_flushed;
	unsigned int nr = ARRAY_SIZE(of), i;

	if (stage.block > 16 || stage.plan->offset)
		return;
	stage_narrow();
	stage_open(1, 400, 64);
	stage_waits(READS);
	for (i = 0; i < ARRAY_SIZE(read); i++) {
		read[i] = act_send(REQ_OP_READ,
				   stage_at(2 + BUCKETS * of[i % nr]) + 1, 1);
		stage_rest_us(AT_ONCE_US);
		MUST(drive_in_flight(), min(i + 1, nr));
	}
	MUST(COUNT(bounce_reads), nr);
	stage_waits(0);
	for (i = 0; i < ARRAY_SIZE(read); i++)
		MUST(act_wait(read[i]), BLK_STS_OK);
	MUST(COUNT(bounce_reads), 2 * nr);
	MUST(COUNT(reads_bounced), ARRAY_SIZE(read));
	/* The CPU has written to a page of each. */
	MUST(shim_nr_pages_flushed - flushed, ARRAY_SIZE(read));
	stage_close();
	stage_widen();
}

/* A whole read goes down unmodified; of any other one, the part between its ends does. */
void scene_whole_reads(void)
{
	struct queue_limits *limits = &stage.drive->queue->limits;
	unsigned int half = stage.block / 2;
	unsigned int alignment = limits->dma_alignment;

	if (stage.block > 16 || stage.block < 2 || stage.plan->offset)
		return;
	stage_narrow();
	/* Memory of parts of its blocks is no gap to the drive. */
	limits->dma_alignment = 3;
	stage_open(1, 400, 64);
	act_read(stage_at(4), 3 * stage.block);
	must_see(0, REQ_OP_READ, stage_at(4), 3 * stage.block);
	must_see_no(1);
	MUST(COUNT(reads_bounced), 0);
	/* The read counts once, however many requests there are for it. */
	act_read(stage_at(4) + half, 3 * stage.block);
	must_have_seen(REQ_OP_READ, stage_at(4), stage.block);
	must_have_seen(REQ_OP_READ, stage_at(5), 2 * stage.block);
	must_have_seen(REQ_OP_READ, stage_at(7), stage.block);
	must_see_no(4);
	MUST(COUNT(reads_bounced), 1);
	MUST(COUNT(bounce_reads), 2);
	limits->dma_alignment = alignment;
	stage_close();
	stage_widen();
}

/* An indivisible write of a part of a block is refused, one of whole blocks is not. */
void scene_indivisible(void)
{
	if (stage.block > 16 || stage.block < 2 || stage.plan->offset)
		return;
	stage_narrow();
	stage_open(1, 400, 64);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_ATOMIC, stage_at(4) + 1, 1)),
	     BLK_STS_NOTSUPP);
	must_see_no(0);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_ATOMIC, stage_at(5),
			       stage.block)), BLK_STS_OK);
	must_see(0, REQ_OP_WRITE, stage_at(5), stage.block);
	act_write(stage_at(4) + 1, 1);
	MUST(stage_message("mode", "report"), -EINVAL);
	must_log("message \"mode report\": logical_block_size needs mode pad or coalesce");
	stage_close();
	stage_widen();
}

/* A part of a block that cannot be read is not written; the whole block is. */
void scene_bad_block(void)
{
	if (stage.block > 16 || stage.block < 2 || stage.plan->offset)
		return;
	stage_narrow();
	stage_open(1, 400, 64);
	stage_fails(READS, 4, 1);
	MUST(act_wait(act_send(REQ_OP_WRITE, stage_at(4) + 1, 1)), BLK_STS_IOERR);
	must_log("cannot read the block at sector");
	must_log_nothing();
	act_write(stage_at(4), stage.block);
	stage_fails(0, 0, 0);
	act_write(stage_at(4) + 1, 1);
	stage_close();
	stage_widen();
}

/* The memory of copies is counted as long as they are in flight. */
void scene_copies(void)
{
	unsigned int nr, before, by_map = 0, i;
	struct act *act;

	if (stage.block > 16 || stage.block < 2 || stage.plan->offset)
		return;
	stage_narrow();
	nr = min(MAP_COPIES + 20, stage.sectors / stage.block - 8);
	stage_open(1, 400, 64);
	before = atomic64_read(&stage.at->engine.blocks.bytes);
	stage_waits(WRITES);
	act_place.alone = 1;
	act = act_send(REQ_OP_WRITE, stage_at(2), nr * stage.block);
	act_place.alone = 0;
	stage_rest_us(AT_ONCE_US);
	MUST(drive_in_flight(), nr);
	/* The requests beyond those that map sends are left to a worker. */
	for (i = 0; i < nr; i++)
		by_map += drive_seen(i)->by == current;
	MUST(by_map, min(nr, MAP_COPIES));
	MUST(atomic64_read(&stage.at->engine.blocks.bytes),
	     before + nr * stage.plan->physical);
	stage_waits(0);
	MUST(act_wait(act), BLK_STS_OK);
	MUST(atomic64_read(&stage.at->engine.blocks.bytes), before);
	stage_close();
	stage_widen();
}
