// SPDX-License-Identifier: GPL-2.0
/* The options --from, --disk and --columns, which say what to read of a trace. */
#include "verbs/choice_options.h"

const struct option_row choice_options[] = { CHOICE_OPTION_ROWS };

void choice_options_take(struct trace_choice *choice, enum choice_row row,
			 const char *argument)
{
	switch (row) {
	case CHOICE_ROW_FROM:
		choice->from = options_index(&choice_options[row], argument);
		break;
	case CHOICE_ROW_DISK:
		choice->disk = argument;
		break;
	case CHOICE_ROW_COLUMNS:
		choice->columns = argument;
		break;
	case CHOICE_NR_ROWS:
		break;
	}
}
