/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Python programs that make many runs of alignctl and report on them:
 * orchestration, statistics and charts, in userspace/align_reports.
 */
#ifndef ALIGNCTL_REPORTS_H
#define ALIGNCTL_REPORTS_H

#include "base/json.h"

/*
 * Become the program @name of the package, for the verb @verb, with its arguments
 * @members, as of struct given. Return only on failure: enum alignctl_exit;
 * reported.
 */
int reports_become(const char *name, const char *verb,
		   struct json_object *members);

/*
 * Run the program @name, which makes a page, with the arguments @members, which are
 * freed. @input: the document for its standard input; NULL: it only checks that
 * the page can be written, as its argument "written" says. Signals wait for its
 * end. Return: its exit status, reported.
 */
int reports_run(const char *name, const char *verb, struct json_object *members,
		const char *input);

#endif
