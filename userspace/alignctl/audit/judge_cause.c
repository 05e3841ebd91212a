// SPDX-License-Identifier: GPL-2.0
/*
 * Turn the cause that a recording shows into a finding, with its workaround taken
 * from the other findings.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge_cause.h"
#include "audit/subject.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/units.h"

bool judgement_place(const struct stack *stack,
		     const struct judgement *judgement, size_t layer,
		     struct cause_place *place)
{
	const struct position *at = &judgement->position[layer];
	int64_t block, shift;
	size_t i;

	if (!maybe_get(at->block, &block) || !maybe_get(at->shift, &shift))
		return false;
	*place = (struct cause_place) {
		.block = (uint32_t)block,
		.shift = (uint32_t)shift,
		.max_io = (uint64_t)maybe_or(stack->layer[layer].max_io, 0),
	};
	for (i = 0; i < judgement->nr; i++) {
		const struct finding *finding = &judgement->finding[i];
		const struct stack_content *content =
			&stack->layer[finding->layer].content;

		if (finding->rule == &rule_fs_sector)
			place->fs_unit = (uint32_t)maybe_or(content->sector, 0);
		else if (finding->rule == &rule_fs_block && !place->fs_unit)
			place->fs_unit = (uint32_t)maybe_or(content->block, 0);
	}
	return true;
}

/* Check for a finding about a start that a shift of writes can come from. */
static bool finding_is_shift(const struct finding *finding)
{
	return finding->rule->start == RULE_START ||
	       finding->rule->start == RULE_DATA_START;
}

static bool is_fs_unit(const struct finding *finding)
{
	return finding->rule == &rule_fs_sector ||
	       finding->rule == &rule_fs_block;
}

/* Return the rule of the finding that explains a cause, NULL if none does. */
static const struct rule *find_explanation(const struct judgement *judgement,
					   const struct cause *cause)
{
	size_t i;

	for (i = 0; i < judgement->nr; i++) {
		const struct finding *finding = &judgement->finding[i];

		if (cause->kind == CAUSE_SHIFT ?
		    finding_is_shift(finding) &&
		    maybe_is(judgement_shift(judgement, finding), cause->into) :
		    is_fs_unit(finding))
			return finding->rule;
	}
	return NULL;
}

/* Return the device whose queue cuts the requests of @layer. */
static const struct stack_layer *queue_of(const struct stack *stack,
					  const struct stack_layer *layer)
{
	return layer->kind == STACK_PARTITION ?
		&stack->layer[layer->below[0]] : layer;
}

/* Say how the largest request of a queue becomes @bytes. */
static void mend_split(struct finding *finding, const struct stack_layer *queue,
		       int64_t bytes)
{
	CLEANUP_FREE char *name = memory_or_exit(strdup(queue->name));
	CLEANUP_FREE char *file = NULL;
	char *slash;

	/* sysfs has cciss!c0d0 for cciss/c0d0 */
	while ((slash = strchr(name, '/')))
		*slash = '!';
	file = message_format("/sys/block/%s/queue/max_sectors_kb", name);

	finding_mend(finding, REMEDY_LARGEST_REQUEST,
		     &(struct remedy_words) {
			     .device = file, .size = bytes / (int64_t)KIB,
		     });
}

/* Say what of a recording's cause can be mended, and how. */
static void mend_cause(struct finding *finding, const struct stack *stack,
		       const struct judgement *judgement,
		       const struct cause *cause)
{
	const struct stack_layer *layer = &stack->layer[finding->layer];
	int64_t block = maybe_or(judgement->position[finding->layer].block, 0);
	int64_t max_io = maybe_or(layer->max_io, 0);
	const struct rule *found;

	switch (cause->kind) {
	case CAUSE_SHIFT:
	case CAUSE_FS_SECTOR:
		found = find_explanation(judgement, cause);
		if (found)
			finding_say(finding, "see the finding %s above",
				    found->name);
		else if (cause->kind == CAUSE_SHIFT)
			finding_say(finding,
				    "no partition here is shifted as far: look at what lies in files or in guests on it");
		break;
	case CAUSE_STREAM:
		finding_say(finding, "make its records whole blocks");
		break;
	case CAUSE_RANDOM:
		finding_say(finding,
			    "set the program's page or sector to %" PRId64,
			    block);
		break;
	case CAUSE_REWRITE:
		finding_say(finding,
			    "set the program's log block, page or sector to %" PRId64,
			    block);
		break;
	case CAUSE_SPLIT:
		if (block && max_io / block)
			mend_split(finding, queue_of(stack, layer),
				   max_io / block * block);
		else
			finding_say(finding, "the largest request is below a block");
		break;
	default:
		break;
	}
}

/* Return the process that a cause names, for people. */
static const char *process_of(const struct cause *cause)
{
	return *cause->comm ? cause->comm : "a process without a name";
}

/* Say how many writes of a rewrite were durable when the next one came. */
static const char *durable_of(const struct cause *cause)
{
	if (cause->durable == cause->rewrites)
		return ", each write made durable before the next";
	return cause->durable > cause->rewrites / 2 ?
		", most writes made durable before the next" : "";
}

void judge_cause(const struct stack *stack, struct judgement *judgement,
		 size_t layer, const struct cause *cause,
		 const struct finding_advice *advice)
{
	char *what, *cost;
	struct finding *finding;

	switch (cause->kind) {
	case CAUSE_SHIFT:
		what = message_format("shifted by %" PRIu32 " bytes",
				      cause->into);
		break;
	case CAUSE_STREAM:
		what = message_format(
			"a log stream, where the next write completes the block");
		break;
	case CAUSE_RANDOM:
		what = message_format("random small writes by %s",
				      process_of(cause));
		break;
	case CAUSE_FS_SECTOR:
		what = message_format("file-system sectors too small");
		break;
	case CAUSE_SPLIT:
		what = message_format("large writes cut at the largest request");
		break;
	case CAUSE_REWRITE:
		what = message_format("blocks rewritten in part by %s%s",
				      process_of(cause),
				      durable_of(cause));
		break;
	case CAUSE_NONE:
		what = message_format("nothing");
		break;
	default:
		what = message_format("cannot tell");
	}
	finding = judgement_add(judgement, layer, &rule_cause,
		message_format("cause of its touches: %s (%" PRIu64 " of %"
			       PRIu64 "%s)", what, cause->explained,
			       cause->of_writes ? cause->misaligned :
			       cause->touches, cause->of_writes ?
			       " misaligned writes" : ""));
	cost = message_format("%" PRIu64 " of %" PRIu64 " writes had %" PRIu64
			      " touches", cause->misaligned, cause->writes,
			      cause->touches);
	if (cause->drive == cause->touches)
		finding_cost(finding, "%s, each an RMW in the drive", cost);
	else
		finding_cost(finding, "%s; %" PRIu64
			     " went to the drive, each an RMW there", cost,
			     cause->drive);
	finding->cause = cause->kind;
	if (advice)
		finding->advice = *advice;
	finding->note = cause->kind == CAUSE_NONE;
	mend_cause(finding, stack, judgement, cause);
	free(cost);
	free(what);
}

static bool reaches(const struct stack *stack, size_t from, size_t to)
{
	const struct stack_layer *layer = &stack->layer[from];
	size_t i;

	if (from == to)
		return true;
	for (i = 0; i < layer->nr_below; i++)
		if (reaches(stack, layer->below[i], to))
			return true;
	return false;
}

/*
 * Find where a device that was found shifted begins inside a block, of those on
 * device @index, or that device itself; 0: none was found.
 */
static uint32_t shift_found(const struct stack *stack,
			    const struct judgement *judgement, size_t index)
{
	size_t i;

	for (i = 0; i < judgement->nr; i++) {
		const struct finding *finding = &judgement->finding[i];

		if (finding_is_shift(finding) &&
		    reaches(stack, finding->layer, index))
			return (uint32_t)maybe_or(judgement_shift(judgement, finding), 0);
	}
	return (uint32_t)maybe_or(judgement->position[index].shift, 0);
}

/* Name the cause in the counters of an align device that has written. */
static void judge_ledger(const struct subject *subject)
{
	const struct cause_ledger *ledger = subject->layer->ledger;
	struct judgement *judgement = subject->judgement;
	struct cause cause;

	if (!ledger || !ledger->touches)
		return;
	cause_of_ledger(ledger, shift_found(subject->stack, judgement, subject->index),
			&cause);
	judge_cause(subject->stack, judgement, subject->index, &cause, NULL);
	/* pad and coalesce are what mends it */
	if (!ledger->report)
		judgement->finding[judgement->nr - 1].note = true;
}

const struct rule rule_cause = {
	.name = "cause", .note = RULE_EITHER, .grade = RULE_UNIT, .ledger = judge_ledger,
	.remedies = { REMEDY_LARGEST_REQUEST },
	.workaround = "record it, longer or one program alone, and check with --recording",
	.man =
		"With `--recording`, what most of the touches come from: a shifted partition (whole "
		"blocks, all written at one offset inside a block), a log stream (each write "
		"completes the block in which the last one ended), blocks that are rewritten in "
		"part (such as a log block at each commit, or a superblock), random small writes, a "
		"file system with small sectors, large writes that are split at the largest "
		"request, or nothing. For rewritten blocks and random writes the process is named. "
		"A write counts as a rewrite if its process wrote at least half of the same bytes "
		"before, and the block is among the last 8 that the process wrote in part; `check` "
		"says whether each rewrite, or most of them, was made durable before the next one, "
		"by a flush or FUA. It cannot tell the cause if there are fewer than 100 touches, "
		"if no cause explains 70 % of them, or if one stream writes whole blocks at one "
		"offset inside a block, which may be a shifted partition or a log. \"recommended\" "
		"is the forecast of `plan`: the mode of an align device, or the move of the start, "
		"that helps, and the touches that remain; there is none for blocks that an align "
		"device cannot fix. Without a recording, the counters of an align device since "
		"their last reset show a shifted device that the audit has found, and in mode "
		"`coalesce` a log stream; this is a note unless the mode is `report`.",
};
