/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the model of the engine, and what the search needs of it. What
 * is modelled, and what is left out, stands on top of engine.c.
 */
#ifndef DM_ALIGN_MODEL_ENGINE_H
#define DM_ALIGN_MODEL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../decide.h"

/*
 * enum block_state, enum touch_fate and the ledger's table of accounts, taken
 * from the kernel's sources when this is built.
 */
enum ledger_counter {
#define LEDGER_COUNTER(name, ...) LEDGER_##name,
#include "../../ledger_table.h"
#undef LEDGER_COUNTER
	LEDGER_NR,
};
#include "kernel_enums.h"

typedef uint8_t u8;

/* 3 for the rules about rows of whole held blocks, at a price. */
#ifndef MODEL_BLOCKS
#define MODEL_BLOCKS 2
#endif

enum {
	MODEL_PER_BLOCK = 2,
	MODEL_SECTORS = MODEL_BLOCKS * MODEL_PER_BLOCK,
	MODEL_REQUESTS = 4,
	/* Who waits for what is held: flushes, postsuspend, the mode. */
	MODEL_WAITERS = MODEL_REQUESTS + 2,
	MODEL_ZOMBIES = 2,
};

/* What a sector holds: 0 at first, the number of a request and 1, or this. */
#define GARBAGE 7

/* Request numbers in the order of a list of touches. */
struct touch_list {
	u8 nr;
	u8 of[MODEL_REQUESTS];
};

/* A request to the device below. */
enum io_phase {
	IO_NONE,
	IO_WAITS,	/* its range has blockers, or its flush waits */
	IO_QUEUED,	/* a work will send it */
	IO_FLIGHT,
	IO_DONE,	/* the drive has done it; its end_io comes */
};

/* Who starts a block in COLLECT. */
enum owner {
	OWNER_NONE,
	OWNER_WORK,	/* block->single.work is queued */
	OWNER_DELAYED,	/* blocks->delayed */
	OWNER_STARVED,	/* blocks->starved */
	OWNER_EMPTY,	/* hold_empty_work() */
	OWNER_REQUEST,	/* and its number: the thread in map, or its plug */
	OWNERS = OWNER_REQUEST + MODEL_REQUESTS,
};

/* struct align_block; a field has the kernel's name if it is the same thing. */
struct align_block {
	u8 exists;
	u8 state;
	u8 valid;
	u8 known;
	u8 has_read;
	u8 late;
	u8 delayed;
	u8 failed;
	u8 pass_status;
	u8 blockers;
	u8 waiting;
	u8 passing;
	u8 pins;
	u8 held;
	u8 row;
	u8 seq;
	u8 over;	/* instead of @since: hold_ms, or the retry, is due */
	u8 kept;
	u8 covered;
	u8 owner;
	u8 pass;	/* PASS, holding: the request that carries it */
	u8 buffer[MODEL_PER_BLOCK];
	struct touch_list touches;
	struct touch_list next;
};

enum run_phase {
	RUN_NONE,
	RUN_SEND,	/* the blocks have left COLLECT; to be sent */
	RUN_FLIGHT,
	RUN_DONE,	/* the drive has done it */
	RUN_MERGED,	/* what was read elsewhere is in the buffers */
	RUN_SERVE,	/* written; not every block knows */
	RUN_PASS,	/* the read failed; what it was for is to be sent */
};

/* struct block_run, by its first block. */
struct block_run {
	u8 phase;
	u8 write;
	u8 nr;
	u8 status;
	u8 fua;
	u8 spare;	/* blocks that are read into memory of the run */
	u8 reserve;
	u8 data[MODEL_SECTORS];
};

enum request_phase {
	REQUEST_NEW,
	REQUEST_DEFERRED,	/* waits in front of the gate */
	REQUEST_AGAIN,		/* deferred_work() is queued */
	REQUEST_ENTERED,	/* inside, before it takes the lock */
	REQUEST_MAPPED,		/* the lock is dropped, map goes on */
	REQUEST_RUNS,
	REQUEST_ENDED,
};

/* struct align_io; a touch is known by its block. */
struct align_io {
	u8 phase;
	u8 status;
	u8 before;	/* the requests that had ended when it came */
	u8 may_hold;
	u8 entered;
	u8 engine;
	u8 in_range;
	u8 split_up;
	u8 go;		/* its range may go down; map sends it */
	u8 parts;
	u8 blockers;
	u8 waits;	/* blocks that its range waits for: @blockers is their number */
	u8 start;
	u8 end;
	u8 io;
	u8 io_status;
	u8 joined;	/* blocks that go down in front of it */
	u8 joined_fua;	/* with FUA for a touch of another request */
	u8 unresolved;	/* blocks with a touch that stands in rmw_pending */
	u8 touch_held;	/* blocks where it was copied */
	u8 behind[MODEL_BLOCKS];	/* who waited there when its touch, or its range, came */
	u8 how[MODEL_BLOCKS];
	u8 pass[MODEL_BLOCKS];
	u8 pass_status[MODEL_BLOCKS];
	u8 pin[MODEL_BLOCKS];		/* of a read: PIN_... */
	u8 pin_kept[MODEL_BLOCKS];
	u8 data[MODEL_SECTORS];
};

enum {
	PIN_NONE,
	PIN_BLOCK,
	PIN_ZOMBIE,	/* and its number */
};

/* A block that is gone and pinned. */
struct zombie {
	u8 pins;
	u8 buffer[MODEL_PER_BLOCK];
};

/* struct align_waiter */
struct align_waiter {
	u8 listed;
	u8 seq;
	u8 left;
	u8 failed;
};

enum empty_phase {
	EMPTY_IDLE,
	EMPTY_FIND,
	EMPTY_TAKE,
	EMPTY_ARM,
};

enum suspend_phase {
	SUSPEND_NO,
	SUSPEND_PRESUSPENDED,
	SUSPEND_BLOCKED,	/* dm queues what comes, and waits for what is in flight */
	SUSPEND_EMPTIES,
	SUSPEND_FREEZES,
	SUSPEND_WAITS_QUIET,
	SUSPENDED,
};

enum change_phase {
	CHANGE_NO,
	CHANGE_EMPTIES,
	CHANGE_DRAINS,	/* the gate is closed */
};

/* Everything; no field may depend on how the state was reached. */
struct state {
	struct align_block block[MODEL_BLOCKS];
	struct block_run run[MODEL_BLOCKS];
	struct align_io io[MODEL_REQUESTS];
	struct zombie zombie[MODEL_ZOMBIES];
	struct align_waiter waiter[MODEL_WAITERS];
	/* struct align_target, struct align_blocks */
	u8 mode;
	u8 next_mode;	/* place in the scenario's row of modes */
	u8 holding;
	u8 stopped;
	u8 frozen;
	u8 pressed;
	u8 closed;
	u8 reserve_busy;
	u8 seq;
	u8 empty_seq;
	u8 nr;
	u8 nr_held;
	u8 nr_resting;
	u8 nr_idle;
	u8 due;
	u8 empty_queued;
	u8 empty;
	u8 suspend;
	u8 change;
	u8 rmw_pending;
	u8 held_bytes;		/* in sectors */
	/* the machine below */
	u8 no_memory;
	u8 medium[MODEL_SECTORS];	/* what a read from the drive returns */
	u8 stable[MODEL_SECTORS];	/* versions that a power cut may leave, as bits */
	u8 promised[MODEL_SECTORS];	/* writes that a flush or FUA has made durable */
	u8 given_up[MODEL_SECTORS];	/* acknowledged content was dropped, and logged */
	u8 touched_error;		/* blocks at which the drive has failed */
	u8 resolved[RMW_HOW_NR];	/* touches, by how; only where a search is observed */
	/* what is left of each, so that paths end */
	u8 failures;
	u8 memory_changes;
	u8 suspends;
	u8 drops;
	u8 forgets;
} __attribute__((aligned(16)));	/* hash_state() takes pairs of words */

enum request_op { OP_READ, OP_WRITE, OP_DISCARD, OP_FLUSH };

struct request_kind {
	const char *name;
	enum request_op op;
	u8 start;
	u8 end;
	bool fua;
};

extern const struct request_kind request_kinds[];
extern const unsigned int nr_request_kinds;

/* What one search is about. */
struct scenario {
	unsigned int nr_requests;
	u8 kind[MODEL_REQUESTS];
	u8 modes[4];		/* enum align_mode, one after the other */
	unsigned int nr_modes;
	u8 max_blocks;
	bool stream;		/* writes go on where one has ended */
	u8 max_run;		/* blocks that the device below takes in a request */
	bool fine;		/* every step apart, whatever the surroundings do */
	bool reduce;		/* see reduce.c; without, each state is visited */
	u8 concurrent;		/* requests in flight at most */
	u8 failures;
	u8 memory_changes;
	u8 suspends;
	u8 drops;
	u8 forgets;
};

struct event {
	u8 kind;
	u8 a;
	u8 b;
};

/* A function that has given a block a state. */
struct assignment {
	const char *function;
	u8 state;
	uint64_t times;
};

extern struct assignment assignments[];
extern unsigned int nr_assignments;
const char *model_state_name(u8 state);

/* Deliberate faults of the engine, and of the reductions. */
extern const char *const break_names[];
extern const unsigned int nr_breaks;
void model_break(unsigned int fault);
extern const char *const loose_names[];
extern const unsigned int nr_loose;
void model_loosen(unsigned int reduction);

/*
 * What can be seen of a path, and what is checked depends on. Two requests of a
 * kind have each other's numbers if that makes it the lesser one.
 */
struct observation {
	const char *what;
	u8 expected;	/* of writes that must be there; the more, the more is checked */
	u8 nr;
	u8 value[46];
};

typedef void observer_fn(const struct observation *observation);
/* NULL: nobody. */
void model_observe(observer_fn *observer);

void model_init(const struct scenario *scenario, struct state *state);
typedef void successor_fn(const struct state *next, struct event event,
			  bool environment);
/* Return: NULL, or what is wrong, about the last state given to @successor. */
const char *model_expand(const struct state *state, successor_fn *successor);
const char *model_apply(const struct state *state, struct event event,
			struct state *next);
bool model_is_quiet(const struct state *state);
void model_print_event(FILE *out, struct event event);
void model_print_state(FILE *out, const struct state *before,
		       const struct state *after);

#endif
