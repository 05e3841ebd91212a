// SPDX-License-Identifier: GPL-2.0
/*
 * Workers take requests from the source, wait for their turn, and keep their slots
 * of the queue full.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/units.h"
#include "engine/engine.h"
#include "engine/io_queue.h"
#include "engine/order.h"

/* Memory for a trace's requests in flight, divided into equal shares. */
#define SHARED_BYTES	(16U << 20)
#define SHARE_MAX	(256U << 10)
/* Memory for requests larger than a share; a single one may exceed it. */
#define LARGE_BYTES	(24U << 20)

const char *const engine_timing_names[ENGINE_NR_TIMINGS] = {
	[ENGINE_CLOSED] = "closed", [ENGINE_FAST] = "fast",
	[ENGINE_OPEN] = "open",
};

/**
 * struct pending - a request that was read from the source and has not ended
 * @request: the request, at its place on the device
 * @number: number of the request in the source, from 0; of a flush that the plan
 *	adds, the number of the write before
 * @added: the request is such a flush
 * @intended_ns: time at which the request was due
 */
struct pending {
	struct trace_request request;
	uint64_t number;
	bool added;
	uint64_t intended_ns;
};

/**
 * struct slot - a slot for a request in flight
 * @io: request to the kernel; must be the first member
 * @pending: index of the slot's request in engine.pending
 * @issued_ns: time at which @io was started
 * @share: memory of the slot
 * @filled: number of sectors of @share that hold the filler of pattern.h
 * @preflush: @io is the flush that precedes the request
 */
struct slot {
	struct io_request io;
	unsigned int pending;
	uint64_t issued_ns;
	char *share;
	size_t filled;
	bool preflush;
};

struct engine;

/**
 * struct worker - a thread that makes requests
 * @engine: the run
 * @thread: the thread; unused of the first worker, which is the caller's thread
 * @queue: queue of the worker
 * @idle: free slots of the worker
 * @nr_idle: number of free slots
 * @asleep: the worker sleeps, or is about to, and needs a wake
 */
struct worker {
	struct engine *engine;
	pthread_t thread;
	struct io_queue *queue;
	struct slot **idle;
	unsigned int nr_idle;
	bool asleep;
};

/**
 * struct engine - a run under way
 *
 * Each worker has its own queue and slots. The workers share the source, the
 * order of the requests and the measures:
 *
 * - Constant once a second thread runs, so read without the lock: @setup,
 *   @depth, @nr_workers, @memory, @share_bytes, the pointers to arrays.
 * - Private to a worker, so used without the lock: its queue (except for
 *   io_queue_wake()), its slots that are not idle, and their elements of
 *   @pending, from claim_slot() to end_slot().
 * - Under @lock, all else: setup->source and the order in which it is read;
 *   @order, @ready, @unused, @next, @keeper; @m and @done; idle slots;
 *   @large_bytes; worker.asleep.
 *
 * So a request enters @order at the moment when it is read from the source,
 * whichever worker reads it, and the worker that ends a request sees which ones
 * may start. The lock is not held over a system call for a request, while data
 * is made, or asleep; under it only messages, setup->durable take
 * other locks. A single worker does not take the lock.
 *
 * A worker with a free slot that finds nothing to do sleeps until one of its
 * requests ends or it is woken. A worker that claims with its last slot wakes
 * another one if there is more to do, which does the same: pass_on(). With
 * ENGINE_OPEN one sleeping worker, @keeper, wakes by itself when the next
 * request is due.
 *
 * @setup: parameters of the run
 * @m: measures of the run
 * @done: result of the run
 * @lock: see above
 * @origin_ns: time at which the first request is due
 * @first_ns: time of the first request in the trace
 * @depth: limit of requests in flight of each worker
 * @nr_workers: number of workers
 * @worker: the workers
 * @memory: memory of all shares
 * @share_bytes: size of a share, bytes
 * @large_bytes: memory now in use beyond the shares, bytes
 * @slot: slots of all workers
 * @in_flight: number of slots that are not idle
 * @pending: requests under way
 * @unused: free indices of @pending
 * @nr_unused: number of free indices
 * @order: order of the requests under way
 * @ready: requests that may start, in order of arrival: a ring
 * @ready_head: index in @ready of the first one
 * @nr_ready: number of requests in @ready
 * @next: request that was read and is not yet due
 * @next_ns: time at which @next is due
 * @next_read: @next is valid
 * @keeper: the worker that wakes when @next is due, or NULL
 * @paused: number of requests made before the last pause
 * @pause_begin_ns: start of the present pause; 0: none
 * @ended: no request is left to read
 * @failed: a request that changes data, or a flush, has failed. The kernel tells of
 *	what it could not write back once, so that a later flush may succeed
 * @result: enum alignctl_exit
 */
struct engine {
	const struct engine_setup *setup;
	struct measures *m;
	struct engine_done *done;
	pthread_mutex_t lock;
	uint64_t origin_ns;
	uint64_t first_ns;
	unsigned int depth;
	unsigned int nr_workers;
	struct worker *worker;
	char *memory;
	size_t share_bytes;
	uint64_t large_bytes;
	struct slot *slot;
	unsigned int in_flight;
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
	struct worker *keeper;
	uint64_t paused;
	uint64_t pause_begin_ns;
	bool ended;
	bool failed;
	int result;
};

/* Take the lock, unless there is a single worker, which is faster without. */
static void lock_engine(struct engine *e)
{
	if (e->nr_workers > 1)
		pthread_mutex_lock(&e->lock);
}

static void unlock_engine(struct engine *e)
{
	if (e->nr_workers > 1)
		pthread_mutex_unlock(&e->lock);
}

static void *new_array(size_t nr, size_t bytes)
{
	return memory_or_exit(calloc(nr, bytes));
}

/* Return the number of slots of all workers. */
static unsigned int nr_slots(const struct engine *e)
{
	return e->nr_workers * e->depth;
}

static unsigned int max_pending(const struct engine *e)
{
	return nr_slots(e) + ENGINE_MAX_WAITING;
}

static unsigned int nr_pending(const struct engine *e)
{
	return max_pending(e) - e->nr_unused;
}

static void worker_open(struct engine *e, struct worker *worker)
{
	const struct workload *w = e->setup->source->plan.workload;
	unsigned int first = (worker - e->worker) * e->depth, i;
	char *memory = e->memory + first * e->share_bytes;

	worker->engine = e;
	io_queue_register(worker->queue, memory, e->depth * e->share_bytes);
	if (e->nr_workers > 1)
		io_queue_let_wake(worker->queue);
	worker->idle = new_array(e->depth, sizeof(struct slot *));
	for (i = 0; i < e->depth; i++) {
		struct slot *slot = &e->slot[first + i];

		slot->share = memory + i * e->share_bytes;
		/* a workload of writes only needs the filler just once */
		if (w && !w->reads) {
			slot->filled = e->share_bytes / PATTERN_SECTOR;
			pattern_fill(slot->share, slot->filled);
		}
		worker->idle[worker->nr_idle++] = slot;
	}
}

/* Open a queue for each worker; lower the depth to 1 without io_uring. */
static void open_queues(struct engine *e)
{
	struct io_queue *first;
	unsigned int i;

	for (i = 0; i < e->nr_workers; i++)
		e->worker[i].queue = io_queue_open(e->setup->fd, e->depth);
	first = e->worker[0].queue;
	e->done->method = io_queue_method(first);
	if (e->depth == 1 || io_queue_parallel(first))
		return;
	message_warning("this kernel lacks or forbids io_uring (sysctl kernel.io_uring_disabled): one request at a time%s",
			e->nr_workers > 1 ? " in each thread" : "");
	e->depth = 1;
}

/* Return the size of a share; a workload's longest write is known. */
static size_t share_bytes(const struct engine *e)
{
	const struct plan *plan = &e->setup->source->plan;
	size_t bytes = SHARED_BYTES / nr_slots(e);

	if (plan->workload)
		bytes = plan_max_bytes(plan) + IO_MEMORY_ALIGNMENT - 1;
	else if (bytes > SHARE_MAX)
		bytes = SHARE_MAX;
	/* page-aligned shares keep the segments of a buffer few */
	return bytes / IO_MEMORY_ALIGNMENT * IO_MEMORY_ALIGNMENT;
}

static void engine_open(struct engine *e)
{
	char sector[PATTERN_SECTOR];
	unsigned int i;

	pthread_mutex_init(&e->lock, NULL);
	e->nr_workers = e->setup->threads;
	e->depth = e->setup->depth;
	e->worker = new_array(e->nr_workers, sizeof(*e->worker));
	open_queues(e);
	e->share_bytes = share_bytes(e);
	e->memory = io_memory(nr_slots(e) * e->share_bytes);
	e->slot = new_array(nr_slots(e), sizeof(*e->slot));
	for (i = 0; i < e->nr_workers; i++)
		worker_open(e, &e->worker[i]);
	e->pending = new_array(max_pending(e), sizeof(*e->pending));
	e->unused = new_array(max_pending(e), sizeof(*e->unused));
	e->ready = new_array(max_pending(e), sizeof(*e->ready));
	for (i = 0; i < max_pending(e); i++)
		e->unused[e->nr_unused++] = i;
	e->order = order_new(max_pending(e));
	/* initializes the filler before there are several threads */
	pattern_fill(sector, 1);
}

static void engine_close(struct engine *e)
{
	unsigned int i;

	for (i = 0; i < e->nr_workers; i++)
		free(e->worker[i].idle);
	pthread_mutex_destroy(&e->lock);
	order_free(e->order);
	free(e->memory);
	free(e->slot);
	free(e->worker);
	free(e->pending);
	free(e->unused);
	free(e->ready);
}

static void wake_worker(struct worker *worker)
{
	if (!worker->asleep)
		return;
	worker->asleep = false;
	io_queue_wake(worker->queue);
}

static void wake_all(struct engine *e)
{
	unsigned int i;

	for (i = 0; i < e->nr_workers; i++)
		wake_worker(&e->worker[i]);
}

static void push_ready(struct engine *e, unsigned int index)
{
	unsigned int last = e->ready_head + e->nr_ready++;

	e->ready[last < max_pending(e) ? last : last - max_pending(e)] = index;
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

/* Set up the slot's I/O for its request, without the preflush. */
static void set_io(struct engine *e, struct slot *slot)
{
	const struct trace_request *request = &e->pending[slot->pending].request;

	slot->io.op = io_op_of(request->op);
	slot->io.dsync = request->fua && request->op == TRACE_WRITE;
	slot->io.offset = request->offset;
	slot->io.bytes = request->bytes;
}

/* Fill a write's buffer with the pattern; sources have no data. */
static void fill_slot(struct engine *e, struct slot *slot)
{
	const struct pending *pending = &e->pending[slot->pending];
	size_t sectors = slot->io.bytes / PATTERN_SECTOR;
	char *buffer = slot->io.buffer;

	if (!pattern_has_labels(slot->io.offset, slot->io.bytes)) {
		slot->filled = 0;
		pattern_stream(buffer, slot->io.offset, slot->io.bytes,
			       pending->number + 1, e->setup->run);
		return;
	}
	if (buffer != slot->share) {
		pattern_fill(buffer, sectors);
	} else if (slot->filled < sectors) {
		pattern_fill(buffer + slot->filled * PATTERN_SECTOR,
			     sectors - slot->filled);
		slot->filled = sectors;
	}
	pattern_label(buffer, &(struct pattern_label) {
		.sector = slot->io.offset / PATTERN_SECTOR,
		.sequence = pending->number + 1, .run = e->setup->run,
	}, sectors);
}

/* Find memory for the data of a slot's request; false: none is free now. */
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
		slot->io.buffer = io_memory(request->bytes);
	} else if (request->op == TRACE_READ) {
		slot->filled = 0;
	}
	return true;
}

/* Get a slot for the first ready request; NULL without request or room. */
static struct slot *start_ready(struct worker *worker)
{
	struct engine *e = worker->engine;
	const struct trace_request *request;
	struct slot *slot;

	if (!e->nr_ready || !worker->nr_idle)
		return NULL;
	slot = worker->idle[worker->nr_idle - 1];
	slot->pending = e->ready[e->ready_head];
	if (!find_memory(e, slot))
		return NULL;
	worker->nr_idle--;
	e->nr_ready--;
	if (++e->ready_head == max_pending(e))
		e->ready_head = 0;
	if (++e->in_flight > e->m->most_in_flight)
		e->m->most_in_flight = e->in_flight;
	set_io(e, slot);
	request = &e->pending[slot->pending].request;
	slot->preflush = request->preflush && request->op != TRACE_FLUSH;
	return slot;
}

/*
 * Start a request by a system call of its own. If several were submitted at
 * once, most would seem to start earlier than they do, and a driver that
 * completes within the call would end them together and idle until their slots
 * are filled again.
 */
static void launch_slot(struct worker *worker, struct slot *slot)
{
	if (slot->io.op == IO_WRITE)
		fill_slot(worker->engine, slot);
	if (slot->preflush)
		slot->io.op = IO_FLUSH;
	slot->issued_ns = clock_ns();
	io_queue_start(worker->queue, &slot->io);
}

static void stop_engine(struct engine *e, int result)
{
	e->ended = true;
	e->next_read = false;
	if (!e->result)
		e->result = result;
}

/* Report that the request just read has no place, and stop; free the reason. */
static void refuse_next(struct engine *e, char *wrong)
{
	CLEANUP_FREE char *position = source_position(e->setup->source);

	message_error("%s: %s", position, wrong);
	free(wrong);
	stop_engine(e, ALIGNCTL_USAGE);
}

/* Read the next request, and find its place and its time. */
static void read_next(struct engine *e)
{
	const struct engine_setup *setup = e->setup;
	enum trace_next next = source_next(setup->source, &e->next);
	char *wrong;

	switch (next) {
	case TRACE_GOT:
		break;
	case TRACE_END:
	case TRACE_BROKEN:
	case TRACE_FAILED:
		/* a signal ends the wait for more of a pipe, and is no error */
		stop_engine(e, interrupt_seen() ? ALIGNCTL_FINE :
						  trace_next_status(next));
		return;
	}
	if (e->next.file) {
		stop_engine(e, source_refuse_disks(setup->source));
		return;
	}
	wrong = placement_apply(setup->placement, &e->next);
	if (wrong) {
		refuse_next(e, wrong);
		return;
	}
	e->next_read = true;
	/* a trace's clock may have any origin: in CSV perhaps 1970 */
	if (!e->done->issued)
		e->first_ns = e->next.time_ns;
	if (setup->timing == ENGINE_OPEN)
		e->next_ns = e->origin_ns + (uint64_t)
			     ((e->next.time_ns - e->first_ns) / setup->speed);
}

/* Check whether there is room for another request from the source. */
static bool has_room(const struct worker *worker)
{
	const struct engine *e = worker->engine;

	if (!worker->nr_idle)
		return false;
	if (e->setup->timing == ENGINE_CLOSED)
		return nr_pending(e) < nr_slots(e);
	return e->nr_unused && !e->nr_ready;
}

/*
 * Return when the pause that is due ends, or @now if none is due; UINT64_MAX:
 * requests under way have to end before the pause.
 */
static uint64_t pause_end(struct engine *e, uint64_t now)
{
	const struct engine_setup *setup = e->setup;
	uint64_t issued = e->done->issued;

	if (!setup->pause_ns || issued == e->paused ||
	    issued % setup->pause_after)
		return now;
	if (nr_pending(e))
		return UINT64_MAX;
	if (!e->pause_begin_ns)
		e->pause_begin_ns = clock_ns();
	if (now < e->pause_begin_ns + setup->pause_ns)
		return e->pause_begin_ns + setup->pause_ns;
	measures_pause(e->m, e->pause_begin_ns, now);
	e->paused = issued;
	e->pause_begin_ns = 0;
	return now;
}

/*
 * Check whether the request that was read is due. If not, make the worker wake
 * for it, unless another one does or the time is not known.
 */
static bool is_due(struct worker *worker, uint64_t now, uint64_t *wake_ns)
{
	struct engine *e = worker->engine;

	if (e->setup->timing != ENGINE_OPEN)
		e->next_ns = pause_end(e, now);
	if (e->next_ns <= now)
		return true;
	if (!e->keeper && e->next_ns != UINT64_MAX) {
		e->keeper = worker;
		*wake_ns = e->next_ns;
	}
	return false;
}

/*
 * Return the request as struct order shall see it: a buffered write-zeroes is
 * extended to whole pages. Before Linux 6.12 a buffered write beside the zeroes
 * can bring their page of a block device into the cache while they are written
 * below, and later write back the old data. So no write beside them may run.
 */
static struct trace_request place_in_order(const struct engine *e,
					   const struct trace_request *request)
{
	struct trace_request place = *request;
	uint64_t page = sysconf(_SC_PAGESIZE);

	if (e->setup->placement->buffered && place.op == TRACE_WRITE_ZEROES) {
		place.offset -= place.offset % page;
		place.bytes = request->offset + request->bytes - place.offset;
		place.bytes += -place.bytes % page;
	}
	return place;
}

/*
 * Take another request from the source, if there is room and it is due. If not,
 * set @wake_ns to when the worker has to wake by itself.
 */
static bool take_next(struct worker *worker, uint64_t now, uint64_t *wake_ns)
{
	struct engine *e = worker->engine;
	struct trace_request place;
	struct pending *pending;
	unsigned int index;
	bool added;

	*wake_ns = UINT64_MAX;
	if (interrupt_seen() && !e->ended)
		stop_engine(e, ALIGNCTL_FINE);
	if (!has_room(worker))
		return false;
	if (!e->next_read && !e->ended)
		read_next(e);
	if (e->ended || !is_due(worker, now, wake_ns))
		return false;
	/* the source does not count the flushes that the plan adds */
	added = e->done->issued == e->setup->source->issued;
	e->done->issued = e->setup->source->issued;
	index = e->unused[--e->nr_unused];
	pending = &e->pending[index];
	*pending = (struct pending) {
		.request = e->next, .number = e->done->issued - 1,
		.added = added, .intended_ns = e->next_ns,
	};
	e->next_read = false;
	place = place_in_order(e, &pending->request);
	if (order_add(e->order, index, &place))
		push_ready(e, index);
	else if (!measures_warming_up(e->m, pending->intended_ns))
		e->m->waited++;
	return true;
}

/*
 * Choose a request to start and a slot for it; NULL, with @wake_ns set as by
 * take_next(), if none can start yet.
 */
static struct slot *claim_slot(struct worker *worker, uint64_t now,
			       uint64_t *wake_ns)
{
	struct slot *slot;

	if (worker->engine->keeper == worker)
		worker->engine->keeper = NULL;	/* the worker is awake */
	do {
		slot = start_ready(worker);
		if (slot)
			return slot;
	} while (take_next(worker, now, wake_ns));
	return NULL;
}

/* Wake a worker that has room, if there is work that this one has none for. */
static void pass_on(struct worker *worker)
{
	struct engine *e = worker->engine;
	unsigned int i;

	if (worker->nr_idle || (!e->nr_ready && (e->ended || e->keeper)))
		return;
	for (i = 0; i < e->nr_workers; i++) {
		if (!e->worker[i].asleep || !e->worker[i].nr_idle)
			continue;
		wake_worker(&e->worker[i]);
		return;
	}
}

static void fail_request(struct engine *e, const struct pending *pending,
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
	if (!pending->added)
		e->done->failed[e->done->nr_failed++] = pending->number;
	e->failed |= pending->request.op != TRACE_READ;
	stop_engine(e, ALIGNCTL_IO);
}

/* Judge the result of a request and pass it on; report a failure. */
static void judge_slot(struct engine *e, const struct slot *slot, uint64_t now)
{
	const struct pending *pending = &e->pending[slot->pending];
	const struct trace_request *request = &pending->request;
	const struct engine_setup *setup = e->setup;
	const struct measures_times times = {
		pending->intended_ns, slot->issued_ns, now,
	};
	uint64_t wanted = is_transfer(request) ? request->bytes : 0;

	if (request->op == TRACE_DISCARD && slot->io.result == -EOPNOTSUPP) {
		e->m->unsupported++;
	} else if (slot->io.result < 0 ||
		   (uint64_t)slot->io.result != (slot->preflush ? 0 : wanted)) {
		fail_request(e, pending, &slot->io);
		return;
	} else {
		measures_add(e->m, request, &times, pending->added);
		if (!measures_warming_up(e->m, pending->intended_ns)) {
			probes_add(setup->probes, pending->number,
				   request->offset, request->bytes,
				   slot->issued_ns, now);
			if (!pending->added)
				each_add(setup->each, pending->number,
					 now - slot->issued_ns);
		}
	}
	if (setup->durable && !e->failed &&
	    (request->op == TRACE_FLUSH || request->preflush))
		setup->durable(setup->context, pending->number +
			       (request->op == TRACE_FLUSH));
}

static void end_slot(struct worker *worker, struct slot *slot, uint64_t now)
{
	unsigned int freed[ENGINE_MAX_DEPTH + ENGINE_MAX_WAITING], nr, i;
	struct engine *e = worker->engine;

	judge_slot(e, slot, now);
	if (slot->io.buffer != slot->share) {
		e->large_bytes -= slot->io.bytes;
		free(slot->io.buffer);
	}
	worker->idle[worker->nr_idle++] = slot;
	e->in_flight--;
	nr = order_end(e->order, slot->pending, freed);
	for (i = 0; i < nr; i++)
		push_ready(e, freed[i]);
	e->unused[e->nr_unused++] = slot->pending;
}

/* Wait until there may be work; drop the lock meanwhile. */
static void sleep_until(struct worker *worker, uint64_t wake_ns)
{
	struct engine *e = worker->engine;
	bool busy = worker->nr_idle != e->depth;

	worker->asleep = true;
	unlock_engine(e);
	io_queue_sleep(worker->queue, wake_ns, busy);
	lock_engine(e);
	worker->asleep = false;
}

/* Return a slot whose request has ended; start a request after its preflush. */
static struct slot *see_end(struct worker *worker, uint64_t *now)
{
	struct slot *slot = (struct slot *)io_queue_poll(worker->queue);

	*now = clock_ns();
	if (!slot || !slot->preflush || slot->io.result)
		return slot;
	slot->preflush = false;
	set_io(worker->engine, slot);
	io_queue_start(worker->queue, &slot->io);
	return NULL;
}

static void *make_requests(void *context)
{
	struct worker *worker = context;
	struct engine *e = worker->engine;
	const struct engine_setup *setup = e->setup;
	/* one worker draws the progress line */
	bool draws = worker == e->worker && setup->total;
	struct progress progress;
	uint64_t now, wake_ns;
	struct slot *slot;

	if (draws)
		progress_start(&progress, setup->source->name, setup->total);
	lock_engine(e);
	for (;;) {
		bool seen;

		unlock_engine(e);
		/* take one end, and fill its slot before looking at the next */
		slot = see_end(worker, &now);
		lock_engine(e);
		seen = slot;
		if (slot)
			end_slot(worker, slot, now);
		while ((slot = claim_slot(worker, now, &wake_ns))) {
			pass_on(worker);
			unlock_engine(e);
			launch_slot(worker, slot);
			seen = true;
			lock_engine(e);
		}
		if (draws)
			progress_step(&progress, e->done->issued);
		if (seen)
			continue;
		if (e->ended && !nr_pending(e))
			break;
		sleep_until(worker, wake_ns);
	}
	/* the sleeping workers have nothing left to wait for */
	wake_all(e);
	unlock_engine(e);
	/* safe: only sleeping workers are woken */
	io_queue_close(worker->queue);
	if (draws)
		progress_end(&progress);
	return NULL;
}

/* Start all workers but the first, which alone receives signals. */
static void start_workers(struct engine *e)
{
	sigset_t all, before;
	unsigned int i;
	int wrong = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 1; i < e->nr_workers && !wrong; i++)
		wrong = pthread_create(&e->worker[i].thread, NULL,
				       make_requests, &e->worker[i]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!wrong)
		return;
	message_error("--threads %u: cannot start thread %u: %s; use fewer", e->nr_workers,
		      i, strerror(wrong));
	exit(ALIGNCTL_IO);
}

int engine_check_depth(unsigned int threads, unsigned int depth)
{
	if (threads * depth <= ENGINE_MAX_DEPTH)
		return ALIGNCTL_FINE;
	message_error("--threads %u: with --depth %u each that is more than %u in flight; take fewer, or a smaller --depth",
		      threads, depth, ENGINE_MAX_DEPTH);
	return ALIGNCTL_USAGE;
}

int engine_run(const struct engine_setup *setup, struct measures *m,
	       struct engine_done *done)
{
	struct engine e = { .setup = setup, .m = m, .done = done };
	unsigned int i;
	uint64_t begin;

	memset(done, 0, sizeof(*done));
	engine_open(&e);
	/* the default slack wakes us up to 50 us late */
	prctl(PR_SET_TIMERSLACK, 1UL);
	/*
	 * Drop cached pages: those that the guards have read would make direct
	 * writes wait for a kernel thread to drop them, and a buffered run must
	 * not find pages of an earlier one.
	 */
	posix_fadvise(setup->fd, 0, 0, POSIX_FADV_DONTNEED);
	/* the first request must not wait for this, nor the figures have it */
	source_read_ahead(setup->source);
	measures_begin(m, setup->geometry, setup->warmup_ns,
		       setup->timing == ENGINE_OPEN);
	e.origin_ns = m->begin_ns - setup->warmup_ns;
	start_workers(&e);
	make_requests(&e.worker[0]);
	for (i = 1; i < e.nr_workers; i++)
		pthread_join(e.worker[i].thread, NULL);
	measures_end(m);
	engine_close(&e);
	begin = clock_ns();
	if (fdatasync(setup->fd)) {
		message_error("%s: cannot flush: %s", setup->device->path,
			      strerror(errno));
		return ALIGNCTL_IO;
	}
	done->flush_s = ns_to_s(clock_ns() - begin);
	if (setup->durable && !e.failed)
		setup->durable(setup->context, done->issued);
	if (!e.result && !interrupt_seen() && m->warmup_requests &&
	    !m->requests)
		message_warning("--warmup %g: %s ended within the warm-up; nothing was measured",
				ns_to_s(setup->warmup_ns), setup->source->name);
	return e.result;
}
