// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cleanup.h"
#include "engine.h"
#include "exit_codes.h"
#include "io_queue.h"
#include "message.h"
#include "order.h"
#include "pattern.h"
#include "progress.h"
#include "replay.h"

/* Memory for requests in flight: a share for each, ... */
#define SHARED_BYTES	(16U << 20)
#define SHARE_MAX	(256U << 10)
/* ... and for those that need more; one alone may have all it needs. */
#define LARGE_BYTES	(24U << 20)

const char *const engine_timing_names[ENGINE_NR_TIMINGS] = {
	[ENGINE_CLOSED] = "closed", [ENGINE_FAST] = "fast",
	[ENGINE_OPEN] = "open",
};

/**
 * struct pending - a request that was read from the trace and has not ended
 * @request: it, where it goes
 * @number: of the trace's requests, from 0
 * @intended_ns: when it was to start
 */
struct pending {
	struct trace_request request;
	uint64_t number;
	uint64_t intended_ns;
};

/**
 * struct slot - a place in flight
 * @io: what is asked of the kernel; the first member
 * @pending: the request's index in engine.pending
 * @issued_ns: when it was handed over
 * @share: this slot's memory
 * @filled: sectors of @share that hold the filler of pattern.h
 * @preflush: does it flush at present, before what it is for?
 */
struct slot {
	struct io_request io;
	unsigned int pending;
	uint64_t issued_ns;
	char *share;
	size_t filled;
	bool preflush;
};

/**
 * struct engine - a run under way
 * @setup: what to do
 * @m: what it takes
 * @done: what is done
 * @queue: to the kernel
 * @depth: most in flight
 * @memory: the shares
 * @share_bytes: each of those
 * @large_bytes: memory beyond the shares, at present
 * @slot: places in flight
 * @idle: those free
 * @nr_idle: how many
 * @pending: requests under way
 * @unused: free places there
 * @nr_unused: how many
 * @order: which of them may start
 * @ready: those that may, first come first served: a ring
 * @ready_head: first of those
 * @nr_ready: how many
 * @next: read from the trace, and not yet due
 * @next_ns: when it is
 * @next_read: is there such a request?
 * @ended: is there nothing more to read?
 * @result: enum alignctl_exit
 */
struct engine {
	const struct engine_setup *setup;
	struct measures *m;
	struct engine_done *done;
	struct io_queue *queue;
	unsigned int depth;
	char *memory;
	size_t share_bytes;
	uint64_t large_bytes;
	struct slot *slot;
	struct slot **idle;
	unsigned int nr_idle;
	struct pending *pending;
	unsigned int *unused;
	unsigned int nr_unused;
	struct order *order;
	unsigned int *ready;
	unsigned int ready_head;
	unsigned int nr_ready;
	struct trace_request next;
	uint64_t next_ns;
	bool next_read;
	bool ended;
	int result;
};

static void *new_array(size_t nr, size_t bytes)
{
	return memory_or_exit(calloc(nr, bytes));
}

static unsigned int max_pending(const struct engine *e)
{
	return e->depth + ENGINE_MAX_WAITING;
}

static void engine_open(struct engine *e)
{
	unsigned int i;

	e->depth = e->setup->depth;
	e->queue = io_queue_open(e->setup->fd, e->depth);
	e->done->method = io_queue_method(e->queue);
	if (e->depth > 1 && !io_queue_parallel(e->queue)) {
		message_warning("this kernel lacks or forbids io_uring (sysctl kernel.io_uring_disabled): one request at a time");
		e->depth = 1;
	}
	e->share_bytes = SHARED_BYTES / e->depth / REPLAY_MEMORY_ALIGNMENT *
			 REPLAY_MEMORY_ALIGNMENT;
	if (e->share_bytes > SHARE_MAX)
		e->share_bytes = SHARE_MAX;
	e->memory = replay_memory(e->depth * e->share_bytes);
	io_queue_register(e->queue, e->memory, e->depth * e->share_bytes);
	e->slot = new_array(e->depth, sizeof(*e->slot));
	e->idle = new_array(e->depth, sizeof(struct slot *));
	for (i = 0; i < e->depth; i++) {
		e->slot[i].share = e->memory + i * e->share_bytes;
		e->idle[e->nr_idle++] = &e->slot[i];
	}
	e->pending = new_array(max_pending(e), sizeof(*e->pending));
	e->unused = new_array(max_pending(e), sizeof(*e->unused));
	e->ready = new_array(max_pending(e), sizeof(*e->ready));
	for (i = 0; i < max_pending(e); i++)
		e->unused[e->nr_unused++] = i;
	e->order = order_new(max_pending(e));
}

static void engine_close(struct engine *e)
{
	io_queue_close(e->queue);
	order_free(e->order);
	free(e->memory);
	free(e->slot);
	free(e->idle);
	free(e->pending);
	free(e->unused);
	free(e->ready);
}

static void push_ready(struct engine *e, unsigned int index)
{
	e->ready[(e->ready_head + e->nr_ready++) % max_pending(e)] = index;
}

static bool is_transfer(const struct trace_request *request)
{
	return request->op == TRACE_READ || request->op == TRACE_WRITE;
}

static enum io_op io_op_of(enum trace_op op)
{
	static const enum io_op ops[TRACE_NR_OPS] = {
		[TRACE_READ] = IO_READ, [TRACE_WRITE] = IO_WRITE,
		[TRACE_FLUSH] = IO_FLUSH, [TRACE_DISCARD] = IO_DISCARD,
		[TRACE_WRITE_ZEROES] = IO_WRITE_ZEROES,
	};

	return ops[op];
}

/* Puts what the request is for, after any flush before it, into its slot. */
static void set_io(struct engine *e, struct slot *slot)
{
	const struct trace_request *request = &e->pending[slot->pending].request;

	slot->io.op = io_op_of(request->op);
	slot->io.dsync = request->fua && request->op == TRACE_WRITE;
	slot->io.offset = request->offset;
	slot->io.bytes = request->bytes;
}

/* The pattern that a write puts down: a trace has no data of its own. */
static void fill(struct engine *e, struct slot *slot)
{
	const struct pending *pending = &e->pending[slot->pending];
	size_t sectors = slot->io.bytes / PATTERN_SECTOR;
	char *buffer = slot->io.buffer;

	if (buffer != slot->share) {
		pattern_fill(buffer, sectors);
	} else if (slot->filled < sectors) {
		pattern_fill(buffer + slot->filled * PATTERN_SECTOR,
			     sectors - slot->filled);
		slot->filled = sectors;
	}
	replay_label(buffer, slot->io.offset / PATTERN_SECTOR, sectors,
		     pending->number + 1, e->setup->run);
}

/* Memory for the data of a slot's request; false if there is none for now. */
static bool find_memory(struct engine *e, struct slot *slot)
{
	const struct trace_request *request = &e->pending[slot->pending].request;

	slot->io.buffer = slot->share;
	if (!is_transfer(request))
		return true;
	if (request->bytes > e->share_bytes) {
		if (e->large_bytes &&
		    e->large_bytes + request->bytes > LARGE_BYTES)
			return false;
		e->large_bytes += request->bytes;
		slot->io.buffer = replay_memory(request->bytes);
	} else if (request->op == TRACE_READ) {
		slot->filled = 0;
	}
	return true;
}

/*
 * Hands the first ready requests over, as far as there is room. Each by itself:
 * of several in one system call, most would be seen to start before they do, and
 * a driver that works while it is called would end them together as well, which
 * leaves it idle until all of their places are filled again.
 */
static void start_ready(struct engine *e)
{
	while (e->nr_ready && e->nr_idle) {
		struct slot *slot = e->idle[e->nr_idle - 1];
		const struct trace_request *request;
		unsigned int in_flight;

		slot->pending = e->ready[e->ready_head];
		request = &e->pending[slot->pending].request;
		if (!find_memory(e, slot))
			return;
		e->nr_idle--;
		e->nr_ready--;
		e->ready_head = (e->ready_head + 1) % max_pending(e);
		in_flight = e->depth - e->nr_idle;
		if (in_flight > e->m->most_in_flight)
			e->m->most_in_flight = in_flight;
		set_io(e, slot);
		if (request->op == TRACE_WRITE)
			fill(e, slot);
		slot->preflush = request->preflush &&
				 request->op != TRACE_FLUSH;
		if (slot->preflush)
			slot->io.op = IO_FLUSH;
		slot->issued_ns = clock_ns();
		io_queue_start(e->queue, &slot->io);
	}
}

static void stop(struct engine *e, int result)
{
	e->ended = true;
	e->next_read = false;
	if (!e->result)
		e->result = result;
}

/* Reads the next request, and finds its place and its time. */
static void read_next(struct engine *e)
{
	const struct engine_setup *setup = e->setup;
	CLEANUP_FREE char *wrong = NULL;
	CLEANUP_FREE char *position = NULL;

	switch (source_next(setup->source, &e->next)) {
	case TRACE_GOT:
		break;
	case TRACE_END:
		stop(e, ALIGNCTL_FINE);
		return;
	case TRACE_BROKEN:
		stop(e, ALIGNCTL_USAGE);
		return;
	}
	wrong = placement_apply(setup->placement, &e->next);
	if (wrong) {
		position = source_position(setup->source);
		message_error("%s: %s", position, wrong);
		stop(e, ALIGNCTL_USAGE);
		return;
	}
	e->next_read = true;
	if (setup->timing == ENGINE_OPEN)
		e->next_ns = e->m->begin_ns +
			     (uint64_t)(e->next.time_ns / setup->speed);
}

/* Is there room for one more from the trace? */
static bool has_room(const struct engine *e)
{
	if (e->setup->timing == ENGINE_CLOSED)
		return max_pending(e) - e->nr_unused < e->depth;
	return e->nr_unused && !e->nr_ready && e->nr_idle;
}

/*
 * Takes one request more from the trace, if there is room and it is due.
 * Else sets when there is something to do without a request having ended.
 */
static bool take_next(struct engine *e, uint64_t now, uint64_t *wake_ns)
{
	struct pending *pending;
	unsigned int index;

	*wake_ns = UINT64_MAX;
	if (interrupt_seen() && !e->ended)
		stop(e, ALIGNCTL_FINE);
	if (!has_room(e))
		return false;
	if (!e->next_read && !e->ended)
		read_next(e);
	if (e->ended)
		return false;
	if (e->setup->timing != ENGINE_OPEN) {
		e->next_ns = now;
	} else if (e->next_ns > now) {
		*wake_ns = e->next_ns;
		return false;
	}
	index = e->unused[--e->nr_unused];
	pending = &e->pending[index];
	*pending = (struct pending) {
		.request = e->next, .number = e->done->issued++,
		.intended_ns = e->next_ns,
	};
	e->next_read = false;
	if (order_add(e->order, index, &pending->request))
		push_ready(e, index);
	else
		e->m->waited++;
	return true;
}

static void fail(struct engine *e, const struct pending *pending,
		 const struct io_request *io)
{
	const char *op = trace_op_names[pending->request.op];

	if (io->result >= 0)
		message_error("%s: %s at byte %" PRIu64 ": only %d of %" PRIu64
			      " bytes (%s, request %" PRIu64 ")",
			      e->setup->device->path, op,
			      pending->request.offset, io->result,
			      pending->request.bytes, e->setup->source->name,
			      pending->number + 1);
	else
		message_error("%s: %s of %" PRIu64 " bytes at byte %" PRIu64
			      ": %s (%s, request %" PRIu64 ")",
			      e->setup->device->path, op,
			      pending->request.bytes, pending->request.offset,
			      strerror(-io->result), e->setup->source->name,
			      pending->number + 1);
	e->done->failed[e->done->nr_failed++] = pending->number;
	stop(e, ALIGNCTL_IO);
}

/* What a request came to. */
static void judge(struct engine *e, const struct slot *slot, uint64_t now)
{
	const struct pending *pending = &e->pending[slot->pending];
	const struct trace_request *request = &pending->request;
	const struct measures_times times = {
		pending->intended_ns, slot->issued_ns, now,
	};
	uint64_t wanted = is_transfer(request) ? request->bytes : 0;

	if (request->op == TRACE_DISCARD && slot->io.result == -EOPNOTSUPP) {
		e->m->unsupported++;
	} else if (slot->io.result < 0 ||
		   (uint64_t)slot->io.result != (slot->preflush ? 0 : wanted)) {
		fail(e, pending, &slot->io);
		return;
	} else {
		measures_add(e->m, request, &times);
	}
	if ((request->op == TRACE_FLUSH || request->preflush) &&
	    e->setup->durable)
		e->setup->durable(e->setup->context, pending->number);
}

static void end(struct engine *e, struct slot *slot, uint64_t now)
{
	unsigned int freed[ENGINE_MAX_DEPTH + ENGINE_MAX_WAITING], nr, i;

	if (slot->preflush && !slot->io.result) {
		slot->preflush = false;
		set_io(e, slot);
		io_queue_start(e->queue, &slot->io);
		return;
	}
	judge(e, slot, now);
	if (slot->io.buffer != slot->share) {
		e->large_bytes -= slot->io.bytes;
		free(slot->io.buffer);
	}
	e->idle[e->nr_idle++] = slot;
	nr = order_end(e->order, slot->pending, freed);
	for (i = 0; i < nr; i++)
		push_ready(e, freed[i]);
	e->unused[e->nr_unused++] = slot->pending;
}

static void make_requests(struct engine *e)
{
	struct progress progress;
	uint64_t now, wake_ns;
	struct io_request *io;

	progress_start(&progress, e->setup->source->name, e->setup->total);
	for (;;) {
		/* one, and its place is filled before the next is looked at */
		io = io_queue_poll(e->queue);
		now = clock_ns();
		if (io)
			end(e, (struct slot *)io, now);
		do {
			start_ready(e);
		} while (take_next(e, now, &wake_ns));
		if (e->setup->total)
			progress_step(&progress, e->done->issued);
		if (io)
			continue;
		if (e->ended && e->nr_idle == e->depth)
			break;
		io_queue_sleep(e->queue, wake_ns, e->nr_idle != e->depth);
	}
	progress_end(&progress);
}

int engine_run(const struct engine_setup *setup, struct measures *m,
	       struct engine_done *done)
{
	struct engine e = { .setup = setup, .m = m, .done = done };
	uint64_t begin;

	memset(done, 0, sizeof(*done));
	engine_open(&e);
	/* or the kernel may wake us 50 us late */
	prctl(PR_SET_TIMERSLACK, 1UL);
	/*
	 * Pages that were read through the cache, as the guards do, would send
	 * every write over them to a thread of the kernel's that drops them.
	 */
	posix_fadvise(setup->fd, 0, 0, POSIX_FADV_DONTNEED);
	measures_begin(m, setup->geometry);
	make_requests(&e);
	measures_end(m);
	engine_close(&e);
	begin = clock_ns();
	if (fdatasync(setup->fd)) {
		message_error("%s: flushing: %s", setup->device->path,
			      strerror(errno));
		return ALIGNCTL_IO;
	}
	done->flush_s = (clock_ns() - begin) / 1e9;
	if (setup->durable)
		setup->durable(setup->context, done->issued);
	return e.result;
}
