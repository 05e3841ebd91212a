// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of memory: how much is used, and how much is given back to the kernel or to
 * other targets.
 */
#include <linux/moduleparam.h>
#include <linux/shrinker.h>

#include "block_state.h"
#include "drive.h"
#include "scenes.h"
#include "stage.h"

/* Blocks of the ceiling, of which two targets have two each of their own. */
#define CEILING		16U
#define OWN		2U

static unsigned int blocks_of(const struct align_target *at)
{
	return atomic_read(&at->engine.blocks.nr);
}

/* The shrinker evicts cached blocks only, as many as it is asked for. */
void scene_given_back(void)
{
	unsigned long counted;
	struct act *slow;
	unsigned int i;

	stage_open(1, 400, 64);
	for (i = 0; i < 6; i++)
		act_write(stage_at(4 + 2 * i), 1);
	stage_waits(WRITES);
	slow = act_send(REQ_OP_WRITE, stage_at(4), 1);
	stage_rest_us(AT_ONCE_US);
	MUST(shim_shrink(2, &counted), 2);
	MUST(counted, 5);
	MUST(blocks_of(stage.at), 4);
	MUST(shim_shrink(100, &counted), 3);
	MUST(counted, 3);
	/* The block that is written has a touch. */
	MUST(blocks_of(stage.at), 1);
	MUST(shim_shrink(100, &counted), 0);
	MUST(counted, 0);
	stage_waits(0);
	MUST(act_wait(slow), BLK_STS_OK);
	MUST(shim_shrink(100, &counted), 1);
	MUST(blocks_of(stage.at), 0);
	/* An evicted block is read again. */
	act_write(stage_at(6), 1);
	MUST(COUNT(rmw_host), 7);
	MUST(COUNT(rmw_avoided_known), 1);
	stage_close();
}

/* Blocks are allocated before a lock is taken, and unused ones are freed. */
void scene_fresh(void)
{
	unsigned int i;

	stage_open(1, 400, 64);
	shim_nr_locked = 0;
	for (i = 0; i < 20; i++)
		act_write(stage_at(4 + 2 * i), 1);
	MUST(COUNT(rmw_host), 20);
	for (i = 0; i < 20; i++)
		act_write(stage_at(4 + 2 * i), 1);
	MUST(COUNT(rmw_avoided_known), 20);
	MUST(shim_nr_locked, 0);
	/* Each of these writes found its block in memory. */
	MUST_LIE(atomic64_read(&stage.at->engine.blocks.bytes),
		 21 * stage.plan->physical, 40 * stage.plan->physical);
	stage_rest_ms(1200);
	MUST(blocks_of(stage.at), 0);
	MUST(atomic64_read(&stage.at->engine.blocks.bytes), 0);
	stage_close();
}

/* Have requests go to another device from now on. */
static void enter(struct mapped_device *md)
{
	stage.md = md;
	stage.at = shim_md_target(md)->private;
}

/* Open a device beside the stage's, on the same sectors. */
static struct mapped_device *open_other(void)
{
	struct mapped_device *md = shim_md_new("other", 4);

	stage.md = md;
	stage_load(2, 400, 64);
	MUST(shim_md_resume(md), 0);
	dm_disk(md)->openers++;
	return md;
}

/* A held block of which the write has failed is not read again for the next one. */
void scene_read_once(void)
{
	unsigned int i;

	stage_open(2, 400, 64);
	/* The second time its content is cached before. */
	for (i = 0; i < 2; i++) {
		act_write(stage_at(4) + 1, 1);
		stage_fails(WRITES, 4, 1);
		MUST(act_wait(act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0)),
		     BLK_STS_IOERR);
		MUST(COUNT(pad_reads), 1);
		stage_rest_ms(1);
		must_log("degraded: cannot write held blocks to drive");
		stage_fails(READS, 4, 1);
		stage_flush();
		stage_rest_ms(1);
		must_log("no longer degraded");
		MUST(COUNT(pad_reads), 1);
		MUST(COUNT(degraded), 0);
		stage_fails(0, 0, 0);
	}
	stage_close();
}

/*
 * Where a touch may not go down, it is served behind all writes that came before it, be
 * they ever so many, and those that come later wait for it.
 */
void scene_crowded(void)
{
	struct act *before[2 * ORDER_RANGES], *touch[2], *behind, *elsewhere;
	unsigned int nr = ARRAY_SIZE(before), i;
	u64 reads;

	if (stage.block > 16 || stage.plan->offset)
		return;
	stage_narrow();
	stage_open(1, 400, 64);
	/* Writes are registered while a block is in memory. */
	act_write(stage_at(4) + 1, 1);
	reads = COUNT(pad_reads);
	stage_waits(WRITES);
	for (i = 0; i < nr; i++)
		before[i] = act_send(REQ_OP_WRITE, stage_at(10 + 2 * (i % 2)),
				     stage.block);
	for (i = 0; i < ARRAY_SIZE(touch); i++)
		touch[i] = act_send(REQ_OP_WRITE, stage_at(10 + 2 * i) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	drive_forget_seen();
	behind = act_send(REQ_OP_WRITE, stage_at(10), stage.block);
	stage_rest_us(AT_ONCE_US);
	must_see_no(0);
	/* In another region nothing waits. */
	elsewhere = act_send(REQ_OP_WRITE, stage_at(stage.border + 2) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	MUST(COUNT(pad_reads), ++reads);
	/* Later discards elsewhere that have ended do not count as earlier writes. */
	for (i = 0; i < nr; i++)
		MUST(act_wait(act_send(REQ_OP_DISCARD, stage_at(20),
				       stage.block)), BLK_STS_OK);
	MUST(COUNT(pad_reads), reads);
	stage_waits(0);
	while (COUNT(pad_reads) == reads)
		stage_rest_us(1);
	/* No more than a request of each of the blocks, and the write behind. */
	MUST_LIE(drive_in_flight(), 0, 4);
	MUST(act_wait(touch[0]) | act_wait(touch[1]) | act_wait(behind) |
	     act_wait(elsewhere), BLK_STS_OK);
	for (i = 0; i < nr; i++)
		MUST(act_wait(before[i]), BLK_STS_OK);
	MUST(COUNT(pad_reads), reads + 2);
	MUST(COUNT(rmw_drive), 0);
	MUST(COUNT(touches_starved), 1);
	/* The order of the writes is not known. */
	stage_leave_open(stage_at(10), 3 * stage.block);
	stage_close();
	stage_widen();
}

/* Without memory touches that may not go down are served in the order of their arrival. */
void scene_in_order(void)
{
	struct act *touch[5];
	unsigned int i, nr;
	unsigned long seen = 0;

	if (stage.block > 16 || stage.plan->offset)
		return;
	stage_narrow();
	stage_open(1, 400, 1);
	stage_waits(READS);
	for (i = 0; i < ARRAY_SIZE(touch); i++) {
		touch[i] = act_send(REQ_OP_WRITE, stage_at(4 + 2 * i) + 1, 1);
		stage_rest_us(AT_ONCE_US);
	}
	/* One touch has the only block, another one the reserve. */
	MUST(COUNT(pad_reads), 2);
	MUST(COUNT(touches_starved), ARRAY_SIZE(touch) - 1);
	stage_waits(0);
	for (i = 0; i < ARRAY_SIZE(touch); i++)
		MUST(act_wait(touch[i]), BLK_STS_OK);
	/*
	 * Two reads at a time, which may overtake one another on their way to the
	 * drive: when one comes there, at most one of the earlier ones has not.
	 */
	for (i = 0; drive_seen(i); i++) {
		if (drive_seen(i)->op != REQ_OP_READ)
			continue;
		nr = (drive_seen(i)->sector - stage.start - stage_at(4)) /
		     (2 * stage.block);
		MUST_LIE(hweight_long(seen & (BIT(nr) - 1)) + 1, nr, nr + 1);
		seen |= BIT(nr);
	}
	MUST(seen, BIT(ARRAY_SIZE(touch)) - 1);
	MUST(COUNT(rmw_drive), 0);
	stage_close();
	stage_widen();
}

/*
 * Without memory, reads of parts of blocks wait for the one bounce. A read that has
 * waited for it, and then meets a bounce of its own block in flight, is served by the
 * next request of that bounce, and does not queue behind all other reads once more.
 */
void scene_waits_once(void)
{
	/* Of blocks 4, 6, 8 and 5; the last ones stay without a bounce. */
	static const unsigned int of[] = { 4, 6, 8, 5, 5 };
	struct act *read[ARRAY_SIZE(of)], *other;
	unsigned int i;

	if (stage.block > 16 || stage.plan->offset)
		return;
	stage_narrow();
	stage_open(1, 400, 64);
	shim_faults.nowait_one_in = 1;
	stage_waits(READS);
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		read[i] = act_send(REQ_OP_READ, stage_at(of[i]) + 1, 1);
		stage_rest_us(AT_ONCE_US);
	}
	/* The first has the bounce. For the block of the second there is memory now. */
	shim_faults.nowait_one_in = 0;
	other = act_send(REQ_OP_READ, stage_at(6) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	shim_faults.nowait_one_in = 1;
	MUST(drive_in_flight(), 2);
	/* The second meets that bounce, and the third gets the one of the first. */
	stage_waits_from(READS, 6);
	MUST(act_wait(read[0]), BLK_STS_OK);
	stage_rest_us(AT_ONCE_US);
	MUST(drive_in_flight(), 2);
	drive_forget_seen();
	stage_waits_from(READS, 8);
	MUST(act_wait(other), BLK_STS_OK);
	MUST(act_wait(read[1]), BLK_STS_OK);
	must_see(0, REQ_OP_READ, stage_at(6), stage.block);
	stage_waits(0);
	for (i = 2; i < ARRAY_SIZE(of); i++)
		MUST(act_wait(read[i]), BLK_STS_OK);
	shim_faults.nowait_one_in = 0;
	stage_close();
	stage_widen();
}

/*
 * The part of an edge block that lies in the device is like other blocks: bad sectors
 * there can be overwritten, and blocks that could not be written, discarded.
 */
void scene_edge(void)
{
	unsigned int half = stage.block / 2, edge;

	if (stage.block > 16 || stage.block < 4 || stage.plan->offset)
		return;
	stage_narrow();
	stage.drive->queue->limits.logical_block_size = stage.plan->physical / 2;
	stage.sectors -= half;
	edge = stage.sectors / stage.block;
	stage_open(1, 400, 64);
	stage_fails(READS, edge, 1);
	act_write(stage_at(edge), half);
	MUST(act_wait(act_send(REQ_OP_WRITE_ZEROES, stage_at(edge), half)),
	     BLK_STS_OK);
	act_write(stage_at(edge - 1), stage.block + half);
	MUST(COUNT(pad_reads), 0);
	MUST(COUNT(rmw_avoided_complete), 1);
	MUST(COUNT(rmw_avoided_known), 2);
	stage_fails(0, 0, 0);
	stage_close();

	stage_open(2, 400, 64);
	act_write(stage_at(edge) + 1, 1);
	stage_fails(WRITES, edge, 1);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0)), BLK_STS_IOERR);
	stage_rest_ms(1);
	must_log("degraded: cannot write held blocks to drive");
	MUST(act_wait(act_send(REQ_OP_DISCARD, 0, stage.sectors)), BLK_STS_OK);
	stage_rest_ms(1);
	must_log("no longer degraded");
	MUST(COUNT(degraded), 0);
	stage_fails(0, 0, 0);
	stage_flush();
	stage_leave_open(0, stage.sectors);
	stage_close();
	stage_widen();
}

/* An edge block at the front is not sent along with the stream's blocks behind it. */
void scene_front_edge(void)
{
	unsigned int half = stage.block / 2;

	if (stage.block > 16 || stage.block < 4 || stage.plan->offset)
		return;
	stage_narrow();
	stage.drive->queue->limits.logical_block_size = stage.plan->physical / 2;
	stage.start += half;
	stage.content += half;
	stage.sectors -= half;
	stage_open(2, 400, 64);
	drive_forget_seen();
	/* The part of the first block in the device, and a part of the second. */
	act_write(0, 2 * half);
	MUST(COUNT(touches_held), 2);
	must_see_no(0);
	/* This write completes the second block, and goes on. */
	act_write(2 * half, half + 4 * stage.block);
	must_see(0, REQ_OP_WRITE, half, 5 * stage.block);
	must_see_no(1);
	stage_flush();
	must_see(1, REQ_OP_WRITE, 0, half);
	MUST(COUNT(pad_reads), 0);
	stage_close();
	stage.start -= half;
	stage.content -= half;
	stage_widen();
}

static void leave(struct mapped_device *other, struct mapped_device *first)
{
	*shim_param_max_memory_bytes = 0;
	dm_disk(other)->openers--;
	shim_md_remove(other);
	enter(first);
	stage_close();
}

/* Touch some more blocks of a row, one after the other, for less than they are cached. */
static void act_write_on(unsigned int *next, unsigned int nr)
{
	for (; nr; nr--) {
		act_write(stage_at(2 + 2 * (*next)++ % 64), 1);
		stage_rest_ms(20);
	}
}

/* A ceiling that is set while a target goes on making blocks comes into force. */
void scene_lowered(void)
{
	unsigned int next = 0;
	u64 cost;

	stage_open(1, 400, 64);
	cost = stage.at->engine.blocks.quota.cost;
	act_write_on(&next, 40);
	MUST_LIE(blocks_of(stage.at), CEILING + 4, 40);
	*shim_param_max_memory_bytes = CEILING * cost;
	act_write_on(&next, 40);
	MUST_LIE(blocks_of(stage.at), 1, CEILING);
	*shim_param_max_memory_bytes = CEILING / 2 * cost;
	act_write_on(&next, 40);
	MUST_LIE(blocks_of(stage.at), 1, CEILING / 2);
	*shim_param_max_memory_bytes = 0;
	stage_close();
}

/* To make room in the common part, no block is evicted from a target's own part. */
void scene_relieved(void)
{
	struct mapped_device *first, *second;
	unsigned int first_next = 0, second_next = 16, i;

	stage_open(1, 400, 64);
	first = stage.md;
	*shim_param_max_memory_bytes =
		CEILING * stage.at->engine.blocks.quota.cost;
	second = open_other();
	for (i = 0; i < 60; i++) {
		unsigned int own;

		enter(first);
		act_write_on(&first_next, 1);
		own = blocks_of(stage.at);
		enter(second);
		act_write_on(&second_next, 1);
		enter(first);
		if (own > OWN)
			own = OWN;
		MUST_LIE(blocks_of(stage.at), own, CEILING);
	}
	leave(second, first);
}

/* Two targets below one ceiling: neither takes the other's own part. */
void scene_ceiling(void)
{
	struct mapped_device *first, *second;
	unsigned int i;
	u64 cost;

	stage_open(2, 400, 64);
	first = stage.md;
	second = open_other();
	enter(first);
	cost = stage.at->engine.blocks.quota.cost;
	*shim_param_max_memory_bytes = CEILING * cost;
	/* No held block can be written. */
	stage_waits(READS | WRITES);
	for (i = 0; i < CEILING - OWN; i++)
		act_write(stage_at(4 + 2 * i), 1);
	MUST(blocks_of(stage.at), CEILING - OWN);
	act_send(REQ_OP_WRITE, stage_at(40), 1);
	stage_rest_us(AT_ONCE_US);
	MUST(COUNT(rmw_drive_max_blocks), 0);
	MUST(blocks_of(stage.at), CEILING - OWN);
	enter(second);
	for (i = 0; i < OWN; i++)
		act_write(stage_at(50 + 2 * i), 1);
	MUST(blocks_of(stage.at), OWN);
	act_send(REQ_OP_WRITE, stage_at(60), 1);
	stage_rest_ms(1);
	MUST(blocks_of(stage.at), OWN);
	/* The first target's held blocks are written, and evicted for the second. */
	enter(first);
	stage_waits(0);
	stage_rest_ms(50);
	MUST(COUNT(rmw_drive_max_blocks), 1);
	MUST_LIE(stage.at->engine.held.nr, 1, CEILING / 4);
	enter(second);
	act_write(stage_at(62), 1);
	stage_rest_ms(10);
	enter(first);
	MUST_LIE(stage.at->engine.blocks.quota.nr_common.counter, 1,
		 (CEILING - 2 * OWN) * 3 / 4);
	enter(second);
	act_write(stage_at(64), 1);
	MUST_LIE(stage.at->engine.blocks.quota.nr_common.counter, 1, 2);
	stage_flush();
	leave(second, first);
}

/* Memory is told to the byte: blocks, and the buffers that runs read into. */
void scene_memory(void)
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
