// SPDX-License-Identifier: GPL-2.0
/* State files of replay. */
#include "base/exit_codes.h"
#include "base/json.h"
#include "fuzz.h"
#include "fuzz_files.h"
#include "replay/state.h"

static void check(const struct replay_state *state)
{
	const struct align_geometry *g = &state->prepared;
	const struct plan *plan = &state->plan;
	struct replay_state again;
	uint32_t i;

	FUZZ_CHECK(plan_possible(plan));
	/* the plan ends inside the sectors, whose bytes fit into 64 bits */
	FUZZ_CHECK(g->end_sector <= UINT64_MAX >> ALIGN_SECTOR_SHIFT);
	FUZZ_CHECK(plan_end(plan) <= g->end_sector << ALIGN_SECTOR_SHIFT);
	FUZZ_CHECK(g->offset < g->physical && g->logical <= g->physical);
	FUZZ_CHECK(state->issued <= plan_requests(plan));
	FUZZ_CHECK(state->nr_failed <= REPLAY_MAX_DEPTH);
	for (i = 0; i < state->nr_failed; i++)
		FUZZ_CHECK(state->failed[i] < state->issued);

	FUZZ_CHECK(replay_state_save(state, fuzz_written) == ALIGNCTL_FINE);
	FUZZ_CHECK(replay_state_load(&again, fuzz_written) == ALIGNCTL_FINE);
	FUZZ_CHECK(again.plan.workload == plan->workload &&
		   again.plan.count == plan->count &&
		   again.plan.start == plan->start &&
		   again.plan.places == plan->places &&
		   again.plan.period == plan->period &&
		   again.plan.length == plan->length &&
		   again.plan.buffered == plan->buffered &&
		   again.plan.seed == plan->seed && again.run == state->run &&
		   again.issued == state->issued &&
		   again.nr_failed == state->nr_failed);
	FUZZ_CHECK(!memcmp(again.failed, state->failed,
			   state->nr_failed * sizeof(*state->failed)));
	FUZZ_CHECK(!memcmp(&again.prepared, g, sizeof(*g)));
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
	FUZZ_CHECK(member(object, "count") == state->plan.count &&
		   member(object, "start") == state->plan.start &&
		   member(object, "places") == state->plan.places &&
		   member(object, "period") == state->plan.period &&
		   member(object, "length") == state->plan.length &&
		   member(object, "seed") == state->plan.seed &&
		   member(object, "run") == state->run &&
		   member(object, "issued") == state->issued);
	FUZZ_CHECK(member(object, "physical_block_size") ==
		   state->prepared.physical);
	FUZZ_CHECK(member(object, "logical_block_size") ==
		   state->prepared.logical);
	FUZZ_CHECK(member(object, "alignment_offset") ==
		   state->prepared.offset);
	FUZZ_CHECK(member(object, "sectors") == state->prepared.end_sector);
	json_object_put(object);
	free(text);
}

/* Check that the state of every workload is read back. */
static void check_workloads(void)
{
	static struct replay_state state;
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		plan_init(&state.plan, w);
		/* what else depends on the device */
		if (w->device == WORKLOAD_SPREAD ||
		    (workload_random(w) && !state.plan.places))
			plan_spread(&state.plan, UINT64_C(1) << 40);
		FUZZ_CHECK(!align_geometry_init(&state.prepared, 4096, 512, 512,
						0, UINT32_MAX));
		state.issued = state.nr_failed = 1;
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
	}
	return 0;
}
