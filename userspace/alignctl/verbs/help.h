/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "alignctl help [VERB] [--json]": the help of alignctl or of a verb, or what
 * all verbs take, as a document (see alignctl-help(8)).
 */
#ifndef ALIGNCTL_HELP_H
#define ALIGNCTL_HELP_H

#include "base/options.h"

#define HELP_WORD	"help"

/* Print the help of alignctl: its verbs. */
void help_print(const struct verb *const *verbs, size_t nr);

/* Return the verb of that name; NULL after an error that names the nearest. */
const struct verb *help_find(const struct verb *const *verbs, size_t nr,
			     const char *name);

/* Do what the words behind "help" say. Return: enum alignctl_exit; reported. */
int help(const struct verb *const *verbs, size_t nr, int argc, char **argv);

#endif
