// SPDX-License-Identifier: GPL-2.0
/* What the rules ask and say of the device that they judge. */
#include <inttypes.h>
#include <stdarg.h>

#include "audit/subject.h"
#include "base/message.h"

struct finding *subject_add(const struct subject *subject, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = message_format_list(format, args);
	va_end(args);
	return judgement_add(subject->judgement, subject->index, subject->rule,
			     text);
}

void subject_start_cost(const struct subject *subject, struct finding *finding)
{
	finding_cost(finding, "a write of whole %" PRId64
		     "-byte blocks covers its first and last physical block in part: 2 RMWs instead of none",
		     subject->block);
}

const struct stack_layer *subject_disk(const struct subject *subject)
{
	return &subject->stack->layer[subject->layer->below[0]];
}

struct remedy_words words_of_layer(const struct stack_layer *layer)
{
	return (struct remedy_words) {
		.device = layer->path,
		.image = layer->kind == STACK_FILE,
		.image_sector = maybe_or(stack_sysfs(layer, STACK_LOGICAL), 0),
	};
}

struct remedy_words subject_words(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	const struct stack_layer *multipath = stack_multipath(subject->stack,
							      own);
	struct remedy_words words;

	if (own->kind != STACK_PARTITION ||
	    subject_disk(subject)->kind != STACK_FILE)
		return words_of_layer(multipath ? multipath : own);
	words = words_of_layer(subject_disk(subject));
	words.image_start = maybe_or(own->start, 0);
	words.image_bytes = maybe_or(own->bytes, 0);
	return words;
}

bool subject_below_aligned(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	size_t i;

	for (i = 0; i < own->nr_below; i++) {
		const struct position *at =
			&subject->judgement->position[own->below[i]];

		if (!maybe_is(at->shift, 0) || maybe_above(at->data_shift, 0))
			return false;
	}
	return true;
}
