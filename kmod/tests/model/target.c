// SPDX-License-Identifier: GPL-2.0
/* What stands for kmod's write.c, target.c and gate.c. */
#include <string.h>

#include "inside.h"

static void align_io_resolve(u8 r)
{
	struct align_io *io = &S.io[r];
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

/* The bio that dm gave us has ended. */
void request_end(u8 r)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S.io[r];
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
			S.promised[i] |= seen;
		if (kind->fua && covers(r, i))
			S.promised[i] |= 1 << r;
	}
	if (kind->op == OP_READ && !status)
		observe_read(r, seen);
	if (kind->op == OP_FLUSH && !status)
		observe_flush(r, seen);
	for (i = 0; i < MODEL_BLOCKS; i++)
		if (part(r, i))
			blocks |= 1 << i;
	if (status && !(S.touched_error & blocks) &&
	    !(kind->op == OP_FLUSH && S.touched_error))
		wrong("an error reaches a request that it does not concern");
	i = io->before;
	memset(io, 0, sizeof(*io));
	io->before = i;
	io->status = status;
	io->phase = REQUEST_ENDED;
}

void align_io_put(u8 r, bool failed)
{
	if (failed)
		S.io[r].status = 1;
	if (!--S.io[r].parts)
		request_end(r);
}

/* The first block that goes down in front of the range of a write. */
static u8 first_joined(const struct align_io *io)
{
	return io->start / MODEL_PER_BLOCK - io->joined;
}

/* The first sector of what a request sends. */
u8 own_start(const struct align_io *io)
{
	return io->joined ? first_joined(io) * MODEL_PER_BLOCK : io->start;
}

/* The range of a write, the read or the flush has ended below. */
void own_end(u8 r)
{
	struct align_io *io = &S.io[r];
	bool failed = io->io_status;
	u8 b;

	if (io->joined && failed) {
		/* joined_send_apart() */
		for (b = first_joined(io); io->joined; b++, io->joined--)
			S.run[b] = (struct block_run) {
				.phase = RUN_SEND, .write = true, .nr = 1 };
		io->joined_fua = false;
		io->io_status = 0;
		io->io = IO_FLIGHT;
		return;
	}
	if (io->joined) {
		b = first_joined(io);
		io->joined--;
		block_served(&S.block[b], false);
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
void align_engine_map(u8 r)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S.io[r];
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
		note_turn_of_touch(r, b);
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
			io->joined = start_take_whole(&S.block[first],
						      OWNER_REQUEST + r);
	} else if (handled == 2 && io->touch_held & 2) {
		hold_for_stream(&S.block[first], OWNER_REQUEST + r);
	}
	io->go = go && start < end;
	if (go)
		return;
	io->io = IO_WAITS;
	if (!handled)
		io->phase = REQUEST_RUNS;
}

/* The rest of map: send the range, if it may go down, and let go of the write. */
void map_rest(u8 r)
{
	struct align_io *io = &S.io[r];
	u8 b;

	io->phase = REQUEST_RUNS;
	if (io->go) {
		io->go = false;
		b = first_joined(io);
		if (io->joined && (S.no_memory || io->joined == run_max_blocks())) {
			S.run[b] = (struct block_run) {
				.phase = RUN_SEND, .write = true, .nr = io->joined };
			io->joined = 0;
		}
		for (; b < io->start / MODEL_PER_BLOCK && io->joined; b++)
			io->joined_fua |= block_patch(&S.block[b]);
		io->io = IO_FLIGHT;
	}
	if (io->split_up)
		align_io_put(r, false);
}

void map_change(u8 r)
{
	const struct request_kind *kind = kind_of(r);
	struct align_io *io = &S.io[r];
	u8 b, touches = 0;

	if (S.closed && !broken(MODE_WITHOUT_GATE)) {
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
		if (S.mode == ALIGN_REPORT)
			io->how[b] = RMW_DRIVE_REPORT;
	}
	ledger_add(rmw_expected, touches);
	ledger_add(rmw_pending, touches);
	S.rmw_pending += touches;
	if (S.mode == ALIGN_REPORT) {
		io->phase = REQUEST_RUNS;
		io->start = kind->start;
		io->end = kind->end;
		io->io = IO_FLIGHT;
		return;
	}
	io->engine = true;
	io->may_hold = touches && S.mode == ALIGN_COALESCE && S.holding &&
		       (!kind->fua || broken(FUA_HELD));
	io->phase = REQUEST_ENTERED;
	if (takes_steps_apart())
		return;
	align_engine_map(r);
	if (io->phase == REQUEST_MAPPED)
		map_rest(r);
}

static void hold_map_flush(u8 r)
{
	if (!S.nr_held || broken(FLUSH_NOT_EMPTYING)) {
		S.io[r].io = IO_FLIGHT;
		return;
	}
	S.io[r].io = IO_WAITS;
	hold_wait(r);
}

void flush_work_func(u8 r)
{
	bool failed = S.waiter[r].failed;

	memset(&S.waiter[r], 0, sizeof(S.waiter[r]));
	if (failed) {
		S.io[r].status = 1;
		observe_flush(r, 0);
		request_end(r);
		return;
	}
	S.io[r].io = IO_FLIGHT;
}

void align_map(u8 r)
{
	struct align_io *io = &S.io[r];
	u8 i;

	for (i = 0; i < scenario.nr_requests; i++)
		if (S.io[i].phase == REQUEST_ENDED)
			io->before |= 1 << i;
	io->phase = REQUEST_RUNS;
	switch (kind_of(r)->op) {
	case OP_READ:
		if (S.nr_held)
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
	S.closed = true;
	S.change = CHANGE_DRAINS;
}

void set_mode(void)
{
	u8 mode = scenario.modes[++S.next_mode];

	if (S.mode == mode)
		return;
	if (broken(MODE_KEEPS_HELD)) {
		set_mode_shut();
		return;
	}
	hold_stop(HOLD_STOPPED_MODE);
	if (!S.nr_held) {
		set_mode_shut();
	} else if (S.frozen) {
		hold_start(HOLD_STOPPED_MODE);
	} else {
		S.change = CHANGE_EMPTIES;
		hold_wait(WAITER_MODE);
	}
}

void set_mode_emptied(void)
{
	bool failed = S.waiter[WAITER_MODE].failed;

	memset(&S.waiter[WAITER_MODE], 0, sizeof(S.waiter[WAITER_MODE]));
	if (failed) {
		hold_start(HOLD_STOPPED_MODE);
		S.change = CHANGE_NO;
		return;
	}
	set_mode_shut();
}

void set_mode_end(void)
{
	u8 r;

	if (!broken(MODE_KEEPS_KNOWN))
		blocks_forget();
	S.mode = scenario.modes[S.next_mode];
	hold_start(HOLD_STOPPED_MODE);
	S.closed = false;
	S.change = CHANGE_NO;
	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].phase == REQUEST_DEFERRED)
			S.io[r].phase = REQUEST_AGAIN;
}

bool gate_is_empty(void)
{
	u8 r;

	if (broken(MODE_WITHOUT_GATE))
		return true;
	for (r = 0; r < scenario.nr_requests; r++)
		if (S.io[r].entered)
			return false;
	return true;
}

unsigned int count_in_flight(void)
{
	unsigned int nr = 0;
	u8 r;

	for (r = 0; r < scenario.nr_requests; r++)
		nr += S.io[r].phase != REQUEST_NEW &&
		      S.io[r].phase != REQUEST_ENDED;
	return nr;
}

/* One step of dm's suspend from where it is. Return: there is one. */
bool suspend_step(void)
{
	u8 w;

	switch ((enum suspend_phase)S.suspend) {
	case SUSPEND_PRESUSPENDED:
		/*
		 * Whatever happens while what comes is queued may happen before
		 * as well, an undo too, and nothing but may_come() can tell.
		 * So dm queues in the same step that finds nothing in flight.
		 */
		if (!scenario.reduce) {
			S.suspend = SUSPEND_BLOCKED;
			return true;
		}
		/* fallthrough */
	case SUSPEND_BLOCKED:
		if (count_in_flight())
			return false;
		/* align_postsuspend() */
		S.suspend = SUSPEND_FREEZES;
		if (S.nr_held) {
			S.suspend = SUSPEND_EMPTIES;
			hold_wait(WAITER_SUSPEND);
		}
		return true;
	case SUSPEND_EMPTIES:
		if (S.waiter[WAITER_SUSPEND].listed)
			return false;
		memset(&S.waiter[WAITER_SUSPEND], 0, sizeof(struct align_waiter));
		S.suspend = SUSPEND_FREEZES;
		return true;
	case SUSPEND_FREEZES:
		/* hold_freeze(); a running work is waited for below */
		S.frozen = true;
		S.suspend = SUSPEND_WAITS_QUIET;
		return true;
	case SUSPEND_WAITS_QUIET:
		if ((S.empty != EMPTY_IDLE || owns_any(OWNER_EMPTY)) &&
		    !broken(FREEZE_WITHOUT_CANCEL))
			return false;
		if (S.nr_held != S.nr_idle && !broken(FREEZE_WITHOUT_QUIET))
			return false;
		S.empty_queued = false;
		S.due = false;
		for (w = 0; w < MODEL_WAITERS; w++)
			if (S.waiter[w].listed) {
				S.waiter[w].left = 0;
				S.waiter[w].failed = true;
				waiter_done(w);
			}
		blocks_forget();
		S.suspend = SUSPENDED;
		return true;
	case SUSPEND_NO:
	case SUSPENDED:
		return false;
	}
	return false;
}

void hold_drop_failed(struct align_block *block)
{
	u8 b = number_of(block);
	u8 i;

	for (i = 0; i < MODEL_PER_BLOCK; i++)
		if (block->kept & 1 << i)
			S.given_up[b * MODEL_PER_BLOCK + i] = true;
	if (!broken(DROP_STAYS_IDLE))
		hold_leave(block);
	hold_resolve(block, RMW_LOST, RMW_LOST);
	block_remove(block);
}

/* The suspended table goes, and another one with this target comes. */
void replace_table(void)
{
	u8 b;

	for (b = 0; b < MODEL_BLOCKS; b++)
		if (S.block[b].exists && S.block[b].state == BLOCK_IS_HELD &&
		    S.block[b].failed)
			hold_drop_failed(&S.block[b]);
	blocks_forget();
	if (S.nr || S.nr_held)
		wrong("WARN_ON in blocks_exit() or hold_exit(): a block is left");
	S.seq = 0;
	S.empty_seq = 0;
	S.nr_idle = 0;
	S.nr_resting = 0;
	S.pressed = false;
	S.empty_queued = false;
	S.due = false;
	S.stopped = HOLD_STOPPED_SUSPEND;
	hold_thaw();
	S.suspend = SUSPEND_NO;
}
