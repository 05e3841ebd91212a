// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of a cgroup that has a limit of the drive: its requests may wait for long in a
 * queue of its own, for which requests that the drive is told to keep waiting stand.
 * No request of another cgroup may wait for them.
 */
#include <linux/sched.h>

#include "scenes.h"
#include "stage.h"

#define CGROUP		7

/* From now on the drive has a limit, or has none. */
static void limit(bool has)
{
	stage.drive->queue->td = has ? (struct throtl_data *)&stage : NULL;
}

/* Send a write on the account of the cgroup. */
static struct act *send_of_cgroup(blk_opf_t opf, unsigned int first, unsigned int nr)
{
	struct act *act;

	act_place.cgroup = CGROUP;
	act = act_send(REQ_OP_WRITE | opf, first, nr);
	act_place.cgroup = 0;
	stage_rest_us(AT_ONCE_US);
	return act;
}

/* A write over a held block waits until that is written, if it may come late. */
void scene_limited(void)
{
	const struct drive_seen *seen;
	struct act *act;

	stage_open(2, 400, 64);
	act_write(stage_at(4), 1);
	limit(true);
	MUST(act_wait(send_of_cgroup(REQ_NOWAIT, stage_at(4), stage.block)),
	     BLK_STS_AGAIN);
	must_see_no(0);
	stage_waits(WRITES);
	act = send_of_cgroup(0, stage_at(4), stage.block);
	must_see(0, REQ_OP_READ, stage_at(4), stage.block);
	seen = must_see(1, REQ_OP_WRITE, stage_at(4), stage.block);
	MUST(seen->nobodys, true);
	must_see_no(2);
	stage_waits(0);
	MUST(act_wait(act), BLK_STS_OK);
	seen = must_see(2, REQ_OP_WRITE, stage_at(4), stage.block);
	MUST(seen->cgroup, CGROUP);
	MUST(COUNT(rmw_avoided_superseded), 0);
	/* The same where a kernel thread sends a write of the cgroup. */
	act_write(stage_at(6), 1);
	drive_forget_seen();
	current->flags = PF_KTHREAD;
	act = send_of_cgroup(0, stage_at(6), stage.block);
	current->flags = 0;
	MUST(act_wait(act), BLK_STS_OK);
	must_see(0, REQ_OP_READ, stage_at(6), stage.block);
	must_see(1, REQ_OP_WRITE, stage_at(6), stage.block);
	seen = must_see(2, REQ_OP_WRITE, stage_at(6), stage.block);
	MUST(seen->cgroup, CGROUP);
	/* A write that no limit holds up supersedes a held block at once. */
	act_write(stage_at(8), 1);
	drive_forget_seen();
	act_write(stage_at(8), stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(8), stage.block);
	limit(false);
	act_write(stage_at(8), 1);
	drive_forget_seen();
	MUST(act_wait(send_of_cgroup(0, stage_at(8), stage.block)), BLK_STS_OK);
	must_see(0, REQ_OP_WRITE, stage_at(8), stage.block);
	MUST(COUNT(rmw_avoided_superseded), 2);
	stage_close();
}

/*
 * Nor does a write from outside the cgroup go over a held block, if it has to wait at
 * the next block, or the one before, for a touch that waits for a write of the
 * cgroup.
 */
void scene_limited_behind(void)
{
	struct act *late, *touch, *range, *flush;
	unsigned int i;

	stage_open(2, 400, 64);
	limit(true);
	for (i = 0; i < 2; i++) {
		unsigned int first = 39 + 4 * i, waits = first + !i, held = first + i;

		stage_waits_at(WRITES, waits);
		late = send_of_cgroup(0, stage_at(waits), stage.block);
		touch = act_send(REQ_OP_WRITE, stage_at(waits) + 1, 1);
		stage_rest_us(AT_ONCE_US);
		act_write(stage_at(held), 1);
		range = act_send(REQ_OP_WRITE, stage_at(first), 2 * stage.block);
		stage_rest_us(AT_ONCE_US);
		flush = act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0);
		MUST(act_wait(flush), BLK_STS_OK);
		MUST(late->ended, false);
		MUST(range->ended, false);
		stage_waits(0);
		MUST(act_wait(late) | act_wait(touch) | act_wait(range), BLK_STS_OK);
		stage_leave_open(stage_at(waits), stage.block);
	}
	limit(false);
	stage_close();
}

/* A touch waits for no write elsewhere that may come late. */
void scene_limited_elsewhere(void)
{
	struct act *late, *touch;

	stage_open(1, 400, 64);
	limit(true);
	stage_waits_from(WRITES, 30);
	late = send_of_cgroup(0, stage_at(40), stage.block);
	must_see(0, REQ_OP_WRITE, stage_at(40), stage.block);
	touch = act_send(REQ_OP_WRITE, stage_at(4) + 1, 1);
	stage_rest_ms(1);
	MUST(touch->ended, true);
	MUST(late->ended, false);
	limit(false);
	stage_waits(0);
	MUST(act_wait(touch) | act_wait(late), BLK_STS_OK);
	stage_close();
}

/* Requests with the last memory are on no cgroup's account, as all others wait for it. */
void scene_scarce(void)
{
	struct act *first, *second, *third;

	if (stage.block > 16 || stage.block < 2 || stage.plan->offset)
		return;
	stage_narrow();
	limit(true);
	stage_open(1, 400, 1);
	stage_waits(READS);
	first = send_of_cgroup(0, stage_at(4) + 1, 1);
	second = send_of_cgroup(0, stage_at(6) + 1, 1);
	third = act_send(REQ_OP_WRITE, stage_at(8) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	MUST(must_see(0, REQ_OP_READ, stage_at(4), stage.block)->cgroup, CGROUP);
	MUST(must_see(1, REQ_OP_READ, stage_at(6), stage.block)->nobodys, true);
	must_see_no(2);
	stage_waits(0);
	MUST(act_wait(first) | act_wait(second) | act_wait(third), BLK_STS_OK);
	/* The same with reads. */
	stage_waits(READS);
	drive_forget_seen();
	act_place.cgroup = CGROUP;
	first = act_send(REQ_OP_READ, stage_at(4) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	shim_faults.nowait_one_in = 1;
	second = act_send(REQ_OP_READ, stage_at(6) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	third = act_send(REQ_OP_READ, stage_at(8) + 1, 1);
	stage_rest_us(AT_ONCE_US);
	act_place.cgroup = 0;
	shim_faults.nowait_one_in = 0;
	MUST(must_see(0, REQ_OP_READ, stage_at(4), stage.block)->cgroup, CGROUP);
	MUST(must_see(1, REQ_OP_READ, stage_at(6), stage.block)->nobodys, true);
	must_see_no(2);
	stage_waits(0);
	MUST(act_wait(first) | act_wait(second) | act_wait(third), BLK_STS_OK);
	MUST(must_see(2, REQ_OP_READ, stage_at(8), stage.block)->nobodys, true);
	/* And of copies. */
	stage_waits(WRITES);
	drive_forget_seen();
	shim_faults.nowait_one_in = 1;
	act_place.alone = 1;
	first = send_of_cgroup(0, stage_at(10), stage.block);
	act_place.alone = 0;
	shim_faults.nowait_one_in = 0;
	MUST(must_see(0, REQ_OP_WRITE, stage_at(10), stage.block)->nobodys, true);
	stage_waits(0);
	MUST(act_wait(first), BLK_STS_OK);
	limit(false);
	stage_close();
	stage_widen();
}

/*
 * A read into memory of its own is on no account, also where the block holds nothing:
 * there is little of that memory, and of the last there is room for one block.
 */
void scene_own_memory(void)
{
	struct act *range, *read, *touch;
	unsigned int i;

	stage_open(2, 400, 64);
	limit(true);
	for (i = 0; i < 2; i++) {
		unsigned int at = stage_at(4 + 2 * i);

		act_write(at + 1, 1);
		drive_forget_seen();
		stage_waits(READS | WRITES);
		range = act_send(REQ_OP_WRITE, at, stage.block);
		stage_rest_us(AT_ONCE_US);
		/* The touch is too late for this turn of the block. */
		touch = send_of_cgroup(0, at + 1, 1);
		/* And the read uses the buffer, as the held data are not on the drive. */
		read = act_send(REQ_OP_READ, at, stage.block);
		stage_rest_us(AT_ONCE_US);
		must_see_no(2);
		shim_faults.nowait_one_in = i;
		stage_waits(READS);
		MUST(act_wait(range), BLK_STS_OK);
		stage_rest_us(AT_ONCE_US);
		shim_faults.nowait_one_in = 0;
		MUST(must_see(2, REQ_OP_READ, at, stage.block)->nobodys, true);
		stage_waits(0);
		MUST(act_wait(touch) | act_wait(read), BLK_STS_OK);
	}
	limit(false);
	stage_close();
}
