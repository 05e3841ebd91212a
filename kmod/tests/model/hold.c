// SPDX-License-Identifier: GPL-2.0
/* What stands for kmod's hold.c. */
#include <string.h>

#include "inside.h"

void hold_kick(void)
{
	S.empty_queued = true;
}

static void flush_go(u8 r)
{
	S.io[r].io = IO_QUEUED;
}

void waiter_done(u8 w)
{
	S.waiter[w].listed = false;
	if (w < MODEL_REQUESTS)
		flush_go(w);
}

static void hold_settle(u8 seq, bool failed)
{
	u8 w;

	if (failed ? broken(WAITER_OF_FAILED_NOT_WOKEN) : broken(WAITER_NOT_WOKEN))
		return;
	for (w = 0; w < MODEL_WAITERS; w++) {
		struct align_waiter *waiter = &S.waiter[w];

		if (!waiter->listed || seq > waiter->seq)
			continue;
		if (failed && !broken(FLUSH_IGNORES_FAILED))
			waiter->failed = true;
		if (!waiter->left--)
			wrong("a waiter has nothing left to wait for");
		if (!waiter->left)
			waiter_done(w);
	}
}

/* Book in held_bytes, which are sectors here, that a block held @before. */
static void hold_count_bytes(const struct align_block *block, u8 before)
{
	S.held_bytes += bits(block->kept) - bits(before);
}

static bool hold_begin(struct align_block *block)
{
	if (!S.holding && !broken(HOLD_AFTER_STOP))
		return false;
	block->seq = ++S.seq;
	block->over = false;
	S.nr_held++;
	return true;
}

void block_copy_touch(struct align_block *block, u8 r)
{
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (part(r, number_of(block)) & 1 << i)
			block->buffer[i] = r + 1;
}

bool hold_touch(struct align_block *block, u8 r)
{
	u8 before = block->kept;
	u8 b = number_of(block);

	if (!block->held && !hold_begin(block))
		return false;
	block->held++;
	block_copy_touch(block, r);
	block->kept |= part(r, b);
	hold_count_bytes(block, before);
	block->covered = block->kept;
	S.io[r].touch_held |= 1 << b;
	S.io[r].unresolved &= ~(1 << b);
	return true;
}

bool hold_is_over(const struct align_block *block)
{
	u8 max = scenario.max_blocks;

	if (S.nr_resting > max - max / 4)
		S.pressed = true;
	else if (S.nr_resting <= max / 2)
		S.pressed = false;
	return block->waiting || !S.holding || S.pressed ||
	       block->seq <= S.empty_seq || block->over;
}

void hold_rest(struct align_block *block)
{
	SET_STATE(block, BLOCK_IS_HELD);
	block->covered = block->kept;
	block->owner = OWNER_NONE;
	if (block->failed) {
		S.nr_idle++;
		hold_kick();
		return;
	}
	S.nr_resting++;
	if (hold_is_over(block))
		hold_kick();
	else if (!broken(TIMER_NOT_ARMED))
		S.due = true;
}

static void hold_end(struct align_block *block)
{
	u8 before = block->kept;

	block->held = 0;
	block->kept = 0;
	hold_count_bytes(block, before);
	S.nr_held--;
	block->failed = false;
	hold_settle(block->seq, false);
}

void hold_resolve(struct align_block *block, enum rmw_how how,
		  enum rmw_how later)
{
	if (broken(LEDGER_NOT_SUPERSEDED) && how == RMW_SUPERSEDED) {
		hold_end(block);
		return;
	}
	ledger_book(how, 1);
	ledger_book(later, block->held - 1);
	hold_end(block);
}

void hold_failed(struct align_block *block)
{
	hold_settle(block->seq, true);
	block->seq = ++S.seq;
	block->failed = true;
	block->over = false;
}

void hold_overwritten(struct align_block *block, u8 r)
{
	u8 b = number_of(block);
	u8 over = part_of(b, S.io[r].start, S.io[r].end);
	u8 before = block->kept;
	u8 i;

	if (kind_of(r)->op != OP_WRITE && over != WHOLE &&
	    !broken(PART_DISCARD_ENDS_HELD))
		return;
	if (kind_of(r)->op != OP_WRITE && !block->failed &&
	    !broken(PART_DISCARD_ENDS_HELD) && !broken(DISCARD_ENDS_HELD))
		return;
	/* What could not be written; whatever the drive does with the discard. */
	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (kind_of(r)->op == OP_DISCARD && over == WHOLE && block->failed)
			S.given_up[b * MODEL_PER_BLOCK + i] = true;
	block->kept &= ~over;
	if (!broken(OVERWRITTEN_KEEPS_BYTES))
		hold_count_bytes(block, before);
	block->covered = block->kept;
	for (i = 0; i < block->touches.nr; i++)
		block->covered |= part(block->touches.of[i], b);
	if (!block->kept)
		hold_resolve(block, RMW_SUPERSEDED, RMW_SUPERSEDED);
}

void hold_leave(struct align_block *block)
{
	if (block->failed)
		S.nr_idle--;
	else
		S.nr_resting--;
}

static void hold_take(struct align_block *block, u8 owner)
{
	hold_leave(block);
	SET_STATE(block, BLOCK_IS_COLLECT);
	block->owner = owner;
}

bool block_is_kept(const struct align_block *block)
{
	return block->kept == WHOLE;
}

static bool hold_is_neighbour(const struct align_block *other, bool half)
{
	if (!other->exists || other->state != BLOCK_IS_HELD || other->failed)
		return false;
	return block_is_kept(other) || hold_is_over(other) || half;
}

struct align_block *hold_before(struct align_block *block)
{
	struct align_block *other = block - 1;

	if (block == S.block || !other->exists ||
	    other->state != BLOCK_IS_HELD || other->failed ||
	    !block_is_kept(other))
		return NULL;
	return other;
}

void hold_for_stream(struct align_block *block, u8 owner)
{
	unsigned int max = run_max_blocks();
	struct align_block *other;
	unsigned int nr;

	/* The block of the second touch would be behind it in the list. */
	if (block->state != BLOCK_IS_COLLECT || block->owner != owner ||
	    (block[1].state == BLOCK_IS_COLLECT && block[1].owner == owner) ||
	    block->touches.nr || !block_is_kept(block))
		return;
	other = hold_before(block);
	block->row = other ? other->row + 1 : 1;
	if (block->row < max) {
		hold_rest(block);
		return;
	}
	for (nr = 1; other && nr < max; nr++) {
		block = other;
		other = hold_before(block);
		hold_take(block, owner);
	}
}

static void hold_gather(struct align_block *block, bool half)
{
	struct align_block *last = S.block + MODEL_BLOCKS - 1;
	unsigned int max = run_max_blocks();
	unsigned int nr = 1;

	while (nr < max && block > S.block &&
	       hold_is_neighbour(block - 1, half)) {
		block--;
		nr++;
	}
	for (nr = 0; nr < max; nr++) {
		hold_take(block, OWNER_EMPTY);
		if (block == last || !hold_is_neighbour(block + 1, half))
			break;
		block++;
	}
}

/* Whether a failed block is tried again. */
static bool hold_is_retried(const struct align_block *block)
{
	return block->seq <= S.empty_seq || block->over;
}

/* Whether @block is in a list of which the drain takes blocks of this kind. */
static bool in_list_of(const struct align_block *block, enum drain_turn turn)
{
	if (!block->exists || block->state != BLOCK_IS_HELD ||
	    block->failed != (turn == DRAIN_FAILED))
		return false;
	if (turn == DRAIN_OLDEST)
		return !block->waiting;
	return turn != DRAIN_URGENT || block->waiting;
}

/* The first of shard->held or shard->failed, or one of shard->urgent, or NULL. */
static struct align_block *first_of(enum drain_turn turn)
{
	struct align_block *block, *first = NULL;

	for (block = S.block; block < S.block + MODEL_BLOCKS; block++)
		if (in_list_of(block, turn) && (!first || block->seq < first->seq))
			first = block;
	return first;
}

/*
 * The block of a kind that is to be taken, or NULL. That the oldest is urgent if a
 * waiter waits for it is left out: the kinds are tried in any order.
 */
static struct align_block *hold_first(enum drain_turn turn)
{
	struct align_block *block = first_of(turn);

	switch (turn) {
	case DRAIN_URGENT:
		return block;
	case DRAIN_OLDEST:
		return block && hold_is_over(block) ? block : NULL;
	case DRAIN_FAILED:
		return block && hold_is_retried(block) ? block : NULL;
	case DRAIN_TURNS:
		break;
	}
	return NULL;
}

/* Neighbours that failed one behind the other go as one. */
static void hold_retry(struct align_block *block)
{
	struct align_block *last = S.block + MODEL_BLOCKS - 1;
	unsigned int max = run_max_blocks();
	u8 seq;

	while (max--) {
		seq = block->seq;
		hold_take(block, OWNER_EMPTY);
		if (block++ == last || !in_list_of(block, DRAIN_FAILED) ||
		    first_of(DRAIN_FAILED) != block || block->seq < seq ||
		    !hold_is_retried(block))
			return;
	}
}

bool owns_any(u8 owner)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S.block[b].exists && S.block[b].owner == owner)
			return true;
	return false;
}

/*
 * One step of it; @half: young blocks go with their neighbours. Which kind of
 * block's turn it is depends on all that was before, so any may be: @turn.
 */
bool hold_empty_work(bool half, enum drain_turn turn)
{
	struct align_block *block;
	u8 pressed = S.pressed;
	bool any = false, takes;
	unsigned int i;
	u8 b;

	if (owns_any(OWNER_EMPTY))
		return false;
	if (S.empty == EMPTY_IDLE && !S.empty_queued)
		return false;
	block = hold_first(turn);
	for (i = 0; i < DRAIN_TURNS && !any; i++)
		any = hold_first(i);
	takes = any && S.empty != EMPTY_ARM &&
		(S.empty == EMPTY_TAKE || !takes_steps_apart());
	/* Once for each way to take something, or else once. */
	if (takes ? !block : half || turn) {
		/* What cannot happen changes nothing. */
		S.pressed = pressed;
		return false;
	}
	switch ((enum empty_phase)S.empty) {
	case EMPTY_IDLE:
		S.empty_queued = false;
		S.empty = EMPTY_FIND;
		/* fallthrough */
	case EMPTY_FIND:
		if (S.frozen && !broken(EMPTY_WHILE_FROZEN)) {
			S.empty = EMPTY_IDLE;
			return true;
		}
		S.empty = EMPTY_TAKE;
		if (takes_steps_apart())
			return true;
		/* fallthrough */
	case EMPTY_TAKE:
		if (takes) {
			if (turn == DRAIN_FAILED)
				hold_retry(block);
			else
				hold_gather(block, half);
			S.empty = EMPTY_FIND;
			return true;
		}
		S.empty = EMPTY_ARM;
		if (takes_steps_apart())
			return true;
		/* fallthrough */
	case EMPTY_ARM:
		for (b = 0; b < MODEL_BLOCKS; b++)
			if (S.block[b].exists &&
			    S.block[b].state == BLOCK_IS_HELD)
				S.due = true;
		S.empty = EMPTY_IDLE;
		return true;
	}
	return false;
}

void hold_wait(u8 w)
{
	S.waiter[w] = (struct align_waiter) {
		.listed = true, .seq = S.seq, .left = S.nr_held };
	if (broken(FLUSH_SEES_RESTING_ONLY) && w < MODEL_REQUESTS)
		S.waiter[w].left = S.nr_resting + S.nr_idle;
	S.empty_seq = S.seq;
	hold_kick();
	if (!S.waiter[w].left)
		waiter_done(w);
}

void hold_stop(u8 why)
{
	S.stopped |= why;
	S.holding = false;
	hold_kick();
}

void hold_start(u8 why)
{
	S.stopped &= ~why;
	S.holding = S.mode == ALIGN_COALESCE && !S.stopped;
}

void hold_thaw(void)
{
	S.frozen = false;
	hold_start(HOLD_STOPPED_SUSPEND);
	if (S.nr_held)
		hold_kick();
}

void hold_forget(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S.block[b].exists && S.block[b].state == BLOCK_IS_HELD)
			S.block[b].valid = false;
}
