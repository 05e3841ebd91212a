// SPDX-License-Identifier: GPL-2.0
/* Print the table of remedies, one row each, and in JSON that of rules. */
#include <stdio.h>
#include <stdlib.h>

#include "audit/remedy_report.h"
#include "audit/rule.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"

#define JSON_FORMAT	1

/* Return what a remedy is for, for free(): the message that has it, or the rules. */
static char *purpose_of(enum remedy_id id)
{
	const char *message = remedy_of(id)->message;
	char *text = message_format("%s", message ? message : "");
	const struct rule *const *rule;

	for (rule = check_rules; *rule; rule++) {
		char *longer;

		if (!rule_has_remedy(*rule, id))
			continue;
		longer = message_format("%s%s%s", text, *text ? ", " : "",
					(*rule)->name);
		free(text);
		text = longer;
	}
	return text;
}

void remedy_report_text(void)
{
	enum remedy_id id;

	for (id = REMEDY_NONE + 1; id < REMEDY_NR; id++) {
		const struct remedy *remedy = remedy_of(id);
		CLEANUP_FREE char *purpose = purpose_of(id);

		printf("%s%s, for %s\n  when: %s\n  destroys: %s; %s\n  command: %s\n",
		       id == REMEDY_NONE + 1 ? "" : "\n", remedy->name,
		       purpose, remedy->when,
		       remedy_harm_name(remedy->harm),
		       remedy->unmount ? "unmount first" : "may stay mounted",
		       remedy->command);
	}
}

static struct json_object *json_remedy(enum remedy_id id)
{
	const struct remedy *remedy = remedy_of(id);
	CLEANUP_FREE char *purpose = purpose_of(id);
	struct json_object *object = json_new();

	json_add_text(object, "name", remedy->name);
	json_add_text(object, "purpose", purpose);
	json_add_text(object, "when", remedy->when);
	json_add_text(object, "destroys", remedy_harm_name(remedy->harm));
	json_add_bool(object, "unmount", remedy->unmount);
	json_add_text(object, "command", remedy->command);
	json_add_text(object, "text", remedy->text);
	return object;
}

static const struct schema_row remedy_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "Name of the remedy"),
	MEMBER("purpose", JSON_TEXT, NULL,
	       "The findings or messages that it is for, in words"),
	MEMBER("when", JSON_TEXT, NULL, "When it applies, in words"),
	MEMBER("destroys", JSON_TEXT, NULL,
	       "What the command destroys",
	       SCHEMA_WORDS("nothing", "the content", "acknowledged writes that cannot be written")),
	MEMBER("unmount", JSON_BOOL, NULL,
	       "Whether nothing may use the device meanwhile"),
	MEMBER("command", JSON_TEXT, NULL,
	       "The command, with words in braces that stand for a device or a size"),
	MEMBER("text", JSON_TEXT | JSON_NULL, NULL,
	       "The words around the command, with the same words in braces; null: none"),
	{ 0 },
};

static const char *const grade_names[] = {
	[RULE_OTHER] = "other", [RULE_SHIFT] = "shift", [RULE_UNIT] = "unit",
};

static const char *const fault_names[] = {
	[RULE_FAULT] = "always", [RULE_EITHER] = "sometimes", [RULE_NOTE] = "never",
};

static struct json_object *json_rule(const struct rule *rule)
{
	struct json_object *object = json_new();

	json_add_text(object, "name", rule->name);
	json_add_text(object, "fault", fault_names[rule->note]);
	json_add_text(object, "grade", grade_names[rule->grade]);
	json_add_text(object, "text", rule->man);
	return object;
}

static const struct schema_row rule_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "Name of a finding by the rule"),
	MEMBER("fault", JSON_TEXT, NULL,
	       "How often a finding is a fault rather than a note",
	       SCHEMA_NAMES(fault_names)),
	MEMBER("grade", JSON_TEXT, NULL,
	       "What a fault means for writes. shift: each block written lies in two physical ones; unit: writes are no multiples of a physical block",
	       SCHEMA_NAMES(grade_names)),
	MEMBER("text", JSON_TEXT, NULL,
	       "What it finds, with words of a command line between backquotes"),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("remedies", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each remedy", .rows = remedy_rows),
	MEMBER("rules", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each rule by which there are findings, in their order",
	       .rows = rule_rows),
	{ 0 },
};

const struct schema_document remedy_report_schema = {
	"check --remedies", JSON_FORMAT, NULL, document_rows,
};

void remedy_report_json(void)
{
	struct json_object *document = json_new_document(JSON_FORMAT);
	struct json_object *remedies = json_new_array();
	struct json_object *rules = json_new_array();
	const struct rule *const *rule;
	enum remedy_id id;

	for (id = REMEDY_NONE + 1; id < REMEDY_NR; id++)
		json_append(remedies, json_remedy(id));
	json_add(document, "remedies", remedies);
	for (rule = check_rules; *rule; rule++)
		json_append(rules, json_rule(*rule));
	json_add(document, "rules", rules);
	json_print(document, false);
}
