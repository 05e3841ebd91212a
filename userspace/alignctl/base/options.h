/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One shape for every verb: a table of options makes the parser, the usage
 * text and the checks.
 */
#ifndef ALIGNCTL_OPTIONS_H
#define ALIGNCTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct option_row - one long option of a verb
 * @name: without the dashes; NULL ends the table
 * @argument: what its argument is called, or NULL if it takes none
 * @help: one line for --help; NULL: not shown, the verb refuses the option and
 *	names what took its place
 */
struct option_row {
	const char *name;
	const char *argument;
	const char *help;
};

/**
 * struct verb - what stands after "alignctl"
 * @name: the word
 * @operands: what else it takes, for people; "" if nothing
 * @min_operands: how many it needs
 * @max_operands: how many it takes
 * @summary: one line for the list of verbs
 * @options: its options but --help and --version
 * @more_help: prints what --help says beyond the options, or NULL
 * @run: does it; Return: enum alignctl_exit
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
};

#define OPTIONS_CONTINUE	(-1)

/**
 * options_parse - read a verb's arguments
 * @verb: the verb
 * @argc: its arguments, the verb itself being the first
 * @argv: same; operands end up at argv + *first_operand
 * @take: called for each option, with the index of its row; Return: 0, or -1
 *	if the argument is bad, which it has reported
 * @context: for @take
 * @first_operand: set to the index of the first operand
 *
 * Return: OPTIONS_CONTINUE, or the status to exit with.
 */
int options_parse(const struct verb *verb, int argc, char **argv,
		  int (*take)(size_t row, const char *argument, void *context),
		  void *context, int *first_operand);

/* Reports a bad argument of an option as "--NAME ARGUMENT: REASON". */
int options_refuse(const char *name, const char *argument, const char *reason);

/*
 * Find @argument in a table, and set @chosen to its index. Return: 0, or -1 after
 * an error that lists the table.
 */
int options_choose(const char *name, const char *argument,
		   const char *const *names, size_t nr, size_t *chosen);

/*
 * Call @found with each name that options_choose() would let the option of that
 * row be, none if the argument is no such name. Of the verb nothing is done but to
 * take that option.
 */
void options_values(const struct verb *verb, size_t row,
		    void (*found)(const char *name, void *context),
		    void *context);

/*
 * A whole number of at least 1, with K, M, G, T or P, or KiB and so on, for
 * powers of 1024.
 */
bool parse_number(const char *text, uint64_t *number);

/* The same, or 0: for places. */
bool parse_position(const char *text, uint64_t *position);

/* The same, and at most 32 bits: for sizes and offsets. */
bool parse_bytes(const char *text, uint32_t *bytes);

/* "on" or "off". */
bool parse_switch(const char *text, bool *on);

#endif
