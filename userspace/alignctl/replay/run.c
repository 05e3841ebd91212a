// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "engine/engine.h"
#include "engine/io_queue.h"
#include "replay/run.h"

/**
 * struct notes - what is noted of each request, while a run goes on
 * @state: of the replay
 * @run: what it took
 * @writes: of the workload
 * @write_ns: latencies of the writes that are measured
 * @flush_ns: latencies of the flushes after them
 * @nr_flushes: how many those are
 */
struct notes {
	struct replay_state *state;
	struct replay_run *run;
	uint64_t writes;
	uint64_t *write_ns;
	uint64_t *flush_ns;
	uint64_t nr_flushes;
};

/* The write that ended last, of those that are measured. */
static void show_in_time(const struct notes *notes, uint64_t ns)
{
	const struct measures *m = &notes->run->measures;
	/* in double: the product may not fit */
	double part = (double)notes->run->requests / notes->writes;
	struct replay_slice *slice =
		&notes->run->slice[(size_t)(part * REPLAY_SLICES)];

	slice->end_ns = m->end_ns - m->begin_ns;
	slice->count++;
	slice->sum_ns += ns;
	if (ns > slice->max_ns)
		slice->max_ns = ns;
}

/* After the first that fails only those in flight end: there is room for all. */
static void note(void *context, const struct engine_end *end)
{
	_Static_assert(REPLAY_MAX_DEPTH >= ENGINE_MAX_DEPTH, "state->failed");
	struct notes *notes = context;
	struct replay_state *state = notes->state;
	struct replay_run *run = notes->run;
	bool write = end->request->op == TRACE_WRITE;
	uint64_t ns = end->times.ended_ns - end->times.issued_ns;

	if (end->failed) {
		if (write)
			state->failed[state->nr_failed++] = end->number;
		return;
	}
	if (measures_warming_up(&run->measures, end->times.intended_ns)) {
		run->warmup_requests += write;
		return;
	}
	if (!write) {
		notes->flush_ns[notes->nr_flushes++] = ns;
		return;
	}
	show_in_time(notes, ns);
	notes->write_ns[run->requests++] = ns;
}

/* What is asked for must be in flight; threads can have it so in any kernel. */
static int check_parallel(const struct replay *replay)
{
	struct io_queue *queue = io_queue_open(replay->fd, replay->depth);
	bool parallel = io_queue_parallel(queue);

	io_queue_close(queue);
	if (parallel || replay->depth == 1)
		return ALIGNCTL_FINE;
	message_error("--depth %u: needs io_uring, which this kernel lacks or forbids (sysctl kernel.io_uring_disabled); leave --depth out, or take --threads in its place",
		      replay->depth);
	return ALIGNCTL_IO;
}

int replay_run(struct replay *replay, struct replay_run *run)
{
	struct replay_state *state = &replay->state;
	const struct workload *w = state->plan.workload;
	uint64_t writes = plan_requests(&state->plan);
	struct notes notes = { .state = state, .run = run, .writes = writes };
	struct source source = { .name = w->name, .plan = state->plan };
	const struct placement placement = replay_placement(replay);
	struct engine_setup setup = {
		.source = &source, .device = replay->device,
		.fd = state->plan.buffered ? replay->cached_fd : replay->fd,
		.placement = &placement, .timing = ENGINE_CLOSED,
		.depth = replay->depth, .threads = replay->threads,
		.warmup_ns = replay->warmup_ns,
		.pause_after = w->think_writes,
		.pause_ns = replay->think_s * NS_PER_S,
		.run = state->run, .total = writes,
		.ended = note, .context = &notes,
	};
	struct engine_done done;
	int result;

	memset(run, 0, sizeof(*run));
	result = check_parallel(replay);
	if (result)
		return result;
	notes.write_ns = memory_or_exit(calloc(writes, sizeof(uint64_t)));
	notes.flush_ns = memory_or_exit(calloc(writes, sizeof(uint64_t)));
	setup.probes = run->probes = probes_new(&state->plan);
	result = engine_run(&setup, &run->measures, &done);
	state->issued = done.issued;
	run->method = done.method;
	run->flush_s = done.flush_s;
	latency_summarize(notes.write_ns, run->requests, &run->latency);
	latency_summarize(notes.flush_ns, notes.nr_flushes,
			  &run->flush_latency);
	free(notes.write_ns);
	free(notes.flush_ns);
	return result;
}

void replay_run_free(struct replay_run *run)
{
	measures_free(&run->measures);
	probes_free(run->probes);
}
