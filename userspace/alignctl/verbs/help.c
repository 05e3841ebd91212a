// SPDX-License-Identifier: GPL-2.0
/* alignctl help: what alignctl and its verbs take, as text and as a document. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/nearest.h"
#include "verbs/help.h"

#define JSON_FORMAT	1

static const struct schema_row option_rows[] = {
	MEMBER("option", JSON_TEXT, NULL,
	       "Name of the option, without the dashes"),
	MEMBER("argument", JSON_TEXT | JSON_NULL, NULL,
	       "The word that stands for its argument in the help; null: it takes none"),
	MEMBER("kind", JSON_TEXT, NULL,
	       "Kind of its argument; list: several words separated by commas",
	       SCHEMA_NAMES(option_kinds)),
	MEMBER("help", JSON_TEXT, NULL, "Its line in the help"),
	MEMBER("values", JSON_ARRAY | JSON_TEXT, NULL,
	       "The words that its argument, or an element of a list, can be; empty: any"),
	MEMBER("excludes", JSON_ARRAY | JSON_TEXT, NULL,
	       "Names of options that it does not go with"),
	MEMBER("only_with", JSON_ARRAY | JSON_TEXT | JSON_NULL, NULL,
	       "Names of the only options that it goes with; null: it goes with all but those in excludes"),
	MEMBER("needs", JSON_ARRAY | JSON_TEXT, NULL,
	       "Names of options one of which must be there, too; empty: none"),
	MEMBER("operands", JSON_TEXT | JSON_NULL, NULL,
	       "The operands of the verb with this option, a word each; null: as without it"),
	MEMBER("because", JSON_TEXT | JSON_NULL, NULL,
	       "Why the options do not go together, or one is needed, as the end of a sentence; null: no reason is given"),
	{ 0 },
};

static const struct schema_row verb_rows[] = {
	MEMBER("verb", JSON_TEXT, NULL, "Name of the verb"),
	MEMBER("operands", JSON_TEXT, NULL,
	       "Operands of the verb, as in the usage"),
	MEMBER("forms", JSON_ARRAY | JSON_TEXT, NULL,
	       "What may follow the verb, a text for each way to use it, as the usage of the help shows it; empty: the operands and any of the options"),
	MEMBER("summary", JSON_TEXT, NULL, "Its line in the list of verbs"),
	MEMBER("options", JSON_ARRAY | JSON_OBJECT, NULL, "For each option",
	       .rows = option_rows),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("verbs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each verb, in the order of alignctl help",
	       .rows = verb_rows),
	{ 0 },
};

static const struct schema_document help_document = {
	HELP_WORD, JSON_FORMAT, NULL, document_rows,
};

void help_print(const struct verb *const *verbs, size_t nr)
{
	size_t i;

	puts("\nUsage:\n alignctl VERB [arguments]\n\n"
	     "Show and avoid the read-modify-writes of drives with large physical\n"
	     "blocks.\n\nVerbs:");
	for (i = 0; i < nr; i++)
		printf(" %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	printf(" %-10s %s\n", HELP_WORD " VERB", "Print the help of a verb");
	puts("\nOptions:\n -h, --help     print this help; after a verb, its options\n"
	     " -V, --version  print the version\n\n"
	     "Exit status: 0 success, 1 findings, 2 usage, 3 I/O error, "
	     "4 busy or unsafe.\n\nFor more details see alignctl(8), "
	     "and of a verb alignctl-VERB(8).");
}

const struct verb *help_find(const struct verb *const *verbs, size_t nr,
			     const char *name)
{
	struct nearest nearest = { .word = name };
	CLEANUP_FREE char *hint = NULL;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(name, verbs[i]->name))
			return verbs[i];
		nearest_try(&nearest, verbs[i]->name);
	}
	hint = nearest_hint(&nearest, ";");
	message_error("no verb '%s'%s 'alignctl --help' lists them", name,
		      hint);
	return NULL;
}

/* Return an array of names that are separated by spaces. */
static struct json_object *names_json(const char *names)
{
	CLEANUP_FREE char *copy = message_format("%s", names);
	struct json_object *array = json_new_array();
	char *rest = copy, *name;

	while ((name = strsep(&rest, " ")))
		if (*name)
			json_append(array, json_from_text(name));
	return array;
}

static struct json_object *option_json(const struct verb *verb,
				       const struct option_row *row)
{
	struct json_object *object = json_new(), *values = json_new_array();
	struct json_object *needs = json_new_array();
	const struct option_row *other;
	size_t i;

	json_add_text(object, "option", row->name);
	json_add_text(object, "argument", row->argument);
	json_add_text(object, "kind", option_kinds[row->kind]);
	json_add_text(object, "help", row->help);
	for (i = 0; i < row->nr_values; i++)
		json_append(values, json_from_text(row->values[i]));
	json_add(object, "values", values);
	json_add(object, "excludes", names_json(row->excludes ?: ""));
	json_add(object, "only_with", row->only_with ?
				      names_json(row->only_with) : NULL);
	for (other = verb->options; other->name; other++)
		if (options_needs(row, other))
			json_append(needs, json_from_text(other->name));
	json_add(object, "needs", needs);
	json_add_text(object, "operands", row->operands);
	json_add_text(object, "because", row->because);
	return object;
}

static struct json_object *verb_json(const struct verb *verb)
{
	struct json_object *object = json_new(), *options = json_new_array();
	struct json_object *forms = json_new_array();
	const char *const *form;
	const struct option_row *row;

	json_add_text(object, "verb", verb->name);
	json_add_text(object, "operands", verb->operands);
	for (form = verb->forms; form && *form; form++)
		json_append(forms, json_from_text(*form));
	json_add(object, "forms", forms);
	json_add_text(object, "summary", verb->summary);
	for (row = verb->options; row->name; row++)
		if (row->help)
			json_append(options, option_json(verb, row));
	json_add(object, "options", options);
	return object;
}

static int print_json(const struct verb *const *verbs, size_t nr)
{
	struct json_object *document = json_new_document(JSON_FORMAT);
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < nr; i++)
		json_append(array, verb_json(verbs[i]));
	json_add(document, "verbs", array);
	json_print(document, false);
	return ALIGNCTL_FINE;
}

int help(const struct verb *const *verbs, size_t nr, int argc, char **argv)
{
	const struct verb *verb;

	if (argc == 1 && !strcmp(argv[0], "--json"))
		return print_json(verbs, nr);
	if (argc == 1 && !strcmp(argv[0], "--json-schema")) {
		schema_print(SCHEMA_DOCUMENTS(&help_document));
		return ALIGNCTL_FINE;
	}
	if (argc > 1) {
		message_error("help: takes one VERB, or --json, and not '%s' behind it",
			      argv[1]);
		return ALIGNCTL_USAGE;
	}
	if (argc) {
		char *words[] = { argv[0], "--help", NULL };

		verb = help_find(verbs, nr, argv[0]);
		return verb ? verb->run(verb, 2, words) : ALIGNCTL_USAGE;
	}
	help_print(verbs, nr);
	return ALIGNCTL_FINE;
}
