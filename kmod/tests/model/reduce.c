// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions. Each takes out of the search what changes nothing that is
 * checked. --fine searches without any; --compare with and without, and tells
 * what shows with one search only. That the comparison would see it if one left
 * out too much is tried with each of LOOSE(). For a condition that is not there
 * no difference was found, and only the argument speaks.
 */
#include <string.h>

#include "inside.h"

/* Requests of a kind come in the order of their numbers: the other orders only rename. */
bool comes_in_order(u8 r)
{
	u8 i;

	for (i = 0; i < r; i++)
		if (needs(SAME_KIND, scenario.kind[i] == scenario.kind[r]) && S.io[i].phase == REQUEST_NEW)
			return false;
	return true;
}

/*
 * Steps between which only a change of the surroundings matters are taken apart
 * as long as one may come. When the last one has been, and is over, what follows
 * is a search of its own, of a scenario without any.
 */
bool takes_steps_apart(void)
{
	return scenario.fine || bars(MEMORY_TO_COME, S.memory_changes) ||
	       S.suspends || S.suspend != SUSPEND_NO ||
	       bars(MODE_TO_COME, S.next_mode + 1U < scenario.nr_modes) ||
	       S.change != CHANGE_NO;
}

/* Whether map_rest() asks for memory: for a request with blocks in front of it. */
static bool rest_asks_for_memory(const struct align_io *io)
{
	return io->phase == REQUEST_MAPPED && io->go && io->joined;
}

/* As run_step(): for the request of a run, or for where to read to. */
static bool run_asks_for_memory(u8 b)
{
	const struct block_run *run = &S.run[b];

	return run->phase == RUN_SEND &&
	       (bars(LONG_RUN_ASKS, run->nr > 1) ||
		(!run->write && block_needs_spare(&S.block[b])));
}

/* As blocks_add_touch(): for a new block. */
static bool touch_asks_for_memory(u8 r)
{
	u8 b;

	if (S.io[r].phase != REQUEST_ENTERED)
		return false;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (is_partial(r, b) && !S.block[b].exists)
			return true;
	return false;
}

/*
 * Memory goes or comes only where the next step of somebody asks for it. It
 * changes nothing else, nothing that is checked, and neither makes an event
 * possible nor impossible. So in every path it can be put off from one event to
 * the next until it stands in front of one that asks, without a change to any
 * other state of the path; and if none comes, it is left out.
 *
 * That is the ample set of all events but this one. C0: where it would be empty,
 * only memory changes from now on. C1: behind such changes alone the next event
 * is in it, and does the same in front of them. C2: nobody sees the change. C3:
 * paths along which it is put off for ever are those that never ask. A state that
 * does not come to rest is found behind the change if what follows asks, and
 * without it if nothing does.
 */
bool asks_for_memory(void)
{
	u8 r, b;

	for (r = 0; r < scenario.nr_requests; r++)
		if (rest_asks_for_memory(&S.io[r]) ||
		    bars(TOUCH_ASKS, touch_asks_for_memory(r)))
			return true;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (run_asks_for_memory(b))
			return true;
	return false;
}

/*
 * A flush, or a read that has pinned nothing: its end changes nothing but
 * itself. No related[] names it, so no request's @before does, and dm's suspend
 * only waits for it. What it is judged by, its @before and which of those
 * writes were acknowledged, stands when it comes. Two things follow.
 *
 * The drive's work and the end are one: the promise of a flush is looked at in
 * more states if it is given at once, and never in fewer.
 *
 * Its failure is not tried. In the state after it, in comparison with the one
 * where it is still in flight, the drive has a failure less to come, a request
 * less to end, and errors are allowed in more places: whatever violation comes
 * after the one comes after the other.
 */
bool ends_unnoticed(u8 r)
{
	u8 b;

	if (!scenario.reduce || broken(READ_NOT_PINNED))
		return false;
	if (kind_of(r)->op == OP_FLUSH)
		return true;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (bars(READ_PINS, S.io[r].pin[b] != PIN_NONE))
			return false;
	return needs(IS_READ, kind_of(r)->op == OP_READ);
}

/*
 * The step from what a thread has decided under the lock to what it sends: it
 * reads and writes what belongs to that thread alone by then (rules of block.c:
 * the touches of a block in WRITE and PASS), and the buffer. Where it asks for
 * memory, which may come or go in between, or the reserve for when there is
 * none, or a read with a pin may look at the buffer, the step stays apart. A
 * read that comes after the decision and ends before the step may as well come
 * and end before the decision: neither looks at what the other changes.
 */
static bool sends_at_once(u8 b)
{
	const struct block_run *run = &S.run[b];
	u8 i;

	if (run->phase != RUN_SEND && run->phase != RUN_MERGED &&
	    run->phase != RUN_PASS)
		return false;
	for (i = b; i < b + run->nr; i++)
		if (S.block[i].pins)
			return false;
	return !run_asks_for_memory(b) || (needs(SENDS_MEMORY_STAYS, !S.memory_changes) &&
					   !S.no_memory);
}

/* As hold_is_over(), and changes nothing. */
static bool is_over_now(const struct align_block *block)
{
	bool wanted = block->seq <= S.empty_seq || bars(OVER_TIME, block->over);

	return wanted || (!block->failed && (!S.holding ||
			  bars(OVER_PRESSED, S.pressed) ||
			  S.nr_resting > scenario.max_blocks - scenario.max_blocks / 4));
}

static bool is_resting(const struct align_block *block)
{
	return block->exists && block->state == BLOCK_IS_HELD;
}

/* A request may still get an error from what has failed. */
static bool an_error_is_due(void)
{
	u8 i;

	for (i = 0; i < MODEL_BLOCKS; i++)
		if (bars(ERROR_OF_RUN, S.run[i].status) || S.block[i].failed ||
		    bars(ERROR_OF_HELD_PASS, S.block[i].pass_status))
			return true;
	for (i = 0; i < MODEL_REQUESTS; i++) {
		const struct align_io *io = &S.io[i];
		u8 b;

		if (io->phase != REQUEST_ENDED && (bars(ERROR_OF_REQUEST, io->status) ||
						   bars(ERROR_OF_ITS_IO, io->io_status)))
			return true;
		for (b = 0; b < MODEL_BLOCKS; b++)
			if (bars(ERROR_OF_PASS, io->pass_status[b]))
				return true;
	}
	for (i = 0; i < MODEL_WAITERS; i++)
		if (bars(ERROR_OF_WAITER, S.waiter[i].failed))
			return true;
	return false;
}

/*
 * A pass of hold_empty_work() that would take nothing. It may as well be done
 * with: a block that has to go later kicks the work again when it comes to that,
 * in hold_rest(), hold_wait(), hold_stop(), blocks_make_room() or by the timer,
 * which the pass arms if anything rests. Where a suspend may come, a pass that
 * has begun can go on behind hold_freeze(), which a later one does not: there,
 * only while nothing at all is held, because what is held later kicks a pass
 * that can do the same, or when no block fails any more, because behind
 * hold_freeze() a pass takes only what has failed.
 * The last step only arms the timer, as does each block that comes to rest.
 */
static bool empties_nothing(void)
{
	u8 b;

	if (S.empty == EMPTY_ARM)
		return true;
	if (S.frozen || (S.empty == EMPTY_IDLE && !S.empty_queued))
		return false;
	if ((S.suspends || S.suspend != SUSPEND_NO) &&
	    S.nr_held && (S.failures || an_error_is_due()))
		return false;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (is_resting(&S.block[b]) && is_over_now(&S.block[b]))
			return false;
	return true;
}

/*
 * That time has passed, where it changes nothing: a block that is on its way to
 * the drive is held no longer when that has ended, or has failed and waits
 * anew. It only matters to younger blocks, which are not over before.
 */
static bool is_over_anyway(u8 b)
{
	switch ((enum block_state)S.block[b].state) {
	case BLOCK_IS_COLLECT:
	case BLOCK_IS_READ:
	case BLOCK_IS_WRITE:
	case BLOCK_IS_PASS:
		return may_be_over(&S.block[b]);
	case BLOCK_IS_WAIT:
		return may_be_over(&S.block[b]) && needs(ANYWAY_WAITING, S.block[b].seq <= S.empty_seq);
	case BLOCK_IS_HELD:
		return may_be_over(&S.block[b]) && needs(ANYWAY_RESTING, S.block[b].seq <= S.empty_seq);
	case BLOCK_IS_KNOWN:
		return false;
	}
	return false;
}

/* Blocks for hold_gather() besides the first: without, it takes the same with and without @half. */
bool may_gather(void)
{
	u8 b, nr = 0;

	for (b = 0; b < MODEL_BLOCKS; b++)
		nr += is_resting(&S.block[b]) && !S.block[b].failed;
	return nr > 1;
}

/*
 * Whether blocks_forget() would change anything. If not, the state behind it is
 * this one with one less to come, and whatever happens there happens here.
 */
bool knows_anything(void)
{
	const struct align_block *block;

	for (block = S.block; block < S.block + MODEL_BLOCKS; block++)
		if (block->exists && (block->state == BLOCK_IS_KNOWN ||
				      bars(KNOWS_REST, block->state == BLOCK_IS_HELD && block->valid)))
			return true;
	return false;
}

static const struct event *at_once(enum event_kind kind, u8 of)
{
	static struct event event;

	event = (struct event) { .kind = kind, .a = of };
	return &event;
}

/*
 * An event that nobody can tell from the same one later, or NULL: whatever else
 * can happen can happen after it as well, does the same then, and does not stop
 * it from happening. So it is done at once, which leaves out the orders that
 * differ only in when it comes. Each of them ends something, so they come to
 * their end.
 */
const struct event *next_at_once(void)
{
	u8 r, b;

	for (r = 0; r < scenario.nr_requests; r++) {
		/* The drive may take as long from now as the work before. */
		if (S.io[r].io == IO_QUEUED)
			return at_once(EVENT_SEND, r);
		if (S.io[r].io == IO_DONE && ends_unnoticed(r))
			return at_once(EVENT_OWN_END, r);
		/* To acknowledge early only makes more be expected. */
		if (S.io[r].phase == REQUEST_MAPPED && needs(NO_STREAM, !scenario.stream) &&
		    (!S.memory_changes || !rest_asks_for_memory(&S.io[r])))
			return at_once(EVENT_MAP_REST, r);
	}
	for (b = 0; b < MODEL_BLOCKS; b++) {
		if (sends_at_once(b))
			return at_once(EVENT_RUN_STEP, b);
		if (S.block[b].exists && is_over_anyway(b))
			return at_once(EVENT_OVER, b);
		/* The work can wait as long as the timer. */
		if (S.due && !S.frozen && is_resting(&S.block[b]) &&
		    S.block[b].over)
			return at_once(EVENT_DUE, 0);
	}
	if (needs(EMPTIES_RESTS, !owns_any(OWNER_EMPTY)) && empties_nothing())
		return at_once(EVENT_EMPTY, 0);
	return NULL;
}

static bool any_resting(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (is_resting(&S.block[b]))
			return true;
	return false;
}

/* Nothing can be promised durable from now on but what is. */
static bool no_promise_comes(void)
{
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].phase != REQUEST_ENDED &&
		    (kind_of(r)->op == OP_FLUSH ||
		     bars(PROMISE_OF_FUA, kind_of(r)->fua)))
			return false;
	return true;
}

/* Fields that nobody will look at again. */
void forget_the_dead(void)
{
	u8 taken, waiting, i, r;
	bool no_promise;

	/*
	 * Where something rests, a pass that comes arms the timer; where nothing
	 * does, what comes to rest arms it; hold_thaw() kicks.
	 */
	if (needs(DUE_PASS_COMES, S.empty_queued || S.empty != EMPTY_IDLE || S.frozen ||
		  !any_resting()))
		S.due = false;
	if (!S.failures && !an_error_is_due())
		S.touched_error = 0;
	no_promise = no_promise_comes();
	for (i = 0; i < MODEL_SECTORS; i++) {
		/* is_stale() asks for writes there only. */
		S.promised[i] &= loosened(PROMISES) ? 0 : covering[i];
		/* What is there is checked; what comes will be when it comes. */
		if (no_promise)
			S.stable[i] = 0;
	}
	/* Of those that it came behind, only who still waits matters. */
	for (i = 0; i < MODEL_BLOCKS; i++) {
		taken = touches_taken(i);
		waiting = ranges_waiting(i);
		for (r = 0; r < scenario.nr_requests; r++)
			S.io[r].behind[i] &= loosened(BEHIND) ? 0 : S.io[r].in_range ? taken : waiting;
	}
	for (r = 0; r < scenario.nr_requests; r++) {
		/* Only of what may be acknowledged, a read or a flush is it asked. */
		if (kind_of(r)->op == OP_DISCARD ||
		    (S.io[r].phase == REQUEST_ENDED && needs(BEFORE_FAILED, S.io[r].status)))
			S.io[r].before = 0;
		/* What it is for has happened under the lock. */
		if (needs(MAY_HOLD_DECIDED, S.io[r].phase != REQUEST_ENTERED))
			S.io[r].may_hold = false;
	}
}

/* Lets states be equal that differ in what nobody will look at again. */
void tidy(void)
{
	u8 old[MODEL_BLOCKS];
	u8 empty = 0, max = 0;
	u8 b, w, i, waited;

	/* Of the counts of blocks that began to hold, only their order matters. */
	for (b = 0; b < MODEL_BLOCKS; b++) {
		old[b] = S.block[b].held ? loosened(ORDER) ? 1 : S.block[b].seq : 0;
		max += !!old[b];
		empty += old[b] && old[b] <= S.empty_seq;
	}
	for (w = 0; w < MODEL_WAITERS; w++) {
		waited = 0;
		for (b = 0; b < MODEL_BLOCKS && S.waiter[w].listed; b++)
			waited += bars(ORDER_WAITED, old[b] && old[b] <= S.waiter[w].seq);
		S.waiter[w].seq = waited;
	}
	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S.block[b];

		block->seq = 0;
		for (i = 0; i < MODEL_BLOCKS && old[b]; i++)
			block->seq += old[i] && old[i] <= old[b];
		if (needs(OVER_NOT_HELD, !block->held))
			block->over = false;
		if (block->state != BLOCK_IS_HELD || !block_is_kept(block))
			block->row = 0;
		switch ((enum block_state)block->state) {
		case BLOCK_IS_WAIT:
		case BLOCK_IS_COLLECT:
		case BLOCK_IS_HELD:
			for (i = 0; i < MODEL_PER_BLOCK; i++)
				if (block->exists && needs(BUFFER_NOT_VALID, !block->valid) &&
				    needs(BUFFER_NOT_PINNED, !block->pins) &&
				    needs(BUFFER_NOT_KEPT, !(block->kept & 1 << i)))
					block->buffer[i] = GARBAGE;
			/* fallthrough */
		case BLOCK_IS_KNOWN:
			if (needs(KNOWN_NOT_FAILED, !block->failed)) {
				block->known = false;
				block->has_read = false;
			}
			break;
		case BLOCK_IS_READ:
		case BLOCK_IS_WRITE:
		case BLOCK_IS_PASS:
			break;
		}
	}
	for (i = 0; i < scenario.nr_requests; i++) {
		struct align_io *io = &S.io[i];

		io->before &= loosened(BEFORE) ? 0 : related[i];
		if (io->phase == REQUEST_ENDED && needs(STATUS_NOT_OF_WRITE, kind_of(i)->op != OP_WRITE)) {
			io->before = 0;
			io->status = 0;
		}
	}
	S.empty_seq = empty;
	S.seq = max;
	if (needs(DUE_NONE_HELD, !S.nr_held))
		S.due = false;
}
