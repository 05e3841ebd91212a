// SPDX-License-Identifier: GPL-2.0
/* Events and states for people. */
#include <string.h>

#include "inside.h"

static const char *const owner_names[OWNERS] = {
	[OWNER_WORK] = "its work", [OWNER_DELAYED] = "delayed",
	[OWNER_STARVED] = "starved", [OWNER_EMPTY] = "the emptying work",
};

static const char *const outcome_names[OUTCOMES] = {
	[OUTCOME_OK_ALL] = " (parts of blocks as well)",
	[OUTCOME_OK_IGNORED] = " (nothing: it ignores discards)",
	[OUTCOME_FAILED] = ": FAILED",
	[OUTCOME_FAILED_DONE] = ": FAILED, though it is done",
	[OUTCOME_FAILED_FIRST] = ": FAILED, the first block is done",
};

void model_print_event(FILE *out, struct event event)
{
	fprintf(out, "%s", event_kinds[event.kind].text);
	if (event.kind == EVENT_START && event.a >= OWNER_REQUEST)
		fprintf(out, " by the thread of request %u", event.a - OWNER_REQUEST);
	else if (event.kind == EVENT_START && event.a == OWNER_WORK)
		fprintf(out, " by the work of block %u", event.b);
	else if (event.kind == EVENT_START)
		fprintf(out, " by %s", owner_names[event.a]);
	else if (event_kinds[event.kind].nr_a == MODEL_REQUESTS)
		fprintf(out, ": request %u, %s", event.a, kind_of(event.a)->name);
	else if (event_kinds[event.kind].nr_a == MODEL_BLOCKS)
		fprintf(out, ": block %u", event.a);
	if (event_kinds[event.kind].nr_b == OUTCOMES && outcome_names[event.b])
		fprintf(out, "%s", outcome_names[event.b]);
}

static void print_list(FILE *out, const char *name, const struct touch_list *list)
{
	u8 i;

	if (!list->nr)
		return;
	fprintf(out, " %s:", name);
	for (i = 0; i < list->nr; i++)
		fprintf(out, "%s%u", i ? "," : "", list->of[i]);
}

static void print_block(FILE *out, u8 b, const struct align_block *block)
{
	if (!block->exists) {
		fprintf(out, "        block %u: gone\n", b);
		return;
	}
	fprintf(out, "        block %u: %s", b, model_state_name(block->state));
	if (block->owner >= OWNER_REQUEST)
		fprintf(out, " (request %u starts it)", block->owner - OWNER_REQUEST);
	else if (block->owner)
		fprintf(out, " (%s)", owner_names[block->owner]);
	fprintf(out, " buffer:%u,%u%s", block->buffer[0], block->buffer[1],
		block->valid ? " valid" : "");
	if (block->held)
		fprintf(out, " held:%u kept:%u%s%s", block->held, block->kept,
			block->failed ? " failed" : "", block->over ? " over" : "");
	print_list(out, "touches", &block->touches);
	print_list(out, "next", &block->next);
	if (block->blockers || block->waiting)
		fprintf(out, " blockers:%u waiting:%u", block->blockers, block->waiting);
	if (block->pins)
		fprintf(out, " pins:%u", block->pins);
	fputc('\n', out);
}

static void print_medium(FILE *out, const struct state *state)
{
	u8 i;

	fprintf(out, "        medium:");
	for (i = 0; i < MODEL_SECTORS; i++)
		fprintf(out, "%s%u", i ? "," : "", state->medium[i]);
	fprintf(out, "  a power cut may leave (bits):");
	for (i = 0; i < MODEL_SECTORS; i++)
		fprintf(out, "%s%x", i ? "," : "", state->stable[i]);
	fputc('\n', out);
}

/* What an event has changed. */
void model_print_state(FILE *out, const struct state *before,
		       const struct state *after)
{
	u8 i;

	for (i = 0; i < MODEL_BLOCKS; i++)
		if (memcmp(&before->block[i], &after->block[i], sizeof(after->block[i])))
			print_block(out, i, &after->block[i]);
	for (i = 0; i < scenario.nr_requests; i++)
		if (before->io[i].phase != after->io[i].phase &&
		    after->io[i].phase == REQUEST_ENDED)
			fprintf(out, "        request %u, %s, has ended%s\n", i,
				kind_of(i)->name, after->io[i].status ? ": FAILED" : "");
	if (memcmp(before->medium, after->medium, sizeof(after->medium)) ||
	    memcmp(before->stable, after->stable, sizeof(after->stable)))
		print_medium(out, after);
}
