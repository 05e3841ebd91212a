// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "exit_codes.h"
#include "io_queue.h"
#include "message.h"
#include "pattern.h"
#include "progress.h"
#include "replay_run.h"

/* One write in flight. */
struct write {
	struct io_request request;
	uint64_t number;
	uint64_t started_ns;
};

/**
 * struct bench - what a run needs while it goes on
 * @replay: what is replayed
 * @run: what it took
 * @queue: for @depth writes
 * @depth: most writes in flight
 * @memory: buffers for all of them
 * @write: them
 * @idle: those that are not in flight
 * @nr_idle: how many that are
 * @write_ns: latencies of the writes acknowledged
 * @flush_ns: latencies of the flushes after them
 * @nr_flushes: how many those are
 * @rested: writes issued at the last pause
 * @begin_ns: when the first write was issued
 * @end_ns: when the last write, or the flush after it, ended
 */
struct bench {
	struct replay *replay;
	struct replay_run *run;
	struct io_queue *queue;
	unsigned int depth;
	char *memory;
	struct write *write;
	struct write **idle;
	unsigned int nr_idle;
	uint64_t *write_ns;
	uint64_t *flush_ns;
	uint64_t nr_flushes;
	uint64_t rested;
	uint64_t begin_ns;
	uint64_t end_ns;
};

static void *new_array(uint64_t nr, size_t bytes)
{
	return memory_or_exit(calloc(nr, bytes));
}

static void bench_open(struct bench *bench)
{
	const struct plan *plan = &bench->replay->state.plan;
	uint64_t requests = plan_requests(plan);
	size_t bytes = plan_max_bytes(plan);
	unsigned int i;

	bench->queue = io_queue_open(bench->replay->fd, bench->depth);
	bench->write = new_array(bench->depth, sizeof(*bench->write));
	bench->idle = new_array(bench->depth, sizeof(struct write *));
	bench->write_ns = new_array(requests, sizeof(uint64_t));
	if (plan->workload->sync == WORKLOAD_FDATASYNC ||
	    plan->workload->sync == WORKLOAD_FDATASYNC_PART)
		bench->flush_ns = new_array(requests, sizeof(uint64_t));
	/* each starts a page, so that a buffer has as few segments as it can */
	bytes = (bytes + REPLAY_MEMORY_ALIGNMENT - 1) &
		~(size_t)(REPLAY_MEMORY_ALIGNMENT - 1);
	bench->memory = replay_memory(bench->depth * bytes);
	pattern_fill(bench->memory, bench->depth * bytes / PATTERN_SECTOR);
	for (i = 0; i < bench->depth; i++) {
		struct io_request *request = &bench->write[i].request;

		request->op = IO_WRITE;
		request->dsync = plan->workload->sync == WORKLOAD_DSYNC;
		request->buffer = bench->memory + i * bytes;
		bench->idle[i] = &bench->write[i];
	}
	bench->nr_idle = bench->depth;
}

static void bench_close(struct bench *bench)
{
	io_queue_close(bench->queue);
	free(bench->memory);
	free(bench->write);
	free(bench->idle);
	free(bench->write_ns);
	free(bench->flush_ns);
}

static void start_next(struct bench *bench)
{
	struct replay_state *state = &bench->replay->state;
	struct write *write = bench->idle[--bench->nr_idle];
	struct io_request *request = &write->request;
	uint32_t bytes;

	write->number = state->issued++;
	request->offset = plan_request(&state->plan, write->number, &bytes);
	request->bytes = bytes;
	replay_label(request->buffer, request->offset >> ALIGN_SECTOR_SHIFT,
		     request->bytes >> ALIGN_SECTOR_SHIFT, write->number + 1,
		     state->run);
	write->started_ns = clock_ns();
	io_queue_start(bench->queue, request);
}

static void count(struct replay_run *run, uint32_t bytes, uint64_t ns)
{
	uint32_t i;

	for (i = 0; i < run->nr_sizes; i++)
		if (run->by_size[i].bytes == bytes)
			break;
	if (i == run->nr_sizes)
		run->by_size[run->nr_sizes++].bytes = bytes;
	run->by_size[i].count++;
	run->by_size[i].sum_ns += ns;
	run->bytes += bytes;
}

/* A write has ended, @now after the run began; @nth of @all. */
static void show_in_time(struct replay_run *run, uint64_t nth, uint64_t all,
			 uint64_t now, uint64_t ns)
{
	/* in double: the product may not fit */
	struct replay_slice *slice =
		&run->slice[(size_t)((double)nth / all * REPLAY_SLICES)];

	slice->end_ns = now;
	slice->count++;
	slice->sum_ns += ns;
	if (ns > slice->max_ns)
		slice->max_ns = ns;
}

/* Waits for a write to end, and makes it durable if that is the workload's. */
static int finish_one(struct bench *bench)
{
	struct replay_state *state = &bench->replay->state;
	struct replay_run *run = bench->run;
	/* the request is the first member of its write */
	struct write *write = (struct write *)io_queue_wait(bench->queue);
	uint64_t now = clock_ns(), ns = now - write->started_ns;
	int result;

	bench->end_ns = now;
	bench->idle[bench->nr_idle++] = write;
	result = replay_result(bench->replay, &write->request);
	if (result) {
		state->failed[state->nr_failed++] = write->number;
		return result;
	}
	show_in_time(run, run->requests, plan_requests(&state->plan),
		     now - bench->begin_ns, ns);
	bench->write_ns[run->requests++] = ns;
	count(run, write->request.bytes, ns);
	probes_add(run->probes, write->request.offset, write->request.bytes,
		   write->started_ns, now);
	if (!plan_syncs(&state->plan, write->number))
		return ALIGNCTL_FINE;
	result = replay_flush(bench->replay);
	bench->end_ns = clock_ns();
	bench->flush_ns[bench->nr_flushes++] = bench->end_ns - now;
	return result;
}

/* Is it time to rest, once those in flight have ended? Not after the last. */
static bool rest_due(const struct bench *bench)
{
	const struct replay_state *state = &bench->replay->state;

	return bench->replay->think_s > 0 && state->issued > bench->rested &&
	       state->issued % state->plan.workload->think_writes == 0 &&
	       state->issued < plan_requests(&state->plan);
}

static void rest(struct bench *bench)
{
	uint64_t begin = clock_ns();
	uint64_t until_ns = begin + (uint64_t)(bench->replay->think_s * 1e9);
	struct timespec until = {
		.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000,
	};

	while (!interrupt_seen() &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
	bench->rested = bench->replay->state.issued;
	bench->run->pauses++;
	bench->run->pause_s += (clock_ns() - begin) / 1e9;
}

/* Keeps @depth writes in flight until all are done, or one fails. */
static int do_writes(struct bench *bench)
{
	const struct replay_state *state = &bench->replay->state;
	uint64_t requests = plan_requests(&state->plan);
	int result = ALIGNCTL_FINE;
	struct progress progress;

	progress_start(&progress, state->plan.workload->name, requests);
	for (;;) {
		while (bench->nr_idle && state->issued < requests && !result &&
		       !interrupt_seen() && !rest_due(bench))
			start_next(bench);
		if (bench->nr_idle == bench->depth) {
			if (result || interrupt_seen() || !rest_due(bench))
				break;
			rest(bench);
			continue;
		}
		if (finish_one(bench))
			result = ALIGNCTL_IO;
		progress_step(&progress, bench->run->requests);
	}
	progress_end(&progress);
	return result;
}

int replay_run(struct replay *replay, unsigned int depth,
	       struct replay_run *run)
{
	struct bench bench = { .replay = replay, .run = run, .depth = depth };
	uint64_t begin;
	int result;

	memset(run, 0, sizeof(*run));
	bench_open(&bench);
	run->method = io_queue_method(bench.queue);
	if (depth > 1 && !io_queue_parallel(bench.queue)) {
		message_error("--depth %u: needs io_uring, which this kernel lacks or forbids (sysctl kernel.io_uring_disabled); leave --depth out",
			      depth);
		bench_close(&bench);
		return ALIGNCTL_IO;
	}
	run->probes = probes_new(&replay->state.plan);
	bench.begin_ns = bench.end_ns = clock_ns();
	result = do_writes(&bench);
	run->wall_s = (bench.end_ns - bench.begin_ns) / 1e9;
	latency_summarize(bench.write_ns, run->requests, &run->latency);
	latency_summarize(bench.flush_ns, bench.nr_flushes,
			  &run->flush_latency);
	bench_close(&bench);

	begin = clock_ns();
	if (replay_flush(replay))
		result = ALIGNCTL_IO;
	run->flush_s = (clock_ns() - begin) / 1e9;
	return result;
}
