// SPDX-License-Identifier: GPL-2.0
/* The requests that come, and everything that can happen. */
#include "inside.h"

const struct request_kind request_kinds[] = {
	{ "write0a", OP_WRITE, 0, 1, false },
	{ "write0b", OP_WRITE, 1, 2, false },
	{ "write1a", OP_WRITE, 2, 3, false },
	{ "write0", OP_WRITE, 0, 2, false },
	{ "write0b1a", OP_WRITE, 1, 3, false },
	{ "write0,1a", OP_WRITE, 0, 3, false },
	{ "write0b,1", OP_WRITE, 1, 4, false },
	{ "write0,1", OP_WRITE, 0, 4, false },
	{ "fua0b", OP_WRITE, 1, 2, true },
	{ "read0", OP_READ, 0, 2, false },
	{ "read0,1", OP_READ, 0, 4, false },
	{ "flush", OP_FLUSH, 0, 0, false },
	{ "discard0", OP_DISCARD, 0, 2, false },
	{ "discard0b", OP_DISCARD, 1, 2, false },
	{ "discard0,1a", OP_DISCARD, 0, 3, false },
#if MODEL_BLOCKS > 2
	{ "write1b2a", OP_WRITE, 3, 5, false },
	{ "write1b,2", OP_WRITE, 3, 6, false },
	{ "read0,1,2", OP_READ, 0, 6, false },
	{ "write0,1,2", OP_WRITE, 0, 6, false },
#endif
};
const unsigned int nr_request_kinds = ARRAY_SIZE(request_kinds);

const struct event_info event_kinds[] = {
#define X(id, text, a, b) { text, a, b },
	EVENTS(X)
#undef X
};

/* Requests of a kind come in the order of their numbers. */
static bool may_come(u8 r)
{
	u8 i;

	if (r >= scenario->nr_requests || S->io[r].phase != REQUEST_NEW ||
	    S->suspend >= SUSPEND_BLOCKED ||
	    count_in_flight() >= scenario->concurrent)
		return false;
	for (i = 0; i < r; i++)
		if (scenario->kind[i] == scenario->kind[r] &&
		    S->io[i].phase == REQUEST_NEW)
			return false;
	return true;
}

/* Whether all older held blocks are over, too. */
bool may_be_over(const struct align_block *block)
{
	const struct align_block *other;

	if (!block->held || block->over)
		return false;
	for (other = S->block; other < S->block + MODEL_BLOCKS; other++)
		if (other->held && !other->over && !other->failed &&
		    !block->failed && other->seq < block->seq)
			return false;
	return true;
}

/* Return: it can happen; then it has. Nothing is changed before that is sure. */
bool happen(struct event event)
{
	u8 a = event.a, b = event.b;
	struct align_io *io = &S->io[a < MODEL_REQUESTS ? a : 0];
	struct align_block *block = &S->block[a < MODEL_BLOCKS ? a : 0];
	struct block_run *run = &S->run[a < MODEL_BLOCKS ? a : 0];
	u8 i, started = 0;

	switch ((enum event_kind)event.kind) {
	case EVENT_MAP:
		if (!may_come(a))
			return false;
		align_map(a);
		return true;
	case EVENT_MAP_AGAIN:
		if (io->phase != REQUEST_AGAIN)
			return false;
		map_change(a);
		return true;
	case EVENT_ENGINE_MAP:
		if (io->phase != REQUEST_ENTERED)
			return false;
		/* A discard has no touches; a write may have none. */
		align_engine_map(a);
		return true;
	case EVENT_MAP_REST:
		if (io->phase != REQUEST_MAPPED)
			return false;
		map_rest(a);
		return true;
	case EVENT_SEND:
		if (io->io != IO_QUEUED)
			return false;
		if (kind_of(a)->op == OP_FLUSH)
			flush_work_func(a);
		else
			io->io = IO_FLIGHT;
		return true;
	case EVENT_DRIVE_OWN:
		if (io->io != IO_FLIGHT ||
		    !drive_may(b, kind_of(a)->op,
			       own_start(io), io->end) ||
		    (b >= OUTCOME_FAILED && ends_unnoticed(a)))
			return false;
		drive_own(a, b);
		return true;
	case EVENT_OWN_END:
		if (io->io != IO_DONE)
			return false;
		own_end(a);
		return true;
	case EVENT_DRIVE_PASS0:
	case EVENT_DRIVE_PASS1:
	case EVENT_DRIVE_PASS2:
		i = event.kind - EVENT_DRIVE_PASS0;
		if (i >= MODEL_BLOCKS || io->pass[i] != IO_FLIGHT || !drive_may(b, OP_WRITE, 0, 1))
			return false;
		drive_pass(a, i, b);
		return true;
	case EVENT_PASS_END:
		if (io->pass[b] != IO_DONE)
			return false;
		touch_pass_end(a, b);
		return true;
	case EVENT_DRIVE_HELD_PASS:
		if (block->pass != IO_FLIGHT || !drive_may(b, OP_WRITE, 0, 1))
			return false;
		drive_held_pass(a, b);
		return true;
	case EVENT_HELD_PASS_END:
		if (block->pass != IO_DONE)
			return false;
		held_pass_end(block);
		return true;
	case EVENT_START:
		if (a == OWNER_NONE || a == OWNER_DELAYED || a == OWNER_STARVED)
			return false;
		for (i = 0; i < MODEL_BLOCKS; i++)
			if (S->block[i].exists && S->block[i].owner == a &&
			    S->block[i].state == BLOCK_IS_COLLECT)
				started |= 1 << i;
		/* A block's own work starts it alone. */
		if (a == OWNER_WORK)
			started &= 1 << b;
		else if (b)
			return false;
		if (!started)
			return false;
		start_now(started);
		return true;
	case EVENT_DRIVE_RUN:
		if (run->phase != RUN_FLIGHT ||
		    !drive_may(b, run->write ? OP_WRITE : OP_READ,
			       a * MODEL_PER_BLOCK,
			       (a + run->nr) * MODEL_PER_BLOCK))
			return false;
		drive_run(a, b);
		return true;
	case EVENT_RUN_STEP:
		if (run->phase == RUN_NONE || run->phase == RUN_FLIGHT)
			return false;
		run_step(a);
		return true;
	case EVENT_EMPTY:
		return hold_empty_work(b);
	case EVENT_OVER:
		if (!may_be_over(block))
			return false;
		block->over = true;
		return true;
	case EVENT_DUE:
		if (!S->due)
			return false;
		for (i = 0; i < MODEL_BLOCKS; i++)
			started |= S->block[i].held && S->block[i].over &&
				   (S->block[i].state == BLOCK_IS_HELD ||
				    !scenario->reduce);
		if (!started)
			return false;
		S->due = false;
		hold_kick();
		return true;
	case EVENT_DELAYED:
		if (!count_delayed() || broken(DELAY_NOT_ENDED))
			return false;
		start_end_delay();
		return true;
	case EVENT_EXPIRE:
		if (!block->exists || block->state != BLOCK_IS_KNOWN)
			return false;
		block_remove(block);
		return true;
	case EVENT_MEMORY:
		if (!S->memory_changes)
			return false;
		S->memory_changes--;
		S->no_memory = !S->no_memory;
		return true;
	case EVENT_SET_MODE:
		if (S->change != CHANGE_NO ||
		    S->next_mode + 1U >= scenario->nr_modes)
			return false;
		set_mode();
		return true;
	case EVENT_MODE_EMPTIED:
		if (S->change != CHANGE_EMPTIES || S->waiter[WAITER_MODE].listed)
			return false;
		set_mode_emptied();
		return true;
	case EVENT_MODE_END:
		if (S->change != CHANGE_DRAINS || !gate_is_empty())
			return false;
		set_mode_end();
		return true;
	case EVENT_PRESUSPEND:
		if (!S->suspends || S->suspend != SUSPEND_NO)
			return false;
		S->suspends--;
		S->suspend = SUSPEND_PRESUSPENDED;
		hold_stop(HOLD_STOPPED_SUSPEND);
		return true;
	case EVENT_UNDO:
		if (S->suspend != SUSPEND_PRESUSPENDED &&
		    S->suspend != SUSPEND_BLOCKED)
			return false;
		S->suspend = SUSPEND_NO;
		hold_thaw();
		return true;
	case EVENT_SUSPEND:
		return suspend_step();
	case EVENT_RESUME:
		if (S->suspend != SUSPENDED)
			return false;
		S->suspend = SUSPEND_NO;
		hold_thaw();
		return true;
	case EVENT_REPLACE:
		if (S->suspend != SUSPENDED || S->change != CHANGE_NO)
			return false;
		replace_table();
		return true;
	case EVENT_DROP:
		if (!S->drops || !block->exists || !block->failed ||
		    block->state != BLOCK_IS_HELD)
			return false;
		S->drops--;
		hold_drop_failed(block);
		return true;
	case EVENT_FORGET:
		if (!S->forgets)
			return false;
		S->forgets--;
		blocks_forget();
		return true;
	case NR_EVENTS:
		break;
	}
	return false;
}

/* Not what the engine, a healthy drive and time do by themselves. */
bool is_environment(struct event event)
{
	switch ((enum event_kind)event.kind) {
	case EVENT_MAP:
	case EVENT_MEMORY:
	case EVENT_SET_MODE:
	case EVENT_PRESUSPEND:
	case EVENT_UNDO:
	case EVENT_RESUME:
	case EVENT_REPLACE:
	case EVENT_DROP:
	case EVENT_FORGET:
		return true;
	case EVENT_DRIVE_OWN:
	case EVENT_DRIVE_PASS0:
	case EVENT_DRIVE_PASS1:
	case EVENT_DRIVE_PASS2:
	case EVENT_DRIVE_HELD_PASS:
	case EVENT_DRIVE_RUN:
		return event.b >= OUTCOME_FAILED;
	default:
		return false;
	}
}
