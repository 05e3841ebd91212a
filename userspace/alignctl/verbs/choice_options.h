/* SPDX-License-Identifier: GPL-2.0 */
/* Options that say what to read of a trace, for all verbs that read one. */
#ifndef ALIGNCTL_CHOICE_OPTIONS_H
#define ALIGNCTL_CHOICE_OPTIONS_H

#include "base/options.h"
#include "trace/trace.h"

/* The first rows of a verb that takes these options, in this order. */
enum choice_row { CHOICE_ROW_FROM, CHOICE_ROW_DISK, CHOICE_ROW_COLUMNS,
		  CHOICE_NR_ROWS };

#define CHOICE_OPTION_ROWS	CHOICE_OPTION_ROWS_OF()

/* The same, of which each has these designators, too. */
#define CHOICE_OPTION_ROWS_OF(...)					\
	[CHOICE_ROW_FROM] = OPTION("from", ARG_NAME("FORMAT", trace_readable_names), \
				   "trace: its format (default: detected)", \
				   ##__VA_ARGS__),			\
	[CHOICE_ROW_DISK] = OPTION("disk", ARG_TEXT("DISK"),		\
				   "trace: read only the requests to this disk", \
				   ##__VA_ARGS__),			\
	[CHOICE_ROW_COLUMNS] = OPTION("columns", ARG_LIST,		\
				      "trace: a table with these columns, e.g. time_s,-,op", \
				      .excludes = "from", ##__VA_ARGS__)

/* The same rows as a table. */
extern const struct option_row choice_options[];

/* Take one of these options. */
void choice_options_take(struct trace_choice *choice, enum choice_row row,
			 const char *argument);

#endif
