// SPDX-License-Identifier: GPL-2.0
/* What is lawful: checks of what requests return, of what is on the drive, of the ledger. */
#include <string.h>

#include "inside.h"

static outcome_fn *observe;

void model_observe(outcome_fn *observer)
{
	observe = observer;
}

/* Writes that have been acknowledged. */
u8 acknowledged(void)
{
	u8 mask = 0;
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].phase == REQUEST_ENDED && !S.io[r].status &&
		    kind_of(r)->op == OP_WRITE)
			mask |= 1 << r;
	return mask;
}

/* Whether a version is older than a write in a sector that is known to be there. */
bool is_stale(u8 sector, u8 version, u8 writes)
{
	u8 r;

	if (S.given_up[sector])
		return false;
	for (r = 0; r < scenario.nr_requests; r++) {
		if (!(writes & 1 << r) || !covers(r, sector))
			continue;
		if (!version || S.io[r].before & 1 << (version - 1))
			return true;
	}
	return false;
}

void ledger_book(enum rmw_how how, unsigned int nr)
{
	booked[ledger_accounts[how].sum] += nr;
	S.rmw_pending -= nr;
	ledger_add(rmw_pending, -(int)nr);
}

static void check_ledger(void)
{
	unsigned int pending = 0;
	u8 i;

	if (booked[LEDGER_rmw_expected] !=
	    booked[LEDGER_rmw_avoided] + booked[LEDGER_rmw_host] +
	    booked[LEDGER_rmw_drive] + booked[LEDGER_rmw_lost] +
	    booked[LEDGER_rmw_pending])
		wrong("ledger: it does not balance");
	for (i = 0; i < scenario.nr_requests; i++)
		pending += bits(S.io[i].unresolved);
	for (i = 0; i < MODEL_BLOCKS; i++)
		pending += S.block[i].held;
	if (pending != S.rmw_pending)
		wrong("ledger: rmw_pending is not what is in flight and held");
}

/* The ranges that wait for a block. */
u8 ranges_waiting(u8 b)
{
	u8 mask = 0;
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].waits & 1 << b)
			mask |= 1 << r;
	return mask;
}

/* The requests whose touches a block has taken. */
u8 touches_taken(u8 b)
{
	const struct touch_list *list = &S.block[b].touches;
	u8 mask = 0;
	u8 i;

	for (i = 0; i < list->nr; i++)
		mask |= 1 << list->of[i];
	return mask;
}

void note_turn_of_touch(u8 r, u8 b)
{
	S.io[r].behind[b] = ranges_waiting(b);
}

/* Return: the blocks that have to be emptied before it goes down, as bits. */
u8 note_turn_of_range(u8 r)
{
	const struct align_io *io = &S.io[r];
	u8 blocks = 0;
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		const struct align_block *block = &S.block[b];

		if (!part_of(b, io->start, io->end))
			continue;
		S.io[r].behind[b] = touches_taken(b);
		if (block->exists && block->state == BLOCK_IS_WAIT &&
		    block->held && hold_is_over(block))
			blocks |= 1 << b;
	}
	return blocks;
}

static void check_turns(void)
{
	u8 r, b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		u8 state = S.block[b].state;
		u8 touches = touches_taken(b);
		u8 down = state == BLOCK_IS_WRITE || state == BLOCK_IS_PASS ? touches : 0;
		u8 waiting = ranges_waiting(b);

		for (r = 0; r < scenario.nr_requests; r++) {
			const struct align_io *io = &S.io[r];

			if (io->touch_held & 1 << b || down & 1 << r) {
				if (io->behind[b] & waiting)
					wrong("fairness: a touch overtakes a range that waits");
			} else if (io->in_range && !io->blockers &&
				   part_of(b, io->start, io->end)) {
				/* In other states it must not be under way at all. */
				if (state == BLOCK_IS_WAIT && io->behind[b] & touches)
					wrong("fairness: a range overtakes a touch that waits");
			}
		}
	}
	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].blockers != bits(S.io[r].waits))
			wrong("a range does not wait for as many blocks as it counts");
}

static bool runs_anything(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S.run[b].phase != RUN_NONE || S.block[b].pass != IO_NONE ||
		    S.block[b].passing)
			return true;
	return false;
}

void observe_read(u8 r)
{
	uint64_t outcome = 1 + r;
	u8 i;

	if (!observe)
		return;
	for (i = 0; i < MODEL_SECTORS; i++)
		outcome = outcome << 3 | (covers(r, i) ? S.io[r].data[i] : 0);
	observe(outcome);
}

/* A step of the drive: from what to what, and which requests had come by then. */
void observe_medium(const u8 *before)
{
	uint64_t outcome = 2 + MODEL_REQUESTS;
	u8 i;

	if (!observe || !memcmp(before, S.medium, sizeof(S.medium)))
		return;
	for (i = 0; i < MODEL_SECTORS; i++)
		outcome = outcome << 6 | before[i] << 3 | S.medium[i];
	for (i = 0; i < scenario.nr_requests; i++)
		outcome = outcome << 1 | (S.io[i].phase != REQUEST_NEW);
	observe(outcome);
}

/* All is quiet: what is left, if every request has ended. */
static void observe_end(void)
{
	uint64_t outcome = 1 + MODEL_REQUESTS;
	u8 i;

	if (!observe)
		return;
	for (i = 0; i < scenario.nr_requests; i++)
		if (S.io[i].phase != REQUEST_ENDED)
			return;
	for (i = 0; i < MODEL_SECTORS; i++)
		outcome = outcome << 4 | S.medium[i] << 1 | S.given_up[i];
	for (i = 0; i < scenario.nr_requests; i++)
		outcome = outcome << 1 | (kind_of(i)->op == OP_WRITE && S.io[i].status);
	observe(outcome);
}

bool model_is_quiet(const struct state *state)
{
	u8 i;

	for (i = 0; i < MODEL_REQUESTS; i++)
		if (state->io[i].phase != REQUEST_NEW &&
		    state->io[i].phase != REQUEST_ENDED)
			return false;
	for (i = 0; i < MODEL_BLOCKS; i++)
		if (state->run[i].phase != RUN_NONE ||
		    (state->block[i].exists && state->suspend != SUSPENDED))
			return false;
	return state->change == CHANGE_NO && state->empty == EMPTY_IDLE &&
	       (state->suspend == SUSPEND_NO || state->suspend == SUSPENDED);
}

void check(void)
{
	struct align_block *block;
	u8 left, i, v;

	check_ledger();
	check_turns();
	for (i = 0; i < MODEL_SECTORS; i++)
		for (v = 0; v <= MODEL_REQUESTS && S.promised[i]; v++)
			if (S.stable[i] & 1 << v &&
			    is_stale(i, v, S.promised[i]))
				wrong("durability: a power cut now loses what was flushed");
	if (S.suspend == SUSPENDED && runs_anything())
		wrong("something is in flight while suspended");
	for (block = S.block; block < S.block + MODEL_BLOCKS; block++) {
		if (!block->exists)
			continue;
		if (S.mode == ALIGN_REPORT)
			wrong("a block is here in mode report");
		if (S.mode != ALIGN_COALESCE && block->held)
			wrong("a block is held, and the mode is not coalesce");
	}
	if (!model_is_quiet(&S) || S.suspend != SUSPEND_NO)
		return;
	left = acknowledged();
	for (i = 0; i < MODEL_SECTORS; i++)
		if (is_stale(i, S.medium[i], left))
			wrong("lost update: an acknowledged write is not on the medium");
	if (S.nr || S.nr_held || S.nr_resting || S.nr_idle || S.reserve_busy)
		wrong("a count of blocks is off");
	observe_end();
}
