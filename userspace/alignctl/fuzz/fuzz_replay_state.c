// SPDX-License-Identifier: GPL-2.0
/* State files of replay. */
#include "base/exit_codes.h"
#include "base/json.h"
#include "fuzz.h"
#include "fuzz_files.h"
#include "replay/state.h"

#define MAX_FAILED	(ENGINE_MAX_DEPTH + ENGINE_MAX_WAITING)

static void check_plan(const struct replay_state *state)
{
	const struct plan *plan = &state->plan;

	FUZZ_CHECK(plan_possible(plan));
	/* it ends on the device, and all of that can be counted in bytes */
	FUZZ_CHECK(plan_end(plan) <= state->placement.bytes);
	FUZZ_CHECK(state->done.issued <= plan_requests(plan) ||
		   state->done.issued == REPLAY_STATE_NOT_KNOWN);
}

static void check_same(const struct replay_state *a,
		       const struct replay_state *b)
{
	const struct plan *p = &a->plan, *q = &b->plan;

	FUZZ_CHECK(!strcmp(a->source, b->source) &&
		   !strcmp(a->device, b->device));
	FUZZ_CHECK(a->trace_bytes == b->trace_bytes &&
		   a->trace_mtime_ns == b->trace_mtime_ns);
	FUZZ_CHECK(p->workload == q->workload && p->buffered == q->buffered);
	FUZZ_CHECK(!p->workload ||
		   (p->count == q->count && p->start == q->start &&
		    p->places == q->places && p->period == q->period &&
		    p->length == q->length && p->seed == q->seed));
	FUZZ_CHECK(!memcmp(&a->placement, &b->placement, sizeof(a->placement)));
	FUZZ_CHECK(!memcmp(&a->blocks, &b->blocks, sizeof(a->blocks)));
	FUZZ_CHECK(a->prepared == b->prepared && a->mark == b->mark &&
		   a->durable == b->durable);
}

static void check_same_done(const struct engine_done *a,
			    const struct engine_done *b)
{
	FUZZ_CHECK(a->issued == b->issued && a->nr_failed == b->nr_failed);
	FUZZ_CHECK(!memcmp(a->failed, b->failed,
			   a->nr_failed * sizeof(a->failed[0])));
}

/* Check that the state can be written, and is the same when it is read again. */
static void check(const struct replay_state *state)
{
	const struct align_geometry *g = &state->blocks;
	const struct placement *p = &state->placement;
	static struct replay_state again, copy;
	uint32_t i;

	if (state->plan.workload)
		check_plan(state);
	FUZZ_CHECK(p->how <= PLACEMENT_SCALE && p->bytes <= INT64_MAX &&
		   p->end <= INT64_MAX && p->longest <= INT64_MAX);
	FUZZ_CHECK(g->offset < g->physical && g->logical <= g->physical &&
		   g->physical <= ALIGN_MAX_BLOCK_SIZE);
	FUZZ_CHECK(state->done.nr_failed <= MAX_FAILED);
	for (i = 0; i < state->done.nr_failed; i++)
		FUZZ_CHECK(state->done.failed[i] < state->done.issued);

	copy = *state;
	copy.path = fuzz_written;
	FUZZ_CHECK(replay_state_begin(&copy) == ALIGNCTL_FINE);
	FUZZ_CHECK(replay_state_load(&again, fuzz_written) == ALIGNCTL_FINE);
	FUZZ_CHECK(again.done.issued == REPLAY_STATE_NOT_KNOWN &&
		   !again.done.nr_failed);
	check_same(state, &again);
	replay_state_free(&again);
	if (state->durable < UINT64_MAX) {
		replay_state_durable(&copy, state->durable + 1);
		FUZZ_CHECK(replay_state_load(&again, fuzz_written) ==
			   ALIGNCTL_FINE);
		FUZZ_CHECK(again.durable == state->durable + 1);
		replay_state_free(&again);
	}
	copy.durable = state->durable;
	copy.done = state->done;
	FUZZ_CHECK(replay_state_end(&copy) == ALIGNCTL_FINE);
	FUZZ_CHECK(replay_state_load(&again, fuzz_written) == ALIGNCTL_FINE);
	check_same(state, &again);
	check_same_done(&state->done, &again.done);
	replay_state_free(&again);
}

static uint64_t member(struct json_object *object, const char *key)
{
	return json_object_get_uint64(json_object_object_get(object, key));
}

/* Check that the figures are those of the text. */
static void check_figures(const struct replay_state *state, const void *data,
			  size_t size)
{
	char *text = fuzz_text(data, size);
	struct json_object *object = json_tokener_parse(text);

	FUZZ_CHECK(object);
	if (state->plan.workload)
		FUZZ_CHECK(member(object, "count") == state->plan.count &&
			   member(object, "start") == state->plan.start &&
			   member(object, "places") == state->plan.places &&
			   member(object, "period") == state->plan.period &&
			   member(object, "length") == state->plan.length &&
			   member(object, "seed") == state->plan.seed);
	FUZZ_CHECK(member(object, "run") == state->mark &&
		   member(object, "durable") == state->durable);
	FUZZ_CHECK(state->done.issued == REPLAY_STATE_NOT_KNOWN ||
		   member(object, "issued") == state->done.issued);
	FUZZ_CHECK(member(object, "physical_block_size") ==
		   state->blocks.physical);
	FUZZ_CHECK(member(object, "logical_block_size") ==
		   state->blocks.logical);
	FUZZ_CHECK(member(object, "alignment_offset") == state->blocks.offset);
	FUZZ_CHECK(member(object, "device_bytes") == state->placement.bytes);
	json_object_put(object);
	free(text);
}

/* Check that the state of every workload is read back. */
static void check_workloads(void)
{
	static char device[] = "/dev/sda";
	static struct replay_state state = { .device = device, .prepared = true };
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		plan_init(&state.plan, w);
		/* what else depends on the device */
		if (w->device == WORKLOAD_SPREAD ||
		    (workload_random(w) && !state.plan.places))
			plan_spread(&state.plan, UINT64_C(1) << 40);
		FUZZ_CHECK(!align_geometry_init(&state.blocks, 4096, 512, 512,
						0, UINT32_MAX));
		state.source = (char *)w->name;
		state.placement = (struct placement) {
			.bytes = (uint64_t)UINT32_MAX << ALIGN_SECTOR_SHIFT,
			.logical = 512, .physical = 4096,
			.buffered = state.plan.buffered,
		};
		state.done = (struct engine_done) { .issued = 1, .nr_failed = 1 };
		check(&state);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct replay_state state;
	static bool workloads_checked;
	const char *given = fuzz_given(data, size);

	if (!workloads_checked) {
		workloads_checked = true;
		check_workloads();
	}
	if (replay_state_load(&state, given) == ALIGNCTL_FINE) {
		check(&state);
		/* a NUL byte ends a string, but not a file */
		if (!memchr(data, 0, size))
			check_figures(&state, data, size);
		replay_state_free(&state);
	}
	return 0;
}
