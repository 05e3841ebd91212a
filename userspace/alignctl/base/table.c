// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/table.h"

void table_add(struct table *table, char *text)
{
	table->cell = memory_or_exit(reallocarray(table->cell, table->nr + 1,
						  sizeof(*table->cell)));
	table->cell[table->nr++] = text;
}

void table_print(struct table *table)
{
	CLEANUP_FREE int *width = memory_or_exit(calloc(table->columns,
							sizeof(*width)));
	size_t i;

	for (i = 0; i < table->nr; i++) {
		int length = strlen(table->cell[i]);

		if (length > width[i % table->columns])
			width[i % table->columns] = length;
	}
	for (i = 0; i < table->nr; i++) {
		size_t column = i % table->columns;
		bool last = column + 1 == table->columns;

		if (table->right[column])
			printf("%*s", width[column], table->cell[i]);
		else	/* no blanks at the end of a line */
			printf("%-*s", last ? 0 : width[column],
			       table->cell[i]);
		fputs(last ? "\n" : "  ", stdout);
		free(table->cell[i]);
	}
	free(table->cell);
	table->cell = NULL;
	table->nr = 0;
}
