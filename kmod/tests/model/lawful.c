// SPDX-License-Identifier: GPL-2.0
/* What is lawful: checks of what requests return, of what is on the drive, of the ledger. */
#include <string.h>

#include "inside.h"

static observer_fn *observer;

void model_observe(observer_fn *given)
{
	observer = given;
}

/* Other numbers for the requests, of which those of a kind have changed places. */
static u8 names[24][MODEL_REQUESTS];
static u8 nr_names;
/* The numbers that are in use, and what is being observed by them. */
static const u8 *name;
static struct observation view;

/* All ways to name the requests from @r on. */
static void name_from(u8 r, u8 *so_far)
{
	u8 i, j;

	if (r == scenario.nr_requests) {
		memcpy(names[nr_names++], so_far, scenario.nr_requests);
		return;
	}
	for (i = 0; i < scenario.nr_requests; i++) {
		if (scenario.kind[i] != scenario.kind[r])
			continue;
		for (j = 0; j < r && so_far[j] != i; j++)
			;
		if (j < r)
			continue;
		so_far[r] = i;
		name_from(r + 1, so_far);
	}
}

void name_twins(void)
{
	u8 so_far[MODEL_REQUESTS];

	_Static_assert(MODEL_REQUESTS <= 4, "24 names");
	nr_names = 0;
	name_from(0, so_far);
}

static void see(u8 value)
{
	view.value[view.nr++] = value;
}

static void see_version(u8 version)
{
	see(version && version != GARBAGE ? name[version - 1] + 1 : version);
}

static u8 renamed(u8 requests)
{
	u8 mask = 0;
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		if (requests & 1 << r)
			mask |= 1 << name[r];
	return mask;
}

/* With the names that make it least. */
static void observe(const char *what, void (*show)(const void *of), const void *of)
{
	struct observation least;
	u8 i;

	for (i = 0; i < nr_names; i++) {
		name = names[i];
		view = (struct observation) { .what = what };
		show(of);
		if (!i || memcmp(&view, &least, sizeof(least)) < 0)
			least = view;
	}
	observer(&least);
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
	if (observer)
		S.resolved[how] += nr;
	S.rmw_pending -= nr;
	ledger_add(rmw_pending, -(int)nr);
}

static void check_ledger(void)
{
	unsigned int pending = 0, held = 0;
	u8 i;

	if (booked[LEDGER_rmw_expected] !=
	    booked[LEDGER_rmw_avoided] + booked[LEDGER_rmw_host] +
	    booked[LEDGER_rmw_drive] + booked[LEDGER_rmw_lost] +
	    booked[LEDGER_rmw_pending])
		wrong("ledger: it does not balance");
	for (i = 0; i < scenario.nr_requests; i++)
		pending += bits(S.io[i].unresolved);
	for (i = 0; i < MODEL_BLOCKS; i++) {
		const struct align_block *block = &S.block[i];

		pending += block->held;
		held += bits(block->kept);
		if (!block->held != !block->kept)
			wrong("ledger: a block holds touches without sectors, or sectors without touches");
	}
	if (held != S.held_bytes)
		wrong("ledger: held_bytes is not what the blocks hold");
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

static void see_requests_in(u8 phase)
{
	u8 mask = 0;
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].phase == phase)
			mask |= 1 << r;
	see(renamed(mask));
}

/* A request and a block that it comes to. */
struct meeting {
	u8 r;
	u8 b;
};

static void show_meeting(const void *of)
{
	const struct meeting *meeting = of;
	const struct align_block *block = &S.block[meeting->b];

	see(name[meeting->r]);
	see(meeting->b);
	see(block->exists);
	see(block->state);
	see(!!block->held);
	see(block->failed);
	see(block->kept);
	see(!!block->waiting);
	see_requests_in(REQUEST_NEW);
}

void observe_meeting(u8 r, u8 b)
{
	if (observer && part(r, b))
		observe("block met", show_meeting, &(struct meeting) { r, b });
}

void note_turn_of_touch(u8 r, u8 b)
{
	observe_meeting(r, b);
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
		observe_meeting(r, b);
		S.io[r].behind[b] = touches_taken(b);
		/* What could not be written may be overwritten at any time. */
		if (block->exists && block->held && hold_is_over(block) &&
		    (block->state == BLOCK_IS_WAIT ||
		     (block->state == BLOCK_IS_HELD && !block->failed)))
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

/* A request that has ended, and the writes before it that had been acknowledged. */
struct ended {
	u8 r;
	u8 seen;
};

static void show_read(const void *of)
{
	const struct ended *ended = of;
	u8 i;

	see(name[ended->r]);
	for (i = 0; i < MODEL_SECTORS; i++)
		if (covers(ended->r, i))
			see_version(S.io[ended->r].data[i]);
	view.expected = renamed(ended->seen & related[ended->r]);
}

void observe_read(u8 r, u8 seen)
{
	if (observer)
		observe("read", show_read, &(struct ended) { r, seen });
}

static void show_flush(const void *of)
{
	const struct ended *ended = of;

	see(name[ended->r]);
	see(S.io[ended->r].status);
	view.expected = renamed(ended->seen & related[ended->r]);
}

void observe_flush(u8 r, u8 seen)
{
	if (observer)
		observe("flush", show_flush, &(struct ended) { r, seen });
}

static void show_medium(const void *of)
{
	const u8 *before = of;
	u8 i;

	for (i = 0; i < MODEL_SECTORS; i++)
		see_version(before[i]);
	for (i = 0; i < MODEL_SECTORS; i++)
		see_version(S.medium[i]);
	see_requests_in(REQUEST_NEW);
}

/* A step of the drive: from what to what, and which requests had not come by then. */
void observe_medium(const u8 *before)
{
	if (observer && memcmp(before, S.medium, sizeof(S.medium)))
		observe("drive", show_medium, before);
}

/* A version that a power cut may leave where something was promised. */
struct cut {
	u8 sector;
	u8 version;
};

static void show_cut(const void *of)
{
	const struct cut *cut = of;

	see(cut->sector);
	see_version(cut->version);
	view.expected = renamed(S.promised[cut->sector] & covering[cut->sector]);
}

/* What is left behind, if nothing goes on by itself. */
static void show_rest(const void *of)
{
	u8 i, failed = 0;

	(void)of;
	see(S.mode);
	see(S.suspend);
	for (i = 0; i < MODEL_SECTORS; i++) {
		see_version(S.medium[i]);
		see(S.given_up[i]);
	}
	for (i = 0; i < MODEL_BLOCKS; i++) {
		const struct align_block *block = &S.block[i];
		u8 j;

		see(block->held);
		for (j = 0; j < MODEL_PER_BLOCK && block->held; j++)
			see_version(block->kept & 1 << j ? block->buffer[j] : GARBAGE);
	}
	for (i = 0; i < scenario.nr_requests; i++)
		if (kind_of(i)->op == OP_WRITE && S.io[i].status)
			failed |= 1 << i;
	see(renamed(failed));
	see_requests_in(REQUEST_NEW);
	for (i = 0; i < RMW_HOW_NR; i++)
		see(S.resolved[i]);
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
		for (v = 0; v <= MODEL_REQUESTS && S.promised[i]; v++) {
			if (!(S.stable[i] & 1 << v))
				continue;
			if (is_stale(i, v, S.promised[i]))
				wrong("durability: a power cut now loses what was flushed");
			if (observer && S.promised[i] & covering[i] && !S.given_up[i])
				observe("power cut", show_cut, &(struct cut) { i, v });
		}
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
	if (!model_is_quiet(&S))
		return;
	if (observer)
		observe("rest", show_rest, NULL);
	if (S.suspend != SUSPEND_NO)
		return;
	left = acknowledged();
	for (i = 0; i < MODEL_SECTORS; i++)
		if (is_stale(i, S.medium[i], left))
			wrong("lost update: an acknowledged write is not on the medium");
	if (S.nr || S.nr_held || S.nr_resting || S.nr_idle || S.reserve_busy)
		wrong("a count of blocks is off");
}
