// SPDX-License-Identifier: GPL-2.0
/* State files of the replay of a trace. */
#include "base/exit_codes.h"
#include "fuzz.h"
#include "fuzz_files.h"
#include "geometry.h"
#include "replay/trace_state.h"

#define MAX_FAILED	(ENGINE_MAX_DEPTH + ENGINE_MAX_WAITING)

static void check_same(const struct trace_state *a, const struct trace_state *b)
{
	FUZZ_CHECK(!strcmp(a->trace, b->trace) && !strcmp(a->device, b->device));
	FUZZ_CHECK(a->trace_bytes == b->trace_bytes && a->run == b->run &&
		   a->durable == b->durable);
	FUZZ_CHECK(!memcmp(&a->placement, &b->placement, sizeof(a->placement)));
	FUZZ_CHECK(a->done.issued == b->done.issued &&
		   a->done.nr_failed == b->done.nr_failed);
	FUZZ_CHECK(!memcmp(a->done.failed, b->done.failed,
			   a->done.nr_failed * sizeof(a->done.failed[0])));
}

static void check(struct trace_state *state)
{
	const struct placement *p = &state->placement;
	static struct trace_state again, copy;
	uint32_t i;

	FUZZ_CHECK(p->how <= PLACEMENT_SCALE);
	FUZZ_CHECK(align_is_power_of_2(p->logical) &&
		   p->logical >= ALIGN_SECTOR_SIZE &&
		   align_is_power_of_2(p->physical) &&
		   p->physical >= p->logical &&
		   p->physical <= ALIGN_MAX_BLOCK_SIZE);
	FUZZ_CHECK(p->bytes <= INT64_MAX && p->end <= INT64_MAX &&
		   p->longest <= INT64_MAX);
	FUZZ_CHECK(state->done.nr_failed <= MAX_FAILED);
	for (i = 0; i < state->done.nr_failed; i++)
		FUZZ_CHECK(state->done.failed[i] < state->done.issued);

	copy = *state;
	copy.path = fuzz_written;
	FUZZ_CHECK(trace_state_begin(&copy) == ALIGNCTL_FINE);
	FUZZ_CHECK(trace_state_load(&again, fuzz_written) == ALIGNCTL_FINE);
	FUZZ_CHECK(again.done.issued == TRACE_STATE_NOT_KNOWN &&
		   again.durable == state->durable);
	trace_state_free(&again);
	if (state->durable < UINT64_MAX) {
		trace_state_durable(&copy, state->durable + 1);
		FUZZ_CHECK(trace_state_load(&again, fuzz_written) == ALIGNCTL_FINE);
		FUZZ_CHECK(again.durable == state->durable + 1);
		trace_state_free(&again);
	}
	copy.durable = state->durable;
	FUZZ_CHECK(trace_state_end(&copy, &state->done) == ALIGNCTL_FINE);
	FUZZ_CHECK(trace_state_load(&again, fuzz_written) == ALIGNCTL_FINE);
	check_same(state, &again);
	trace_state_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace_state state;
	const char *given = fuzz_given(data, size);

	if (trace_state_load(&state, given) == ALIGNCTL_FINE) {
		check(&state);
		trace_state_free(&state);
	}
	return 0;
}
