// SPDX-License-Identifier: GPL-2.0
/* What stands for kmod's run.c. */
#include <string.h>

#include "inside.h"

static void run_free(struct block_run *run)
{
	u8 b;

	if (!run->reserve)
		return;
	S.reserve_busy = false;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S.block[b].exists && S.block[b].owner == OWNER_STARVED &&
		    !broken(STARVED_NOT_WOKEN))
			run_work_queue(&S.block[b]);
}

bool block_needs_spare(const struct align_block *block)
{
	return (block->held && !broken(READ_INTO_HELD)) || block->pins;
}

/* Each block of a run goes on alone. */
static void run_part(u8 b, u8 phase)
{
	struct block_run run = S.run[b];
	u8 i;

	for (i = 0; i < run.nr; i++)
		S.run[b + i] = (struct block_run) {
			.phase = phase, .write = run.write, .nr = 1,
			.status = run.status };
}

/* Return: the run, or NULL: then the block waits for it, back in COLLECT. */
static struct block_run *run_reserve(struct align_block *block)
{
	struct block_run *run = &S.run[number_of(block)];

	if (!S.reserve_busy) {
		S.reserve_busy = true;
		run->reserve = true;
		return run;
	}
	SET_STATE(block, BLOCK_IS_COLLECT);
	block->owner = OWNER_STARVED;
	memset(run, 0, sizeof(*run));
	return NULL;
}

static void block_read(struct align_block *block)
{
	struct block_run *run = &S.run[number_of(block)];

	if (block_needs_spare(block)) {
		if (S.no_memory && !run_reserve(block))
			return;
		run->spare = 1 << number_of(block);
	}
	run->phase = RUN_FLIGHT;
}

static void runs_read(u8 b)
{
	struct block_run *run = &S.run[b];
	u8 i;

	if (S.no_memory) {
		run_part(b, RUN_SEND);
		return;
	}
	for (i = b; i < b + run->nr; i++)
		if (block_needs_spare(&S.block[i]))
			run->spare |= 1 << i;
	run->phase = RUN_FLIGHT;
}

static void block_merge(struct align_block *block, const u8 *data)
{
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (!(block->kept & 1 << i) || broken(MERGE_OVERWRITES_KEPT))
			block->buffer[i] = data[i];
}

static void run_merge(u8 b)
{
	struct block_run *run = &S.run[b];
	u8 i;

	for (i = b; i < b + run->nr; i++)
		if (run->spare & 1 << i && !run->status)
			block_merge(&S.block[i], &run->data[i * MODEL_PER_BLOCK]);
	memset(run->data, 0, sizeof(run->data));
	run->spare = 0;
	run_free(run);
	run->reserve = false;
	run->phase = RUN_MERGED;
}

/* Return: FUA. */
bool block_patch(struct align_block *block)
{
	bool fua = false;
	u8 i;

	for (i = 0; i < block->touches.nr; i++) {
		block_copy_touch(block, block->touches.of[i]);
		fua |= kind_of(block->touches.of[i])->fua;
	}
	return fua && !broken(FUA_LOST);
}

static void run_write(u8 b)
{
	struct block_run *run = &S.run[b];
	u8 i;

	for (i = b; i < b + run->nr; i++)
		run->fua |= block_patch(&S.block[i]);
	run->phase = RUN_FLIGHT;
}

void touch_pass_end(u8 r, u8 b)
{
	struct align_block *block = &S.block[b];
	bool status = S.io[r].pass_status[b];

	S.io[r].pass[b] = IO_NONE;
	S.io[r].pass_status[b] = 0;
	if (!--block->passing) {
		block->valid = false;
		block_end_turn(block);
	}
	S.io[r].how[b] = RMW_DRIVE_READ_ERROR;
	align_io_put(r, status);
}

static void block_pass_touches(struct align_block *block)
{
	u8 b = number_of(block);
	u8 i;

	for (i = 0; i < block->touches.nr; i++) {
		S.io[block->touches.of[i]].pass[b] = IO_FLIGHT;
		block->passing++;
	}
	memset(&block->touches, 0, sizeof(block->touches));
	memset(&S.run[b], 0, sizeof(S.run[b]));
}

static void block_pass_held(struct align_block *block)
{
	struct block_run *run = &S.run[number_of(block)];

	run->fua = block_patch(block);
	run->phase = RUN_NONE;
	block->pass = IO_FLIGHT;
	block->passing = 1;
}

void held_pass_end(struct align_block *block)
{
	struct block_run *run = &S.run[number_of(block)];
	bool status = block->pass_status;

	memset(run, 0, sizeof(*run));
	block->pass = IO_NONE;
	block->pass_status = 0;
	block->passing = 0;
	block_served(block, status);
}

/* The read of a run has ended, and what was read elsewhere is merged. */
static void run_go_on(u8 b)
{
	struct block_run *run = &S.run[b];
	bool failed = run->status;
	u8 i;

	if (failed && run->nr > 1) {
		run->status = 0;
		run_part(b, RUN_SEND);
		return;
	}
	for (i = b; i < b + run->nr; i++) {
		struct align_block *block = &S.block[i];
		enum block_step step =
			block_step_after_read(failed && !broken(PASS_WRITES_WHOLE),
					      block_is_whole(block));

		block->has_read = !failed;
		set_state(block, step == BLOCK_WRITE ? BLOCK_IS_WRITE :
			  BLOCK_IS_PASS, __func__);
		run->write = true;
		run->phase = step == BLOCK_WRITE ? RUN_SEND : RUN_PASS;
	}
	run->status = 0;
}

/* The request of a run has ended, or the thread that serves it goes on. */
void run_step(u8 b)
{
	struct block_run *run = &S.run[b];
	struct align_block *block = &S.block[b];
	struct block_run served;

	switch ((enum run_phase)run->phase) {
	case RUN_SEND:
		if (run->write && run->nr > 1 && S.no_memory)
			run_part(b, RUN_SEND);
		else if (run->write)
			run_write(b);
		else if (run->nr > 1)
			runs_read(b);
		else
			block_read(block);
		return;
	case RUN_DONE:
		if (!run->write && run->spare) {
			run_merge(b);
			return;
		}
		if (!run->write) {
			run_go_on(b);
			return;
		}
		if (run->status && run->nr > 1 && !broken(RUN_ERROR_REACHES_ALL)) {
			run->status = 0;
			run_part(b, RUN_SEND);
			return;
		}
		run_part(b, RUN_SERVE);
		/* fallthrough */
	case RUN_SERVE:
		served = *run;
		memset(run, 0, sizeof(*run));
		block_served(block, served.status);
		return;
	case RUN_MERGED:
		run_go_on(b);
		return;
	case RUN_PASS:
		if (block->held)
			block_pass_held(block);
		else
			block_pass_touches(block);
		return;
	case RUN_NONE:
	case RUN_FLIGHT:
		return;
	}
}
