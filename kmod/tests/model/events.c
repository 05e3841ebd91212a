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

static bool may_come(u8 r)
{
	if (r >= scenario.nr_requests || S.io[r].phase != REQUEST_NEW ||
	    S.suspend >= SUSPEND_BLOCKED ||
	    count_in_flight() >= scenario.concurrent)
		return false;
	return !scenario.reduce || comes_in_order(r);
}

/* Whether all older held blocks are over, too. */
bool may_be_over(const struct align_block *block)
{
	const struct align_block *other;

	if (!block->held || block->over)
		return false;
	for (other = S.block; other < S.block + MODEL_BLOCKS; other++)
		if (other->held && !other->over && !other->failed &&
		    !block->failed && other->seq < block->seq)
			return false;
	return true;
}

static struct condition one_of(const u8 *field, uint32_t values)
{
	return (struct condition) { .at = field - (const u8 *)&S, .values = values };
}

static struct condition is(const u8 *field, u8 value)
{
	return one_of(field, 1U << value);
}

static struct condition is_not(const u8 *field, u8 value)
{
	return one_of(field, ~(1U << value));
}

static struct condition condition_of(enum event_kind kind, u8 a)
{
	const struct align_io *io = &S.io[a < MODEL_REQUESTS ? a : 0];
	const struct align_block *block = &S.block[a < MODEL_BLOCKS ? a : 0];
	const struct block_run *run = &S.run[a < MODEL_BLOCKS ? a : 0];
	const struct condition always = one_of(&S.mode, ~0U), never = one_of(&S.mode, 0);

	if (event_kinds[kind].nr_a == MODEL_REQUESTS && a >= scenario.nr_requests)
		return never;
	switch (kind) {
	case EVENT_MAP:
		return is(&io->phase, REQUEST_NEW);
	case EVENT_MAP_AGAIN:
		return is(&io->phase, REQUEST_AGAIN);
	case EVENT_ENGINE_MAP:
		return is(&io->phase, REQUEST_ENTERED);
	case EVENT_MAP_REST:
		return is(&io->phase, REQUEST_MAPPED);
	case EVENT_SEND:
		return is(&io->io, IO_QUEUED);
	case EVENT_DRIVE_OWN:
		return is(&io->io, IO_FLIGHT);
	case EVENT_OWN_END:
		return is(&io->io, IO_DONE);
	case EVENT_DRIVE_PASS0:
	case EVENT_DRIVE_PASS1:
	case EVENT_DRIVE_PASS2:
		if (kind - EVENT_DRIVE_PASS0 >= MODEL_BLOCKS)
			return never;
		return is(&io->pass[kind - EVENT_DRIVE_PASS0], IO_FLIGHT);
	case EVENT_DRIVE_HELD_PASS:
		return is(&block->pass, IO_FLIGHT);
	case EVENT_HELD_PASS_END:
		return is(&block->pass, IO_DONE);
	case EVENT_START:
		return a == OWNER_NONE || a == OWNER_DELAYED || a == OWNER_STARVED ? never : always;
	case EVENT_DRIVE_RUN:
		return is(&run->phase, RUN_FLIGHT);
	case EVENT_RUN_STEP:
		return one_of(&run->phase, ~(1U << RUN_NONE | 1U << RUN_FLIGHT));
	case EVENT_OVER:
		return is_not(&block->held, 0);
	case EVENT_DUE:
		return is_not(&S.due, false);
	case EVENT_EXPIRE:
		return is(&block->state, BLOCK_IS_KNOWN);
	case EVENT_MEMORY:
		return is_not(&S.memory_changes, 0);
	case EVENT_SET_MODE:
		return is(&S.change, CHANGE_NO);
	case EVENT_MODE_EMPTIED:
		return is(&S.change, CHANGE_EMPTIES);
	case EVENT_MODE_END:
		return is(&S.change, CHANGE_DRAINS);
	case EVENT_PRESUSPEND:
		return is(&S.suspend, SUSPEND_NO);
	case EVENT_UNDO:
		return one_of(&S.suspend, 1U << SUSPEND_PRESUSPENDED | 1U << SUSPEND_BLOCKED);
	case EVENT_SUSPEND:
		return one_of(&S.suspend, ~(1U << SUSPEND_NO | 1U << SUSPENDED));
	case EVENT_RESUME:
	case EVENT_REPLACE:
		return is(&S.suspend, SUSPENDED);
	case EVENT_DROP:
		return is_not(&block->failed, false);
	case EVENT_FORGET:
		return is_not(&S.forgets, 0);
	case EVENT_PASS_END:
	case EVENT_EMPTY:
	case EVENT_DELAYED:
		return always;
	case NR_EVENTS:
		break;
	}
	return never;
}

static struct condition conditions[NR_EVENTS][OWNERS];
struct candidate candidates[NR_EVENTS * OWNERS];
unsigned int nr_candidates;

void list_candidates(void)
{
	struct event event = { 0 };

	_Static_assert((int)MODEL_BLOCKS < OWNERS && (int)MODEL_REQUESTS < OWNERS, "the most of a kind");
	nr_candidates = 0;
	for (event.kind = 0; event.kind < NR_EVENTS; event.kind++)
		for (event.a = 0; event.a < event_kinds[event.kind].nr_a; event.a++) {
			conditions[event.kind][event.a] = condition_of(event.kind, event.a);
			if (!conditions[event.kind][event.a].values)
				continue;
			candidates[nr_candidates++] = (struct candidate) {
				.event = event, .nr_b = event_kinds[event.kind].nr_b,
				.condition = conditions[event.kind][event.a] };
		}
}

/* Return: it can happen; then it has. Nothing is changed before that is sure. */
bool happen(struct event event)
{
	u8 a = event.a, b = event.b;
	struct align_io *io = &S.io[a < MODEL_REQUESTS ? a : 0];
	struct align_block *block = &S.block[a < MODEL_BLOCKS ? a : 0];
	struct block_run *run = &S.run[a < MODEL_BLOCKS ? a : 0];
	u8 i, started = 0;

	if (!holds(&conditions[event.kind][a]))
		return false;
	switch ((enum event_kind)event.kind) {
	case EVENT_MAP:
		if (!may_come(a))
			return false;
		align_map(a);
		return true;
	case EVENT_MAP_AGAIN:
		map_change(a);
		return true;
	case EVENT_ENGINE_MAP:
		/* A discard has no touches; a write may have none. */
		align_engine_map(a);
		return true;
	case EVENT_MAP_REST:
		map_rest(a);
		return true;
	case EVENT_SEND:
		if (kind_of(a)->op == OP_FLUSH)
			flush_work_func(a);
		else
			io->io = IO_FLIGHT;
		return true;
	case EVENT_DRIVE_OWN:
		if (!drive_may(b, kind_of(a)->op, own_start(io), io->end) ||
		    (b >= OUTCOME_FAILED && ends_unnoticed(a)))
			return false;
		drive_own(a, b);
		return true;
	case EVENT_OWN_END:
		own_end(a);
		return true;
	case EVENT_DRIVE_PASS0:
	case EVENT_DRIVE_PASS1:
	case EVENT_DRIVE_PASS2:
		if (!drive_may(b, OP_WRITE, 0, 1))
			return false;
		drive_pass(a, event.kind - EVENT_DRIVE_PASS0, b);
		return true;
	case EVENT_PASS_END:
		if (io->pass[b] != IO_DONE)
			return false;
		touch_pass_end(a, b);
		return true;
	case EVENT_DRIVE_HELD_PASS:
		if (!drive_may(b, OP_WRITE, 0, 1))
			return false;
		drive_held_pass(a, b);
		return true;
	case EVENT_HELD_PASS_END:
		held_pass_end(block);
		return true;
	case EVENT_START:
		for (i = 0; i < MODEL_BLOCKS; i++)
			if (S.block[i].exists && S.block[i].owner == a &&
			    S.block[i].state == BLOCK_IS_COLLECT)
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
		if (!drive_may(b, run->write ? OP_WRITE : OP_READ, a * MODEL_PER_BLOCK,
			       (a + run->nr) * MODEL_PER_BLOCK))
			return false;
		drive_run(a, b);
		return true;
	case EVENT_RUN_STEP:
		run_step(a);
		return true;
	case EVENT_EMPTY:
		if (scenario.reduce && b % 2 && !may_gather())
			return false;
		return hold_empty_work(b % 2, b / 2);
	case EVENT_OVER:
		if (!may_be_over(block))
			return false;
		block->over = true;
		return true;
	case EVENT_DUE:
		for (i = 0; i < MODEL_BLOCKS; i++)
			started |= S.block[i].held && S.block[i].over &&
				   (S.block[i].state == BLOCK_IS_HELD ||
				    !scenario.reduce);
		if (!started)
			return false;
		S.due = false;
		hold_kick();
		return true;
	case EVENT_DELAYED:
		if (!count_delayed() || broken(DELAY_NOT_ENDED))
			return false;
		start_end_delay();
		return true;
	case EVENT_EXPIRE:
		if (!block->exists)
			return false;
		block_remove(block);
		return true;
	case EVENT_MEMORY:
		if (scenario.reduce && !asks_for_memory())
			return false;
		S.memory_changes--;
		S.no_memory = !S.no_memory;
		return true;
	case EVENT_SET_MODE:
		if (S.next_mode + 1U >= scenario.nr_modes)
			return false;
		set_mode();
		return true;
	case EVENT_MODE_EMPTIED:
		if (S.waiter[WAITER_MODE].listed)
			return false;
		set_mode_emptied();
		return true;
	case EVENT_MODE_END:
		if (!gate_is_empty())
			return false;
		set_mode_end();
		return true;
	case EVENT_PRESUSPEND:
		if (!S.suspends)
			return false;
		S.suspends--;
		S.suspend = SUSPEND_PRESUSPENDED;
		hold_stop(HOLD_STOPPED_SUSPEND);
		return true;
	case EVENT_UNDO:
		S.suspend = SUSPEND_NO;
		hold_thaw();
		return true;
	case EVENT_SUSPEND:
		return suspend_step();
	case EVENT_RESUME:
		S.suspend = SUSPEND_NO;
		hold_thaw();
		return true;
	case EVENT_REPLACE:
		if (S.change != CHANGE_NO)
			return false;
		replace_table();
		return true;
	case EVENT_DROP:
		if (!S.drops || !block->exists || block->state != BLOCK_IS_HELD)
			return false;
		S.drops--;
		hold_drop_failed(block);
		return true;
	case EVENT_FORGET:
		if (scenario.reduce && !knows_anything())
			return false;
		S.forgets--;
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
