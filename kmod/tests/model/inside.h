/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the model share. */
#ifndef DM_ALIGN_MODEL_INSIDE_H
#define DM_ALIGN_MODEL_INSIDE_H

#include "engine.h"

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define WHOLE ((1 << MODEL_PER_BLOCK) - 1)
#define DRIVE_FLUSH_ERROR (1 << 7)

enum { HOLD_STOPPED_SUSPEND = 1, HOLD_STOPPED_MODE = 2 };

/* Waiters that are no flush. */
enum { WAITER_SUSPEND = MODEL_REQUESTS, WAITER_MODE };

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
	X(TOUCH_OVERTAKES_RANGE, "touch-overtakes-range") \
	X(RANGE_OVERTAKES_TOUCH, "range-overtakes-touch") \
	X(RANGE_PASSES_OVER, "range-passes-over") \
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
	X(OVERWRITTEN_KEEPS_BYTES, "overwritten-keeps-bytes") \
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
	X(FREEZE_WITHOUT_CANCEL, "freeze-without-cancel") \
	X(EMPTY_WHILE_FROZEN, "empty-while-frozen") \
	X(HOLD_AFTER_STOP, "hold-after-stop") \
	X(RUN_ERROR_REACHES_ALL, "run-error-reaches-all")

enum fault {
#define X(id, name) BREAK_##id,
	BREAKS(X)
#undef X
	NR_BREAKS,
};

extern enum fault fault;

#define broken(name) (fault == BREAK_##name)

/*
 * Conditions of reductions that are left out, so that a search with them leaves
 * out too much: each must show in a comparison with a search that leaves out
 * nothing.
 */
#define LOOSE(X) \
	X(SAME_KIND, "same-kind") \
	X(MEMORY_TO_COME, "memory-to-come") \
	X(MODE_TO_COME, "mode-to-come") \
	X(LONG_RUN_ASKS, "long-run-asks") \
	X(TOUCH_ASKS, "touch-asks") \
	X(READ_PINS, "read-pins") \
	X(IS_READ, "is-read") \
	X(SENDS_MEMORY_STAYS, "sends-memory-stays") \
	X(OVER_TIME, "over-time") \
	X(OVER_PRESSED, "over-pressed") \
	X(ERROR_OF_RUN, "error-of-run") \
	X(ERROR_OF_HELD_PASS, "error-of-held-pass") \
	X(ERROR_OF_REQUEST, "error-of-request") \
	X(ERROR_OF_ITS_IO, "error-of-its-io") \
	X(ERROR_OF_PASS, "error-of-pass") \
	X(ERROR_OF_WAITER, "error-of-waiter") \
	X(ANYWAY_WAITING, "anyway-waiting") \
	X(ANYWAY_RESTING, "anyway-resting") \
	X(KNOWS_REST, "knows-rest") \
	X(NO_STREAM, "no-stream") \
	X(EMPTIES_RESTS, "empties-rests") \
	X(PROMISE_OF_FUA, "promise-of-fua") \
	X(DUE_PASS_COMES, "due-pass-comes") \
	X(PROMISES, "promises") \
	X(BEHIND, "behind") \
	X(BEFORE_FAILED, "before-failed") \
	X(MAY_HOLD_DECIDED, "may-hold-decided") \
	X(ORDER, "order") \
	X(ORDER_WAITED, "order-waited") \
	X(OVER_NOT_HELD, "over-not-held") \
	X(BUFFER_NOT_VALID, "buffer-not-valid") \
	X(BUFFER_NOT_PINNED, "buffer-not-pinned") \
	X(BUFFER_NOT_KEPT, "buffer-not-kept") \
	X(KNOWN_NOT_FAILED, "known-not-failed") \
	X(BEFORE, "before") \
	X(STATUS_NOT_OF_WRITE, "status-not-of-write") \
	X(DUE_NONE_HELD, "due-none-held")

enum loose {
#define X(id, name) LOOSE_##id,
	LOOSE(X)
#undef X
	NR_LOOSE,
};

extern enum loose loose;

#define loosened(name) (loose == LOOSE_##name)
/* A condition that forbids a reduction, and one without which it is forbidden. */
#define bars(name, condition) (!loosened(name) && (condition))
#define needs(name, condition) (loosened(name) || (condition))

extern struct scenario scenario;
/* Of each request, the changes whose order with it decides what is lawful. */
extern u8 related[MODEL_REQUESTS];
/* The requests that cover a sector. */
extern u8 covering[MODEL_SECTORS];
/* The state that is being changed; in one place, whose address need not be looked up. */
extern struct state S;
/* What this event has entered in the ledger. */
extern int booked[LEDGER_NR];

#define SET_STATE(block, state) set_state(block, state, __func__)
#define ledger_add(name, n) (booked[LEDGER_##name] += (n))

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

/* Each kind of block, and of those that do not fail with @half as well. */
#define EMPTY_WAYS (2 * DRAIN_TURNS - 1)

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
	X(EMPTY, "hold_empty_work()", 1, EMPTY_WAYS) \
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

/* What happens, and up to which numbers of struct event. */
struct event_info {
	const char *text;
	u8 nr_a;
	u8 nr_b;
};

extern const struct event_info event_kinds[];

/*
 * What is asked first of an event: that a byte of the state has one of these
 * values. It is the same for all that differ only in their second number, and
 * few of all events get further in a state.
 */
struct condition {
	uint16_t at;
	uint32_t values;
};

/* Events of a scenario, but for their second number. */
struct candidate {
	struct event event;
	u8 nr_b;
	struct condition condition;
};

extern struct candidate candidates[];
extern unsigned int nr_candidates;

/* engine.c */
void wrong(const char *what);
void set_state(struct align_block *block, enum block_state state,
	       const char *function);

/* lawful.c */
u8 acknowledged(void);
bool is_stale(u8 sector, u8 version, u8 writes);
void ledger_book(enum rmw_how how, unsigned int nr);
u8 ranges_waiting(u8 b);
u8 touches_taken(u8 b);
void note_turn_of_touch(u8 r, u8 b);
u8 note_turn_of_range(u8 r);
void name_twins(void);
void observe_meeting(u8 r, u8 b);
void observe_read(u8 r, u8 seen);
void observe_flush(u8 r, u8 seen);
void observe_medium(const u8 *before);
void check(void);

/* hold.c */
void hold_kick(void);
void waiter_done(u8 w);
void block_copy_touch(struct align_block *block, u8 r);
bool hold_touch(struct align_block *block, u8 r);
bool hold_is_over(const struct align_block *block);
void hold_rest(struct align_block *block);
void hold_resolve(struct align_block *block, enum rmw_how how,
		  enum rmw_how later);
void hold_failed(struct align_block *block);
void hold_overwritten(struct align_block *block, u8 r);
void hold_leave(struct align_block *block);
bool block_is_kept(const struct align_block *block);
struct align_block *hold_before(struct align_block *block);
void hold_for_stream(struct align_block *block, u8 owner);
bool owns_any(u8 owner);
bool hold_empty_work(bool half, enum drain_turn turn);
void hold_wait(u8 w);
void hold_stop(u8 why);
void hold_start(u8 why);
void hold_thaw(void);
void hold_forget(void);

/* block.c */
void run_work_queue(struct align_block *block);
void block_release(void);
void block_remove(struct align_block *block);
bool block_is_whole(const struct align_block *block);
enum touch_fate blocks_add_touch(u8 r, u8 b);
bool blocks_add_range(u8 r);
void blocks_end_range(u8 r, bool ok);
void block_end_turn(struct align_block *block);
void block_served(struct align_block *block, bool status);
void blocks_forget(void);

/* start.c */
u8 start_take_whole(struct align_block *block, u8 owner);
unsigned int count_delayed(void);
void start_now(u8 started);
void start_end_delay(void);
void start_hurry(void);

/* run.c */
bool block_needs_spare(const struct align_block *block);
bool block_patch(struct align_block *block);
void touch_pass_end(u8 r, u8 b);
void held_pass_end(struct align_block *block);
void run_step(u8 b);

/* overlay.c */
void pins_end(u8 r, bool ok);
void overlay_map_read(u8 r);

/* target.c */
void request_end(u8 r);
void align_io_put(u8 r, bool failed);
u8 own_start(const struct align_io *io);
void own_end(u8 r);
void align_engine_map(u8 r);
void map_rest(u8 r);
void map_change(u8 r);
void flush_work_func(u8 r);
void align_map(u8 r);
void set_mode(void);
void set_mode_emptied(void);
void set_mode_end(void);
bool gate_is_empty(void);
unsigned int count_in_flight(void);
bool suspend_step(void);
void hold_drop_failed(struct align_block *block);
void replace_table(void);

/* drive.c */
bool drive_may(enum outcome outcome, enum request_op op, u8 start, u8 end);
void drive_own(u8 r, enum outcome outcome);
void drive_run(u8 b, enum outcome outcome);
void drive_pass(u8 r, u8 b, enum outcome outcome);
void drive_held_pass(u8 b, enum outcome outcome);

/* events.c */
bool may_be_over(const struct align_block *block);
void list_candidates(void);
bool happen(struct event event);
bool is_environment(struct event event);

/* reduce.c */
bool comes_in_order(u8 r);
bool takes_steps_apart(void);
bool asks_for_memory(void);
bool may_gather(void);
bool knows_anything(void);
bool ends_unnoticed(u8 r);
const struct event *next_at_once(void);
void forget_the_dead(void);
void tidy(void);

static inline bool holds(const struct condition *condition)
{
	return condition->values >> ((const u8 *)&S)[condition->at] & 1;
}

/* Of few bits; the compiler calls a function where it may not use an instruction. */
static inline unsigned int bits(u8 mask)
{
	const uint64_t of_four = 0x4332322132212110;

	return (of_four >> (mask & 15) * 4 & 15) + (of_four >> (mask >> 4) * 4 & 15);
}

static inline u8 number_of(const struct align_block *block)
{
	return block - S.block;
}

static inline const struct request_kind *kind_of(u8 r)
{
	return &request_kinds[scenario.kind[r]];
}

/* The sectors of a block that lie in [start, end), as bits. */
static inline u8 part_of(u8 b, u8 start, u8 end)
{
	if (start >= end)
		return 0;
	return ((1 << end) - (1 << start)) >> b * MODEL_PER_BLOCK & WHOLE;
}

/* The sectors of a block that a request covers. */
static inline u8 part(u8 r, u8 b)
{
	return part_of(b, kind_of(r)->start, kind_of(r)->end);
}

static inline bool is_partial(u8 r, u8 b)
{
	return kind_of(r)->op == OP_WRITE && part(r, b) && part(r, b) != WHOLE;
}

static inline unsigned int run_max_blocks(void)
{
	return scenario.max_run;
}

static inline bool covers(u8 r, u8 sector)
{
	return kind_of(r)->start <= sector && sector < kind_of(r)->end;
}

static inline bool overlap(u8 r, u8 other)
{
	return kind_of(r)->start < kind_of(other)->end &&
	       kind_of(other)->start < kind_of(r)->end;
}

#endif
