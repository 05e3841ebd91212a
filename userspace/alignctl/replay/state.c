// SPDX-License-Identifier: GPL-2.0
/* Save, load and check the state file, and update its durable part in place. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/units.h"
#include "geometry.h"
#include "replay/result_file.h"
#include "replay/state.h"

/* The same length for every value, so that it can be written over. */
#define FIGURE	"%20" PRIu64

static int refuse_state(const struct replay_state *state)
{
	message_error("%s: cannot be written: %s", state->path,
		      strerror(errno));
	return ALIGNCTL_IO;
}

static void add_plan(struct json_object *object, const struct plan *plan)
{
	json_add_number(object, "count", plan->count);
	json_add_number(object, "start", plan->start);
	json_add_number(object, "places", plan->places);
	json_add_number(object, "period", plan->period);
	json_add_number(object, "length", plan->length);
	json_add_number(object, "seed", plan->seed);
}

/* Add how the trace was read, if not all of it unmodified. */
static void add_choice(struct json_object *object,
		       const struct trace_choice *choice)
{
	if (choice->from != TRACE_NR_READABLE)
		json_add_text(object, "from",
			      trace_readable_names[choice->from]);
	if (choice->disk)
		json_add_bytes(object, "disk", choice->disk);
	if (choice->columns)
		json_add_bytes(object, "columns", choice->columns);
}

/* Return the members that do not change during the run. */
static struct json_object *json_constant(const struct replay_state *state)
{
	const struct placement *p = &state->placement;
	struct json_object *object = json_new();

	/* the first member: result_file.h knows the file by it */
	json_add_bytes(object, state->plan.workload ? "workload" : "trace",
		       state->source);
	if (state->plan.workload) {
		add_plan(object, &state->plan);
	} else {
		json_add_number(object, "trace_bytes", state->trace_bytes);
		json_add_number(object, "trace_mtime_ns",
				state->trace_mtime_ns);
		add_choice(object, &state->choice);
	}
	json_add_bool(object, "buffered", state->plan.buffered);
	json_add_bytes(object, "device", state->device);
	json_add_number(object, "device_bytes", p->bytes);
	json_add_number(object, "logical_block_size", state->blocks.logical);
	json_add_number(object, "physical_block_size", state->blocks.physical);
	json_add_number(object, "alignment_offset", state->blocks.offset);
	json_add_number(object, "placement", p->how);
	json_add_number(object, "end", p->end);
	json_add_number(object, "longest", p->longest);
	json_add_bool(object, "prepared", state->prepared);
	json_add_number(object, "run", state->mark);
	return object;
}

/* Write all of it into a new file; issued and failed only if they are known. */
static int write_file(struct replay_state *state)
{
	struct json_object *object = json_constant(state);
	const char *text = json_object_to_json_string(object);
	int fd = dup(state->fd);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	uint32_t i;
	bool wrong;

	if (!file) {
		json_object_put(object);
		return refuse_state(state);
	}
	fprintf(file, "%.*s, \"durable\": ", (int)strlen(text) - 1, text);
	json_object_put(object);
	state->figures = ftell(file);
	fprintf(file, FIGURE, state->durable);
	if (state->done.issued != REPLAY_STATE_NOT_KNOWN) {
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
	return wrong ? refuse_state(state) : ALIGNCTL_FINE;
}

/* Replace the file by rename, so that a reader sees the old or the new one. */
static int replace_file(struct replay_state *state)
{
	CLEANUP_FREE char *draft = result_file_draft(state->path);
	int result;

	/*
	 * A file that is there may have other names, or belong to another user, who could
	 * change the state.
	 */
	state->fd = unlink(draft) && errno != ENOENT ? -1 :
		open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (state->fd < 0)
		return refuse_state(state);
	result = write_file(state);
	if (!result && (rename(draft, state->path) ||
			result_file_sync_name(state->path)))
		result = refuse_state(state);
	if (result)
		unlink(draft);
	return result;
}

int replay_state_begin(struct replay_state *state)
{
	state->done = (struct engine_done) { .issued = REPLAY_STATE_NOT_KNOWN };
	return replace_file(state);
}

void replay_state_durable(void *context, uint64_t requests)
{
	struct replay_state *state = context;
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

static void close_file(struct replay_state *state)
{
	cleanup_close(&state->fd);
	state->fd = -1;
}

int replay_state_save(struct replay_state *state)
{
	int result = replace_file(state);

	close_file(state);
	return result;
}

int replay_state_end(struct replay_state *state)
{
	close_file(state);
	return replay_state_save(state);
}

/* Check for blocks as a device may have them, and addresses that can be counted. */
static bool placement_possible(const struct placement *p, uint64_t how)
{
	return how <= PLACEMENT_SCALE && p->bytes <= INT64_MAX &&
	       p->end <= INT64_MAX && p->longest <= INT64_MAX;
}

/* Set which requests were made and which of them failed, if that is there. */
static bool take_done(struct engine_done *done, struct json_object *object)
{
	size_t nr = 0, i;

	done->issued = REPLAY_STATE_NOT_KNOWN;
	if (json_object_object_get_ex(object, "issued", NULL) &&
	    (!json_get_number(object, "issued", &done->issued) ||
	     !json_get_numbers(object, "failed", done->failed,
			       sizeof(done->failed) / sizeof(done->failed[0]),
			       &nr)))
		return false;
	done->nr_failed = nr;
	for (i = 0; i < nr; i++)
		if (done->failed[i] >= done->issued)
			return false;
	return true;
}

/* Set the plan of a workload; false if a member is missing or makes no sense. */
static bool take_plan(struct replay_state *state, struct json_object *object)
{
	struct plan *plan = &state->plan;

	return json_get_number(object, "count", &plan->count) &&
	       json_get_number(object, "start", &plan->start) &&
	       json_get_number(object, "places", &plan->places) &&
	       json_get_number(object, "period", &plan->period) &&
	       json_get_number(object, "length", &plan->length) &&
	       json_get_number(object, "seed", &plan->seed) &&
	       plan_possible(plan) &&
	       (state->done.issued == REPLAY_STATE_NOT_KNOWN ||
		state->done.issued <= plan_requests(plan)) &&
	       plan_end(plan) <= state->placement.bytes;
}

static bool take_blocks(struct replay_state *state, struct json_object *object)
{
	struct placement *p = &state->placement;
	uint64_t physical, logical, offset, how;

	if (!json_get_number(object, "device_bytes", &p->bytes) ||
	    !json_get_number(object, "logical_block_size", &logical) ||
	    !json_get_number(object, "physical_block_size", &physical) ||
	    !json_get_number(object, "alignment_offset", &offset) ||
	    !json_get_number(object, "placement", &how) ||
	    !json_get_number(object, "end", &p->end) ||
	    !json_get_number(object, "longest", &p->longest))
		return false;
	if (physical > UINT32_MAX || logical > UINT32_MAX ||
	    offset > UINT32_MAX || !placement_possible(p, how))
		return false;
	p->how = how;
	p->logical = logical;
	p->physical = physical;
	return !align_geometry_init(&state->blocks, physical, logical, offset,
				    0, p->bytes >> ALIGN_SECTOR_SHIFT);
}

/* Return a copy of @text, for free(); NULL: there is none. */
static char *copy_of(const char *text)
{
	return text ? memory_or_exit(strdup(text)) : NULL;
}

/* Set how the trace was read; false if its format is not known. */
static bool take_choice(struct trace_choice *choice, struct json_object *object)
{
	const char *from = json_get_text(object, "from");
	enum trace_readable i;

	*choice = TRACE_ANY;
	for (i = 0; from && i < TRACE_NR_READABLE; i++)
		if (!strcmp(from, trace_readable_names[i]))
			choice->from = i;
	choice->disk = copy_of(json_get_text(object, "disk"));
	choice->columns = copy_of(json_get_text(object, "columns"));
	return !from || choice->from != TRACE_NR_READABLE;
}

/* Fill @state; false if a member is missing or makes no sense. */
static bool take_state(struct replay_state *state, struct json_object *object)
{
	const char *workload = json_get_text(object, "workload");
	const char *source = workload ? workload :
					json_get_text(object, "trace");
	const char *device = json_get_text(object, "device");

	if (!source || !device || !take_blocks(state, object) ||
	    !take_done(&state->done, object) ||
	    !json_get_bool(object, "buffered", &state->plan.buffered) ||
	    !json_get_bool(object, "prepared", &state->prepared) ||
	    !json_get_number(object, "run", &state->mark) ||
	    !json_get_number(object, "durable", &state->durable))
		return false;
	if (workload) {
		state->plan.workload = workload_find(workload);
		if (!state->plan.workload || !take_plan(state, object))
			return false;
		state->placement.buffered = state->plan.buffered;
	} else if (state->prepared ||
		   !json_get_number(object, "trace_bytes",
				    &state->trace_bytes) ||
		   !json_get_number(object, "trace_mtime_ns",
				    &state->trace_mtime_ns) ||
		   !take_choice(&state->choice, object)) {
		return false;
	} else if (state->plan.buffered) {
		/* it was made with whole sectors only */
		state->placement.logical = ALIGN_SECTOR_SIZE;
	}
	state->source = memory_or_exit(strdup(source));
	state->device = memory_or_exit(strdup(device));
	return true;
}

int replay_state_load(struct replay_state *state, const char *path)
{
	struct json_object *object;
	bool complete;

	*state = (struct replay_state) { .path = path, .fd = -1 };
	if (access(path, R_OK)) {
		message_error("%s: %s; --phase prepare writes it, and replay TRACE --state",
			      path, strerror(errno));
		return ALIGNCTL_USAGE;
	}
	object = json_object_from_file(path);
	complete = object && take_state(state, object);
	json_object_put(object);
	if (complete)
		return ALIGNCTL_FINE;
	replay_state_free(state);
	message_error("%s: not a state file of replay; --phase prepare writes one, and replay TRACE --state",
		      path);
	return ALIGNCTL_USAGE;
}

static uint64_t mtime_ns(const struct stat *found)
{
	return found->st_mtim.tv_sec * NS_PER_S + found->st_mtim.tv_nsec;
}

int replay_state_name_source(struct replay_state *state,
			     const struct source *source)
{
	struct stat found;

	if (!source->trace) {
		state->source = memory_or_exit(strdup(source->name));
		return ALIGNCTL_FINE;
	}
	state->source = realpath(source->name, NULL);
	if (!state->source || stat(state->source, &found)) {
		message_error("--state: %s: %s; a state is for a trace in one file",
			      source->name, strerror(errno));
		return ALIGNCTL_USAGE;
	}
	state->choice = *trace_choice_of(source->trace);
	state->choice.disk = copy_of(state->choice.disk);
	state->choice.columns = copy_of(state->choice.columns);
	state->trace_bytes = found.st_size;
	state->trace_mtime_ns = mtime_ns(&found);
	return ALIGNCTL_FINE;
}

bool replay_state_trace_unchanged(const struct replay_state *state)
{
	struct stat found;

	return !stat(state->source, &found) &&
	       (uint64_t)found.st_size == state->trace_bytes &&
	       mtime_ns(&found) == state->trace_mtime_ns;
}

bool replay_state_labelled(const struct replay_state *state)
{
	const struct plan *plan = &state->plan;

	return !plan->workload ||
	       plan_granularity(plan) % ALIGN_SECTOR_SIZE == 0;
}

void replay_state_free(struct replay_state *state)
{
	free(state->source);
	free(state->device);
	free((char *)state->choice.disk);
	free((char *)state->choice.columns);
	state->source = state->device = NULL;
	state->choice = TRACE_ANY;
}
