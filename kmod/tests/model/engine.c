// SPDX-License-Identifier: GPL-2.0
/*
 * The engine of dm-align as a model: two physical blocks of two logical blocks
 * each ("sectors" here), up to four requests, the drive below and the
 * administrator. search.c visits every state that they can reach together.
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
 *		   number of touches in flight and held, in each state
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
 *     (a write of zeroes without touches, as a whole write is one of data),
 *     priorities, cgroups, traces, histograms.
 *   - Time: an age is over or it is not, and may be at any moment; younger
 *     blocks are not over before older ones. A timer fires only where it would
 *     find something, and only if it was armed.
 *   - Memory: either there is none for GFP_NOWAIT or there is, and that changes
 *     scenario.memory_changes times. Mempools always have some.
 *   - A plug: started blocks may rest in the list of their thread for any time.
 *   - The copy of touches to the buffer and the sending of a request are one
 *     event, after the one that made the block READ, WRITE or PASS: in between
 *     only reads look at the buffer, at whole sectors under the lock, and see
 *     either what they would have seen before or what they would see after.
 *   - Steps that nobody else can tell apart are one where scenario.fine is not
 *     set: passing the gate, the lock region of align_engine_map() and the rest
 *     of map where neither mode, memory nor suspend change and nothing is
 *     delayed; the search for failed blocks and the timer at the end of
 *     hold_empty_work(). --fine takes them apart everywhere.
 *   - Reads and flushes look at nr_held without the lock first; here they do so
 *     at the moment at which they come, where they promise most.
 *   - Fairness (rule 4 and the end of rule 7 of block.c): three requests cannot
 *     starve a fourth. That a touch does not overtake a waiting range is not
 *     checked, therefore.
 *   - A discard makes the content of its sectors undefined, or the drive
 *     ignores it, or does so with the parts of blocks.
 */
#include <stddef.h>
#include <string.h>

#include "engine.h"

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define WHOLE ((1 << MODEL_PER_BLOCK) - 1)
#define DRIVE_FLUSH_ERROR (1 << 7)

enum { HOLD_STOPPED_SUSPEND = 1, HOLD_STOPPED_MODE = 2 };

/* Waiters that are no flush. */
enum { WAITER_SUSPEND = MODEL_REQUESTS, WAITER_MODE };

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

/*
 * Deliberate faults, each of which the search must find.
 */
#define BREAKS(X) \
	X(FLUSH_NOT_EMPTYING, "flush-not-emptying") \
	X(FLUSH_SEES_RESTING_ONLY, "flush-sees-resting-only") \
	X(FLUSH_IGNORES_FAILED, "flush-ignores-failed") \
	X(RANGE_OVERTAKES_READ, "range-overtakes-read") \
	X(RANGE_KEEPS_KNOWN, "range-keeps-known") \
	X(RANGE_KEEPS_VALID, "range-keeps-valid") \
	X(NEW_BLOCK_IGNORES_RANGES, "new-block-ignores-ranges") \
	X(TOUCH_JOINS_WRITE, "touch-joins-write") \
	X(TOUCH_LATE_FOR_PATCH, "touch-late-for-patch") \
	X(READ_NOT_PINNED, "read-not-pinned") \
	X(PIN_NOT_KEPT, "pin-not-kept") \
	X(READ_INTO_HELD, "read-into-held") \
	X(MERGE_OVERWRITES_KEPT, "merge-overwrites-kept") \
	X(FAILED_RANGE_ENDS_HELD, "failed-range-ends-held") \
	X(PART_DISCARD_ENDS_HELD, "part-discard-ends-held") \
	X(DISCARD_ENDS_HELD, "discard-ends-held") \
	X(FAILED_WRITE_FORGOTTEN, "failed-write-forgotten") \
	X(PASS_WRITES_WHOLE, "pass-writes-whole") \
	X(FUA_LOST, "fua-lost") \
	X(FUA_HELD, "fua-held") \
	X(LEDGER_TWICE, "ledger-twice") \
	X(LEDGER_NOT_SUPERSEDED, "ledger-not-superseded") \
	X(WAITER_NOT_WOKEN, "waiter-not-woken") \
	X(WAITER_OF_FAILED_NOT_WOKEN, "waiter-of-failed-not-woken") \
	X(RANGE_NOT_LET_THROUGH, "range-not-let-through") \
	X(STARVED_NOT_WOKEN, "starved-not-woken") \
	X(TIMER_NOT_ARMED, "timer-not-armed") \
	X(DELAY_NOT_ENDED, "delay-not-ended") \
	X(DROP_STAYS_IDLE, "drop-stays-idle") \
	X(ROW_STAYS_RESTING, "row-stays-resting") \
	X(MODE_WITHOUT_GATE, "mode-without-gate") \
	X(MODE_KEEPS_KNOWN, "mode-keeps-known") \
	X(MODE_KEEPS_HELD, "mode-keeps-held") \
	X(FREEZE_WITHOUT_QUIET, "freeze-without-quiet") \
	X(RUN_ERROR_REACHES_ALL, "run-error-reaches-all")

enum fault {
#define X(id, name) BREAK_##id,
	BREAKS(X)
#undef X
	NR_BREAKS,
};

const char *const break_names[] = {
#define X(id, name) name,
	BREAKS(X)
#undef X
};
const unsigned int nr_breaks = NR_BREAKS;

static enum fault fault = NR_BREAKS;

void model_break(unsigned int which)
{
	fault = which;
}

#define broken(name) (fault == BREAK_##name)

static const struct scenario *scenario;
/* Of each request, the changes whose order with it decides what is lawful. */
static u8 related[MODEL_REQUESTS];
/* The state that is being changed, and what was found wrong with it. */
static struct state *S;
static const char *violation;
/* What this event has entered in the ledger. */
static int booked[LEDGER_NR];

static outcome_fn *observe;

void model_observe(outcome_fn *observer)
{
	observe = observer;
}

static void wrong(const char *what)
{
	if (!violation)
		violation = what;
}

static unsigned int bits(unsigned int mask)
{
	return __builtin_popcount(mask);
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

static void set_state(struct align_block *block, enum block_state state,
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

#define SET_STATE(block, state) set_state(block, state, __func__)

static u8 number_of(const struct align_block *block)
{
	return block - S->block;
}

static const struct request_kind *kind_of(u8 r)
{
	return &request_kinds[scenario->kind[r]];
}

/* The sectors of a block that lie in [start, end), as bits. */
static u8 part_of(u8 b, u8 start, u8 end)
{
	u8 mask = 0;
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (b * MODEL_PER_BLOCK + i >= start &&
		    b * MODEL_PER_BLOCK + i < end)
			mask |= 1 << i;
	return mask;
}

/* The sectors of a block that a request covers. */
static u8 part(u8 r, u8 b)
{
	return part_of(b, kind_of(r)->start, kind_of(r)->end);
}

static bool is_partial(u8 r, u8 b)
{
	return kind_of(r)->op == OP_WRITE && part(r, b) && part(r, b) != WHOLE;
}

static unsigned int run_max_blocks(void)
{
	return scenario->max_run;
}

/*
 * What is lawful.
 */

static bool covers(u8 r, u8 sector)
{
	return kind_of(r)->start <= sector && sector < kind_of(r)->end;
}

static bool overlap(u8 r, u8 other)
{
	return kind_of(r)->start < kind_of(other)->end &&
	       kind_of(other)->start < kind_of(r)->end;
}

/* Writes that have been acknowledged. */
static u8 acknowledged(void)
{
	u8 mask = 0;
	u8 r;

	for (r = 0; r < scenario->nr_requests; r++)
		if (S->io[r].phase == REQUEST_ENDED && !S->io[r].status &&
		    kind_of(r)->op == OP_WRITE)
			mask |= 1 << r;
	return mask;
}

/* Whether a version is older than a write in a sector that is known to be there. */
static bool is_stale(u8 sector, u8 version, u8 writes)
{
	u8 r;

	if (S->given_up[sector])
		return false;
	for (r = 0; r < scenario->nr_requests; r++) {
		if (!(writes & 1 << r) || !covers(r, sector))
			continue;
		if (!version || S->io[r].before & 1 << (version - 1))
			return true;
	}
	return false;
}

/*
 * Ledger.
 */

#define ledger_add(name, n) (booked[LEDGER_##name] += (n))

static void ledger_book(enum rmw_how how, unsigned int nr)
{
	booked[ledger_accounts[how].sum] += nr;
	S->rmw_pending -= nr;
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
	for (i = 0; i < scenario->nr_requests; i++)
		pending += bits(S->io[i].unresolved);
	for (i = 0; i < MODEL_BLOCKS; i++)
		pending += S->block[i].held;
	if (pending != S->rmw_pending)
		wrong("ledger: rmw_pending is not what is in flight and held");
}

/*
 * hold.c
 */

static void hold_kick(void)
{
	S->empty_queued = true;
}

static void flush_go(u8 r)
{
	S->io[r].io = IO_QUEUED;
}

static void waiter_done(u8 w)
{
	S->waiter[w].listed = false;
	if (w < MODEL_REQUESTS)
		flush_go(w);
}

static void hold_settle(u8 seq, bool failed)
{
	u8 w;

	if (failed ? broken(WAITER_OF_FAILED_NOT_WOKEN) : broken(WAITER_NOT_WOKEN))
		return;
	for (w = 0; w < MODEL_WAITERS; w++) {
		struct align_waiter *waiter = &S->waiter[w];

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

static bool hold_begin(struct align_block *block)
{
	if (!S->holding)
		return false;
	block->seq = ++S->seq;
	block->over = false;
	S->nr_held++;
	return true;
}

static void block_copy_touch(struct align_block *block, u8 r)
{
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (part(r, number_of(block)) & 1 << i)
			block->buffer[i] = r + 1;
}

static bool hold_touch(struct align_block *block, u8 r)
{
	u8 b = number_of(block);

	if (!block->held && !hold_begin(block))
		return false;
	block->held++;
	block_copy_touch(block, r);
	block->kept |= part(r, b);
	block->covered = block->kept;
	S->io[r].touch_held |= 1 << b;
	S->io[r].unresolved &= ~(1 << b);
	return true;
}

static bool hold_is_over(const struct align_block *block)
{
	u8 max = scenario->max_blocks;

	if (S->nr_resting > max - max / 4)
		S->pressed = true;
	else if (S->nr_resting <= max / 2)
		S->pressed = false;
	return !S->holding || S->pressed || block->seq <= S->empty_seq ||
	       block->over;
}

static void hold_rest(struct align_block *block)
{
	SET_STATE(block, BLOCK_IS_HELD);
	block->covered = block->kept;
	block->owner = OWNER_NONE;
	if (block->failed) {
		S->nr_idle++;
		hold_kick();
		return;
	}
	S->nr_resting++;
	if (hold_is_over(block))
		hold_kick();
	else if (!broken(TIMER_NOT_ARMED))
		S->due = true;
}

static void hold_end(struct align_block *block)
{
	block->held = 0;
	block->kept = 0;
	S->nr_held--;
	block->failed = false;
	hold_settle(block->seq, false);
}

static void hold_resolve(struct align_block *block, enum rmw_how how,
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

static void hold_failed(struct align_block *block)
{
	hold_settle(block->seq, true);
	block->seq = ++S->seq;
	block->failed = true;
	block->over = false;
}

static void hold_overwritten(struct align_block *block, u8 r)
{
	u8 b = number_of(block);
	u8 over = part_of(b, S->io[r].start, S->io[r].end);
	u8 i;

	if (kind_of(r)->op != OP_WRITE && over != WHOLE &&
	    !broken(PART_DISCARD_ENDS_HELD))
		return;
	/* What could not be written; whatever the drive does with the discard. */
	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (kind_of(r)->op == OP_DISCARD && over == WHOLE && block->failed)
			S->given_up[b * MODEL_PER_BLOCK + i] = true;
	block->kept &= ~over;
	block->covered = block->kept;
	for (i = 0; i < block->touches.nr; i++)
		block->covered |= part(block->touches.of[i], b);
	if (!block->kept)
		hold_resolve(block, RMW_SUPERSEDED, RMW_SUPERSEDED);
}

static void hold_leave(struct align_block *block)
{
	if (block->failed)
		S->nr_idle--;
	else
		S->nr_resting--;
}

static void hold_take(struct align_block *block, u8 owner)
{
	hold_leave(block);
	SET_STATE(block, BLOCK_IS_COLLECT);
	block->owner = owner;
}

static bool block_is_kept(const struct align_block *block)
{
	return block->kept == WHOLE;
}

static bool hold_is_neighbour(const struct align_block *other, bool half)
{
	if (!other->exists || other->state != BLOCK_IS_HELD || other->failed)
		return false;
	return block_is_kept(other) || hold_is_over(other) || half;
}

static struct align_block *hold_before(struct align_block *block)
{
	struct align_block *other = block - 1;

	if (block == S->block || !other->exists ||
	    other->state != BLOCK_IS_HELD || other->failed ||
	    !block_is_kept(other))
		return NULL;
	return other;
}

static void hold_for_stream(struct align_block *block, u8 owner)
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
	struct align_block *last = S->block + MODEL_BLOCKS - 1;
	unsigned int max = run_max_blocks();
	unsigned int nr = 1;

	while (nr < max && block > S->block &&
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

/* The first of shard->held, or NULL. */
static struct align_block *first_held(void)
{
	struct align_block *block, *first = NULL;

	for (block = S->block; block < S->block + MODEL_BLOCKS; block++)
		if (block->exists && block->state == BLOCK_IS_HELD &&
		    !block->failed && (!first || block->seq < first->seq))
			first = block;
	return first;
}

static void hold_retry(void)
{
	struct align_block *block;

	for (block = S->block; block < S->block + MODEL_BLOCKS; block++)
		if (block->exists && block->state == BLOCK_IS_HELD &&
		    block->failed && (block->seq <= S->empty_seq || block->over))
			hold_take(block, OWNER_EMPTY);
}

static bool owns_any(u8 owner)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S->block[b].exists && S->block[b].owner == owner)
			return true;
	return false;
}

/* One step of it; @half: young blocks go with their neighbours. */
static bool hold_empty_work(bool half)
{
	struct align_block *block;
	u8 b;

	if (owns_any(OWNER_EMPTY))
		return false;
	switch ((enum empty_phase)S->empty) {
	case EMPTY_IDLE:
		if (!S->empty_queued)
			return false;
		S->empty_queued = false;
		S->empty = EMPTY_FIND;
		/* fallthrough */
	case EMPTY_FIND:
		if (S->frozen) {
			S->empty = EMPTY_IDLE;
			return true;
		}
		block = first_held();
		if (block && hold_is_over(block)) {
			hold_gather(block, half);
			return true;
		}
		S->empty = EMPTY_RETRY;
		if (scenario->fine)
			return true;
		/* fallthrough */
	case EMPTY_RETRY:
		hold_retry();
		S->empty = EMPTY_ARM;
		if (scenario->fine || owns_any(OWNER_EMPTY))
			return true;
		/* fallthrough */
	case EMPTY_ARM:
		for (b = 0; b < MODEL_BLOCKS; b++)
			if (S->block[b].exists &&
			    S->block[b].state == BLOCK_IS_HELD)
				S->due = true;
		S->empty = EMPTY_IDLE;
		return true;
	}
	return false;
}

static void hold_wait(u8 w)
{
	S->waiter[w] = (struct align_waiter) {
		.listed = true, .seq = S->seq, .left = S->nr_held };
	if (broken(FLUSH_SEES_RESTING_ONLY) && w < MODEL_REQUESTS)
		S->waiter[w].left = S->nr_resting + S->nr_idle;
	S->empty_seq = S->seq;
	hold_kick();
	if (!S->waiter[w].left)
		waiter_done(w);
}

static void hold_stop(u8 why)
{
	S->stopped |= why;
	S->holding = false;
	hold_kick();
}

static void hold_start(u8 why)
{
	S->stopped &= ~why;
	S->holding = S->mode == ALIGN_COALESCE && !S->stopped;
}

static void hold_thaw(void)
{
	S->frozen = false;
	hold_start(HOLD_STOPPED_SUSPEND);
	if (S->nr_held)
		hold_kick();
}

static void hold_forget(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S->block[b].exists && S->block[b].state == BLOCK_IS_HELD)
			S->block[b].valid = false;
}

/*
 * block.c
 */

static void run_work_queue(struct align_block *block)
{
	block->owner = OWNER_WORK;
}

static void block_release(void)
{
	S->nr--;
}

static void block_remove(struct align_block *block)
{
	struct zombie *zombie = S->zombie;
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
		if (++zombie == S->zombie + MODEL_ZOMBIES) {
			wrong("bound of the model: too many pinned blocks");
			return;
		}
	zombie->pins = block->pins;
	memcpy(zombie->buffer, block->buffer, sizeof(zombie->buffer));
	for (r = 0; r < scenario->nr_requests; r++)
		if (S->io[r].pin[b] == PIN_BLOCK)
			S->io[r].pin[b] = PIN_ZOMBIE + (zombie - S->zombie);
	memset(block, 0, sizeof(*block));
}

static void list_add(struct touch_list *list, u8 r)
{
	list->of[list->nr++] = r;
}

/* Its rest is known, or its touches cover all of it. */
static bool block_is_whole(const struct align_block *block)
{
	return block->valid || block->covered == WHOLE;
}

static void block_take_touch(struct align_block *block, u8 r)
{
	u8 mask = part(r, number_of(block));

	list_add(&block->touches, r);
	block->covered |= mask;
	/* Its end is inside the block. */
	if (scenario->stream && !(mask & 1 << (MODEL_PER_BLOCK - 1)))
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
	bool hold = S->io[r].may_hold && !block->failed && hold_touch(block, r);

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
		if (S->block[b].exists && S->block[b].state == BLOCK_IS_KNOWN) {
			block_remove(&S->block[b]);
			return true;
		}
	return false;
}

static bool blocks_take_place(void)
{
	if (S->nr >= scenario->max_blocks)
		return false;
	S->nr++;
	return true;
}

static bool blocks_make_room(void)
{
	if (blocks_take_place())
		return true;
	while (block_evict())
		if (blocks_take_place())
			return true;
	S->pressed = true;
	hold_kick();
	return false;
}

static u8 block_count_ranges(u8 b)
{
	u8 nr = 0;
	u8 r;

	for (r = 0; r < scenario->nr_requests; r++)
		if (S->io[r].in_range &&
		    part_of(b, S->io[r].start, S->io[r].end))
			nr++;
	return nr;
}

static enum touch_fate blocks_add_touch(u8 r, u8 b)
{
	struct align_block *block = &S->block[b];

	if (block->exists) {
		switch ((enum block_state)block->state) {
		case BLOCK_IS_KNOWN:
			block->covered = 0;
			return block_join_quiet(block, r, false);
		case BLOCK_IS_HELD:
			return block_join_quiet(block, r, true);
		case BLOCK_IS_WAIT:
		case BLOCK_IS_COLLECT:
		case BLOCK_IS_READ:
			if (!block->waiting) {
				block_take_touch(block, r);
				if (block_is_whole(block))
					block_end_delay(block, OWNER_REQUEST + r);
				return TOUCH_TAKEN;
			}
			break;
		case BLOCK_IS_WRITE:
			if (broken(TOUCH_JOINS_WRITE) || (broken(TOUCH_LATE_FOR_PATCH) &&
							  S->run[b].phase == RUN_FLIGHT)) {
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
		S->io[r].how[b] = RMW_DRIVE_MAX_BLOCKS;
		return TOUCH_REFUSED;
	}
	if (S->no_memory) {
		/* A known block that goes leaves its memory to this one. */
		if (!block_evict()) {
			S->nr--;
			S->io[r].how[b] = RMW_DRIVE_NO_MEMORY;
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
	case BLOCK_IS_HELD:
		return false;
	case BLOCK_IS_WAIT:
		return block->touches.nr || block->waiting ||
		       hold_is_over(block);
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
	struct align_io *io = &S->io[r];
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S->block[b];

		if (!block->exists || !part_of(b, io->start, io->end))
			continue;
		if (block_holds_up(block) ||
		    block_goes_first(block, kind_of(r)->op)) {
			block->waiting++;
			io->blockers++;
			if (block->state == BLOCK_IS_HELD) {
				hold_leave(block);
				block_collect_and_queue(block);
			}
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
static bool blocks_add_range(u8 r)
{
	shard_add_range(r);
	S->io[r].in_range = true;
	return !S->io[r].blockers;
}

static void block_end_turn(struct align_block *block);

static void block_go_on(struct align_block *block)
{
	if (block->touches.nr || (block->held && block->waiting))
		block_collect_and_queue(block);
	else if (block->waiting)
		block_end_turn(block);
	else if (block->held)
		hold_rest(block);
	else
		block_remove(block);
}

static void blocks_end_range(u8 r, bool ok)
{
	struct align_io *io = &S->io[r];
	u8 b;

	io->in_range = false;
	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S->block[b];

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
	for (r = 0; r < scenario->nr_requests; r++) {
		struct align_io *io = &S->io[r];

		if (!io->in_range || !part_of(b, io->start, io->end))
			continue;
		if (!io->blockers)
			wrong("a range is let through that does not wait");
		else if (!--io->blockers)
			io->io = IO_QUEUED;
	}
}

static void block_end_turn(struct align_block *block)
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

static void align_io_put(u8 r, bool failed);

static void block_served(struct align_block *block, bool status)
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
		S->io[done.of[i]].how[b] = first;
		first = later;
		align_io_put(done.of[i], status);
	}
}

static void blocks_forget(void)
{
	while (block_evict())
		;
	hold_forget();
}

/*
 * start.c
 */

static enum block_step block_begin(struct align_block *block)
{
	enum block_step step =
		block_first_step(block->valid, block_is_whole(block));

	if (!block->failed || step == BLOCK_READ) {
		block->known = block->valid;
		block->has_read = step == BLOCK_READ;
	}
	SET_STATE(block, step == BLOCK_READ ? BLOCK_IS_READ : BLOCK_IS_WRITE);
	block->owner = OWNER_NONE;
	return step;
}

/* Return: how many blocks, up to this one, go down in front of the range. */
static u8 start_take_whole(struct align_block *block, u8 owner)
{
	unsigned int max = run_max_blocks() / 2;
	struct align_block *other;
	u8 nr = 0;

	if (block->state != BLOCK_IS_COLLECT || block->owner != owner ||
	    !block_is_whole(block))
		return 0;
	for (;;) {
		other = hold_before(block);
		block_begin(block);
		if (++nr >= max || !other)
			return nr;
		if (!broken(ROW_STAYS_RESTING))
			hold_leave(other);
		block = other;
	}
}

static unsigned int count_writes(void)
{
	unsigned int nr = 0;
	u8 r;

	for (r = 0; r < scenario->nr_requests; r++)
		nr += S->io[r].engine;
	return nr;
}

static unsigned int count_delayed(void)
{
	unsigned int nr = 0;
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		nr += S->block[b].delayed;
	return nr;
}

static bool block_delay(struct align_block *block)
{
	if (!block->late)
		return false;
	block->late = false;
	if (block_is_whole(block))
		return false;
	if (count_writes() <= count_delayed() + 1)
		return false;
	block->owner = OWNER_DELAYED;
	block->delayed = true;
	return true;
}

/* One round of it, for blocks of the caller's, as bits. */
static void start_now(u8 started)
{
	enum block_step step = BLOCK_PASS;
	struct block_run *run = NULL;
	unsigned int nr = 0;
	u8 b, next = 0;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S->block[b];

		if (!(started & 1 << b))
			continue;
		if (block_delay(block))
			continue;
		if (!nr)
			run = &S->run[b];
		else if (b != next || nr >= run_max_blocks() ||
			 block_first_step(block->valid,
					  block_is_whole(block)) != step)
			break;
		step = block_begin(block);
		next = b + 1;
		nr++;
	}
	if (!nr)
		return;
	*run = (struct block_run) {
		.phase = RUN_SEND, .write = step == BLOCK_WRITE, .nr = nr };
}

static void start_end_delay(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		if (!S->block[b].delayed)
			continue;
		S->block[b].delayed = false;
		run_work_queue(&S->block[b]);
	}
}

static void start_hurry(void)
{
	if (count_delayed() && count_writes() <= count_delayed())
		start_end_delay();
}

/*
 * run.c
 */

static void run_free(struct block_run *run)
{
	u8 b;

	if (!run->reserve)
		return;
	S->reserve_busy = false;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S->block[b].exists && S->block[b].owner == OWNER_STARVED &&
		    !broken(STARVED_NOT_WOKEN))
			run_work_queue(&S->block[b]);
}

static bool block_needs_spare(const struct align_block *block)
{
	return (block->held && !broken(READ_INTO_HELD)) || block->pins;
}

/* Each block of a run goes on alone. */
static void run_part(u8 b, u8 phase)
{
	struct block_run run = S->run[b];
	u8 i;

	for (i = 0; i < run.nr; i++)
		S->run[b + i] = (struct block_run) {
			.phase = phase, .write = run.write, .nr = 1,
			.status = run.status };
}

/* Return: the run, or NULL: then the block waits for it, back in COLLECT. */
static struct block_run *run_reserve(struct align_block *block)
{
	struct block_run *run = &S->run[number_of(block)];

	if (!S->reserve_busy) {
		S->reserve_busy = true;
		run->reserve = true;
		return run;
	}
	SET_STATE(block, BLOCK_IS_COLLECT);
	block->owner = OWNER_STARVED;
	memset(run, 0, sizeof(*run));
	return NULL;
}

static void block_read(struct align_block *block)
{
	struct block_run *run = &S->run[number_of(block)];

	if (block_needs_spare(block)) {
		if (S->no_memory && !run_reserve(block))
			return;
		run->spare = 1 << number_of(block);
	}
	run->phase = RUN_FLIGHT;
}

static void runs_read(u8 b)
{
	struct block_run *run = &S->run[b];
	u8 i;

	if (S->no_memory) {
		run_part(b, RUN_SEND);
		return;
	}
	for (i = b; i < b + run->nr; i++)
		if (block_needs_spare(&S->block[i]))
			run->spare |= 1 << i;
	run->phase = RUN_FLIGHT;
}

static void block_merge(struct align_block *block, const u8 *data)
{
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (!(block->kept & 1 << i) || broken(MERGE_OVERWRITES_KEPT))
			block->buffer[i] = data[i];
}

static void run_merge(u8 b)
{
	struct block_run *run = &S->run[b];
	u8 i;

	for (i = b; i < b + run->nr; i++)
		if (run->spare & 1 << i && !run->status)
			block_merge(&S->block[i], &run->data[i * MODEL_PER_BLOCK]);
	memset(run->data, 0, sizeof(run->data));
	run->spare = 0;
	run_free(run);
	run->reserve = false;
	run->phase = RUN_MERGED;
}

/* Return: FUA. */
static bool block_patch(struct align_block *block)
{
	bool fua = false;
	u8 i;

	for (i = 0; i < block->touches.nr; i++) {
		block_copy_touch(block, block->touches.of[i]);
		fua |= kind_of(block->touches.of[i])->fua;
	}
	return fua && !broken(FUA_LOST);
}

static void run_write(u8 b)
{
	struct block_run *run = &S->run[b];
	u8 i;

	for (i = b; i < b + run->nr; i++)
		run->fua |= block_patch(&S->block[i]);
	run->phase = RUN_FLIGHT;
}

static void touch_pass_end(u8 r, u8 b)
{
	struct align_block *block = &S->block[b];
	bool status = S->io[r].pass_status[b];

	S->io[r].pass[b] = IO_NONE;
	S->io[r].pass_status[b] = 0;
	if (!--block->passing) {
		block->valid = false;
		block_end_turn(block);
	}
	S->io[r].how[b] = RMW_DRIVE_READ_ERROR;
	align_io_put(r, status);
}

static void block_pass_touches(struct align_block *block)
{
	u8 b = number_of(block);
	u8 i;

	for (i = 0; i < block->touches.nr; i++) {
		S->io[block->touches.of[i]].pass[b] = IO_FLIGHT;
		block->passing++;
	}
	memset(&block->touches, 0, sizeof(block->touches));
	memset(&S->run[b], 0, sizeof(S->run[b]));
}

static void block_pass_held(struct align_block *block)
{
	struct block_run *run = &S->run[number_of(block)];

	run->fua = block_patch(block);
	run->phase = RUN_NONE;
	block->pass = IO_FLIGHT;
	block->passing = 1;
}

static void held_pass_end(struct align_block *block)
{
	struct block_run *run = &S->run[number_of(block)];
	bool status = block->pass_status;

	memset(run, 0, sizeof(*run));
	block->pass = IO_NONE;
	block->pass_status = 0;
	block->passing = 0;
	block_served(block, status);
}

/* The read of a run has ended, and what was read elsewhere is merged. */
static void run_go_on(u8 b)
{
	struct block_run *run = &S->run[b];
	bool failed = run->status;
	u8 i;

	if (failed && run->nr > 1) {
		run->status = 0;
		run_part(b, RUN_SEND);
		return;
	}
	for (i = b; i < b + run->nr; i++) {
		struct align_block *block = &S->block[i];
		enum block_step step =
			block_step_after_read(failed && !broken(PASS_WRITES_WHOLE),
					      block_is_whole(block));

		block->has_read = !failed;
		set_state(block, step == BLOCK_WRITE ? BLOCK_IS_WRITE :
			  BLOCK_IS_PASS, __func__);
		run->write = true;
		run->phase = step == BLOCK_WRITE ? RUN_SEND : RUN_PASS;
	}
	run->status = 0;
}

/* The request of a run has ended, or the thread that serves it goes on. */
static void run_step(u8 b)
{
	struct block_run *run = &S->run[b];
	struct align_block *block = &S->block[b];
	struct block_run served;

	switch ((enum run_phase)run->phase) {
	case RUN_SEND:
		if (run->write && run->nr > 1 && S->no_memory)
			run_part(b, RUN_SEND);
		else if (run->write)
			run_write(b);
		else if (run->nr > 1)
			runs_read(b);
		else
			block_read(block);
		return;
	case RUN_DONE:
		if (!run->write && run->spare) {
			run_merge(b);
			return;
		}
		if (!run->write) {
			run_go_on(b);
			return;
		}
		if (run->status && run->nr > 1 && !broken(RUN_ERROR_REACHES_ALL)) {
			run->status = 0;
			run_part(b, RUN_SEND);
			return;
		}
		run_part(b, RUN_SERVE);
		/* fallthrough */
	case RUN_SERVE:
		served = *run;
		memset(run, 0, sizeof(*run));
		block_served(block, served.status);
		return;
	case RUN_MERGED:
		run_go_on(b);
		return;
	case RUN_PASS:
		if (block->held)
			block_pass_held(block);
		else
			block_pass_touches(block);
		return;
	case RUN_NONE:
	case RUN_FLIGHT:
		return;
	}
}

/*
 * overlay.c
 */

static void request_end(u8 r);

static void unpin(struct align_io *io, u8 b)
{
	if (io->pin[b] == PIN_BLOCK) {
		S->block[b].pins--;
	} else {
		struct zombie *zombie = &S->zombie[io->pin[b] - PIN_ZOMBIE];

		if (!--zombie->pins) {
			memset(zombie, 0, sizeof(*zombie));
			block_release();
		}
	}
	io->pin[b] = PIN_NONE;
}

static void pins_end(u8 r, bool ok)
{
	struct align_io *io = &S->io[r];
	u8 b, i;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		const u8 *buffer = io->pin[b] < PIN_ZOMBIE ? S->block[b].buffer :
				   S->zombie[io->pin[b] - PIN_ZOMBIE].buffer;
		u8 mask = io->pin_kept[b] & part(r, b);

		if (broken(READ_NOT_PINNED) && ok && S->block[b].exists &&
		    S->block[b].held) {
			/* Looks for what is held only now. */
			buffer = S->block[b].buffer;
			mask = S->block[b].kept & part(r, b);
		} else if (io->pin[b] == PIN_NONE) {
			continue;
		}
		if (broken(PIN_NOT_KEPT))
			mask = S->block[b].exists ?
			       mask & S->block[b].kept : 0;
		for (i = 0; i < MODEL_PER_BLOCK && ok; i++)
			if (mask & 1 << i)
				io->data[b * MODEL_PER_BLOCK + i] = buffer[i];
		if (io->pin[b] != PIN_NONE)
			unpin(io, b);
	}
}

static void overlay_map_read(u8 r)
{
	struct align_io *io = &S->io[r];
	u8 sectors = 0;
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S->block[b];

		if (!block->exists || !block->held ||
		    !(block->kept & part(r, b)) || broken(READ_NOT_PINNED))
			continue;
		io->pin[b] = PIN_BLOCK;
		io->pin_kept[b] = block->kept;
		block->pins++;
		sectors += bits(block->kept & part(r, b));
	}
	if (sectors < kind_of(r)->end - kind_of(r)->start) {
		io->io = IO_FLIGHT;
		return;
	}
	pins_end(r, true);
	request_end(r);
}

/*
 * write.c, target.c, gate.c
 */

static void align_io_resolve(u8 r)
{
	struct align_io *io = &S->io[r];
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++) {
		if (!is_partial(r, b))
			continue;
		if (io->touch_held & 1 << b && !broken(LEDGER_TWICE))
			continue;
		if (io->how[b] == RMW_HOW_NR && !broken(LEDGER_TWICE)) {
			wrong("ledger: a touch has ended, and nobody knows how");
			continue;
		}
		ledger_book(io->how[b] == RMW_HOW_NR ? RMW_HOST : io->how[b], 1);
		io->unresolved &= ~(1 << b);
	}
}

static void observe_read(u8 r)
{
	uint64_t outcome = 1 + r;
	u8 i;

	for (i = 0; i < MODEL_SECTORS; i++)
		outcome = outcome << 3 | (covers(r, i) ? S->io[r].data[i] : 0);
	observe(outcome);
}

/* Everything has ended. */
static void observe_end(void)
{
	uint64_t outcome = 1 + MODEL_REQUESTS;
	u8 i;

	for (i = 0; i < MODEL_SECTORS; i++)
		outcome = outcome << 4 | S->medium[i] << 1 | S->given_up[i];
	for (i = 0; i < scenario->nr_requests; i++)
		outcome = outcome << 1 | (kind_of(i)->op == OP_WRITE && S->io[i].status);
	observe(outcome);
}

/* The bio that dm gave us has ended. */
static void request_end(u8 r)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S->io[r];
	u8 seen = io->before & acknowledged();
	u8 blocks = 0;
	u8 status = io->status;
	u8 i;

	if (io->in_range)
		blocks_end_range(r, !status);
	if (io->engine) {
		io->engine = false;
		start_hurry();
	}
	if (kind->op == OP_WRITE)
		align_io_resolve(r);

	for (i = 0; i < MODEL_SECTORS; i++) {
		if (kind->op == OP_READ && !status && covers(r, i)) {
			if (io->data[i] == GARBAGE)
				wrong("a read returns memory that nobody wrote");
			else if (is_stale(i, io->data[i], seen))
				wrong("stale read: it returns less than was acknowledged before it");
		}
		if (status)
			continue;
		if (kind->op == OP_FLUSH)
			S->promised[i] |= seen;
		if (kind->fua && covers(r, i))
			S->promised[i] |= 1 << r;
	}
	if (observe && kind->op == OP_READ && !status)
		observe_read(r);
	for (i = 0; i < MODEL_BLOCKS; i++)
		if (part(r, i))
			blocks |= 1 << i;
	if (status && !(S->touched_error & blocks) &&
	    !(kind->op == OP_FLUSH && S->touched_error))
		wrong("an error reaches a request that it does not concern");
	i = io->before;
	memset(io, 0, sizeof(*io));
	io->before = i;
	io->status = status;
	io->phase = REQUEST_ENDED;
}

static void align_io_put(u8 r, bool failed)
{
	if (failed)
		S->io[r].status = 1;
	if (!--S->io[r].parts)
		request_end(r);
}

/* The first block that goes down in front of the range of a write. */
static u8 first_joined(const struct align_io *io)
{
	return io->start / MODEL_PER_BLOCK - io->joined;
}

/* The first sector of what a request sends. */
static u8 own_start(const struct align_io *io)
{
	return io->joined ? first_joined(io) * MODEL_PER_BLOCK : io->start;
}

/* The range of a write, the read or the flush has ended below. */
static void own_end(u8 r)
{
	struct align_io *io = &S->io[r];
	bool failed = io->io_status;
	u8 b;

	if (io->joined && failed) {
		/* joined_send_apart() */
		for (b = first_joined(io); io->joined; b++, io->joined--)
			S->run[b] = (struct block_run) {
				.phase = RUN_SEND, .write = true, .nr = 1 };
		io->joined_fua = false;
		io->io_status = 0;
		io->io = IO_FLIGHT;
		return;
	}
	if (io->joined) {
		b = first_joined(io);
		io->joined--;
		block_served(&S->block[b], false);
		return;
	}
	io->io = IO_NONE;
	io->io_status = 0;
	if (failed)
		io->status = 1;
	if (kind_of(r)->op == OP_READ)
		pins_end(r, !failed);
	if (io->split_up) {
		blocks_end_range(r, !io->status);
		align_io_put(r, false);
	} else {
		request_end(r);
	}
}

/* The lock is held. */
static void align_engine_map(u8 r)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S->io[r];
	u8 start = kind->start, end = kind->end;
	u8 first = start / MODEL_PER_BLOCK;
	unsigned int handled = 0;
	bool go = true;
	u8 b;

	io->phase = REQUEST_MAPPED;
	io->parts = 1;
	for (b = 0; b < MODEL_BLOCKS; b++) {
		if (!is_partial(r, b))
			continue;
		switch (blocks_add_touch(r, b)) {
		case TOUCH_REFUSED:
			continue;
		case TOUCH_TAKEN:
			io->parts++;
			break;
		case TOUCH_HELD:
			break;
		}
		if (b == first)
			start++;
		else
			end--;
		handled++;
	}
	io->split_up = handled;
	if (start < end) {
		io->start = start;
		io->end = end;
		io->parts++;
		go = blocks_add_range(r);
		if (go && start > kind->start)
			io->joined = start_take_whole(&S->block[first],
						      OWNER_REQUEST + r);
	} else if (handled == 2 && io->touch_held & 2) {
		hold_for_stream(&S->block[first], OWNER_REQUEST + r);
	}
	io->go = go && start < end;
	if (go)
		return;
	io->io = IO_WAITS;
	if (!handled)
		io->phase = REQUEST_RUNS;
}

/* The rest of map: send the range, if it may go down, and let go of the write. */
static void map_rest(u8 r)
{
	struct align_io *io = &S->io[r];
	u8 b;

	io->phase = REQUEST_RUNS;
	if (io->go) {
		io->go = false;
		b = first_joined(io);
		if (io->joined && (S->no_memory || io->joined == run_max_blocks())) {
			S->run[b] = (struct block_run) {
				.phase = RUN_SEND, .write = true, .nr = io->joined };
			io->joined = 0;
		}
		for (; b < io->start / MODEL_PER_BLOCK && io->joined; b++)
			io->joined_fua |= block_patch(&S->block[b]);
		io->io = IO_FLIGHT;
	}
	if (io->split_up)
		align_io_put(r, false);
}

static void map_change(u8 r)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S->io[r];
	u8 b, touches = 0;

	if (S->closed && !broken(MODE_WITHOUT_GATE)) {
		io->phase = REQUEST_DEFERRED;
		return;
	}
	io->entered = true;
	for (b = 0; b < MODEL_BLOCKS; b++) {
		io->how[b] = RMW_HOW_NR;
		if (!is_partial(r, b))
			continue;
		io->unresolved |= 1 << b;
		touches++;
		if (S->mode == ALIGN_REPORT)
			io->how[b] = RMW_DRIVE_REPORT;
	}
	ledger_add(rmw_expected, touches);
	ledger_add(rmw_pending, touches);
	S->rmw_pending += touches;
	if (S->mode == ALIGN_REPORT) {
		io->phase = REQUEST_RUNS;
		io->start = kind->start;
		io->end = kind->end;
		io->io = IO_FLIGHT;
		return;
	}
	io->engine = true;
	io->may_hold = touches && S->mode == ALIGN_COALESCE && S->holding &&
		       (!kind->fua || broken(FUA_HELD));
	io->phase = REQUEST_ENTERED;
	if (scenario->fine)
		return;
	align_engine_map(r);
	if (io->phase == REQUEST_MAPPED)
		map_rest(r);
}

static void hold_map_flush(u8 r)
{
	if (!S->nr_held || broken(FLUSH_NOT_EMPTYING)) {
		S->io[r].io = IO_FLIGHT;
		return;
	}
	S->io[r].io = IO_WAITS;
	hold_wait(r);
}

static void flush_work_func(u8 r)
{
	bool failed = S->waiter[r].failed;

	memset(&S->waiter[r], 0, sizeof(S->waiter[r]));
	if (failed) {
		S->io[r].status = 1;
		request_end(r);
		return;
	}
	S->io[r].io = IO_FLIGHT;
}

static void align_map(u8 r)
{
	struct align_io *io = &S->io[r];
	u8 i;

	for (i = 0; i < scenario->nr_requests; i++)
		if (S->io[i].phase == REQUEST_ENDED)
			io->before |= 1 << i;
	io->phase = REQUEST_RUNS;
	switch (kind_of(r)->op) {
	case OP_READ:
		if (S->nr_held)
			overlay_map_read(r);
		else
			io->io = IO_FLIGHT;
		break;
	case OP_FLUSH:
		hold_map_flush(r);
		break;
	case OP_WRITE:
	case OP_DISCARD:
		map_change(r);
		break;
	}
}

static void set_mode_shut(void)
{
	S->closed = true;
	S->change = CHANGE_DRAINS;
}

static void set_mode(void)
{
	u8 mode = scenario->modes[++S->next_mode];

	if (S->mode == mode)
		return;
	if (broken(MODE_KEEPS_HELD)) {
		set_mode_shut();
		return;
	}
	hold_stop(HOLD_STOPPED_MODE);
	if (!S->nr_held) {
		set_mode_shut();
	} else if (S->frozen) {
		hold_start(HOLD_STOPPED_MODE);
	} else {
		S->change = CHANGE_EMPTIES;
		hold_wait(WAITER_MODE);
	}
}

static void set_mode_emptied(void)
{
	bool failed = S->waiter[WAITER_MODE].failed;

	memset(&S->waiter[WAITER_MODE], 0, sizeof(S->waiter[WAITER_MODE]));
	if (failed) {
		hold_start(HOLD_STOPPED_MODE);
		S->change = CHANGE_NO;
		return;
	}
	set_mode_shut();
}

static void set_mode_end(void)
{
	u8 r;

	if (!broken(MODE_KEEPS_KNOWN))
		blocks_forget();
	S->mode = scenario->modes[S->next_mode];
	hold_start(HOLD_STOPPED_MODE);
	S->closed = false;
	S->change = CHANGE_NO;
	for (r = 0; r < scenario->nr_requests; r++)
		if (S->io[r].phase == REQUEST_DEFERRED)
			S->io[r].phase = REQUEST_AGAIN;
}

static bool gate_is_empty(void)
{
	u8 r;

	if (broken(MODE_WITHOUT_GATE))
		return true;
	for (r = 0; r < scenario->nr_requests; r++)
		if (S->io[r].entered)
			return false;
	return true;
}

static unsigned int count_in_flight(void)
{
	unsigned int nr = 0;
	u8 r;

	for (r = 0; r < scenario->nr_requests; r++)
		nr += S->io[r].phase != REQUEST_NEW &&
		      S->io[r].phase != REQUEST_ENDED;
	return nr;
}

/* One step of dm's suspend from where it is. Return: there is one. */
static bool suspend_step(void)
{
	u8 w;

	switch ((enum suspend_phase)S->suspend) {
	case SUSPEND_PRESUSPENDED:
		S->suspend = SUSPEND_BLOCKED;
		return true;
	case SUSPEND_BLOCKED:
		if (count_in_flight())
			return false;
		/* align_postsuspend() */
		S->suspend = SUSPEND_FREEZES;
		if (S->nr_held) {
			S->suspend = SUSPEND_EMPTIES;
			hold_wait(WAITER_SUSPEND);
		}
		return true;
	case SUSPEND_EMPTIES:
		if (S->waiter[WAITER_SUSPEND].listed)
			return false;
		memset(&S->waiter[WAITER_SUSPEND], 0, sizeof(struct align_waiter));
		S->suspend = SUSPEND_FREEZES;
		return true;
	case SUSPEND_FREEZES:
		/* hold_freeze(); a running work is waited for below */
		S->frozen = true;
		S->suspend = SUSPEND_WAITS_QUIET;
		return true;
	case SUSPEND_WAITS_QUIET:
		if (S->empty != EMPTY_IDLE || owns_any(OWNER_EMPTY))
			return false;
		if (S->nr_held != S->nr_idle && !broken(FREEZE_WITHOUT_QUIET))
			return false;
		S->empty_queued = false;
		S->due = false;
		for (w = 0; w < MODEL_WAITERS; w++)
			if (S->waiter[w].listed) {
				S->waiter[w].left = 0;
				S->waiter[w].failed = true;
				waiter_done(w);
			}
		blocks_forget();
		S->suspend = SUSPENDED;
		return true;
	case SUSPEND_NO:
	case SUSPENDED:
		return false;
	}
	return false;
}

static void hold_drop_failed(struct align_block *block)
{
	u8 b = number_of(block);
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (block->kept & 1 << i)
			S->given_up[b * MODEL_PER_BLOCK + i] = true;
	if (!broken(DROP_STAYS_IDLE))
		hold_leave(block);
	hold_resolve(block, RMW_LOST, RMW_LOST);
	block_remove(block);
}

/* The suspended table goes, and another one with this target comes. */
static void replace_table(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S->block[b].exists && S->block[b].state == BLOCK_IS_HELD &&
		    S->block[b].failed)
			hold_drop_failed(&S->block[b]);
	blocks_forget();
	if (S->nr || S->nr_held)
		wrong("WARN_ON in blocks_exit() or hold_exit(): a block is left");
	S->seq = 0;
	S->empty_seq = 0;
	S->nr_idle = 0;
	S->nr_resting = 0;
	S->pressed = false;
	S->empty_queued = false;
	S->due = false;
	S->stopped = HOLD_STOPPED_SUSPEND;
	hold_thaw();
	S->suspend = SUSPEND_NO;
}

/*
 * The drive.
 */

/* What became of a request: all well, or failed and so much was done. */
enum outcome {
	OUTCOME_OK,
	OUTCOME_OK_ALL,		/* of a discard: parts of blocks as well */
	OUTCOME_OK_IGNORED,	/* of a discard: nothing was done */
	OUTCOME_FAILED,
	OUTCOME_FAILED_DONE,
	OUTCOME_FAILED_FIRST,	/* only the first block was done */
	OUTCOMES,
};

static void drive_write_sector(u8 sector, u8 version, bool fua)
{
	if (version == GARBAGE)
		wrong("memory that nobody wrote reaches the drive");
	S->medium[sector] = version;
	S->stable[sector] = fua ? 0 : S->stable[sector];
	S->stable[sector] |= 1 << version;
}

/* Whether an outcome is one of a request over [start, end). */
static bool drive_may(enum outcome outcome, enum request_op op, u8 start, u8 end)
{
	bool parts = start % MODEL_PER_BLOCK || end % MODEL_PER_BLOCK;

	switch (outcome) {
	case OUTCOME_OK:
		return true;
	case OUTCOME_OK_ALL:
		return op == OP_DISCARD && parts;
	case OUTCOME_OK_IGNORED:
		return op == OP_DISCARD;
	case OUTCOME_FAILED:
		return S->failures;
	case OUTCOME_FAILED_DONE:
		return S->failures && (op == OP_WRITE || op == OP_DISCARD);
	case OUTCOME_FAILED_FIRST:
		return S->failures && op == OP_WRITE &&
		       start / MODEL_PER_BLOCK != (end - 1) / MODEL_PER_BLOCK;
	case OUTCOMES:
		break;
	}
	return false;
}

/* Sectors of [start, end) that a write with that outcome reaches: up to which. */
static u8 drive_reach(enum outcome outcome, u8 start, u8 end)
{
	if (outcome == OUTCOME_FAILED || outcome == OUTCOME_OK_IGNORED)
		return start;
	if (outcome == OUTCOME_FAILED_FIRST)
		return (start / MODEL_PER_BLOCK + 1) * MODEL_PER_BLOCK;
	return end;
}

static bool drive_fails(enum outcome outcome)
{
	if (outcome < OUTCOME_FAILED)
		return false;
	S->failures--;
	return true;
}

static void drive_error_at(u8 start, u8 end)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (part_of(b, start, end))
			S->touched_error |= 1 << b;
}

static void drive_own(u8 r, enum outcome outcome)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S->io[r];
	u8 end = drive_reach(outcome, own_start(io), io->end);
	bool fua = kind->fua || io->joined_fua;
	u8 i;

	switch (kind->op) {
	case OP_READ:
		for (i = kind->start; i < kind->end; i++)
			io->data[i] = outcome == OUTCOME_OK ? S->medium[i] : GARBAGE;
		break;
	case OP_FLUSH:
		for (i = 0; i < MODEL_SECTORS && outcome == OUTCOME_OK; i++)
			S->stable[i] = 1 << S->medium[i];
		break;
	case OP_WRITE:
		for (i = own_start(io); i < io->start && i < end; i++)
			drive_write_sector(i, S->block[i / MODEL_PER_BLOCK].buffer[i % MODEL_PER_BLOCK],
					   fua);
		for (i = io->start; i < end; i++)
			drive_write_sector(i, r + 1, fua);
		break;
	case OP_DISCARD:
		for (i = io->start; i < end; i++)
			if (outcome == OUTCOME_OK_ALL ||
			    part_of(i / MODEL_PER_BLOCK, io->start, end) == WHOLE)
				drive_write_sector(i, r + 1, false);
		break;
	}
	io->io = IO_DONE;
	io->io_status = drive_fails(outcome);
	if (!io->io_status)
		return;
	if (kind->op == OP_FLUSH)
		S->touched_error |= DRIVE_FLUSH_ERROR;
	else if (kind->op == OP_READ)
		drive_error_at(kind->start, kind->end);
	else if (!io->joined)
		drive_error_at(io->start, io->end);
}

static void drive_run(u8 b, enum outcome outcome)
{
	struct block_run *run = &S->run[b];
	u8 start = b * MODEL_PER_BLOCK;
	u8 end = start + run->nr * MODEL_PER_BLOCK;
	u8 i;

	if (run->write) {
		end = drive_reach(outcome, start, end);
		for (i = start; i < end; i++)
			drive_write_sector(i, S->block[i / MODEL_PER_BLOCK].buffer[i % MODEL_PER_BLOCK],
					   run->fua);
	}
	for (i = start; i < end && !run->write; i++) {
		struct align_block *block = &S->block[i / MODEL_PER_BLOCK];
		u8 version = outcome == OUTCOME_OK ? S->medium[i] : GARBAGE;

		if (run->spare & 1 << (i / MODEL_PER_BLOCK))
			run->data[i] = version;
		else
			block->buffer[i % MODEL_PER_BLOCK] = version;
	}
	run->phase = RUN_DONE;
	run->status = drive_fails(outcome);
	if (run->status && run->nr == 1)
		S->touched_error |= 1 << b;
}

static void drive_pass(u8 r, u8 b, enum outcome outcome)
{
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (part(r, b) & 1 << i && outcome != OUTCOME_FAILED)
			drive_write_sector(b * MODEL_PER_BLOCK + i, r + 1,
					   kind_of(r)->fua);
	S->io[r].pass[b] = IO_DONE;
	S->io[r].pass_status[b] = drive_fails(outcome);
	if (S->io[r].pass_status[b])
		S->touched_error |= 1 << b;
}

static void drive_held_pass(u8 b, enum outcome outcome)
{
	struct align_block *block = &S->block[b];
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (block->covered & 1 << i && outcome != OUTCOME_FAILED)
			drive_write_sector(b * MODEL_PER_BLOCK + i,
					   block->buffer[i], S->run[b].fua);
	block->pass = IO_DONE;
	block->pass_status = drive_fails(outcome);
	if (block->pass_status)
		S->touched_error |= 1 << b;
}

/*
 * Events.
 */

#define EVENTS(X) \
	X(MAP, "a request comes, align_map()", MODEL_REQUESTS, 1) \
	X(MAP_AGAIN, "deferred_work(): map_change()", MODEL_REQUESTS, 1) \
	X(ENGINE_MAP, "align_engine_map() under the lock", MODEL_REQUESTS, 1) \
	X(MAP_REST, "the rest of map: start_late(), run_send()", MODEL_REQUESTS, 1) \
	X(SEND, "range_work() or flush_work_func() sends it", MODEL_REQUESTS, 1) \
	X(DRIVE_OWN, "the drive does what it sent", MODEL_REQUESTS, OUTCOMES) \
	X(OWN_END, "what it sent has ended", MODEL_REQUESTS, 1) \
	X(DRIVE_PASS0, "the drive does its touch of block 0", MODEL_REQUESTS, OUTCOMES) \
	X(DRIVE_PASS1, "the drive does its touch of block 1", MODEL_REQUESTS, OUTCOMES) \
	X(DRIVE_PASS2, "the drive does its touch of block 2", MODEL_REQUESTS, OUTCOMES) \
	X(PASS_END, "touch_pass_end()", MODEL_REQUESTS, MODEL_BLOCKS) \
	X(DRIVE_HELD_PASS, "the drive writes what the block holds", MODEL_BLOCKS, OUTCOMES) \
	X(HELD_PASS_END, "held_pass_end()", MODEL_BLOCKS, 1) \
	X(START, "start_now()", OWNERS, MODEL_BLOCKS) \
	X(DRIVE_RUN, "the drive does the run", MODEL_BLOCKS, OUTCOMES) \
	X(RUN_STEP, "the run goes on", MODEL_BLOCKS, 1) \
	X(EMPTY, "hold_empty_work()", 1, 2) \
	X(OVER, "hold_ms, or the time to try again, are over", MODEL_BLOCKS, 1) \
	X(DUE, "hold_due()", 1, 1) \
	X(DELAYED, "start_delayed()", 1, 1) \
	X(EXPIRE, "shard_expire()", MODEL_BLOCKS, 1) \
	X(MEMORY, "memory goes, or comes back", 1, 1) \
	X(SET_MODE, "message mode: hold_stop(), hold_empty()", 1, 1) \
	X(MODE_EMPTIED, "set_mode(): all is settled; the gate closes", 1, 1) \
	X(MODE_END, "set_mode(): the gate is empty; the mode changes", 1, 1) \
	X(PRESUSPEND, "align_presuspend()", 1, 1) \
	X(UNDO, "align_presuspend_undo()", 1, 1) \
	X(SUSPEND, "dm goes on to suspend", 1, 1) \
	X(RESUME, "align_resume()", 1, 1) \
	X(REPLACE, "the table is replaced: align_dtr(), align_ctr()", 1, 1) \
	X(DROP, "message drop_failed", MODEL_BLOCKS, 1) \
	X(FORGET, "blocks_forget() of message flush or an ioctl", 1, 1)

enum event_kind {
#define X(id, text, a, b) EVENT_##id,
	EVENTS(X)
#undef X
	NR_EVENTS,
};

static const struct {
	const char *text;
	u8 nr_a;
	u8 nr_b;
} event_kinds[] = {
#define X(id, text, a, b) { text, a, b },
	EVENTS(X)
#undef X
};

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
static bool ends_unnoticed(u8 r)
{
	u8 b;

	if (!scenario->reduce || broken(READ_NOT_PINNED))
		return false;
	if (kind_of(r)->op == OP_FLUSH)
		return true;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S->io[r].pin[b] != PIN_NONE)
			return false;
	return kind_of(r)->op == OP_READ;
}

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
static bool may_be_over(const struct align_block *block)
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
static bool happen(struct event event)
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
static bool is_environment(struct event event)
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

/*
 * Reductions. Each takes out of the search what changes nothing that is
 * checked; --fine searches without any.
 */

/*
 * The step from what a thread has decided under the lock to what it sends: it
 * reads and writes what belongs to that thread alone by then (rules of block.c:
 * the touches of a block in WRITE and PASS), and the buffer. Memory may go in
 * between, and a read with a pin may look at the buffer: then the step stays
 * apart. A read that comes after the decision and ends before the step may as
 * well come and end before the decision: neither looks at what the other
 * changes.
 */
static bool sends_at_once(u8 b)
{
	const struct block_run *run = &S->run[b];
	u8 i;

	if (run->phase != RUN_SEND && run->phase != RUN_MERGED &&
	    run->phase != RUN_PASS)
		return false;
	for (i = b; i < b + run->nr; i++)
		if (S->block[i].pins)
			return false;
	return !scenario->memory_changes;
}

/* As hold_is_over(), and changes nothing. */
static bool is_over_now(const struct align_block *block)
{
	bool wanted = block->seq <= S->empty_seq || block->over;

	return wanted || (!block->failed && (!S->holding || S->pressed ||
			  S->nr_resting > scenario->max_blocks - scenario->max_blocks / 4));
}

static bool is_resting(const struct align_block *block)
{
	return block->exists && block->state == BLOCK_IS_HELD;
}

/*
 * A pass of hold_empty_work() that would take nothing. It may as well be done
 * with: a block that has to go later kicks the work again when it comes to that,
 * in hold_rest(), hold_wait(), hold_stop(), blocks_make_room() or by the timer,
 * which the pass arms if anything rests. Where a suspend may come, a pass that
 * has begun can go on behind hold_freeze(), which a later one does not: there,
 * only while nothing at all is held, because what is held later kicks a pass
 * that can do the same.
 * The last step only arms the timer, as does each block that comes to rest.
 */
static bool empties_nothing(void)
{
	u8 b;

	if (S->empty == EMPTY_ARM)
		return true;
	if (S->frozen || (S->empty == EMPTY_IDLE && !S->empty_queued))
		return false;
	if ((scenario->suspends || S->suspend != SUSPEND_NO) && S->nr_held)
		return false;
	for (b = 0; b < MODEL_BLOCKS; b++)
		if (is_resting(&S->block[b]) && is_over_now(&S->block[b]))
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
	switch ((enum block_state)S->block[b].state) {
	case BLOCK_IS_COLLECT:
	case BLOCK_IS_READ:
	case BLOCK_IS_WRITE:
	case BLOCK_IS_PASS:
		return may_be_over(&S->block[b]);
	case BLOCK_IS_WAIT:
	case BLOCK_IS_HELD:
		return may_be_over(&S->block[b]) && S->block[b].seq <= S->empty_seq;
	case BLOCK_IS_KNOWN:
		return false;
	}
	return false;
}

/*
 * An event that nobody can tell from the same one later, or NULL: whatever else
 * can happen can happen after it as well, does the same then, and does not stop
 * it from happening. So it is done at once, which leaves out the orders that
 * differ only in when it comes. Each of them ends something, so they come to
 * their end.
 */
static const struct event *next_at_once(void)
{
	static struct event event;
	u8 r, b;

#define AT_ONCE(id, of) \
	return event = (struct event) { .kind = EVENT_##id, .a = (of) }, &event

	for (r = 0; r < scenario->nr_requests; r++) {
		/* The drive may take as long from now as the work before. */
		if (S->io[r].io == IO_QUEUED)
			AT_ONCE(SEND, r);
		if (S->io[r].io == IO_DONE && ends_unnoticed(r))
			AT_ONCE(OWN_END, r);
		/* To acknowledge early only makes more be expected. */
		if (S->io[r].phase == REQUEST_MAPPED && !scenario->memory_changes &&
		    !scenario->stream)
			AT_ONCE(MAP_REST, r);
	}
	for (b = 0; b < MODEL_BLOCKS; b++) {
		if (sends_at_once(b))
			AT_ONCE(RUN_STEP, b);
		if (S->block[b].exists && is_over_anyway(b))
			AT_ONCE(OVER, b);
		/* The work can wait as long as the timer. */
		if (S->due && !S->frozen && is_resting(&S->block[b]) && S->block[b].over)
			AT_ONCE(DUE, 0);
	}
	if (!owns_any(OWNER_EMPTY) && empties_nothing())
		AT_ONCE(EMPTY, 0);
	return NULL;
#undef AT_ONCE
}

static bool any_resting(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (is_resting(&S->block[b]))
			return true;
	return false;
}

/* A request may still get an error from what has failed. */
static bool an_error_is_due(void)
{
	u8 i;

	for (i = 0; i < MODEL_BLOCKS; i++)
		if (S->run[i].status || S->block[i].failed || S->block[i].pass_status)
			return true;
	for (i = 0; i < MODEL_REQUESTS; i++) {
		const struct align_io *io = &S->io[i];
		u8 b;

		if (io->phase != REQUEST_ENDED && (io->status || io->io_status))
			return true;
		for (b = 0; b < MODEL_BLOCKS; b++)
			if (io->pass_status[b])
				return true;
	}
	for (i = 0; i < MODEL_WAITERS; i++)
		if (S->waiter[i].failed)
			return true;
	return false;
}

/* Nothing can be promised durable from now on but what is. */
static bool no_promise_comes(void)
{
	u8 r;

	for (r = 0; r < scenario->nr_requests; r++)
		if (S->io[r].phase != REQUEST_ENDED &&
		    (kind_of(r)->op == OP_FLUSH || kind_of(r)->fua))
			return false;
	return true;
}

/* Fields that nobody will look at again. */
static void forget_the_dead(void)
{
	u8 i, r;

	/*
	 * Where something rests, a pass that comes arms the timer; where nothing
	 * does, what comes to rest arms it; hold_thaw() kicks.
	 */
	if (S->empty_queued || S->empty != EMPTY_IDLE || S->frozen || !any_resting())
		S->due = false;
	if (!S->failures && !an_error_is_due())
		S->touched_error = 0;
	for (i = 0; i < MODEL_SECTORS; i++) {
		/* is_stale() asks for writes there only. */
		for (r = 0; r < scenario->nr_requests; r++)
			if (!covers(r, i))
				S->promised[i] &= ~(1 << r);
		/* What is there is checked; what comes will be when it comes. */
		if (no_promise_comes())
			S->stable[i] = 0;
	}
	for (r = 0; r < scenario->nr_requests; r++) {
		/* Only of what may be acknowledged, a read or a flush is it asked. */
		if (kind_of(r)->op == OP_DISCARD ||
		    (S->io[r].phase == REQUEST_ENDED && S->io[r].status))
			S->io[r].before = 0;
		/* What it is for has happened under the lock. */
		if (S->io[r].phase != REQUEST_ENTERED)
			S->io[r].may_hold = false;
	}
}

static bool runs_anything(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S->run[b].phase != RUN_NONE || S->block[b].pass != IO_NONE ||
		    S->block[b].passing)
			return true;
	return false;
}

/* Lets states be equal that differ in what nobody will look at again. */
static void tidy(void)
{
	u8 old[MODEL_BLOCKS], waited[MODEL_WAITERS];
	u8 empty = 0, max = 0;
	u8 b, w, i;

	/* Of the counts of blocks that began to hold, only their order matters. */
	for (b = 0; b < MODEL_BLOCKS; b++) {
		old[b] = S->block[b].held ? S->block[b].seq : 0;
		max += !!old[b];
	}
	memset(waited, 0, sizeof(waited));
	for (i = 0; i < MODEL_BLOCKS; i++) {
		for (w = 0; w < MODEL_WAITERS && old[i]; w++)
			waited[w] += old[i] <= S->waiter[w].seq;
		empty += old[i] && old[i] <= S->empty_seq;
	}
	for (b = 0; b < MODEL_BLOCKS; b++) {
		struct align_block *block = &S->block[b];

		block->seq = 0;
		for (i = 0; i < MODEL_BLOCKS && old[b]; i++)
			block->seq += old[i] && old[i] <= old[b];
		if (!block->held)
			block->over = false;
		if (block->state != BLOCK_IS_HELD || !block_is_kept(block))
			block->row = 0;
		switch ((enum block_state)block->state) {
		case BLOCK_IS_WAIT:
		case BLOCK_IS_COLLECT:
		case BLOCK_IS_HELD:
			for (i = 0; i < MODEL_PER_BLOCK; i++)
				if (block->exists && !block->valid && !block->pins &&
				    !(block->kept & 1 << i))
					block->buffer[i] = GARBAGE;
			/* fallthrough */
		case BLOCK_IS_KNOWN:
			if (!block->failed) {
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
	for (i = 0; i < scenario->nr_requests; i++) {
		struct align_io *io = &S->io[i];

		io->before &= related[i];
		if (io->phase == REQUEST_ENDED && kind_of(i)->op != OP_WRITE) {
			io->before = 0;
			io->status = 0;
		}
	}
	for (w = 0; w < MODEL_WAITERS; w++)
		S->waiter[w].seq = S->waiter[w].listed ? waited[w] : 0;
	S->empty_seq = empty;
	S->seq = max;
	if (!S->nr_held)
		S->due = false;
}

static void check(void)
{
	struct align_block *block;
	u8 left = acknowledged();
	u8 i, v;

	check_ledger();
	for (i = 0; i < MODEL_SECTORS; i++)
		for (v = 0; v <= MODEL_REQUESTS && S->promised[i]; v++)
			if (S->stable[i] & 1 << v &&
			    is_stale(i, v, S->promised[i]))
				wrong("durability: a power cut now loses what was flushed");
	if (S->suspend == SUSPENDED && runs_anything())
		wrong("something is in flight while suspended");
	for (block = S->block; block < S->block + MODEL_BLOCKS; block++) {
		if (!block->exists)
			continue;
		if (S->mode == ALIGN_REPORT)
			wrong("a block is here in mode report");
		if (S->mode != ALIGN_COALESCE && block->held)
			wrong("a block is held, and the mode is not coalesce");
	}
	if (!model_is_quiet(S) || S->suspend != SUSPEND_NO)
		return;
	for (i = 0; i < MODEL_SECTORS; i++)
		if (is_stale(i, S->medium[i], left))
			wrong("lost update: an acknowledged write is not on the medium");
	if (S->nr || S->nr_held || S->nr_resting || S->nr_idle || S->reserve_busy)
		wrong("a count of blocks is off");
	for (i = 0; i < scenario->nr_requests; i++)
		if (S->io[i].phase != REQUEST_ENDED)
			return;
	if (observe)
		observe_end();
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

void model_init(const struct scenario *given, struct state *state)
{
	u8 i, r;

	scenario = given;
	memset(state, 0, sizeof(*state));
	state->mode = scenario->modes[0];
	state->holding = state->mode == ALIGN_COALESCE;
	state->failures = scenario->failures;
	state->memory_changes = scenario->memory_changes;
	state->suspends = scenario->suspends;
	state->drops = scenario->drops;
	state->forgets = scenario->forgets;
	for (r = 0; r < scenario->nr_requests; r++) {
		related[r] = 0;
		for (i = 0; i < scenario->nr_requests; i++)
			if ((kind_of(i)->op == OP_WRITE || kind_of(i)->op == OP_DISCARD) &&
			    (kind_of(r)->op == OP_FLUSH || overlap(i, r)))
				related[r] |= 1 << i;
	}
	for (i = 0; i < MODEL_SECTORS; i++)
		state->stable[i] = 1 << 0;
}

/* Return: whether the event can happen in @state; then it is the state after. */
static bool try_event(struct state *state, struct event event)
{
	const struct event *also = NULL;

	S = state;
	violation = NULL;
	if (!happen(event))
		return false;
	for (;;) {
		tidy();
		check();
		memset(booked, 0, sizeof(booked));
		if (scenario->reduce)
			also = next_at_once();
		if (!also)
			break;
		if (!happen(*also))
			wrong("an event is done at once that cannot happen");
	}
	if (scenario->reduce)
		forget_the_dead();
	return true;
}

static u8 count_a(u8 kind)
{
	return event_kinds[kind].nr_a == MODEL_REQUESTS ? scenario->nr_requests :
	       event_kinds[kind].nr_a;
}

const char *model_expand(const struct state *state, successor_fn *successor)
{
	struct state next = *state;
	struct event event;

	for (event.kind = 0; event.kind < NR_EVENTS; event.kind++)
		for (event.a = 0; event.a < count_a(event.kind); event.a++)
			for (event.b = 0; event.b < event_kinds[event.kind].nr_b;
			     event.b++) {
				if (!try_event(&next, event))
					continue;
				successor(&next, event, is_environment(event));
				if (violation)
					return violation;
				next = *state;
			}
	return NULL;
}

const char *model_apply(const struct state *state, struct event event,
			struct state *next)
{
	*next = *state;
	if (!try_event(next, event))
		return "the event cannot happen";
	return violation;
}

/*
 * For people.
 */

static const char *const owner_names[OWNERS] = {
	[OWNER_WORK] = "its work", [OWNER_DELAYED] = "delayed",
	[OWNER_STARVED] = "starved", [OWNER_EMPTY] = "the emptying work",
};

static const char *const outcome_names[OUTCOMES] = {
	[OUTCOME_OK_ALL] = " (parts of blocks as well)",
	[OUTCOME_OK_IGNORED] = " (nothing: it ignores discards)",
	[OUTCOME_FAILED] = ": FAILED",
	[OUTCOME_FAILED_DONE] = ": FAILED, though it is done",
	[OUTCOME_FAILED_FIRST] = ": FAILED, the first block is done",
};

void model_print_event(FILE *out, struct event event)
{
	fprintf(out, "%s", event_kinds[event.kind].text);
	if (event.kind == EVENT_START && event.a >= OWNER_REQUEST)
		fprintf(out, " by the thread of request %u", event.a - OWNER_REQUEST);
	else if (event.kind == EVENT_START && event.a == OWNER_WORK)
		fprintf(out, " by the work of block %u", event.b);
	else if (event.kind == EVENT_START)
		fprintf(out, " by %s", owner_names[event.a]);
	else if (event_kinds[event.kind].nr_a == MODEL_REQUESTS)
		fprintf(out, ": request %u, %s", event.a, kind_of(event.a)->name);
	else if (event_kinds[event.kind].nr_a == MODEL_BLOCKS)
		fprintf(out, ": block %u", event.a);
	if (event_kinds[event.kind].nr_b == OUTCOMES && outcome_names[event.b])
		fprintf(out, "%s", outcome_names[event.b]);
}

static void print_list(FILE *out, const char *name, const struct touch_list *list)
{
	u8 i;

	if (!list->nr)
		return;
	fprintf(out, " %s:", name);
	for (i = 0; i < list->nr; i++)
		fprintf(out, "%s%u", i ? "," : "", list->of[i]);
}

static void print_block(FILE *out, u8 b, const struct align_block *block)
{
	if (!block->exists) {
		fprintf(out, "        block %u: gone\n", b);
		return;
	}
	fprintf(out, "        block %u: %s", b, model_state_name(block->state));
	if (block->owner >= OWNER_REQUEST)
		fprintf(out, " (request %u starts it)", block->owner - OWNER_REQUEST);
	else if (block->owner)
		fprintf(out, " (%s)", owner_names[block->owner]);
	fprintf(out, " buffer:%u,%u%s", block->buffer[0], block->buffer[1],
		block->valid ? " valid" : "");
	if (block->held)
		fprintf(out, " held:%u kept:%u%s%s", block->held, block->kept,
			block->failed ? " failed" : "", block->over ? " over" : "");
	print_list(out, "touches", &block->touches);
	print_list(out, "next", &block->next);
	if (block->blockers || block->waiting)
		fprintf(out, " blockers:%u waiting:%u", block->blockers, block->waiting);
	if (block->pins)
		fprintf(out, " pins:%u", block->pins);
	fputc('\n', out);
}

static void print_medium(FILE *out, const struct state *state)
{
	u8 i;

	fprintf(out, "        medium:");
	for (i = 0; i < MODEL_SECTORS; i++)
		fprintf(out, "%s%u", i ? "," : "", state->medium[i]);
	fprintf(out, "  a power cut may leave (bits):");
	for (i = 0; i < MODEL_SECTORS; i++)
		fprintf(out, "%s%x", i ? "," : "", state->stable[i]);
	fputc('\n', out);
}

/* What an event has changed. */
void model_print_state(FILE *out, const struct state *before,
		       const struct state *after)
{
	u8 i;

	for (i = 0; i < MODEL_BLOCKS; i++)
		if (memcmp(&before->block[i], &after->block[i], sizeof(after->block[i])))
			print_block(out, i, &after->block[i]);
	for (i = 0; i < scenario->nr_requests; i++)
		if (before->io[i].phase != after->io[i].phase &&
		    after->io[i].phase == REQUEST_ENDED)
			fprintf(out, "        request %u, %s, has ended%s\n", i,
				kind_of(i)->name, after->io[i].status ? ": FAILED" : "");
	if (memcmp(before->medium, after->medium, sizeof(after->medium)) ||
	    memcmp(before->stable, after->stable, sizeof(after->stable)))
		print_medium(out, after);
}
