// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of work that takes several holdings of a lock: each time it is released, the
 * work done so far, and the state that a request would find then.
 */
#include "block_state.h"
#include "buffer.h"
#include "scenes.h"
#include "stage.h"

static unsigned int cached, most_evicted;

/* Note how many blocks were evicted since the last lock was released. */
static void count_forgotten(void)
{
	unsigned int now = atomic_read(&stage.at->engine.blocks.nr);

	if (now < cached)
		most_evicted = max(most_evicted, cached - now);
	cached = now;
}

/*
 * A long write evicts cached blocks a batch at a time, so that no lock is held
 * long.
 */
void scene_batches(void)
{
	unsigned int nr = BLOCKS_BATCH + 16, i;

	/* The write is one request of the drive. */
	if (stage.block > 16)
		return;
	stage_open(1, 400, 256);
	for (i = 0; i < nr; i++)
		act_write(stage_at(4 + 2 * i), 1);
	most_evicted = 0;
	cached = atomic_read(&stage.at->engine.blocks.nr);
	MUST(cached, nr);
	shim_unlocks = count_forgotten;
	act_write(stage_at(4), 2 * nr * stage.block);
	shim_unlocks = NULL;
	MUST(atomic_read(&stage.at->engine.blocks.nr), 0);
	MUST_LIE(most_evicted, 1, BLOCKS_BATCH);
	stage_close();
}

/* Hold a sector of each of some blocks from the block 4 on. */
static void hold_row(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		act_write(stage_at(4 + i), 1);
	MUST(stage.at->engine.held.nr, nr);
}

/* A write or discard over too many held blocks is cut, an atomic write is not. */
void scene_cut(void)
{
	unsigned int nr = RANGE_BLOCKS + 8, i;
	struct request_queue *queue = stage.drive->queue;
	u64 waits;

	/* The write is one request of the drive. */
	if (stage.block > 16)
		return;
	stage_open(2, 400, 256);
	hold_row(nr);
	act_write(stage_at(4), nr * stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(4), RANGE_BLOCKS * stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(4 + RANGE_BLOCKS), 8 * stage.block);
	must_see_no(2);
	MUST(COUNT(cuts), 1);
	MUST(stage.at->engine.held.nr, 0);
	hold_row(nr);
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_ATOMIC, stage_at(4),
			       nr * stage.block)), BLK_STS_OK);
	must_see(2, REQ_OP_WRITE, stage_at(4), nr * stage.block);
	must_see_no(3);
	/* Discards are cut between granules; held data they drop are written first. */
	queue->limits.discard_granularity = 24 * stage.block * SECTOR_SIZE;
	queue->limits.discard_alignment = 5 * stage.block * SECTOR_SIZE;
	hold_row(nr);
	waits = COUNT(waits);
	stage_leave_open(stage_at(4), nr * stage.block);
	MUST(act_wait(act_send(REQ_OP_DISCARD, stage_at(4), nr * stage.block)),
	     BLK_STS_OK);
	MUST(COUNT(waits) - waits, 1);
	for (i = 0; drive_seen(i); i++)
		if (drive_seen(i)->op == REQ_OP_DISCARD)
			MUST((drive_seen(i)->sector + 19 * stage.block) %
			     (24 * stage.block) == 0 ||
			     drive_seen(i)->sector == stage.start + stage_at(4),
			     true);
	queue->limits.discard_granularity = 0;
	queue->limits.discard_alignment = 0;
	stage_close();
}

/* A run of more blocks than one lock is held over ends in a worker. */
void scene_long_run(void)
{
	unsigned int nr = 100;

	if (stage.block > 8)
		return;
	stage_open(2, 400, 256);
	hold_row(nr);
	shim_most_resolved = 0;
	stage_flush();
	must_have_seen(REQ_OP_WRITE, stage_at(4), nr * stage.block);
	MUST_LIE(shim_most_resolved, 0, BLOCKS_BATCH);
	stage_close();
}

/* A write that is cut, and of which more than one part waits, has waited once. */
void scene_many_parts(void)
{
	struct act *touch[RANGE_BLOCKS + 8], *write;
	unsigned int nr = RANGE_BLOCKS + ARRAY_SIZE(touch), i;
	u64 waits;

	if (stage.block > 8)
		return;
	stage_open(2, 400, 256);
	/* The first part meets held blocks, and the other parts blocks in flight. */
	hold_row(RANGE_BLOCKS);
	stage_waits(READS);
	for (i = 0; i < ARRAY_SIZE(touch); i++)
		touch[i] = act_send(REQ_OP_WRITE | REQ_FUA,
				    stage_at(4 + RANGE_BLOCKS + i) + 1, 1);
	stage_rest_ms(1);
	waits = COUNT(waits);
	write = act_send(REQ_OP_WRITE, stage_at(4), nr * stage.block);
	stage_rest_ms(1);
	must_have_seen(REQ_OP_WRITE, stage_at(4), RANGE_BLOCKS * stage.block);
	stage_waits_from(READS, 4 + 2 * RANGE_BLOCKS);
	stage_rest_ms(5);
	must_have_seen(REQ_OP_WRITE, stage_at(4 + RANGE_BLOCKS),
		       RANGE_BLOCKS * stage.block);
	MUST(write->ended, false);
	stage_waits(0);
	MUST(act_wait(write), BLK_STS_OK);
	for (i = 0; i < ARRAY_SIZE(touch); i++)
		MUST(act_wait(touch[i]), BLK_STS_OK);
	MUST(COUNT(cuts), 2);
	MUST(COUNT(waits) - waits, 1);
	stage_close();
}

/* How often the block 4 was seen with touches that are not in its buffer yet. */
static unsigned int partly_patched;

/* Sectors that a read would take from the buffer must be in it. */
static void look_at_patched(void)
{
	struct align_target *at = stage.at;
	unsigned int last = stage.block - 1;
	u64 number = align_block_of(&at->geometry, stage.start + stage_at(4));
	struct align_block *block = block_at_or_above(shard_of(at, number), number);
	const u64 *word;

	if (!block || block->number != number || !block->patched)
		return;
	if (!test_bit(last, block_covered(block))) {
		partly_patched++;
		return;
	}
	word = buffer_at(at, block->vecs, last << SECTOR_SHIFT);
	MUST(*word, stage.content[stage_at(4) + last]);
}

/* Many touches of a held block are copied a batch at a time; the last sector comes last. */
void scene_patched(void)
{
	unsigned int nr = BLOCKS_BATCH + 6, i;
	struct act *touch[BLOCKS_BATCH + 6];
	struct blk_plug plug;

	if (stage.block < 4)
		return;
	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	partly_patched = 0;
	shim_unlocks = look_at_patched;
	blk_start_plug(&plug);
	for (i = 0; i < nr; i++)
		touch[i] = act_send(REQ_OP_WRITE | REQ_FUA,
				    stage_at(4) + (i < BLOCKS_BATCH ?
						   1 + i % (stage.block - 2) :
						   stage.block - 1), 1);
	blk_finish_plug(&plug);
	for (i = 0; i < nr; i++)
		MUST(act_wait(touch[i]), BLK_STS_OK);
	shim_unlocks = NULL;
	MUST_LIE(partly_patched, 1, 10);
	stage_close();
}
