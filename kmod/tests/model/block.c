// SPDX-License-Identifier: GPL-2.0
/* What stands for kmod's block.c. */
#include <string.h>

#include "inside.h"

void run_work_queue(struct align_block *block)
{
	block->owner = OWNER_WORK;
}

void block_release(void)
{
	S.nr--;
}

void block_remove(struct align_block *block)
{
	struct zombie *zombie = S.zombie;
	u8 b = number_of(block);
	u8 r;

	if (block->touches.nr || block->next.nr || block->held)
		wrong("WARN_ON in block_remove(): somebody needs the block");
	if (!block->pins) {
		block_release();
		memset(block, 0, sizeof(*block));
		return;
	}
	while (zombie->pins)
		if (++zombie == S.zombie + MODEL_ZOMBIES) {
			wrong("bound of the model: too many pinned blocks");
			return;
		}
	zombie->pins = block->pins;
	memcpy(zombie->buffer, block->buffer, sizeof(zombie->buffer));
	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].pin[b] == PIN_BLOCK)
			S.io[r].pin[b] = PIN_ZOMBIE + (zombie - S.zombie);
	memset(block, 0, sizeof(*block));
}

static void list_add(struct touch_list *list, u8 r)
{
	list->of[list->nr++] = r;
}

/* Its rest is known, or its touches cover all of it. */
bool block_is_whole(const struct align_block *block)
{
	return block->valid || block->covered == WHOLE;
}

static void block_take_touch(struct align_block *block, u8 r)
{
	u8 mask = part(r, number_of(block));

	list_add(&block->touches, r);
	block->covered |= mask;
	/* Its end is inside the block. */
	if (scenario.stream && !(mask & 1 << (MODEL_PER_BLOCK - 1)))
		block->late = true;
}

static void block_take_next(struct align_block *block)
{
	u8 i;

	block->covered = block->kept;
	for (i = 0; i < block->next.nr; i++)
		block_take_touch(block, block->next.of[i]);
	memset(&block->next, 0, sizeof(block->next));
}

static void block_end_delay(struct align_block *block, u8 owner)
{
	if (!block->delayed)
		return;
	block->delayed = false;
	block->owner = owner;
}

static void block_collect(struct align_block *block, u8 owner)
{
	SET_STATE(block, BLOCK_IS_COLLECT);
	block->owner = owner;
}

static enum touch_fate block_join_quiet(struct align_block *block, u8 r,
					bool rests)
{
	bool hold = S.io[r].may_hold && !block->failed && hold_touch(block, r);

	if (hold) {
		if (!block_is_kept(block)) {
			if (!rests)
				hold_rest(block);
			return TOUCH_HELD;
		}
	}
	if (rests)
		hold_leave(block);
	if (!hold)
		block_take_touch(block, r);
	block_collect(block, OWNER_REQUEST + r);
	return hold ? TOUCH_HELD : TOUCH_TAKEN;
}

static bool block_evict(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S.block[b].exists && S.block[b].state == BLOCK_IS_KNOWN) {
			block_remove(&S.block[b]);
			return true;
		}
	return false;
}

static bool blocks_take_place(void)
{
	if (S.nr >= scenario.max_blocks)
		return false;
	S.nr++;
	return true;
}

static bool blocks_make_room(void)
{
	if (blocks_take_place())
		return true;
	while (block_evict())
		if (blocks_take_place())
			return true;
	S.pressed = true;
	hold_kick();
	return false;
}

static u8 block_count_ranges(u8 b)
{
	u8 nr = 0;
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].in_range &&
		    part_of(b, S.io[r].start, S.io[r].end))
			nr++;
	return nr;
}

enum touch_fate blocks_add_touch(u8 r, u8 b)
{
	struct align_block *block = &S.block[b];

	if (block->exists) {
		switch ((enum block_state)block->state) {
		case BLOCK_IS_KNOWN:
			block->covered = 0;
			return block_join_quiet(block, r, false);
		case BLOCK_IS_HELD:
			if (!block->waiting || broken(TOUCH_OVERTAKES_RANGE))
				return block_join_quiet(block, r, true);
			break;
		case BLOCK_IS_WAIT:
		case BLOCK_IS_COLLECT:
		case BLOCK_IS_READ:
			if (!block->waiting || broken(TOUCH_OVERTAKES_RANGE)) {
				block_take_touch(block, r);
				if (block_is_whole(block))
					block_end_delay(block, OWNER_REQUEST + r);
				return TOUCH_TAKEN;
			}
			break;
		case BLOCK_IS_WRITE:
			if (broken(TOUCH_JOINS_WRITE) || (broken(TOUCH_LATE_FOR_PATCH) &&
							  S.run[b].phase == RUN_FLIGHT)) {
				block_copy_touch(block, r);
				block_take_touch(block, r);
				return TOUCH_TAKEN;
			}
			break;
		case BLOCK_IS_PASS:
			break;
		}
		list_add(&block->next, r);
		return TOUCH_TAKEN;
	}

	if (!blocks_make_room()) {
		S.io[r].how[b] = RMW_DRIVE_MAX_BLOCKS;
		return TOUCH_REFUSED;
	}
	if (S.no_memory) {
		/* A known block that goes leaves its memory to this one. */
		if (!block_evict()) {
			S.nr--;
			S.io[r].how[b] = RMW_DRIVE_NO_MEMORY;
			return TOUCH_REFUSED;
		}
	}
	block->exists = true;
	block->state = BLOCK_IS_WAIT;
	memset(block->buffer, GARBAGE, sizeof(block->buffer));
	block->blockers = broken(NEW_BLOCK_IGNORES_RANGES) ? 0 :
			  block_count_ranges(b);
	if (!block->blockers)
		return block_join_quiet(block, r, false);
	block_take_touch(block, r);
	SET_STATE(block, BLOCK_IS_WAIT);
	return TOUCH_TAKEN;
}

static bool block_holds_up(const struct align_block *block)
{
	switch ((enum block_state)block->state) {
	case BLOCK_IS_KNOWN:
		return false;
	case BLOCK_IS_HELD:
		return !block->failed && hold_is_over(block) &&
		       !broken(RANGE_PASSES_OVER);
	case BLOCK_IS_WAIT:
		return (block->touches.nr && !broken(RANGE_OVERTAKES_TOUCH)) ||
		       block->waiting ||
		       (hold_is_over(block) && !broken(RANGE_PASSES_OVER));
	case BLOCK_IS_READ:
		return !broken(RANGE_OVERTAKES_READ);
	default:
		return true;
	}
}

static bool block_goes_first(const struct align_block *block,
			     enum request_op op)
{
	return op == OP_DISCARD && block->held && !block->failed &&
	       !broken(DISCARD_ENDS_HELD);
}

static void block_collect_and_queue(struct align_block *block)
{
	SET_STATE(block, BLOCK_IS_COLLECT);
	run_work_queue(block);
}

static void shard_add_range(u8 r)
{
	struct align_io *io = &S.io[r];
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S.block[b];

		if (!block->exists || !part_of(b, io->start, io->end))
			continue;
		if (block_holds_up(block) ||
		    block_goes_first(block, kind_of(r)->op)) {
			block->waiting++;
			io->blockers++;
			io->waits |= 1 << b;
			if (block->state == BLOCK_IS_HELD)
				hold_kick();
		} else if (block->state == BLOCK_IS_KNOWN) {
			if (!broken(RANGE_KEEPS_KNOWN))
				block_remove(block);
		} else if (block->state != BLOCK_IS_READ) {
			if (block->state == BLOCK_IS_HELD)
				hold_leave(block);
			SET_STATE(block, BLOCK_IS_WAIT);
			if (!broken(RANGE_KEEPS_VALID))
				block->valid = false;
			block->blockers++;
		}
	}
}

/* Return: it may go down now. */
bool blocks_add_range(u8 r)
{
	u8 not_to_pass = note_turn_of_range(r);

	shard_add_range(r);
	S.io[r].in_range = true;
	if (not_to_pass & ~S.io[r].waits)
		wrong("fairness: a range passes a block that has to be emptied");
	return !S.io[r].blockers;
}

static void block_go_on(struct align_block *block)
{
	if (block->touches.nr || (block->failed && block->waiting))
		block_collect_and_queue(block);
	else if (block->held)
		hold_rest(block);
	else if (block->waiting)
		block_end_turn(block);
	else
		block_remove(block);
}

void blocks_end_range(u8 r, bool ok)
{
	struct align_io *io = &S.io[r];
	u8 b;

	io->in_range = false;
	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S.block[b];

		if (!block->exists || !part_of(b, io->start, io->end))
			continue;
		if (block->state != BLOCK_IS_WAIT) {
			/* Seen only with a fault of ours that is meant. */
			if (fault == NR_BREAKS)
				wrong("WARN_ON in shard_end_range()");
			continue;
		}
		if ((ok || broken(FAILED_RANGE_ENDS_HELD)) && block->held)
			hold_overwritten(block, r);
		if (!block->blockers)
			wrong("a block waits for less than no range");
		else if (!--block->blockers)
			block_go_on(block);
	}
}

static void block_let_through(u8 b)
{
	u8 r;

	if (broken(RANGE_NOT_LET_THROUGH))
		return;
	for (r = 0; r < scenario.nr_requests; r++) {
		struct align_io *io = &S.io[r];

		if (!io->in_range || !part_of(b, io->start, io->end))
			continue;
		io->waits &= ~(1 << b);
		if (!io->blockers)
			wrong("a range is let through that does not wait");
		else if (!--io->blockers)
			io->io = IO_QUEUED;
	}
}

void block_end_turn(struct align_block *block)
{
	if (block->waiting) {
		block->valid = false;
		block->blockers = block->waiting;
		block->waiting = 0;
		block_let_through(number_of(block));
		if (!block->next.nr && !block->held) {
			block_remove(block);
			return;
		}
		block_take_next(block);
		SET_STATE(block, BLOCK_IS_WAIT);
	} else if (block->next.nr) {
		block_take_next(block);
		block_collect_and_queue(block);
	} else if (block->held) {
		hold_rest(block);
	} else if (block->valid) {
		SET_STATE(block, BLOCK_IS_KNOWN);
	} else {
		block_remove(block);
	}
}

void block_served(struct align_block *block, bool status)
{
	bool passed = block->state == BLOCK_IS_PASS;
	u8 b = number_of(block);
	enum rmw_how first, later;
	struct touch_list done;
	u8 i;

	first = passed ? RMW_DRIVE_READ_ERROR :
		block_how(status, block->known, block->has_read, 0);
	later = passed ? RMW_DRIVE_READ_ERROR :
		block_how(status, block->known, block->has_read, 1);
	done = block->touches;
	memset(&block->touches, 0, sizeof(block->touches));
	if (block->held && status && !broken(FAILED_WRITE_FORGOTTEN)) {
		hold_failed(block);
		block->valid = !passed;
	} else {
		block->valid = !status && !passed;
		if (block->held) {
			hold_resolve(block, first, later);
			first = later;
		}
	}
	block_end_turn(block);

	for (i = 0; i < done.nr; i++) {
		S.io[done.of[i]].how[b] = first;
		first = later;
		align_io_put(done.of[i], status);
	}
}

void blocks_forget(void)
{
	while (block_evict())
		;
	hold_forget();
}
