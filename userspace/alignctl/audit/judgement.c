// SPDX-License-Identifier: GPL-2.0
/* The list of findings: adding one, saying what mends it, and freeing all of them. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "audit/judgement.h"
#include "base/message.h"

struct finding *judgement_add(struct judgement *judgement, size_t layer,
			      const struct rule *rule, char *text)
{
	struct finding *finding;

	finding = ARRAY_APPEND(judgement->finding, judgement->nr);
	*finding = (struct finding) {
		.rule = rule,
		.note = rule->note == RULE_NOTE,
		.layer = layer,
		.text = text,
	};
	if (rule->cost)
		finding_cost(finding, "%s", rule->cost);
	if (rule->workaround)
		finding_say(finding, "%s", rule->workaround);
	return finding;
}

void finding_cost(struct finding *finding, const char *format, ...)
{
	va_list args;

	free(finding->cost);
	va_start(args, format);
	finding->cost = message_format_list(format, args);
	va_end(args);
}

void finding_say(struct finding *finding, const char *format, ...)
{
	va_list args;

	free(finding->reason);
	va_start(args, format);
	finding->reason = message_format_list(format, args);
	va_end(args);
}

void finding_mend(struct finding *finding, enum remedy_id remedy,
		  const struct remedy_words *words)
{
	static const char mark[] = "{command}";
	const char *text = remedy_of(remedy)->text, *at;
	char *command = remedy_command(remedy, words);

	if (!command) {
		finding_say(finding,
			    "its path has characters that a terminal does not show: give the device another name, and check again");
		return;
	}
	finding->remedy = remedy;
	if (!text) {
		finding->command = command;
		free(finding->reason);
		finding->reason = NULL;
		return;
	}
	at = strstr(text, mark);
	finding_say(finding, "%.*s%s%s", (int)(at - text), text, command,
		    at + strlen(mark));
	finding->inner = command;
}

struct maybe judgement_shift(const struct judgement *judgement,
			     const struct finding *finding)
{
	const struct position *at = &judgement->position[finding->layer];

	switch (finding->rule->start) {
	case RULE_NO_START:
		break;
	case RULE_START:
	case RULE_FILE_START:
		return at->shift;
	case RULE_DATA_START:
		return at->data_shift;
	}
	return MAYBE_UNKNOWN;
}

size_t judgement_faults(const struct judgement *judgement)
{
	size_t i, faults = 0;

	for (i = 0; i < judgement->nr; i++)
		faults += !judgement->finding[i].note;
	return faults;
}

void judgement_free(struct judgement *judgement)
{
	while (judgement->nr) {
		struct finding *finding = &judgement->finding[--judgement->nr];

		free(finding->text);
		free(finding->cost);
		free(finding->command);
		free(finding->inner);
		free(finding->reason);
		free(finding->advice.text);
	}
	free(judgement->finding);
	free(judgement->position);
}
