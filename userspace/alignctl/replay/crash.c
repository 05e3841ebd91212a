// SPDX-License-Identifier: GPL-2.0
/* What a crash left of a replay, as its state file tells it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/figure.h"
#include "base/json.h"
#include "base/message.h"
#include "base/progress.h"
#include "replay/replay.h"
#include "replay/state.h"

#define JSON_FORMAT	1

static void print_text(const struct replay_state *state,
		       const struct device *device,
		       const struct content_crash *crash)
{
	size_t i;

	printf("%s on %s: %" PRIu64 " requests were durable", state->source,
	       device->path, state->durable);
	if (state->done.issued == REPLAY_STATE_NOT_KNOWN)
		puts(", the run did not end");
	else
		printf(" of %" PRIu64 "\n", state->done.issued);
	for (i = 0; i < CONTENT_NR_VERDICTS; i++) {
		printf("  %-11s %" PRIu64 " block%s of 4096 bytes",
		       content_verdict_names[i], crash->blocks[i],
		       PLURAL_OF(crash->blocks[i]));
		if (crash->blocks[i])
			printf(", the first at sector %" PRIu64,
			       crash->first[i]);
		putchar('\n');
	}
	if (!crash->done)
		puts("  stopped     not all was looked at");
}

static const struct schema_row verdict_rows[] = {
	MEMBER("blocks", JSON_NUMBER, NULL, "Number of blocks of 4096 bytes"),
	MEMBER("first_sector", JSON_NUMBER | JSON_NULL, NULL,
	       "First sector of the first of them; null if there is none"),
	{ 0 },
};

#define VERDICT_MEMBER(key, help) \
	MEMBER(key, JSON_OBJECT, NULL, help, .rows = verdict_rows, \
	       .name = "verdict")

static const struct schema_row document_rows[] = {
	MEMBER("source", JSON_TEXT, NULL, "SOURCE of the run"),
	MEMBER("device", JSON_TEXT, NULL, "DEV, as on the command line"),
	MEMBER("durable", JSON_NUMBER, NULL,
	       "Number of requests that were durable"),
	MEMBER("issued", JSON_NUMBER | JSON_NULL, NULL,
	       "Number of requests that were issued; null if the run did not end"),
	MEMBER("done", JSON_BOOL, NULL,
	       "Whether all blocks were read; false: stopped by a signal"),
	VERDICT_MEMBER("lost", "Blocks with a sector that holds older data than the durable, or what the run wrote to another sector"),
	VERDICT_MEMBER("torn", "Blocks with some of the sectors of a write, and not all"),
	VERDICT_MEMBER("old", "Blocks without a write that was made and was not durable"),
	VERDICT_MEMBER("new", "Blocks as after the last request"),
	{ 0 },
};

const struct schema_document replay_crash_schema = {
	"replay --check", JSON_FORMAT, NULL, document_rows,
};

static void print_json(const struct replay_state *state,
		       const struct device *device,
		       const struct content_crash *crash)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	size_t i;

	json_add_text(object, "source", state->source);
	json_add_text(object, "device", device->path);
	json_add_number(object, "durable", state->durable);
	if (state->done.issued == REPLAY_STATE_NOT_KNOWN)
		json_add_null(object, "issued");
	else
		json_add_number(object, "issued", state->done.issued);
	json_add_bool(object, "done", crash->done);
	for (i = 0; i < CONTENT_NR_VERDICTS; i++) {
		struct json_object *verdict = json_new();

		json_add_number(verdict, "blocks", crash->blocks[i]);
		if (crash->blocks[i])
			json_add_number(verdict, "first_sector",
					crash->first[i]);
		else
			json_add_null(verdict, "first_sector");
		json_add(object, content_verdict_names[i], verdict);
	}
	json_print(object, false);
}

/* Compare @device with the state. Return: enum alignctl_exit; reported. */
static int compare_device(const struct replay_state *state, struct source *source,
			  const struct device *device, struct content_crash *crash)
{
	CLEANUP_CLOSE int fd = open(device->path,
				    O_RDONLY | O_DIRECT | O_CLOEXEC);
	CLEANUP_FREE struct plan_extent *prepared = NULL;
	struct content content = {
		.source = source, .placement = &state->placement,
		.run = state->mark, .done = &state->done,
		.durable = state->durable, .device = device, .fd = fd,
	};

	if (fd < 0) {
		message_error("%s: %s", device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	if (device->sectors << ALIGN_SECTOR_SHIFT < state->placement.bytes) {
		message_error("%s: has %" PRIu64 " bytes, but the replay was on a device of %"
			      PRIu64, device->path,
			      device->sectors << ALIGN_SECTOR_SHIFT,
			      state->placement.bytes);
		return ALIGNCTL_USAGE;
	}
	if (state->prepared)
		prepared = plan_extents(&state->plan, &state->blocks,
					&content.nr_prepared);
	content.prepared = prepared;
	return content_crash(&content, crash);
}

/* Open the source of the state. Return: enum alignctl_exit; reported. */
static int open_source(const struct replay_state *state, struct source *source)
{
	int result;

	if (!state->plan.workload && !replay_state_trace_unchanged(state)) {
		message_error("%s: is for %s with %" PRIu64
			      " bytes, which is missing or has changed since",
			      state->path, state->source, state->trace_bytes);
		return ALIGNCTL_USAGE;
	}
	if (!replay_state_labelled(state)) {
		message_error("%s: %s writes parts of sectors, which carry no label; --phase check compares a run that ended",
			      state->path, state->source);
		return ALIGNCTL_USAGE;
	}
	result = source_open_as(source, state->source, &state->choice);
	if (!result && state->plan.workload)
		source->plan = state->plan;
	return result;
}

int replay_crash(const char *path, const char *on, bool json)
{
	struct source source = { 0 };
	struct content_crash crash;
	struct replay_state state;
	struct device device;
	int result = replay_state_load(&state, path);

	if (result)
		return result;
	result = open_source(&state, &source);
	if (!result)
		result = device_open(&device, on ? on : state.device);
	if (!result) {
		interrupt_catch();
		result = compare_device(&state, &source, &device, &crash);
		if (!result) {
			if (json)
				print_json(&state, &device, &crash);
			else
				print_text(&state, &device, &crash);
			if (crash.blocks[CONTENT_LOST] ||
			    crash.blocks[CONTENT_TORN])
				result = ALIGNCTL_FINDINGS;
		}
		device_close(&device);
	}
	source_close(&source);
	replay_state_free(&state);
	interrupt_obey();
	return result;
}
