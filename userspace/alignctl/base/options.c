// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the command line of a verb by its table of options, and print its usage
 * from the same table.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/nearest.h"
#include "base/options.h"

#define HELP_COLUMN	24

/* Parse a unit, "" for none, as a power of two; false if it is unknown. */
static bool parse_unit(const char *text, unsigned int *power)
{
	static const char units[] = "KMGTP";
	const char *unit;

	*power = 0;
	if (!*text)
		return true;
	unit = strchr(units, toupper((unsigned char)*text));
	if (!unit || (text[1] && strcasecmp(text + 1, "iB")))
		return false;
	*power = 10 * (unit - units + 1);
	return true;
}

bool parse_number(const char *text, uint64_t *number)
{
	unsigned int shift;
	uint64_t value;

	if (!decimal_read(&text, UINT64_MAX, &value) ||
	    !parse_unit(text, &shift) || !value || value > UINT64_MAX >> shift)
		return false;
	*number = value << shift;
	return true;
}

bool parse_position(const char *text, uint64_t *position)
{
	if (strcmp(text, "0"))
		return parse_number(text, position);
	*position = 0;
	return true;
}

bool parse_bytes(const char *text, uint32_t *bytes)
{
	uint64_t number;

	if (!parse_position(text, &number) || number > UINT32_MAX)
		return false;
	*bytes = number;
	return true;
}

bool parse_switch(const char *text, bool *on)
{
	bool is_on = !strcmp(text, "on");

	if (!is_on && strcmp(text, "off"))
		return false;
	*on = is_on;
	return true;
}

int options_refuse(const char *name, const char *argument, const char *reason)
{
	message_error("--%s%s%s: %s", name, argument ? " " : "",
		      argument ? argument : "", reason);
	return -1;
}

/* Return "a, b or c", for free(). */
static char *list_of(const char *const *names, size_t nr)
{
	char *list = message_format("%s", names[0]), *longer;
	size_t i;

	for (i = 1; i < nr; i++) {
		longer = message_format("%s%s%s", list,
					i + 1 < nr ? ", " : " or ", names[i]);
		free(list);
		list = longer;
	}
	return list;
}

int options_choose(const char *name, const char *argument,
		   const char *const *names, size_t nr, size_t *chosen)
{
	struct nearest nearest = { .word = argument };
	CLEANUP_FREE char *list = NULL, *hint = NULL;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(argument, names[i])) {
			*chosen = i;
			return 0;
		}
		nearest_try(&nearest, names[i]);
	}
	list = list_of(names, nr);
	hint = nearest_hint(&nearest, "");
	message_error("--%s %s: must be %s%s", name, argument, list, hint);
	return -1;
}

size_t options_index(const struct option_row *row, const char *argument)
{
	size_t i = 0;

	while (strcmp(row->values[i], argument))
		i++;
	return i;
}

/* Refuse what is none of the row's values: 0, or -1 after reporting it. */
static int check_values(const struct option_row *row, const char *argument)
{
	CLEANUP_FREE char *copy = NULL;
	char *rest, *name;
	size_t chosen;

	if (!row->values)
		return 0;
	if (strcmp(row->argument, "LIST"))
		return options_choose(row->name, argument, row->values,
				      row->nr_values, &chosen);
	copy = message_format("%s", argument);
	rest = copy;
	while ((name = strsep(&rest, ",")))
		if (options_choose(row->name, name, row->values,
				   row->nr_values, &chosen))
			return -1;
	return 0;
}

bool options_take_number(const struct option_row *row)
{
	static const char *const names[] = { "N", "N|auto", "KIB", "SECTORS" };
	size_t i;

	for (i = 0; row->argument && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(row->argument, names[i]))
			return true;
	return false;
}

/* Refuse a number with an unknown unit: 0, or -1 after reporting it. */
static int check_unit(const struct option_row *row, const char *argument)
{
	unsigned int power;
	const char *unit;

	if (!options_take_number(row))
		return 0;
	unit = argument + strspn(argument, "0123456789");
	if (unit == argument || !isalpha((unsigned char)*unit) ||
	    parse_unit(unit, &power))
		return 0;
	message_error("--%s %s: unknown unit '%s'; use K, M, G, T or P (powers of 1024), as in 4KiB",
		      row->name, argument, unit);
	return -1;
}

/* Check whether a name is one of those that are separated by spaces. */
static bool is_among(const char *name, const char *names)
{
	size_t length = strlen(name), part;

	for (; *names; names += part + (names[part] == ' ')) {
		part = strcspn(names, " ");
		if (part == length && !strncmp(names, name, length))
			return true;
	}
	return false;
}

static const char *because(const struct option_row *row)
{
	return row->because ? row->because : "";
}

static const char *comma(const struct option_row *row)
{
	return row->because ? ", " : "";
}

/* Refuse an option that is given without the one that it needs. */
static int check_needs(const struct verb *verb, const struct option_row *row,
		       const bool *given)
{
	const struct option_row *needed = verb->options;
	const char *argument;

	if (!row->needs)
		return 0;
	while (needed->name && strcmp(needed->name, row->needs))
		needed++;
	if (given[needed - verb->options])
		return 0;
	argument = needed->nr_values == 1 ? needed->values[0] :
		   needed->argument ? needed->argument : "";
	message_error("--%s: needs --%s%s%s%s%s; add it", row->name,
		      needed->name, *argument ? " " : "", argument, comma(row),
		      because(row));
	return -1;
}

/* Refuse another option that is given, too, and does not go with this one. */
static int check_pair(const struct option_row *row,
		      const struct option_row *other)
{
	if (row->only_with && !is_among(other->name, row->only_with)) {
		message_error("--%s: does not apply to --%s%s%s; leave it out",
			      other->name, row->name, comma(row), because(row));
		return -1;
	}
	if (row->excludes && is_among(other->name, row->excludes)) {
		message_error("--%s, --%s: exclude each other%s%s; leave one out",
			      row->name, other->name, comma(row), because(row));
		return -1;
	}
	return 0;
}

/* Check that the options that are given go together: 0, or -1, reported. */
static int check_together(const struct verb *verb, const bool *given)
{
	const struct option_row *rows = verb->options;
	size_t i, j;

	for (i = 0; rows[i].name; i++)
		for (j = 0; given[i] && rows[j].name; j++)
			if (given[j] && j != i && check_pair(&rows[i], &rows[j]))
				return -1;
	for (i = 0; rows[i].name; i++)
		if (given[i] && check_needs(verb, &rows[i], given))
			return -1;
	return 0;
}

static void print_usage(const struct verb *verb)
{
	const char *const *form;
	const struct option_row *row;

	puts("\nUsage:");
	for (form = verb->forms; form && *form; form++)
		printf(" alignctl %s %s\n", verb->name, *form);
	if (!verb->forms)
		printf(" alignctl %s%s%s [options]\n", verb->name,
		       *verb->operands ? " " : "", verb->operands);
	printf("\n%s.\n\nOptions:\n", verb->summary);
	for (row = verb->options; row->name; row++) {
		int used;

		if (!row->help)
			continue;
		used = printf(" --%s%s%s", row->name, row->argument ? " " : "",
			      row->argument ? row->argument : "");
		if (used >= HELP_COLUMN) {
			putchar('\n');
			used = 0;
		}
		printf("%*s%s\n", HELP_COLUMN - used, "", row->help);
	}
	printf("%-*s%s\n", HELP_COLUMN, " -h, --help", "print this help");
	printf("%-*s%s\n", HELP_COLUMN, " -V, --version", "print the version");
	if (verb->more_help)
		verb->more_help();
	printf("\nFor more details see alignctl-%s(8).\n", verb->name);
}

static void try_help(const struct verb *verb)
{
	fprintf(stderr, "Try 'alignctl %s --help' for more information.\n",
		verb->name);
}

const struct option_row options_json_only[] = {
	OPTION("json", NULL, "print one JSON object"),
	OPTION_JSON_SCHEMA,
	{ 0 },
};

int options_take_json(size_t row, const char *argument, void *context)
{
	(void)row;
	(void)argument;
	*(bool *)context = true;
	return 0;
}

int options_parse(const struct verb *verb, int argc, char **argv,
		  int (*take)(size_t row, const char *argument, void *context),
		  void *context, int *first_operand)
{
	CLEANUP_FREE char *title = message_format("alignctl %s", verb->name);
	CLEANUP_FREE struct option *table = NULL;
	CLEANUP_FREE bool *given = NULL;
	char *verb_word = argv[0];
	bool schema = false;
	size_t rows = 0, i;
	int key, row, operands, result = OPTIONS_CONTINUE;

	while (verb->options[rows].name)
		rows++;
	table = memory_or_exit(calloc(rows + 3, sizeof(*table)));
	given = memory_or_exit(calloc(rows + 1, sizeof(*given)));
	for (i = 0; i < rows; i++) {
		table[i].name = verb->options[i].name;
		table[i].has_arg = verb->options[i].argument ?
			required_argument : no_argument;
	}
	table[rows] = (struct option) { "help", no_argument, NULL, 'h' };
	table[rows + 1] = (struct option) { "version", no_argument, NULL, 'V' };

	argv[0] = title;	/* getopt's messages begin with it */
	optind = 0;
	while (result == OPTIONS_CONTINUE &&
	       (key = getopt_long(argc, argv, "hV", table, &row)) != -1) {
		switch (key) {
		case 0:
			given[row] = true;
			if (!strcmp(table[row].name, "json-schema"))
				schema = true;
			else if (check_unit(&verb->options[row], optarg) ||
				 check_values(&verb->options[row], optarg) ||
				 take(row, optarg, context))
				result = ALIGNCTL_USAGE;
			break;
		case 'h':
			print_usage(verb);
			result = ALIGNCTL_FINE;
			break;
		case 'V':
			puts("alignctl " ALIGNCTL_VERSION);
			result = ALIGNCTL_FINE;
			break;
		default:
			try_help(verb);
			result = ALIGNCTL_USAGE;
		}
	}
	argv[0] = verb_word;
	if (result != OPTIONS_CONTINUE)
		return result;

	if (check_together(verb, given))
		return ALIGNCTL_USAGE;
	if (schema) {
		schema_print(verb->documents);
		return ALIGNCTL_FINE;
	}
	*first_operand = optind;
	operands = argc - optind;
	if (operands < verb->min_operands || operands > verb->max_operands) {
		if (operands > verb->max_operands)
			message_error("%s: unexpected argument '%s'",
				      verb->name,
				      argv[optind + verb->max_operands]);
		else
			message_error("%s: needs %s", verb->name,
				      verb->operands);
		try_help(verb);
		return ALIGNCTL_USAGE;
	}
	return OPTIONS_CONTINUE;
}
