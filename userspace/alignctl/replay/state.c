// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "replay/result_file.h"
#include "replay/state.h"

int replay_state_save(const struct replay_state *state, const char *path)
{
	CLEANUP_FREE char *draft = result_file_draft(path);
	struct json_object *object = json_new(), *failed = json_new_array();
	const struct align_geometry *prepared = &state->prepared;
	uint32_t i;
	int wrong;

	json_add_text(object, "workload", state->plan.workload->name);
	json_add_number(object, "count", state->plan.count);
	json_add_number(object, "start", state->plan.start);
	json_add_number(object, "places", state->plan.places);
	json_add_number(object, "period", state->plan.period);
	json_add_number(object, "length", state->plan.length);
	json_add_number(object, "seed", state->plan.seed);
	json_add_bool(object, "buffered", state->plan.buffered);
	json_add_number(object, "physical_block_size", prepared->physical);
	json_add_number(object, "logical_block_size", prepared->logical);
	json_add_number(object, "alignment_offset", prepared->offset);
	json_add_number(object, "sectors", prepared->end_sector);
	json_add_number(object, "run", state->run);
	json_add_number(object, "issued", state->issued);
	for (i = 0; i < state->nr_failed; i++)
		json_append_number(failed, state->failed[i]);
	json_add(object, "failed", failed);
	wrong = json_object_to_file_ext(draft, object, JSON_C_TO_STRING_PRETTY);
	json_object_put(object);
	/* by rename, so that a reader sees the old file or the new one */
	if (wrong || rename(draft, path)) {
		message_error("%s: cannot be written: %s", path,
			      strerror(errno));
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

/* Fills @state; false if something is missing or makes no sense. */
static bool take(struct replay_state *state, struct json_object *object)
{
	const char *name = json_get_text(object, "workload");
	struct plan *plan = &state->plan;
	uint64_t physical, logical, offset, sectors;
	size_t nr_failed, i;

	plan->workload = name ? workload_find(name) : NULL;
	if (!plan->workload ||
	    !json_get_number(object, "count", &plan->count) ||
	    !json_get_number(object, "start", &plan->start) ||
	    !json_get_number(object, "places", &plan->places) ||
	    !json_get_number(object, "period", &plan->period) ||
	    !json_get_number(object, "length", &plan->length) ||
	    !json_get_number(object, "seed", &plan->seed) ||
	    !json_get_bool(object, "buffered", &plan->buffered) ||
	    !json_get_number(object, "physical_block_size", &physical) ||
	    !json_get_number(object, "logical_block_size", &logical) ||
	    !json_get_number(object, "alignment_offset", &offset) ||
	    !json_get_number(object, "sectors", &sectors) ||
	    !json_get_number(object, "run", &state->run) ||
	    !json_get_number(object, "issued", &state->issued) ||
	    !json_get_numbers(object, "failed", state->failed,
			      REPLAY_MAX_DEPTH, &nr_failed))
		return false;
	state->nr_failed = (uint32_t)nr_failed;
	for (i = 0; i < nr_failed; i++)
		if (state->failed[i] >= state->issued)
			return false;
	if (physical > UINT32_MAX || logical > UINT32_MAX ||
	    offset > UINT32_MAX || sectors > UINT64_MAX >> ALIGN_SECTOR_SHIFT)
		return false;
	return plan_possible(plan) && state->issued <= plan_requests(plan) &&
	       plan_end(plan) <= sectors << ALIGN_SECTOR_SHIFT &&
	       !align_geometry_init(&state->prepared, (uint32_t)physical,
				    (uint32_t)logical, (uint32_t)offset, 0,
				    sectors);
}

int replay_state_load(struct replay_state *state, const char *path)
{
	struct json_object *object;
	bool complete;

	if (access(path, R_OK)) {
		message_error("%s: %s; --phase prepare writes it", path,
			      strerror(errno));
		return ALIGNCTL_USAGE;
	}
	object = json_object_from_file(path);
	memset(state, 0, sizeof(*state));
	complete = object && take(state, object);
	json_object_put(object);
	if (!complete) {
		message_error("%s: not a state file of replay; --phase prepare writes one",
			      path);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}
