// SPDX-License-Identifier: GPL-2.0
/* What stands for kmod's start.c. */
#include <string.h>

#include "inside.h"

static enum block_step block_begin(struct align_block *block)
{
	enum block_step step =
		block_first_step(block->valid, block_is_whole(block));

	if (!block->failed || step == BLOCK_READ) {
		block->known = block->valid;
		block->has_read = step == BLOCK_READ;
	}
	SET_STATE(block, step == BLOCK_READ ? BLOCK_IS_READ : BLOCK_IS_WRITE);
	block->owner = OWNER_NONE;
	return step;
}

/* Return: how many blocks, up to this one, go down in front of the range. */
u8 start_take_whole(struct align_block *block, u8 owner)
{
	unsigned int max = run_max_blocks() / 2;
	struct align_block *other;
	u8 nr = 0;

	if (block->state != BLOCK_IS_COLLECT || block->owner != owner ||
	    !block_is_whole(block))
		return 0;
	for (;;) {
		other = hold_before(block);
		block_begin(block);
		if (++nr >= max || !other)
			return nr;
		if (!broken(ROW_STAYS_RESTING))
			hold_leave(other);
		block = other;
	}
}

static unsigned int count_writes(void)
{
	unsigned int nr = 0;
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		nr += S.io[r].engine;
	return nr;
}

unsigned int count_delayed(void)
{
	unsigned int nr = 0;
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		nr += S.block[b].delayed;
	return nr;
}

static bool block_delay(struct align_block *block)
{
	if (!block->late)
		return false;
	block->late = false;
	if (block_is_whole(block))
		return false;
	if (count_writes() <= count_delayed() + 1)
		return false;
	block->owner = OWNER_DELAYED;
	block->delayed = true;
	return true;
}

/* One round of it, for blocks of the caller's, as bits. */
void start_now(u8 started)
{
	enum block_step step = BLOCK_PASS;
	struct block_run *run = NULL;
	unsigned int nr = 0;
	u8 b, next = 0;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S.block[b];

		if (!(started & 1 << b))
			continue;
		if (block_delay(block))
			continue;
		if (!nr)
			run = &S.run[b];
		else if (b != next || nr >= run_max_blocks() ||
			 block_first_step(block->valid,
					  block_is_whole(block)) != step)
			break;
		step = block_begin(block);
		next = b + 1;
		nr++;
	}
	if (!nr)
		return;
	*run = (struct block_run) {
		.phase = RUN_SEND, .write = step == BLOCK_WRITE, .nr = nr };
}

void start_end_delay(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		if (!S.block[b].delayed)
			continue;
		S.block[b].delayed = false;
		run_work_queue(&S.block[b]);
	}
}

void start_hurry(void)
{
	if (count_delayed() && count_writes() <= count_delayed())
		start_end_delay();
}
