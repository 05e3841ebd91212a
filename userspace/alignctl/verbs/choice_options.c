// SPDX-License-Identifier: GPL-2.0
/* The options --from, --disk and --columns, and what they exclude. */
#include "base/exit_codes.h"
#include "base/message.h"
#include "verbs/choice_options.h"

int choice_options_take(struct trace_choice *choice, enum choice_row row,
			const char *argument)
{
	size_t index;

	switch (row) {
	case CHOICE_ROW_FROM:
		if (options_choose("from", argument, trace_readable_names,
				   TRACE_NR_READABLE, &index))
			return -1;
		choice->from = index;
		return 0;
	case CHOICE_ROW_DISK:
		choice->disk = argument;
		return 0;
	case CHOICE_ROW_COLUMNS:
		choice->columns = argument;
		return 0;
	case CHOICE_NR_ROWS:
		break;
	}
	return -1;
}

int choice_options_check(const struct trace_choice *choice)
{
	if (!choice->columns || choice->from == TRACE_NR_READABLE)
		return ALIGNCTL_FINE;
	message_error("--from, --columns: exclude each other; leave one out");
	return ALIGNCTL_USAGE;
}
