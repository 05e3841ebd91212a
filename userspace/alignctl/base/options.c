// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the command line of a verb by its table of options, and print its usage
 * from the same table.
 */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
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

int options_refuse(const char *name, const char *argument, const char *reason)
{
	message_error("--%s%s%s: %s", name, argument ? " " : "",
		      argument ? argument : "", reason);
	return -1;
}

const char *const option_kinds[OPTION_NR_KINDS] = {
	[OPTION_NONE] = "none", [OPTION_TEXT] = "text", [OPTION_PATH] = "path",
	[OPTION_DEVICE] = "device", [OPTION_LINE] = "line", [OPTION_NAME] = "name",
	[OPTION_LIST] = "list", [OPTION_NUMBER] = "number", [OPTION_REAL] = "real",
};

const char *const option_switch[2] = { "on", "off" };

uint64_t options_number(const char *argument)
{
	uint64_t number = 0;

	parse_position(argument, &number);
	return number;
}

double options_real(const char *argument)
{
	return strtod(argument, NULL);
}

/* Check for a whole number as a row has it. */
static bool number_fits(const struct option_row *row, const char *argument)
{
	uint64_t n;

	if (row->also && !strcmp(argument, row->also))
		return true;
	return parse_position(argument, &n) && n >= row->least &&
	       n <= row->most && !(row->power && n & (n - 1)) &&
	       !(row->multiple && n % row->multiple);
}

static bool real_fits(const struct option_row *row, const char *argument)
{
	char *end;
	double x = strtod(argument, &end);

	return end != argument && !*end && isfinite(x) && x <= row->most &&
	       (row->above ? x > row->least : x >= row->least);
}

/* Add to a text of at most @size bytes. */
static void add(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

/* Write what a number must be into a text of @size bytes. */
static void say_number(const struct option_row *row, char *text, size_t size)
{
	const bool real = row->kind == OPTION_REAL;

	if (row->least == row->most) {
		add(text, size, "%" PRIu64 ", or left out", row->least);
		return;
	}
	if (row->multiple)
		add(text, size, "a multiple of %" PRIu32, row->multiple);
	else
		add(text, size, "%s", row->power ? "a power of two" :
				      real ? "a number" : "a whole number");
	if (row->unit)
		add(text, size, " of %s", row->unit);
	if (real && row->above)
		add(text, size, " above %" PRIu64, row->least);
	else if (row->most != OPTION_ANY && !real)
		add(text, size, " from %" PRIu64 " to %" PRIu64, row->least,
		    row->most);
	else
		add(text, size, ", at least %" PRIu64, row->least);
	if (real && row->most != OPTION_ANY)
		add(text, size, ", at most %" PRIu64, row->most);
	if (real || (row->unit && !strcmp(row->unit, "bytes")))
		add(text, size, ", e.g. %s", real ? "2.5" : "4096 or 4K");
	if (row->also)
		add(text, size, ", or %s", row->also);
}

/* Write the values of a row into a text of @size bytes, as "a, b or c". */
static void say_values(const struct option_row *row, char *text, size_t size)
{
	size_t i;

	for (i = 0; i < row->nr_values; i++)
		add(text, size, "%s%s", !i ? "" :
		    i + 1 < row->nr_values ? ", " : " or ", row->values[i]);
}

/* Check for one of the row's values. */
static bool is_value(const struct option_row *row, const char *name)
{
	size_t i;

	for (i = 0; i < row->nr_values; i++)
		if (!strcmp(name, row->values[i]))
			return true;
	return false;
}

const char *options_wrong(const struct option_row *row, const char *argument)
{
	static char must[512];
	const bool named = row->values;

	if (named ? is_value(row, argument) :
	    row->kind == OPTION_NUMBER ? number_fits(row, argument) :
	    row->kind != OPTION_REAL || real_fits(row, argument))
		return NULL;
	strcpy(must, "must be ");
	if (named)
		say_values(row, must, sizeof(must));
	else
		say_number(row, must, sizeof(must));
	return must;
}

size_t options_index(const struct option_row *row, const char *argument)
{
	size_t i = 0;

	while (strcmp(row->values[i], argument))
		i++;
	return i;
}

/* Refuse an argument, or a name of a list: 0, or -1 after reporting it. */
static int check_one(const struct option_row *row, const char *argument)
{
	struct nearest nearest = { .word = argument };
	const char *wrong = options_wrong(row, argument);
	CLEANUP_FREE char *hint = NULL;
	size_t i;

	if (!wrong)
		return 0;
	for (i = 0; i < row->nr_values; i++)
		nearest_try(&nearest, row->values[i]);
	hint = nearest_hint(&nearest, "");
	message_error("--%s %s: %s%s", row->name, argument, wrong, hint);
	return -1;
}

/* Check a list by the row, which has each of its values once: 0, or -1, reported. */
static int check_list(const struct option_row *row, const char *argument)
{
	CLEANUP_FREE bool *seen = memory_or_exit(calloc(row->nr_values + 1,
							sizeof(*seen)));
	CLEANUP_FREE char *copy = message_format("%s", argument);
	char *rest = copy, *name;
	size_t i;

	while ((name = strsep(&rest, ","))) {
		if (check_one(row, name))
			return -1;
		i = row->values ? options_index(row, name) : row->nr_values;
		if (row->values && seen[i]) {
			message_error("--%s %s: names %s twice", row->name,
				      argument, name);
			return -1;
		}
		seen[i] = true;
	}
	return 0;
}

/* Check an argument by the row: 0, or -1 after reporting it. */
static int check_argument(const struct option_row *row, const char *argument)
{
	return row->kind == OPTION_LIST ? check_list(row, argument) :
					  check_one(row, argument);
}

/* Refuse a number with an unknown unit: 0, or -1 after reporting it. */
static int check_unit(const struct option_row *row, const char *argument)
{
	unsigned int power;
	const char *unit;

	if (row->kind != OPTION_NUMBER)
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

bool options_needs(const struct option_row *row, const struct option_row *other)
{
	return (row->needs && is_among(other->name, row->needs)) ||
	       (other->brings && is_among(row->name, other->brings));
}

static const char *because(const struct option_row *row)
{
	return row->because ? row->because : "";
}

static const char *comma(const struct option_row *row)
{
	return row->because ? ", " : "";
}

/* Add an option and its argument to a list, as choice @i of @nr, from 0. */
static void add_choice(char *text, size_t size, const struct option_row *row,
		       size_t i, size_t nr)
{
	const char *argument = row->nr_values == 1 ? row->values[0] :
						     row->argument;

	add(text, size, "%s--%s%s%s", !i ? "" : i + 1 == nr ? " or " : ", ",
	    row->name, argument ? " " : "", argument ?: "");
}

/* Refuse an option that is given without any of those that it needs. */
static int check_needs(const struct verb *verb, const struct option_row *row,
		       const bool *given)
{
	char needed[256] = "";
	size_t i, nr = 0, all = 0;

	for (i = 0; verb->options[i].name; i++) {
		if (!options_needs(row, &verb->options[i]))
			continue;
		if (given[i])
			return 0;
		all++;
	}
	if (!all)
		return 0;
	for (i = 0; verb->options[i].name; i++)
		if (options_needs(row, &verb->options[i]))
			add_choice(needed, sizeof(needed), &verb->options[i],
				   nr++, all);
	message_error("--%s: needs %s%s%s; add %s", row->name, needed, comma(row),
		      because(row), all > 1 ? "one" : "it");
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

/* Return the number of words, which are separated by spaces. */
static int count_words(const char *text)
{
	int nr = *text != '\0';

	for (; *text; text++)
		nr += *text == ' ';
	return nr;
}

/* Check whether a verb takes an option in place of operands. */
static bool replaces_operands(const struct verb *verb,
			      const struct option_row *row)
{
	return row->help && row->operands &&
	       count_words(row->operands) < verb->min_operands;
}

/* Report missing operands, and the options that a verb takes in their place. */
static void report_missing(const struct verb *verb)
{
	char instead[256] = "";
	const struct option_row *row;
	size_t nr = 1, i = 1;

	for (row = verb->options; row->name; row++)
		nr += replaces_operands(verb, row);
	for (row = verb->options; row->name; row++)
		if (replaces_operands(verb, row))
			add_choice(instead, sizeof(instead), row, i++, nr);
	message_error("%s: needs %s%s", verb->name, verb->operands, instead);
}

/* Check the number of operands by an option that has its own: 0, or -1, reported. */
static int check_own_operands(const struct option_row *row, char **operands,
			      int nr)
{
	const int wanted = count_words(row->operands);

	if (nr < wanted)
		message_error("--%s: needs %s; add it", row->name, row->operands);
	else if (nr > wanted)
		message_error("%s: does not apply to --%s, which takes %s%s; leave it out",
			      operands[wanted], row->name,
			      wanted ? "only " : "no operand", row->operands);
	return nr == wanted ? 0 : -1;
}

static void try_help(const struct verb *verb)
{
	fprintf(stderr, "Try 'alignctl %s --help' for more information.\n",
		verb->name);
}

/* Check the number of operands: 0, or -1, reported. */
static int check_operands(const struct verb *verb, const bool *given,
			  char **operands, int nr)
{
	size_t i;

	for (i = 0; verb->options[i].name; i++)
		if (given[i] && verb->options[i].operands)
			return check_own_operands(&verb->options[i], operands, nr);
	if (nr >= verb->min_operands && nr <= verb->max_operands)
		return 0;
	if (nr > verb->max_operands)
		message_error("%s: unexpected argument '%s'", verb->name,
			      operands[verb->max_operands]);
	else
		report_missing(verb);
	try_help(verb);
	return -1;
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

const struct option_row options_json_only[] = {
	OPTION_JSON,
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
	int key, row, result = OPTIONS_CONTINUE;

	while (verb->options[rows].name)
		rows++;
	table = memory_or_exit(calloc(rows + 3, sizeof(*table)));
	given = memory_or_exit(calloc(rows + 1, sizeof(*given)));
	for (i = 0; i < rows; i++) {
		table[i].name = verb->options[i].name;
		table[i].has_arg = verb->options[i].kind == OPTION_NONE ?
			no_argument : required_argument;
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
				 check_argument(&verb->options[row], optarg) ||
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
	return check_operands(verb, given, argv + optind, argc - optind) ?
	       ALIGNCTL_USAGE : OPTIONS_CONTINUE;
}
