// SPDX-License-Identifier: GPL-2.0
/*
 * The engine of dm-align as a model: two physical blocks of two logical blocks
 * each ("sectors" here), up to four requests, the drive below and the
 * administrator. search.c visits every state that they can reach together.
 *
 *   engine.h    the state
 *   hold.c, block.c, start.c, run.c, overlay.c, target.c
 *		 what stands for the engine: kmod's files of these names
 *   drive.c     the drive below
 *   events.c    the requests that come, and what can happen
 *   lawful.c    what is checked
 *   reduce.c    which orders and fields nobody can tell apart
 *
 * What is modelled
 * ----------------
 * A function here has the name of the function of kmod/ that it stands for, and
 * does to struct state what that one does to the target; what the two decide
 * by is the same code where it is pure (decide.h), and enum block_state, enum
 * touch_fate, the counters and the table of what a touch is booked on come from
 * the kernel's sources when this is compiled. So a new state or a new way to
 * resolve a touch does not compile here (-Wswitch), and test_model.py compares
 * who assigns which state.
 *
 * One event is what one holder of shard->lock does, or the completion of one
 * request, or one step of a work between two of them. Everything that can come
 * between, comes between: the search tries all orders.
 *
 * The drive does a request at any time after it was sent (IO_FLIGHT to
 * IO_DONE), in any order, and reports it at any later time; a write takes what
 * the buffer holds at the first moment, a read sees what was written by then.
 * It may fail scenario.failures requests of a path, with all, nothing or the
 * first block of a failed write on the medium. Its cache is volatile: a sector's
 * state.stable is the set of versions that a power cut at this moment may
 * leave. So a power cut is not an event but a condition on every state.
 *
 * Data are version numbers: 0 at first, n + 1 from request n. What is lawful is
 * told from state.io[].before, the requests that had ended when one came: a
 * version may not be returned or remain where a write is known to be there that
 * came after it had ended.
 *
 * What is checked
 * ---------------
 *   lost update   when everything has ended: what is on the medium
 *   stale read    each sector of each read, when it ends
 *   durability    in each state: what a power cut may leave, against flushes and
 *		   FUA writes that have ended
 *   deadlock      from each state the engine, the drive and time alone come to
 *		   rest: every request ended, no block left, or suspended
 *   ledger        rmw_expected = rmw_avoided + rmw_host + rmw_drive + rmw_lost +
 *		   rmw_pending for each event's changes, and rmw_pending is the
 *		   number of touches in flight and held, and held_bytes that of
 *		   the sectors of held touches, in each state
 *   fairness      no touch goes down or is acknowledged in front of a range that
 *		   waited at its block when it came, no range in front of a touch
 *		   that its block had taken, or of what had to be emptied there
 *		   (rule 4, and the end of rule 7, of block.c)
 *   errors        nobody gets an error whose blocks the drive did not fail
 *   silence       nothing is in flight while suspended; no held block in pad,
 *		   no block at all in report; the WARN_ONs of the code
 *
 * What is left out, and why that hides nothing
 * --------------------------------------------
 *   - More blocks, requests, sectors a block: rules 1 to 9 of block.c speak of
 *     one block and the ranges on it. Two blocks make runs, neighbours and
 *     writes that wait for one block while another waits for them. Only rows of
 *     whole held blocks (hold_for_stream(), start_take_whole()) need a third
 *     one: MODEL_BLOCKS 3, with sets of requests that are made for it.
 *   - Shards: both blocks are in one. What spans two shards takes both locks at
 *     once and is one event here as well; blocks of different shards never
 *     share a run, which is scenario.max_run 1.
 *   - Cuts at the limits of the device below: pieces of a range are one here,
 *     because the engine learns only of the end of the last.
 *   - REQ_NOWAIT (sent back before anything has changed), polled I/O, write-zeroes
 *     (writes of zeroes, but what lies in front of their run never goes down with
 *     it, as if there were no memory for that), priorities, cgroups, traces,
 *     histograms.
 *   - Time: an age is over or it is not, and may be at any moment; younger
 *     blocks are not over before older ones. A timer fires only where it would
 *     find something, and only if it was armed.
 *   - Memory: either there is none for GFP_NOWAIT or there is, and that changes
 *     scenario.memory_changes times. Mempools always have some.
 *   - A reboot: before its deadline it is a flush that stops holding; behind it
 *     no held block is sent, and ranges pass it as they do by rule 7.
 *   - A plug: started blocks may rest in the list of their thread for any time.
 *   - The copy of touches to the buffer and the sending of a request are one
 *     event, after the one that made the block READ, WRITE or PASS: in between
 *     only reads look at the buffer, at whole sectors under the lock, and see
 *     either what they would have seen before or what they would see after.
 *   - Steps that nobody else can tell apart are one unless takes_steps_apart():
 *     passing the gate, the lock region of align_engine_map() and the rest of
 *     map where neither mode, memory nor suspend will change and nothing is
 *     delayed; the look at what is frozen, the choice of a block and the timer
 *     at the end of hold_empty_work(). What else is done at once, everywhere, and why, stands
 *     in reduce.c. --fine takes it all apart.
 *   - Reads and flushes look at nr_held without the lock first; here they do so
 *     at the moment at which they come, where they promise most.
 *   - A flood without end: that nobody starves in one follows from who may
 *     overtake whom, which is checked.
 *   - A discard makes the content of its sectors undefined, or the drive
 *     ignores it, or does so with the parts of blocks.
 */
#include <string.h>

#include "inside.h"

const char *const break_names[] = {
#define X(id, name) name,
	BREAKS(X)
#undef X
};
const unsigned int nr_breaks = NR_BREAKS;

enum fault fault = NR_BREAKS;

void model_break(unsigned int which)
{
	fault = which;
}

const char *const loose_names[] = {
#define X(id, name) name,
	LOOSE(X)
#undef X
};
const unsigned int nr_loose = NR_LOOSE;

enum loose loose = NR_LOOSE;

void model_loosen(unsigned int which)
{
	loose = which;
}

struct scenario scenario;
u8 related[MODEL_REQUESTS];
u8 covering[MODEL_SECTORS];
struct state S;
int booked[LEDGER_NR];
/* What was found wrong with the state. */
static const char *violation;

void wrong(const char *what)
{
	if (!violation)
		violation = what;
}

const char *model_state_name(u8 state)
{
	switch ((enum block_state)state) {
	case BLOCK_IS_WAIT:
		return "WAIT";
	case BLOCK_IS_COLLECT:
		return "COLLECT";
	case BLOCK_IS_READ:
		return "READ";
	case BLOCK_IS_WRITE:
		return "WRITE";
	case BLOCK_IS_PASS:
		return "PASS";
	case BLOCK_IS_HELD:
		return "HELD";
	case BLOCK_IS_KNOWN:
		return "KNOWN";
	}
	return "?";
}

struct assignment assignments[64];
unsigned int nr_assignments;

void set_state(struct align_block *block, enum block_state state,
	       const char *function)
{
	struct assignment *at = assignments;

	block->state = state;
	while (at < assignments + nr_assignments &&
	       (at->function != function || at->state != state))
		at++;
	if (at == assignments + nr_assignments) {
		at->function = function;
		at->state = state;
		nr_assignments++;
	}
	at->times++;
}

void model_init(const struct scenario *given, struct state *state)
{
	u8 i, r;

	scenario = *given;
	memset(state, 0, sizeof(*state));
	state->mode = scenario.modes[0];
	state->holding = state->mode == ALIGN_COALESCE;
	state->failures = scenario.failures;
	state->memory_changes = scenario.memory_changes;
	state->suspends = scenario.suspends;
	state->drops = scenario.drops;
	state->forgets = scenario.forgets;
	for (r = 0; r < scenario.nr_requests; r++) {
		related[r] = 0;
		for (i = 0; i < scenario.nr_requests; i++)
			if ((kind_of(i)->op == OP_WRITE || kind_of(i)->op == OP_DISCARD) &&
			    (kind_of(r)->op == OP_FLUSH || overlap(i, r)))
				related[r] |= 1 << i;
	}
	for (i = 0; i < MODEL_SECTORS; i++) {
		state->stable[i] = 1 << 0;
		covering[i] = 0;
		for (r = 0; r < scenario.nr_requests; r++)
			covering[i] |= covers(r, i) << r;
	}
	list_candidates();
	name_twins();
	S = *state;
	check();
}

/* Return: whether the event can happen; then S is the state after. */
static bool try_event(struct event event)
{
	const struct event *also = NULL;
	u8 medium[MODEL_SECTORS];

	violation = NULL;
	memcpy(medium, S.medium, sizeof(medium));
	if (!happen(event))
		return false;
	observe_medium(medium);
	for (;;) {
		if (scenario.reduce)
			tidy();
		check();
		memset(booked, 0, sizeof(booked));
		if (scenario.reduce)
			also = next_at_once();
		if (!also)
			break;
		if (!happen(*also)) {
			wrong("an event is done at once that cannot happen");
			break;
		}
	}
	if (scenario.reduce)
		forget_the_dead();
	return true;
}

const char *model_expand(const struct state *state, successor_fn *successor)
{
	const struct candidate *candidate;
	struct event event;
	u8 nr_b;

	S = *state;
	for (candidate = candidates; candidate < candidates + nr_candidates; candidate++) {
		if (!holds(&candidate->condition))
			continue;
		event = candidate->event;
		nr_b = candidate->nr_b;
		/* The drive has done with failing. */
		if (nr_b == OUTCOMES && !state->failures)
			nr_b = OUTCOME_FAILED;
		for (event.b = 0; event.b < nr_b; event.b++) {
			if (!try_event(event))
				continue;
			successor(&S, event, is_environment(event));
			if (violation)
				return violation;
			S = *state;
		}
	}
	return NULL;
}

const char *model_apply(const struct state *state, struct event event,
			struct state *next)
{
	bool happens;

	S = *state;
	happens = try_event(event);
	*next = S;
	return happens ? violation : "the event cannot happen";
}
