/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The options of all verbs: a verb's table of options is what the parser, the
 * usage text and the checks are made from.
 */
#ifndef ALIGNCTL_OPTIONS_H
#define ALIGNCTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/schema.h"

/**
 * struct option_row - one long option of a verb
 * @name: the option's name without the dashes; NULL ends the table
 * @argument: name of the option's argument, or NULL if it takes none; "LIST":
 *	several of @values, separated by commas
 * @help: one line for --help; NULL: hidden, the verb refuses the option and
 *	names its replacement
 * @values: the names that its argument may be; NULL: it is no name
 * @nr_values: number of @values
 * @excludes: names of the options that do not go with this one, separated by
 *	spaces; NULL: there are none
 * @only_with: names of the options that go with this one, as all others do
 *	not; NULL: @excludes says which do not
 * @needs: name of an option without which this one means nothing; NULL: none
 * @repeats: each of its arguments counts; else the last one
 * @because: why, for the message about @excludes, @only_with or @needs, such as
 *	"which has all histograms"; NULL: it is plain
 */
struct option_row {
	const char *name;
	const char *argument;
	const char *help;
	const char *const *values;
	size_t nr_values;
	const char *excludes;
	const char *only_with;
	const char *needs;
	bool repeats;
	const char *because;
};

/* A row: name, argument and help, and as designators what else it has. */
#define OPTION(name_, argument_, help_, ...) \
	{ .name = (name_), .argument = (argument_), .help = (help_), ##__VA_ARGS__ }

/* The row of each verb that prints documents, the last one; it is taken here. */
#define OPTION_JSON_SCHEMA \
	OPTION("json-schema", NULL, "print the JSON Schema of what --json prints")

/* The values of an option, as the array of their names. */
#define OPTION_VALUES(names) \
	.values = (names), .nr_values = sizeof(names) / sizeof((names)[0])

/**
 * struct verb - the word after "alignctl"
 * @name: the word
 * @operands: the verb's operands as --help shows them; "" if it takes none
 * @min_operands: least number of operands
 * @max_operands: largest number of operands
 * @summary: one line for the list of verbs
 * @options: the verb's options except --help and --version
 * @more_help: print the end of --help, below the options; may be NULL
 * @run: run the verb; Return: enum alignctl_exit
 * @forms: usages of the verb, without its name: a string for each, NULL at the end;
 *	NULL: one, made from @operands and @options
 * @documents: the kinds of documents that it prints, NULL at the end; NULL: none
 */
struct verb {
	const char *name;
	const char *operands;
	int min_operands;
	int max_operands;
	const char *summary;
	const struct option_row *options;
	void (*more_help)(void);
	int (*run)(const struct verb *verb, int argc, char **argv);
	const char *const *forms;
	const struct schema_document *const *documents;
};

/* The table of a verb that has no option but that for JSON. */
extern const struct option_row options_json_only[];

/* Take its option, by setting @context, a bool; as @take of options_parse(). */
int options_take_json(size_t row, const char *argument, void *context);

#define OPTIONS_CONTINUE	(-1)

/**
 * options_parse - parse a verb's arguments, and refuse options that do not go
 *	together by their rows
 * @verb: the verb
 * @argc: number of arguments in @argv
 * @argv: the verb's word and its arguments; operands are moved to the end, to
 *	argv + *first_operand
 * @take: take one option, given the index of its row, whose argument is one of
 *	the row's values if it has some; Return: 0, or -1 after reporting a bad
 *	argument
 * @context: passed to @take
 * @first_operand: set to the index of the first operand
 *
 * Return: OPTIONS_CONTINUE, or the status to exit with.
 */
int options_parse(const struct verb *verb, int argc, char **argv,
		  int (*take)(size_t row, const char *argument, void *context),
		  void *context, int *first_operand);

/*
 * Report a bad argument of an option as "--NAME ARGUMENT: REASON"; @argument
 * may be NULL. Return: -1.
 */
int options_refuse(const char *name, const char *argument, const char *reason);

/*
 * Find @argument in a table of names and set @chosen to its index. Return: 0,
 * or -1 after an error that lists the names.
 */
int options_choose(const char *name, const char *argument,
		   const char *const *names, size_t nr, size_t *chosen);

/* Check by its row whether an option takes what parse_position() reads. */
bool options_take_number(const struct option_row *row);

/* Return the index of an argument among the values of its row, where it is. */
size_t options_index(const struct option_row *row, const char *argument);

/*
 * Parse a whole number of at least 1, with K, M, G, T or P, or KiB and so on,
 * for powers of 1024. Return: false, with @number unchanged, if @text is none.
 */
bool parse_number(const char *text, uint64_t *number);

/* Parse as parse_number(), or 0: for positions on a device. */
bool parse_position(const char *text, uint64_t *position);

/* Parse as parse_position(), at most 32 bits: for sizes and offsets. */
bool parse_bytes(const char *text, uint32_t *bytes);

/* Parse "on" or "off"; false for any other word. */
bool parse_switch(const char *text, bool *on);

#endif
