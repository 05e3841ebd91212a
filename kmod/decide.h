/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decide what a block does next, and how the partial touches that it served are
 * booked. Pure functions, so that every combination can be tested.
 */
#ifndef DM_ALIGN_DECIDE_H
#define DM_ALIGN_DECIDE_H

#include <linux/types.h>

#include "mode.h"

/**
 * enum block_state - what a block in memory is about; see the top of turn.c
 * @BLOCK_IS_WAIT: it has touches, maybe held ones, and ranges go first
 * @BLOCK_IS_COLLECT: a thread is about to start it
 * @BLOCK_IS_READ: its pad read is in flight
 * @BLOCK_IS_WRITE: it is being written whole
 * @BLOCK_IS_PASS: its touches are in flight unmodified
 * @BLOCK_IS_REST: it holds acknowledged touches, and no request is in flight
 * @BLOCK_IS_CACHED: it has no touch, and its content is cached
 * @BLOCK_STATES: number of states
 */
enum block_state {
	BLOCK_IS_WAIT,
	BLOCK_IS_COLLECT,
	BLOCK_IS_READ,
	BLOCK_IS_WRITE,
	BLOCK_IS_PASS,
	BLOCK_IS_REST,
	BLOCK_IS_CACHED,
	BLOCK_STATES,
};

/**
 * struct block_facts - a block, as far as decisions about its touches and ranges need it
 * @state: its state
 * @touches: touches of this turn have not been served
 * @next: touches wait for the next turn
 * @waiting: ranges wait for the block
 * @held: the block holds acknowledged touches
 * @failed: the held touches could not be written
 * @over: the held touches must not be held any longer
 * @valid: the content of the block is cached
 */
struct block_facts {
	enum block_state state;
	bool touches;
	bool next;
	bool waiting;
	bool held;
	bool failed;
	bool over;
	bool valid;
};

/**
 * enum touch_step - what becomes of a partial touch that comes to a block
 * @TOUCH_MAY_REST: the block rests: the touch is held, or the block goes with the touch
 * @TOUCH_JOINS: the touch is served in this turn
 * @TOUCH_WAITS: the touch is served in the next turn
 */
enum touch_step {
	TOUCH_MAY_REST,
	TOUCH_JOINS,
	TOUCH_WAITS,
};

/**
 * block_touch_step - decide about a touch that comes to a block in memory
 * @state: state of the block
 * @waiting: ranges wait for the block, and have come first
 *
 * Return: what becomes of the touch (rule 3 of turn.c).
 */
static inline enum touch_step block_touch_step(enum block_state state,
					       bool waiting)
{
	switch (state) {
	case BLOCK_IS_CACHED:
		return TOUCH_MAY_REST;
	case BLOCK_IS_REST:
		return waiting ? TOUCH_WAITS : TOUCH_MAY_REST;
	case BLOCK_IS_WAIT:
	case BLOCK_IS_COLLECT:
	case BLOCK_IS_READ:
		return waiting ? TOUCH_WAITS : TOUCH_JOINS;
	case BLOCK_IS_WRITE:
	case BLOCK_IS_PASS:
	case BLOCK_STATES:
		break;
	}
	return TOUCH_WAITS;
}

/**
 * enum range_step - what becomes of a range that comes to a block
 * @RANGE_WAITS: the range waits for the end of the block's turn
 * @RANGE_EVICTS: the block, which is only cached, is evicted
 * @RANGE_PASSES: the range goes down, and the block waits for its end
 */
enum range_step {
	RANGE_WAITS,
	RANGE_EVICTS,
	RANGE_PASSES,
};

/**
 * block_range_step - decide about a range that comes to a block in memory
 * @block: the block; @valid and @next do not matter
 * @discard: the range is a discard, which a drive may ignore
 *
 * Ranges may pass a held block, but not for ever: a block that has to be written
 * is written before the next range. Held data that could not be written is given
 * up by a range that overwrites it, and by a discard; before a discard all other
 * held data is written (rule 7 of held.c).
 *
 * Return: the step of the range.
 */
static inline enum range_step block_range_step(const struct block_facts *block,
					       bool discard)
{
	if (discard && block->held && !block->failed)
		return RANGE_WAITS;
	switch (block->state) {
	case BLOCK_IS_CACHED:
		return RANGE_EVICTS;
	case BLOCK_IS_REST:
		return !block->failed && block->over ? RANGE_WAITS :
						       RANGE_PASSES;
	case BLOCK_IS_WAIT:
		/* The same, if it has no touches and is only held. */
		return block->touches || block->waiting || block->over ?
			RANGE_WAITS : RANGE_PASSES;
	case BLOCK_IS_COLLECT:
	case BLOCK_IS_READ:
	case BLOCK_IS_WRITE:
	case BLOCK_IS_PASS:
	case BLOCK_STATES:
		break;
	}
	return RANGE_WAITS;
}

/**
 * enum block_next - what a block does next
 * @BLOCK_WAITS: the block waits for the ranges that it lets through
 * @BLOCK_ENDS_TURN: the block lets the ranges through that wait for it, and so on
 * @BLOCK_COLLECTS: the block begins a turn with its touches, or with its held touches
 * @BLOCK_RESTS: the block goes on to hold its touches
 * @BLOCK_STAYS: the block stays for a while, as its content is cached
 * @BLOCK_LEAVES: the block is not needed any more
 */
enum block_next {
	BLOCK_WAITS,
	BLOCK_ENDS_TURN,
	BLOCK_COLLECTS,
	BLOCK_RESTS,
	BLOCK_STAYS,
	BLOCK_LEAVES,
};

/**
 * block_after_turn - decide what a block does at the end of its turn
 * @block: the block; @state, @touches, @failed and @over do not matter
 *
 * Return: BLOCK_WAITS or BLOCK_LEAVES if ranges wait, which are let through; else
 * BLOCK_COLLECTS, BLOCK_RESTS, BLOCK_STAYS or BLOCK_LEAVES.
 */
static inline enum block_next block_after_turn(const struct block_facts *block)
{
	if (block->waiting)
		return block->next || block->held ? BLOCK_WAITS : BLOCK_LEAVES;
	if (block->next)
		return BLOCK_COLLECTS;
	if (block->held)
		return BLOCK_RESTS;
	return block->valid ? BLOCK_STAYS : BLOCK_LEAVES;
}

/**
 * block_after_ranges - decide what a block in WAIT does when no range is in flight
 * @block: the block; @state, @next, @over and @valid do not matter
 *
 * Return: BLOCK_COLLECTS, BLOCK_RESTS, BLOCK_ENDS_TURN or BLOCK_LEAVES.
 */
static inline enum block_next block_after_ranges(const struct block_facts *block)
{
	if (block->touches || (block->failed && block->waiting))
		return BLOCK_COLLECTS;
	if (block->held)
		return BLOCK_RESTS;
	return block->waiting ? BLOCK_ENDS_TURN : BLOCK_LEAVES;
}

/**
 * held_is_pressed - decide whether blocks are written to make room for others
 * @pressed: they have been until now
 * @resting: number of held blocks that rest
 * @max: limit of blocks in memory
 *
 * Return: whether they are, from more than three quarters of @max down to half of it.
 */
static inline bool held_is_pressed(bool pressed, unsigned int resting,
				   unsigned int max)
{
	if (resting > max - max / 4)
		return true;
	return pressed && resting > max / 2;
}

/**
 * held_goes_along - decide whether a held block goes with a neighbour that is written
 * @whole: no sector of the block is missing
 * @over: the block must not be held any longer itself
 * @age: for how long the block has been held
 * @hold: how long a block is held; in the unit of @age
 *
 * Return: whether the block goes. A young block with missing sectors had better wait for
 * them.
 */
static inline bool held_goes_along(bool whole, bool over, __u64 age, __u64 hold)
{
	return whole || over || age >= hold / 2;
}

/**
 * enum block_step - the next step for the touches that a block collected
 * @BLOCK_READ: read the block, because the touches leave a part of it open
 * @BLOCK_WRITE: patch the buffer and write it whole
 * @BLOCK_PASS: send each touch unmodified
 * @BLOCK_FAIL: send nothing: the touches fail
 */
enum block_step {
	BLOCK_READ,
	BLOCK_WRITE,
	BLOCK_PASS,
	BLOCK_FAIL,
};

/**
 * block_first_step - begin to serve the touches of a block
 * @valid: the buffer holds what a read at this moment would return
 * @full: the touches cover the whole block
 *
 * Return: BLOCK_WRITE if nothing is missing, else BLOCK_READ.
 */
static inline enum block_step block_first_step(bool valid, bool full)
{
	return valid || full ? BLOCK_WRITE : BLOCK_READ;
}

/**
 * block_step_after_read - go on when the pad read has ended
 * @failed: the read failed, and the buffer holds nothing
 * @full: the touches cover the whole block by now
 * @may_pass: the device below takes touches as they came
 *
 * Return: BLOCK_PASS or BLOCK_FAIL if a part of the block is unknown, else BLOCK_WRITE.
 */
static inline enum block_step block_step_after_read(bool failed, bool full,
						    bool may_pass)
{
	if (!failed || full)
		return BLOCK_WRITE;
	return may_pass ? BLOCK_PASS : BLOCK_FAIL;
}

/**
 * block_how - how a touch that went down in a whole block is booked
 * @failed: the write of the block failed
 * @was_valid: its content was cached before the touches came
 * @read: it was read, and the read succeeded
 * @nth: place of the touch in order of arrival, from 0
 *
 * Return: how the touch was resolved; never one of RMW_DRIVE_*.
 */
static inline enum rmw_how block_how(bool failed, bool was_valid, bool read,
				     unsigned int nth)
{
	if (failed)
		return RMW_LOST;
	if (was_valid)
		return RMW_KNOWN;
	if (read)
		return nth ? RMW_MERGED : RMW_HOST;
	return RMW_COMPLETE;
}

/**
 * enum drain_turn - the kinds of held blocks that the drain takes in turn
 * @DRAIN_URGENT: a range waits for the block, or a waiter
 * @DRAIN_OLDEST: the block that began to hold first of those to be written now
 * @DRAIN_FAILED: the write of the block failed and is to be tried again
 * @DRAIN_TURNS: number of kinds
 */
enum drain_turn {
	DRAIN_URGENT,
	DRAIN_OLDEST,
	DRAIN_FAILED,
	DRAIN_TURNS,
};

/**
 * struct drain_shard - a shard, as far as the drain's choice needs it
 * @seq: number of the oldest held block, if @has says that this block is to be written
 * @has: whether there is a block of each kind
 */
struct drain_shard {
	__u64 seq;
	bool has[DRAIN_TURNS];
};

/**
 * struct drain_cursor - where the drain goes on
 * @turn: the kind whose turn it is
 * @shard: the shard where the search for a kind begins
 */
struct drain_cursor {
	unsigned int turn;
	unsigned int shard[DRAIN_TURNS];
};

/*
 * Find the shard of which the drain takes a block of a kind: the one with the
 * oldest block, or the first one from the cursor on. Return: @nr if there is none.
 */
static inline unsigned int drain_shard_of(const struct drain_cursor *cursor,
					  const struct drain_shard *shards,
					  unsigned int nr,
					  enum drain_turn turn)
{
	unsigned int i, found = nr;

	for (i = 0; i < nr; i++) {
		unsigned int at = (cursor->shard[turn] + i) % nr;

		if (!shards[at].has[turn])
			continue;
		if (turn != DRAIN_OLDEST)
			return at;
		if (found == nr || shards[at].seq < shards[found].seq)
			found = at;
	}
	return found;
}

/**
 * drain_next - choose of which shard the drain takes a block next, of which kind
 * @cursor: where the drain goes on; the turn of the kind is over afterwards
 * @shards: the shards
 * @nr: number of shards
 * @turn: receives the kind
 *
 * The kinds take turns, and for each kind but the oldest the shards do. So however
 * many blocks come meanwhile, the oldest one is taken after DRAIN_TURNS choices at
 * the latest, and a block for which a range waits after DRAIN_TURNS * @nr choices
 * for each that its shard had to take before.
 *
 * Return: the shard, or @nr if there is nothing to take.
 */
static inline unsigned int drain_next(struct drain_cursor *cursor,
				      const struct drain_shard *shards,
				      unsigned int nr, enum drain_turn *turn)
{
	unsigned int i, shard;

	for (i = 0; i < DRAIN_TURNS; i++) {
		*turn = (cursor->turn + i) % DRAIN_TURNS;
		shard = drain_shard_of(cursor, shards, nr, *turn);
		if (shard == nr)
			continue;
		cursor->turn = (*turn + 1) % DRAIN_TURNS;
		cursor->shard[*turn] = (shard + 1) % nr;
		return shard;
	}
	return nr;
}

#endif
