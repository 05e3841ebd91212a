// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "geometry.h"
#include "replay/result_file.h"
#include "replay/trace_state.h"

/* The same length whatever its value, so that it can be written over. */
#define FIGURE	"%20" PRIu64

static int refuse(const struct trace_state *state, const char *what)
{
	message_error("%s: %s: %s", state->path, what, strerror(errno));
	return ALIGNCTL_IO;
}

/* What does not change during the run: the members before the last ones. */
static struct json_object *constant(const struct trace_state *state)
{
	const struct placement *p = &state->placement;
	struct json_object *object = json_new();

	json_add_text(object, "trace", state->trace);
	json_add_number(object, "trace_bytes", state->trace_bytes);
	json_add_number(object, "trace_mtime_ns", state->trace_mtime_ns);
	json_add_text(object, "device", state->device);
	json_add_number(object, "placement", p->how);
	json_add_number(object, "device_bytes", p->bytes);
	json_add_number(object, "logical_block_size", p->logical);
	json_add_number(object, "physical_block_size", p->physical);
	json_add_number(object, "end", p->end);
	json_add_number(object, "longest", p->longest);
	json_add_number(object, "run", state->run);
	return object;
}

/* Writes all of it into a new file; issued and failed only if known. */
static int write_file(struct trace_state *state, bool ended)
{
	struct json_object *object = constant(state);
	const char *text = json_object_to_json_string(object);
	int fd = dup(state->fd);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	uint32_t i;
	bool wrong;

	if (!file) {
		json_object_put(object);
		return refuse(state, "cannot be written");
	}
	fprintf(file, "%.*s, \"durable\": ", (int)strlen(text) - 1, text);
	json_object_put(object);
	state->figures = ftell(file);
	fprintf(file, FIGURE, state->durable);
	if (ended) {
		fprintf(file, ", \"issued\": %" PRIu64 ", \"failed\": [",
			state->done.issued);
		for (i = 0; i < state->done.nr_failed; i++)
			fprintf(file, "%s%" PRIu64, i ? ", " : "",
				state->done.failed[i]);
		fputs("]", file);
	}
	fputs(" }\n", file);
	wrong = fflush(file) || fsync(state->fd);
	fclose(file);
	return wrong ? refuse(state, "cannot be written") : ALIGNCTL_FINE;
}

/* By rename, so that a reader sees the old file or the new one. */
static int replace_file(struct trace_state *state, bool ended)
{
	CLEANUP_FREE char *draft = result_file_draft(state->path);
	int result;

	if (state->fd >= 0)
		close(state->fd);
	state->fd = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW |
			 O_CLOEXEC, 0666);
	if (state->fd < 0)
		return refuse(state, "cannot be written");
	result = write_file(state, ended);
	if (!result && rename(draft, state->path))
		result = refuse(state, "cannot be written");
	return result;
}

int trace_state_begin(struct trace_state *state)
{
	state->fd = -1;
	return replace_file(state, false);
}

void trace_state_durable(void *context, uint64_t requests)
{
	struct trace_state *state = context;
	char text[32];
	int length;

	/* flushes may end in another order than they began */
	if (requests <= state->durable)
		return;
	state->durable = requests;
	length = snprintf(text, sizeof(text), FIGURE, requests);
	/* a promise that is not noted is one less to be kept: no error */
	if (pwrite(state->fd, text, length, state->figures) != length)
		message_warning("%s: %s", state->path, strerror(errno));
}

int trace_state_end(struct trace_state *state, const struct engine_done *done)
{
	int result;

	state->done = *done;
	result = replace_file(state, true);
	close(state->fd);
	return result;
}

/* Blocks as a device may have them, and byte addresses that can be counted. */
static bool placement_possible(const struct placement *p, uint64_t how,
			       uint64_t logical, uint64_t physical)
{
	return how <= PLACEMENT_SCALE && logical >= ALIGN_SECTOR_SIZE &&
	       logical <= physical && physical <= ALIGN_MAX_BLOCK_SIZE &&
	       align_is_power_of_2(logical) && align_is_power_of_2(physical) &&
	       p->bytes <= INT64_MAX && p->end <= INT64_MAX &&
	       p->longest <= INT64_MAX;
}

/* Sets which requests were made and which of them failed, if that is there. */
static bool take_done(struct engine_done *done, struct json_object *object)
{
	size_t nr = 0, i;

	done->issued = TRACE_STATE_NOT_KNOWN;
	if (json_get_number(object, "issued", &done->issued) &&
	    !json_get_numbers(object, "failed", done->failed,
			      sizeof(done->failed) / sizeof(done->failed[0]),
			      &nr))
		return false;
	done->nr_failed = nr;
	for (i = 0; i < nr; i++)
		if (done->failed[i] >= done->issued)
			return false;
	return true;
}

static bool take(struct trace_state *state, struct json_object *object)
{
	struct placement *p = &state->placement;
	const char *trace = json_get_text(object, "trace");
	const char *device = json_get_text(object, "device");
	uint64_t how, logical, physical;

	if (!trace || !device ||
	    !json_get_number(object, "trace_bytes", &state->trace_bytes) ||
	    !json_get_number(object, "trace_mtime_ns",
			     &state->trace_mtime_ns) ||
	    !json_get_number(object, "placement", &how) ||
	    !json_get_number(object, "device_bytes", &p->bytes) ||
	    !json_get_number(object, "logical_block_size", &logical) ||
	    !json_get_number(object, "physical_block_size", &physical) ||
	    !json_get_number(object, "end", &p->end) ||
	    !json_get_number(object, "longest", &p->longest) ||
	    !json_get_number(object, "run", &state->run) ||
	    !json_get_number(object, "durable", &state->durable))
		return false;
	if (!placement_possible(p, how, logical, physical) ||
	    !take_done(&state->done, object))
		return false;
	p->how = how;
	p->logical = logical;
	p->physical = physical;
	state->trace = memory_or_exit(strdup(trace));
	state->device = memory_or_exit(strdup(device));
	return true;
}

int trace_state_load(struct trace_state *state, const char *path)
{
	struct json_object *object;
	bool complete;

	memset(state, 0, sizeof(*state));
	state->path = path;
	state->fd = -1;
	if (access(path, R_OK)) {
		message_error("%s: %s; replay TRACE --state writes it", path,
			      strerror(errno));
		return ALIGNCTL_USAGE;
	}
	object = json_object_from_file(path);
	complete = object && take(state, object);
	json_object_put(object);
	if (complete)
		return ALIGNCTL_FINE;
	message_error("%s: not the state of a trace's replay; replay TRACE --state writes one",
		      path);
	return ALIGNCTL_USAGE;
}

void trace_state_free(struct trace_state *state)
{
	free(state->trace);
	free(state->device);
}
