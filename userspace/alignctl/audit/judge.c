// SPDX-License-Identifier: GPL-2.0
/* Judge a stack: walk the list of rules for every device. */
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"
#include "audit/subject.h"
#include "base/message.h"

/* Check whether a device shows all of the content of one below. */
static bool shows(const struct stack_layer *above, const struct stack_layer *own)
{
	if (above->aside || !maybe_same(above->bytes, own->bytes))
		return false;
	/* a path may only stand by, and refuse to read */
	if (above->kind == STACK_MULTIPATH && !above->content.unread)
		return true;
	return (above->kind == STACK_ALIGN || above->kind == STACK_DM ||
		above->kind == STACK_MULTIPATH) &&
	       own->content.type && stack_has_type(above, own->content.type);
}

/*
 * Check whether a device above shows all of the same content, as an align
 * device and multipath do, so that it is judged there.
 */
static bool shown_above(const struct subject *subject)
{
	const struct stack_layer *above = NULL;

	while ((above = stack_above(subject->stack, subject->index, above)))
		if (shows(above, subject->layer))
			return true;
	return false;
}

/* Judge a device: where it lies, and what it carries. */
static void judge_device(struct subject *subject)
{
	const struct rule *const *rule;
	bool known = maybe_get(subject->position->block, &subject->block);

	for (rule = check_rules; (subject->rule = *rule); rule++)
		if ((*rule)->place && (known || (*rule)->any_block))
			(*rule)->place(subject);
	if (!known || shown_above(subject))
		return;
	for (rule = check_rules; (subject->rule = *rule); rule++)
		if ((*rule)->content)
			(*rule)->content(subject);
}

/* Judge what a device has counted. */
static void judge_counters(struct subject *subject)
{
	const struct rule *const *rule;

	for (rule = check_rules; (subject->rule = *rule); rule++)
		if ((*rule)->ledger)
			(*rule)->ledger(subject);
}

/* Return a device that is judged. */
static struct subject subject_of(const struct stack *stack,
				 struct judgement *judgement, size_t index)
{
	return (struct subject) {
		.judgement = judgement,
		.stack = stack,
		.layer = &stack->layer[index],
		.position = &judgement->position[index],
		.index = index,
	};
}

void judge_stack(const struct stack *stack, struct judgement *judgement)
{
	size_t i;

	memset(judgement, 0, sizeof(*judgement));
	judgement->position = memory_or_exit(
		calloc(stack->nr + 1, sizeof(*judgement->position)));
	for (i = 0; i < stack->nr; i++) {
		struct subject subject = subject_of(stack, judgement, i);

		position_find(stack, judgement->position, i);
		if (!subject.layer->aside && !stack_is_extended(subject.layer))
			judge_device(&subject);
	}
	for (i = 0; i < stack->nr; i++) {
		struct subject subject = subject_of(stack, judgement, i);

		if (!subject.layer->aside)
			judge_counters(&subject);
	}
}
