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

/* Kinds of arguments. */
enum option_kind {
	OPTION_NONE,		/* no argument */
	OPTION_TEXT,		/* any text; the verb parses it */
	OPTION_PATH,		/* a file */
	OPTION_DEVICE,		/* a block device, or a file */
	OPTION_LINE,		/* the name of a line of aligntab */
	OPTION_NAME,		/* one of the row's values */
	OPTION_LIST,		/* texts separated by commas; of the row's values if there are some */
	OPTION_NUMBER,		/* a whole number, as parse_position() reads it */
	OPTION_REAL,		/* a number that may have a point */
	OPTION_NR_KINDS
};

/* Their names in documents. */
extern const char *const option_kinds[OPTION_NR_KINDS];

/* The values of ARG_SWITCH. */
extern const char *const option_switch[2];

/**
 * struct option_row - one long option of a verb
 * @name: name of the option, without dashes; NULL: the end of the table
 * @kind: kind of the argument; the macros ARG_... set it with its members
 * @argument: word for the argument in --help and manual; NULL: there is no argument
 * @least: least number of the argument, in @unit
 * @most: largest number of the argument, in @unit; OPTION_ANY: no limit
 * @above: a real number must be above @least; otherwise @least is allowed
 * @power: the number must be a power of two
 * @multiple: the number must be a multiple of this; 0: any number
 * @unit: noun of the number, as in "bytes"; NULL: the number has none
 * @also: word that may stand for the number; NULL: there is none
 * @help: line for --help; NULL: a hidden option, which the verb refuses, naming
 *	the option that replaced it
 * @values: names that the argument may be; NULL: the argument is no name
 * @nr_values: number of names in @values
 * @excludes: names of options, separated by spaces, that exclude this option;
 *	NULL: there are none
 * @only_with: names of options, separated by spaces, that may go with this option;
 *	all others may not; NULL: all may but those of @excludes
 * @needs: names of options, separated by spaces, one of which must go with this
 *	option; NULL: the option needs none
 * @brings: names of options, separated by spaces, that need this option, or
 *	another one that has them in @brings or that they have in @needs; NULL: none
 * @operands: operands that the verb takes with this option, a word each; "": it
 *	takes none; NULL: it takes those of struct verb
 * @repeats: every argument of the option counts; otherwise the last one
 * @because: reason for @excludes, @only_with or @needs in messages, such as
 *	"as JSON has all histograms"; NULL: messages give no reason
 */
struct option_row {
	const char *name;
	enum option_kind kind;
	const char *argument;
	uint64_t least;
	uint64_t most;
	bool above;
	bool power;
	uint32_t multiple;
	const char *unit;
	const char *also;
	const char *help;
	const char *const *values;
	size_t nr_values;
	const char *excludes;
	const char *only_with;
	const char *needs;
	const char *brings;
	const char *operands;
	bool repeats;
	const char *because;
};

/* A row: its name, one of the macros below and its help; designators set more members. */
#define OPTION(name_, arg, help_, ...)					\
	{ .name = (name_), arg, .help = (help_), ##__VA_ARGS__ }

#define ARG_NONE		.kind = OPTION_NONE
#define ARG_TEXT(word)		.kind = OPTION_TEXT, .argument = (word)
#define ARG_PATH(word)		.kind = OPTION_PATH, .argument = (word)
#define ARG_FILE		ARG_PATH("FILE")
#define ARG_DEVICE		.kind = OPTION_DEVICE, .argument = "DEV"
#define ARG_LINE		.kind = OPTION_LINE, .argument = "LINE"
#define ARG_NAME_OF(word, names, nr)					\
	.kind = OPTION_NAME, .argument = (word), .values = (names),	\
	.nr_values = (nr)
#define ARG_NAME(word, names) \
	ARG_NAME_OF(word, names, sizeof(names) / sizeof((names)[0]))
#define ARG_SWITCH		ARG_NAME("on|off", option_switch)
#define ARG_LIST		.kind = OPTION_LIST, .argument = "LIST"
#define ARG_LIST_OF(names)	ARG_LIST, OPTION_VALUES(names)
#define ARG_NUMBER_AS(word, least_, most_, ...)				\
	.kind = OPTION_NUMBER, .argument = (word), .least = (least_),	\
	.most = (most_), ##__VA_ARGS__
#define ARG_NUMBER(least, most, ...) \
	ARG_NUMBER_AS("N", least, most, ##__VA_ARGS__)
#define ARG_BYTES(least, most, ...) \
	ARG_NUMBER(least, most, .unit = "bytes", ##__VA_ARGS__)
#define ARG_POWER(least, most)	ARG_NUMBER(least, most, .power = true)
#define ARG_REAL(word, most_, ...) \
	.kind = OPTION_REAL, .argument = (word), .most = (most_), ##__VA_ARGS__
#define ARG_SECONDS(...) \
	ARG_REAL("SECONDS", OPTION_DAY_S, .unit = "seconds", ##__VA_ARGS__)

/* The digits of a macro's number, which has no suffix, and a default in a help text. */
#define OPTION_DIGITS_OF(digits)	#digits
#define OPTION_DIGITS(number)	OPTION_DIGITS_OF(number)
#define OPTION_DEFAULT(number)	" (default: " OPTION_DIGITS(number) ")"

/* The longest time of ARG_SECONDS, and no limit for a whole number. */
#define OPTION_DAY_S		86400
#define OPTION_ANY		UINT64_MAX

/* A row of verbs that print one document. */
#define OPTION_JSON	OPTION("json", ARG_NONE, "print one JSON object")

/* The row of each verb that prints documents, the last one; it is taken here. */
#define OPTION_JSON_SCHEMA						\
	OPTION("json-schema", ARG_NONE, "print the JSON Schema of what --json prints")

/* The values of an option, as the array of their names. */
#define OPTION_VALUES(names)						\
	.values = (names), .nr_values = sizeof(names) / sizeof((names)[0])

/**
 * struct verb - the word after "alignctl"
 * @name: the word
 * @operands: the verb's operands as --help shows them; "" if it takes none
 * @min_operands: least number of operands, unless an option has its own
 * @max_operands: largest number of operands, likewise
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
 * @take: take one option, given the index of its row, whose argument is as its
 *	kind says; Return: 0, or -1 after reporting a bad argument
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

/* Check whether an option needs another one, or one of several, by either row. */
bool options_needs(const struct option_row *row, const struct option_row *other);

/*
 * Check an argument by its row. Return: NULL, or what it must be, until the next
 * call.
 */
const char *options_wrong(const struct option_row *row, const char *argument);

/* Return the number in an argument of a row of OPTION_NUMBER that has been checked. */
uint64_t options_number(const char *argument);

/* Likewise of OPTION_REAL. */
double options_real(const char *argument);

/* Return the index of an argument among the values of its row, where it is. */
size_t options_index(const struct option_row *row, const char *argument);

/*
 * Parse a whole number of at least 1, with K, M, G, T or P, or KiB and so on,
 * for powers of 1024. Return: false, with @number unchanged, if @text is none.
 */
bool parse_number(const char *text, uint64_t *number);

/* Parse as parse_number(), or 0: for positions on a device. */
bool parse_position(const char *text, uint64_t *position);

#endif
