/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables: rows in columns for people, by libsmartcols, and the same rows as JSON.
 * One list of columns feeds both, and one function yields the raw value of each
 * cell, from which the figure for people and the number of the document are made.
 *
 * To print, table_new(), table_add() for each row and table_print(); for JSON,
 * table_json() for each row.
 */
#ifndef ALIGNCTL_TABLE_H
#define ALIGNCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/schema.h"

/* Flags of a column. */
#define TABLE_RIGHT	0x01U	/* flush right, as figures are */
#define TABLE_WRAP	0x02U	/* a narrow terminal has it in several lines */
#define TABLE_OPTIONAL	0x04U	/* left out where no row has more than 0 */
#define TABLE_RISING	0x08U	/* rows go by it, the least first */
#define TABLE_FALLING	0x10U	/* rows go by it, the greatest first */
#define TABLE_OUTER	0x20U	/* a member of what is around the row's object */

/**
 * struct table_column - a column, and the member of the document that it is
 * @key: key of the member, with "a.b" for b in the object a; NULL: for people only
 * @heading: heading of the column; NULL: in the document only
 * @flags: TABLE_*
 * @unit: unit of a number
 * @width: least width in characters, the heading's if that is more, so that the
 *	columns of tables that follow each other are in line; 0: as its cells
 * @member: the rest of the member's row, whose key is @key, and whose unit @unit
 */
struct table_column {
	const char *key;
	const char *heading;
	unsigned int flags;
	enum figure_unit unit;
	unsigned int width;
	struct schema_row member;
};

/* The member of a column: as MEMBER(), without what the column says itself. */
#define COLUMN_MEMBER(type_, help_, ...) \
	.member = { .type = (type_), .help = (help_), ##__VA_ARGS__ }

enum table_kind {
	TABLE_ABSENT,		/* the row has no such member */
	TABLE_NULL,		/* not known */
	TABLE_NUMBER,
	TABLE_REAL,
	TABLE_BOOL,
	TABLE_TEXT,
	TABLE_OBJECT,		/* for documents only */
};

/**
 * struct table_value - what is in a cell
 * @kind: which of the following members holds the value
 * @number: raw number, in the base unit
 * @real: raw number with a fraction, in the base unit
 * @truth: boolean
 * @object: any JSON, owned by the receiver of the value
 * @text: the value of TABLE_TEXT; else the text to show in its place, or NULL;
 *	for free()
 */
struct table_value {
	enum table_kind kind;
	union {
		uint64_t number;
		double real;
		bool truth;
		struct json_object *object;
	};
	char *text;
};

/**
 * struct table_type - a kind of table
 * @columns: the columns from left to right, and the members of the document
 * @nr: number of columns
 * @value: function that returns the raw value of a cell
 */
struct table_type {
	const struct table_column *columns;
	size_t nr;
	struct table_value (*value)(const void *row, size_t column);
};

#define TABLE_TYPE(columns, value) \
	{ columns, sizeof(columns) / sizeof((columns)[0]), value }

/* Values; what is not said to take a text copies it. NULL becomes TABLE_NULL. */
struct table_value table_number(uint64_t n);
struct table_value table_real(double n);
struct table_value table_bool(bool b);
struct table_value table_text(const char *text);
struct table_value table_text_taken(char *text);
struct table_value table_object(struct json_object *object);
struct table_value table_null(void);
struct table_value table_absent(void);

/* Show @text to people in place of the value. */
struct table_value table_shown(struct table_value value, const char *text);

struct table;

struct table *table_new(const struct table_type *type);

/* Add a row, which is not used any more when this returns. */
void table_add(struct table *table, const void *row);

/* Print rows only: they go on below a table of the same columns. */
void table_hide_headings(struct table *table);

/*
 * Print the table on standard output, each line @indent blanks further in, and
 * free it; nothing without rows. In a pipe, and for figures also on a terminal,
 * nothing is cut off. Rows that are equal where TABLE_RISING or TABLE_FALLING is
 * stay as they were added; what is not known comes last.
 */
void table_print(struct table *table, unsigned int indent);

/* Print a table on another stream; as table_print(). */
void table_print_to(struct table *table, unsigned int indent, FILE *stream);

/* Make an object of a row, without the members that are TABLE_OUTER. */
struct json_object *table_json(const struct table_type *type, const void *row);

/* Add the members of a row that are TABLE_OUTER to an object around it. */
void table_json_outer(struct json_object *object, const struct table_type *type,
		      const void *row);

/* Make JSON of one cell; NULL for null. */
struct json_object *table_json_cell(const struct table_type *type,
				    const void *row, size_t column);

#endif
