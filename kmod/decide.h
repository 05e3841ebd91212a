/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a block does next, and how the partial touches that it served are
 * booked. Pure functions, so that every combination can be tested.
 */
#ifndef DM_ALIGN_DECIDE_H
#define DM_ALIGN_DECIDE_H

#include <linux/types.h>

#include "mode.h"

/**
 * enum block_step - what is to be done for the touches that a block collected
 * @BLOCK_READ: read the block, because they leave a part of it open
 * @BLOCK_WRITE: patch the buffer and write it whole
 * @BLOCK_PASS: send each touch as it came
 */
enum block_step {
	BLOCK_READ,
	BLOCK_WRITE,
	BLOCK_PASS,
};

/**
 * block_first_step - begin to serve the touches of a block
 * @known: the buffer holds what a read at this moment would return
 * @full: the touches cover the whole block
 *
 * Return: BLOCK_WRITE if nothing is missing, else BLOCK_READ.
 */
static inline enum block_step block_first_step(bool known, bool full)
{
	return known || full ? BLOCK_WRITE : BLOCK_READ;
}

/**
 * block_step_after_read - go on when the pad read has ended
 * @failed: the read failed, and the buffer holds nothing
 * @full: the touches cover the whole block by now
 *
 * Return: BLOCK_PASS if a part of the block is unknown, else BLOCK_WRITE.
 */
static inline enum block_step block_step_after_read(bool failed, bool full)
{
	return failed && !full ? BLOCK_PASS : BLOCK_WRITE;
}

/**
 * block_how - how a touch that went down in a whole block is booked
 * @failed: the write of the block failed
 * @known: its buffer was known before the touches came
 * @read: it was read, and the read succeeded
 * @nth: place of the touch in order of arrival, from 0
 *
 * Return: how the touch was resolved; never one of RMW_DRIVE_*.
 */
static inline enum rmw_how block_how(bool failed, bool known, bool read,
				     unsigned int nth)
{
	if (failed)
		return RMW_LOST;
	if (known)
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
 * struct drain_shard - what the drain has to know of a shard
 * @seq: number of its oldest held block, if @has says that it is to be written
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
