/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arguments of a verb that is done in Python, as one JSON document of values
 * that have been checked: align_reports/given.py takes it.
 */
#ifndef ALIGNCTL_GIVEN_H
#define ALIGNCTL_GIVEN_H

#include <stddef.h>

#include "base/json.h"
#include "base/options.h"

/**
 * struct given - the arguments of a verb
 * @verb: the verb
 * @take: as of options_parse()
 * @context: for @take
 * @members: a member for each option that was given, named as the option, and one
 *	for each thing that the verb adds; "operands" has the operands. The value is
 *	true for an option without an argument, a number for a number, an array for
 *	a list of the row's values, and else the argument. given_free() frees it
 */
struct given {
	const struct verb *verb;
	int (*take)(size_t row, const char *argument, void *context);
	void *context;
	struct json_object *members;
};

/*
 * Parse as options_parse(), and keep what was taken. The last argument of an
 * option counts, or all of a row that has @repeats. Return: as options_parse().
 */
int given_parse(struct given *given, const struct verb *verb, int argc,
		char **argv,
		int (*take)(size_t row, const char *argument, void *context),
		void *context, int *first_operand);

/* Set an option that was not given to a checked argument. */
void given_default(struct given *given, size_t row, const char *argument);

/*
 * Take the options of the first @nr_rows rows out, and add them as "passed_on", an
 * array of the words of a command line, in the order of the table.
 */
void given_pass_on(struct given *given, size_t nr_rows);

/* Free the members of arguments that were parsed; for CLEANUP_GIVEN, too. */
void given_free(struct given *given);

#define CLEANUP_GIVEN	__attribute__((cleanup(given_free)))

#endif
