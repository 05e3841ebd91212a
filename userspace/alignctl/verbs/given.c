// SPDX-License-Identifier: GPL-2.0
/* Keep the options of a verb as they are parsed, each with the value of its kind. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "verbs/given.h"

/* Return an argument byte for byte: a path need not be UTF-8. */
static struct json_object *text_of(const char *argument)
{
	return memory_or_exit(json_object_new_string(argument));
}

static struct json_object *list_of(const char *argument)
{
	CLEANUP_FREE char *copy = message_format("%s", argument);
	struct json_object *list = json_new_array();
	char *rest = copy, *name;

	while ((name = strsep(&rest, ",")))
		json_append(list, text_of(name));
	return list;
}

/* Return the value of a checked argument. */
static struct json_object *value_of(const struct option_row *row,
				    const char *argument)
{
	switch (row->kind) {
	case OPTION_NONE:
		return json_from_bool(true);
	case OPTION_LIST:
		/* columns of a table are read by alignctl itself */
		return row->values ? list_of(argument) : text_of(argument);
	case OPTION_NUMBER:
		return json_from_number(options_number(argument));
	case OPTION_REAL:
		return memory_or_exit(json_object_new_double(options_real(argument)));
	default:
		return text_of(argument);
	}
}

static void keep(struct given *given, size_t row, const char *argument)
{
	const struct option_row *option = &given->verb->options[row];
	struct json_object *value = value_of(option, argument), *all;

	if (!option->repeats) {
		json_add(given->members, option->name, value);
		return;
	}
	if (!json_object_object_get_ex(given->members, option->name, &all)) {
		all = json_new_array();
		json_add(given->members, option->name, all);
	}
	json_append(all, value);
}

static int take_and_keep(size_t row, const char *argument, void *context)
{
	struct given *given = context;

	if (given->take(row, argument, given->context))
		return -1;
	keep(given, row, argument);
	return 0;
}

int given_parse(struct given *given, const struct verb *verb, int argc,
		char **argv,
		int (*take)(size_t row, const char *argument, void *context),
		void *context, int *first_operand)
{
	struct json_object *operands = json_new_array();
	int result, i;

	*given = (struct given) { verb, take, context, json_new() };
	json_add(given->members, "operands", operands);
	result = options_parse(verb, argc, argv, take_and_keep, given,
			       first_operand);
	if (result == OPTIONS_CONTINUE)
		for (i = *first_operand; i < argc; i++)
			json_append(operands, text_of(argv[i]));
	return result;
}

void given_default(struct given *given, size_t row, const char *argument)
{
	if (!json_object_object_get_ex(given->members,
				       given->verb->options[row].name, NULL))
		keep(given, row, argument);
}

void given_pass_on(struct given *given, size_t nr_rows)
{
	struct json_object *words = json_new_array(), *value;
	size_t i;

	for (i = 0; i < nr_rows; i++) {
		const struct option_row *row = &given->verb->options[i];
		CLEANUP_FREE char *word = message_format("--%s", row->name);

		if (!json_object_object_get_ex(given->members, row->name,
					       &value))
			continue;
		json_append(words, text_of(word));
		if (row->kind != OPTION_NONE)
			json_append(words,
				    text_of(json_object_get_string(value)));
		json_object_object_del(given->members, row->name);
	}
	json_add(given->members, "passed_on", words);
}

void given_free(struct given *given)
{
	json_object_put(given->members);
	given->members = NULL;
}
