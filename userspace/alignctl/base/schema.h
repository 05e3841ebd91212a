/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the JSON documents of --json hold, as tables of rows: --json-schema prints
 * them as a JSON Schema, from which Documentation/gen-json makes the manual and by
 * which the tests judge each document.
 */
#ifndef ALIGNCTL_SCHEMA_H
#define ALIGNCTL_SCHEMA_H

#include <stddef.h>

struct table_type;

/* The type of a member: a kind, and flags. */
#define JSON_NUMBER	0x0U	/* a whole number, 0 or more */
#define JSON_SIGNED	0x1U	/* a whole number */
#define JSON_REAL	0x2U
#define JSON_BOOL	0x3U
#define JSON_TEXT	0x4U
#define JSON_OBJECT	0x5U	/* with the members of schema_row.rows, no others */
#define JSON_BIN	0x6U	/* of a histogram, as json_append_bin() adds it */
#define JSON_ANY	0x7U	/* what comes from elsewhere as it is */
#define JSON_KIND	0xfU
#define JSON_NULL	0x10U	/* or null */
#define JSON_ABSENT	0x20U	/* or the member is left out */
#define JSON_ARRAY	0x40U	/* an array of the kind */
#define JSON_NULLS	0x80U	/* an element of the array may be null */
#define JSON_MAP	0x100U	/* an object of the kind, by names that are data */

/**
 * struct schema_row - a member of an object of a document; one without any field
 *	ends the table
 * @key: the member's key; NULL: the members of @rows or @table in its place
 * @type: JSON_*
 * @unit: unit of a number that its key does not tell, or NULL
 * @help: meaning of the member, as sentences without the full stop of the last one;
 *	AS_ABOVE: that of the row before; NULL: the key says it
 * @rows: members of a JSON_OBJECT
 * @name: name of that object's description, where several members have the same;
 *	else NULL
 * @values: the texts that it can be; of another kind than JSON_TEXT: instead of it
 * @nr_values: number of @values
 * @table: table whose columns are the members
 * @outer: TABLE_OUTER for its columns with that flag, else 0
 * @within: begin of the keys of its columns that are members, as "time."; NULL:
 *	those without a point
 */
struct schema_row {
	const char *key;
	unsigned int type;
	const char *unit;
	const char *help;
	const struct schema_row *rows;
	const char *name;
	const char *const *values;
	size_t nr_values;
	const struct table_type *table;
	unsigned int outer;
	const char *within;
};

/* Help of a row that has that of the row before. */
#define AS_ABOVE	""

/* A row: key, type, unit and help, and as designators what else it has. */
#define MEMBER(key_, type_, unit_, help_, ...) \
	{ .key = (key_), .type = (type_), .unit = (unit_), .help = (help_), ##__VA_ARGS__ }
#define MEMBERS_OF(rows_)		{ .rows = (rows_) }
#define MEMBERS_OF_TABLE(table_, ...)	{ .table = (table_), ##__VA_ARGS__ }

/* The texts that a member can be: an array of names, or the names. */
#define SCHEMA_NAMES(names) \
	.values = (names), .nr_values = sizeof(names) / sizeof((names)[0])
#define SCHEMA_WORDS(...) \
	.values = (const char *const []) { __VA_ARGS__ }, \
	.nr_values = sizeof((const char *const []) { __VA_ARGS__ }) / sizeof(char *)

/**
 * struct schema_document - a kind of document
 * @title: the verb, and the options that make it this kind
 * @format: its member "format"
 * @help: text about the document as a whole, a paragraph a line; NULL: none
 * @rows: its other members
 */
struct schema_document {
	const char *title;
	unsigned int format;
	const char *help;
	const struct schema_row *rows;
};

/* The kinds of documents of a verb, for struct verb. */
#define SCHEMA_DOCUMENTS(...) \
	((const struct schema_document *const []) { __VA_ARGS__, NULL })

/* Print the JSON Schema of a document that is one of @documents, NULL at the end. */
void schema_print(const struct schema_document *const *documents);

#endif
