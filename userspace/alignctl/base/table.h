/* SPDX-License-Identifier: GPL-2.0 */
/* Columns for people, as wide as what stands in them. */
#ifndef ALIGNCTL_TABLE_H
#define ALIGNCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct table - rows of cells; the first row is the heading
 * @columns: cells in a row
 * @right: which columns are flush right
 * @nr: cells so far
 * @cell: those
 */
struct table {
	size_t columns;
	const bool *right;
	size_t nr;
	char **cell;
};

/* Adds a cell at the end; takes @text, which is freed with the table. */
void table_add(struct table *table, char *text);

/* Prints all rows on standard output, and frees the cells. */
void table_print(struct table *table);

#endif
