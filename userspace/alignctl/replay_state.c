// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "exit_codes.h"
#include "json.h"
#include "message.h"
#include "replay_state.h"

int replay_state_save(const struct replay_state *state, const char *path)
{
	CLEANUP_FREE char *draft = message_format("%s.new", path);
	struct json_object *object = json_new();
	int failed;

	json_add_text(object, "workload", state->workload->name);
	json_add_number(object, "count", state->count);
	json_add_number(object, "run", state->run);
	json_add_number(object, "first_sector", state->first_sector);
	json_add_number(object, "end_sector", state->end_sector);
	json_add_number(object, "done", state->done);
	json_add_number(object, "uncertain", state->uncertain);
	failed = json_object_to_file_ext(draft, object,
					 JSON_C_TO_STRING_PRETTY);
	json_object_put(object);
	/* by rename, so that a reader sees the old file or the new one */
	if (failed || rename(draft, path)) {
		message_error("%s: cannot be written: %s", path,
			      strerror(errno));
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

int replay_state_load(struct replay_state *state, const char *path)
{
	struct json_object *object;
	const char *name;
	uint64_t uncertain = 0;
	bool complete;

	if (access(path, R_OK)) {
		message_error("%s: %s; --phase prepare writes it", path,
			      strerror(errno));
		return ALIGNCTL_USAGE;
	}
	object = json_object_from_file(path);
	name = object ? json_get_text(object, "workload") : NULL;
	memset(state, 0, sizeof(*state));
	state->workload = name ? workload_find(name) : NULL;
	complete = state->workload &&
		json_get_number(object, "count", &state->count) &&
		json_get_number(object, "run", &state->run) &&
		json_get_number(object, "first_sector",
				&state->first_sector) &&
		json_get_number(object, "end_sector", &state->end_sector) &&
		json_get_number(object, "done", &state->done) &&
		json_get_number(object, "uncertain", &uncertain) &&
		state->first_sector < state->end_sector;
	state->uncertain = uncertain;
	json_object_put(object);
	if (!complete) {
		message_error("%s: not a state file of replay; --phase prepare writes one",
			      path);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}
