// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of a drive that fails: held blocks, retries, log lines.
 */
#include "block_state.h"
#include "scenes.h"
#include "stage.h"

/*
 * Return the request that retries the blocks 4 and 5 as one after their write has
 * failed; or REQ_OP_FLUSH: the blocks failed in the other order, or only one needs a
 * read.
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

/* A block that cannot be written stays held, is reported, and is retried. */
void scene_degraded(void)
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
	/* One request for both blocks, and each block alone. */
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

/* Each block is retried when its own time has come, not at another one's. */
void scene_retries(void)
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

/* A flush does not wait for a younger block that fails. */
void scene_younger_fails(void)
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

/* A block that cannot be read: its touches go down unmodified. */
void scene_unreadable(void)
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
