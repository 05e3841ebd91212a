// SPDX-License-Identifier: GPL-2.0
/* Cells, columns and rows over libsmartcols, and the same rows as objects of json-c. */
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/table.h"

#define SEPARATOR	"  "
#define NOTHING		"-"

/* By which rows go. */
#define TABLE_ORDER	(TABLE_RISING | TABLE_FALLING)

/**
 * struct table - rows that are to be printed
 * @type: their columns
 * @out: of libsmartcols
 * @column: of libsmartcols, one for each of @type; NULL: it has no heading
 * @used: which columns have more than 0 somewhere
 * @order: the column that rows go by; NULL: as they were added
 */
struct table {
	const struct table_type *type;
	struct libscols_table *out;
	struct libscols_column **column;
	bool *used;
	struct libscols_column *order;
};

/* libsmartcols fails for want of memory; its errors are negative. */
static void done_or_exit(int result)
{
	memory_or_exit(result < 0 ? NULL : &result);
}

struct table_value table_number(uint64_t n)
{
	return (struct table_value){ .kind = TABLE_NUMBER, .number = n };
}

struct table_value table_real(double n)
{
	return (struct table_value){ .kind = TABLE_REAL, .real = n };
}

struct table_value table_bool(bool b)
{
	return (struct table_value){ .kind = TABLE_BOOL, .truth = b };
}

struct table_value table_text(const char *text)
{
	return table_text_taken(text ? memory_or_exit(strdup(text)) : NULL);
}

struct table_value table_text_taken(char *text)
{
	return (struct table_value){
		.kind = text ? TABLE_TEXT : TABLE_NULL, .text = text,
	};
}

struct table_value table_object(struct json_object *object)
{
	return (struct table_value){
		.kind = object ? TABLE_OBJECT : TABLE_NULL, .object = object,
	};
}

struct table_value table_null(void)
{
	return (struct table_value){ .kind = TABLE_NULL };
}

struct table_value table_absent(void)
{
	return (struct table_value){ .kind = TABLE_ABSENT };
}

struct table_value table_shown(struct table_value value, const char *text)
{
	value.text = memory_or_exit(strdup(text));
	return value;
}

/* Text */

/* Return the text of a cell, for free(). */
static char *cell_text(const struct table_column *column,
		       const struct table_value *value)
{
	const char *text = NOTHING;
	struct figure shown;

	if (value->text && *value->text)
		text = value->text;
	else if (value->kind == TABLE_BOOL)
		text = value->truth ? "yes" : "no";
	else if (value->kind == TABLE_NUMBER || value->kind == TABLE_REAL) {
		shown = figure(column->unit, value->kind == TABLE_REAL ?
			       value->real : (double)value->number);
		text = shown.text;
	}
	return message_visible(text);
}

/* Fill a cell's text with blanks to the least width of its column. */
static char *in_width(const struct table_column *column, char *text)
{
	CLEANUP_FREE char *narrow = text;
	int width = (int)column->width;

	if (!column->width)
		return message_format("%s", narrow);
	if (width < (int)strlen(column->heading))
		width = (int)strlen(column->heading);
	return message_format("%*s", column->flags & TABLE_RIGHT ? width :
								   -width,
			      narrow);
}

/* Return whether the value is more than nothing. */
static bool is_used(const struct table_value *value)
{
	switch (value->kind) {
	case TABLE_NUMBER:
		return value->number;
	case TABLE_REAL:
		return value->real > 0;
	case TABLE_BOOL:
		return value->truth;
	case TABLE_TEXT:
		return true;
	default:
		return value->text;
	}
}

/* Rising: of texts by their bytes, of other values by the number. */
static int compare_values(const struct table_value *a, const struct table_value *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	switch (a->kind) {
	case TABLE_TEXT:
		return strcmp(a->text, b->text);
	case TABLE_REAL:
		return (a->real > b->real) - (a->real < b->real);
	default:
		return (a->number > b->number) - (a->number < b->number);
	}
}

static int compare_cells(struct libscols_cell *a, struct libscols_cell *b,
			 void *flags)
{
	const struct table_value *of_a = scols_cell_get_userdata(a);
	const struct table_value *of_b = scols_cell_get_userdata(b);
	bool known_a = of_a->kind > TABLE_NULL, known_b = of_b->kind > TABLE_NULL;

	if (!known_a || !known_b)
		return known_b - known_a;
	return *(const unsigned int *)flags & TABLE_FALLING ?
	       compare_values(of_b, of_a) : compare_values(of_a, of_b);
}

static void add_column(struct table *table, size_t i)
{
	const struct table_column *column = &table->type->columns[i];
	int flags = (column->flags & TABLE_RIGHT ? SCOLS_FL_RIGHT : 0) |
		    (column->flags & TABLE_WRAP ? SCOLS_FL_WRAP : 0);

	if (!column->heading)
		return;
	/* no hint: a figure is never narrowed to one */
	table->column[i] = memory_or_exit(
		scols_table_new_column(table->out, column->heading, 0, flags));
	if (!(column->flags & TABLE_ORDER))
		return;
	table->order = table->column[i];
	done_or_exit(scols_column_set_cmpfunc(table->order, compare_cells,
					      (void *)&column->flags));
}

struct table *table_new(const struct table_type *type)
{
	struct table *table = memory_or_exit(calloc(1, sizeof(*table)));
	size_t i;

	table->type = type;
	table->column = memory_or_exit(calloc(type->nr,
					      sizeof(struct libscols_column *)));
	table->used = memory_or_exit(calloc(type->nr, sizeof(bool)));
	table->out = memory_or_exit(scols_new_table());
	done_or_exit(scols_table_set_column_separator(table->out, SEPARATOR));
	done_or_exit(scols_table_enable_ascii(table->out, 1));
	/* message_visible() does that, and leaves what device-mapper quotes */
	done_or_exit(scols_table_enable_noencoding(table->out, 1));
	for (i = 0; i < type->nr; i++)
		add_column(table, i);
	return table;
}

static void free_value(struct table_value *value)
{
	free(value->text);
	if (value->kind == TABLE_OBJECT)
		json_object_put(value->object);
}

void table_add(struct table *table, const void *row)
{
	struct libscols_line *line =
		memory_or_exit(scols_table_new_line(table->out, NULL));
	size_t i;

	for (i = 0; i < table->type->nr; i++) {
		const struct table_column *column = &table->type->columns[i];
		struct table_value value, *kept;

		if (!column->heading)
			continue;
		value = table->type->value(row, i);
		table->used[i] |= is_used(&value);
		done_or_exit(scols_line_refer_column_data(
			line, table->column[i],
			in_width(column, cell_text(column, &value))));
		if (table->column[i] != table->order) {
			free_value(&value);
			continue;
		}
		kept = memory_or_exit(malloc(sizeof(*kept)));
		*kept = value;
		done_or_exit(scols_line_set_userdata(line, kept));
		done_or_exit(scols_cell_set_userdata(
			scols_line_get_column_cell(line, table->order), kept));
	}
}

static void table_free(struct table *table)
{
	struct libscols_iter *each =
		memory_or_exit(scols_new_iter(SCOLS_ITER_FORWARD));
	struct libscols_line *line;

	while (!scols_table_next_line(table->out, each, &line)) {
		struct table_value *kept = scols_line_get_userdata(line);

		if (kept)
			free_value(kept);
		free(kept);
	}
	scols_free_iter(each);
	scols_unref_table(table->out);
	free(table->column);
	free(table->used);
	free(table);
}

/* Leave out the columns that are TABLE_OPTIONAL and have nothing. */
static void hide_columns(struct table *table)
{
	size_t i;

	for (i = 0; i < table->type->nr; i++) {
		struct libscols_column *column = table->column[i];

		if (column && !table->used[i] &&
		    table->type->columns[i].flags & TABLE_OPTIONAL)
			done_or_exit(scols_column_set_flags(column,
				scols_column_get_flags(column) |
				SCOLS_FL_HIDDEN));
	}
}

void table_hide_headings(struct table *table)
{
	done_or_exit(scols_table_enable_noheadings(table->out, 1));
}

void table_print(struct table *table, unsigned int indent)
{
	table_print_to(table, indent, stdout);
}

void table_print_to(struct table *table, unsigned int indent, FILE *stream)
{
	CLEANUP_FREE char *text = NULL;
	char *rest, *line;

	hide_columns(table);
	if (table->order)
		done_or_exit(scols_sort_table(table->out, table->order));
	done_or_exit(scols_table_reduce_termwidth(table->out, indent));
	done_or_exit(scols_print_table_to_string(table->out, &text));
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		size_t length = strlen(line);

		/* a last column that is hidden leaves its separator */
		while (length && line[length - 1] == ' ')
			length--;
		if (length)
			fprintf(stream, "%*s%.*s\n", (int)indent, "",
				(int)length, line);
	}
	table_free(table);
}

/* JSON */

static struct json_object *value_json(const struct table_value *value)
{
	switch (value->kind) {
	case TABLE_NUMBER:
		return json_from_number(value->number);
	case TABLE_REAL:
		return json_from_real(value->real);
	case TABLE_BOOL:
		return json_from_bool(value->truth);
	case TABLE_TEXT:
		return json_from_text(value->text);
	case TABLE_OBJECT:
		return value->object;
	case TABLE_ABSENT:
	case TABLE_NULL:
		break;
	}
	return NULL;
}

/* Find or make the object in which a member lies; @key becomes its name there. */
static struct json_object *object_of(struct json_object *object,
				     const char **key)
{
	const char *dot = strchr(*key, '.');
	struct json_object *inner;

	if (!dot)
		return object;
	CLEANUP_FREE char *name = memory_or_exit(strndup(*key, dot - *key));

	*key = dot + 1;
	if (!json_object_object_get_ex(object, name, &inner)) {
		inner = json_new();
		json_add(object, name, inner);
	}
	return inner;
}

/* Add the members of a row that are TABLE_OUTER, or those that are not. */
static void add_members(struct json_object *object,
			const struct table_type *type, const void *row,
			unsigned int outer)
{
	size_t i;

	for (i = 0; i < type->nr; i++) {
		const char *key = type->columns[i].key;
		struct table_value value;

		if (!key || (type->columns[i].flags & TABLE_OUTER) != outer)
			continue;
		value = type->value(row, i);
		if (value.kind != TABLE_ABSENT) {
			struct json_object *inner = object_of(object, &key);

			json_add(inner, key, value_json(&value));
		}
		free(value.text);
	}
}

struct json_object *table_json(const struct table_type *type, const void *row)
{
	struct json_object *object = json_new();

	add_members(object, type, row, 0);
	return object;
}

void table_json_outer(struct json_object *object, const struct table_type *type,
		      const void *row)
{
	add_members(object, type, row, TABLE_OUTER);
}

struct json_object *table_json_cell(const struct table_type *type,
				    const void *row, size_t column)
{
	struct table_value value = type->value(row, column);
	struct json_object *json = value_json(&value);

	free(value.text);
	return json;
}
