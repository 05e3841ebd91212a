// SPDX-License-Identifier: GPL-2.0
/*
 * Save a run in its state file, and resume from that file with the same source and
 * settings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "replay/phases.h"

/* Fill @state, without the requests that were made; for replay_state_free(). */
static int describe_run(const struct replay *replay, struct replay_state *state)
{
	*state = (struct replay_state) {
		.path = replay->options->state, .fd = -1,
		.plan = replay->source.plan, .placement = replay->placement,
		.prepared = replay->prepared,
		.blocks = replay->prepared ? replay->blocks : replay->geometry,
		.mark = replay->mark,
		.device = realpath(replay->device->path, NULL),
	};
	if (!state->device) {
		message_error("%s: %s", replay->device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	return replay_state_name_source(state, &replay->source);
}

int replay_begin_state(const struct replay *replay, struct replay_state *state)
{
	int result = describe_run(replay, state);

	if (!result)
		result = replay_state_begin(state);
	if (result)
		replay_state_free(state);
	return result;
}

int replay_end_state(const struct replay *replay, struct replay_state *state)
{
	int result;

	state->done = replay->done;
	result = replay_state_end(state);
	replay_state_free(state);
	return result;
}

int replay_drop_state(const struct replay *replay)
{
	const char *path = replay->options->state;

	if (!path || !unlink(path) || errno == ENOENT)
		return ALIGNCTL_FINE;
	message_error("%s: cannot be removed: %s; the state is of an earlier replay",
		      path, strerror(errno));
	return ALIGNCTL_IO;
}

int replay_save_state(const struct replay *replay)
{
	struct replay_state state;
	int result = describe_run(replay, &state);

	if (!result)
		result = replay_state_save(&state);
	replay_state_free(&state);
	return result;
}

static int refuse_state(const char *path, const char *reason)
{
	message_error("%s: %s", path, reason);
	return ALIGNCTL_USAGE;
}

int replay_resume(struct replay *replay, const char *path, bool check)
{
	struct replay_state state;
	int result = replay_state_load(&state, path);

	if (result)
		return result;
	if (!state.prepared)
		result = refuse_state(path, "is of a replay without phases; alignctl replay --check STATE reads it, and --phase prepare starts anew");
	else if (!check && state.done.issued)
		result = refuse_state(path, "was run already, and check cannot tell a second run from the first; --phase prepare starts anew");
	else if (check && state.done.issued == REPLAY_STATE_NOT_KNOWN)
		result = refuse_state(path, "the run did not end; alignctl replay --check STATE says what it left, and --phase prepare starts anew");
	if (!result) {
		replay->source.name = state.plan.workload->name;
		replay->source.plan = state.plan;
		replay->prepared = true;
		replay->blocks = state.blocks;
		replay->mark = state.mark;
		replay->done = state.done;
	}
	replay_state_free(&state);
	return result;
}
