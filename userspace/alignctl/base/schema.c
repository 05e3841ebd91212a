// SPDX-License-Identifier: GPL-2.0
/* Print tables of what documents hold as a JSON Schema, draft 2020-12. */
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/schema.h"
#include "base/table.h"

static struct json_object *object_of(const struct schema_row *rows,
				     struct json_object *definitions);

static struct json_object *typed(const char *type)
{
	struct json_object *schema = json_new();

	json_add_text(schema, "type", type);
	return schema;
}

static struct json_object *whole_number(void)
{
	struct json_object *schema = typed("integer");

	json_add_number(schema, "minimum", 0);
	return schema;
}

/* Return the schema of a pair of a bound and a count. */
static struct json_object *bin(void)
{
	struct json_object *schema = typed("array"), *pair = json_new_array();

	json_append(pair, typed("number"));
	json_append(pair, whole_number());
	json_add(schema, "prefixItems", pair);
	json_add_number(schema, "minItems", 2);
	json_add_bool(schema, "items", false);
	return schema;
}

/* Return the schema that is met by what meets one of two. */
static struct json_object *either(struct json_object *one,
				  struct json_object *other)
{
	struct json_object *schema = json_new(), *both = json_new_array();

	json_append(both, one);
	json_append(both, other);
	json_add(schema, "anyOf", both);
	return schema;
}

static struct json_object *words(const struct schema_row *row)
{
	struct json_object *schema = json_new(), *array = json_new_array();
	size_t i;

	for (i = 0; i < row->nr_values; i++)
		json_append(array, json_from_text(row->values[i]));
	json_add(schema, "enum", array);
	return schema;
}

/* Return a reference to the description of an object with a name. */
static struct json_object *reference(const struct schema_row *row,
				     struct json_object *definitions)
{
	CLEANUP_FREE char *place = message_format("#/$defs/%s", row->name);
	struct json_object *schema = json_new();

	if (!json_object_object_get_ex(definitions, row->name, NULL))
		json_add(definitions, row->name,
			 object_of(row->rows, definitions));
	json_add_text(schema, "$ref", place);
	return schema;
}

/* Return the schema of one thing of the row's kind. */
static struct json_object *kind_of(const struct schema_row *row,
				   struct json_object *definitions)
{
	static const char *const types[] = {
		[JSON_SIGNED] = "integer",
		[JSON_REAL] = "number",
		[JSON_BOOL] = "boolean",
		[JSON_TEXT] = "string",
	};
	unsigned int kind = row->type & JSON_KIND;

	if (kind == JSON_TEXT && row->nr_values)
		return words(row);
	if (row->nr_values) {
		const struct schema_row number = { .type = kind };

		return either(kind_of(&number, definitions), words(row));
	}
	if (kind == JSON_NUMBER)
		return whole_number();
	if (kind == JSON_OBJECT)
		return row->name ? reference(row, definitions) :
				   object_of(row->rows, definitions);
	if (kind == JSON_BIN)
		return bin();
	return kind == JSON_ANY ? json_new() : typed(types[kind]);
}

static struct json_object *value_of(const struct schema_row *row,
				    const char *help,
				    struct json_object *definitions)
{
	struct json_object *schema = kind_of(row, definitions), *outer;

	if (row->type & JSON_NULLS)
		schema = either(schema, typed("null"));
	if (row->type & (JSON_ARRAY | JSON_MAP)) {
		outer = typed(row->type & JSON_ARRAY ? "array" : "object");
		json_add(outer, row->type & JSON_ARRAY ?
			 "items" : "additionalProperties", schema);
		schema = outer;
	}
	if (row->type & JSON_NULL)
		schema = either(schema, typed("null"));
	if (help)
		json_add_text(schema, "description", help);
	if (row->unit)
		json_add_text(schema, "x-unit", row->unit);
	return schema;
}

/* Return the help of the last one of some members; NULL: it has none. */
static const char *last_help(struct json_object *members)
{
	const struct lh_entry *last = json_object_get_object(members)->tail;
	struct json_object *member = (struct json_object *)lh_entry_v(last);

	return json_get_text(member, "description");
}

/* Add a member, unless an earlier row has described it. */
static void add_member(struct json_object *schema, const struct schema_row *row,
		       struct json_object *definitions)
{
	const char *help = row->help;
	struct json_object *inner;

	json_object_object_get_ex(schema, "properties", &inner);
	if (json_object_object_get_ex(inner, row->key, NULL))
		return;
	if (help && !*help)
		help = last_help(inner);
	json_add(inner, row->key, value_of(row, help, definitions));
	json_object_object_get_ex(schema, "required", &inner);
	if (!(row->type & JSON_ABSENT))
		json_append(inner, json_from_text(row->key));
}

/* Return the key of a column as a member of the row's object, or NULL. */
static const char *key_of(const struct table_column *column,
			  const struct schema_row *row)
{
	const char *key = column->key;
	size_t length = row->within ? strlen(row->within) : 0;

	if (!key || (column->flags & TABLE_OUTER) != row->outer ||
	    (length && strncmp(key, row->within, length)))
		return NULL;
	return strchr(key + length, '.') ? NULL : key + length;
}

static void add_columns(struct json_object *schema,
			const struct schema_row *row,
			struct json_object *definitions)
{
	size_t i;

	for (i = 0; i < row->table->nr; i++) {
		const struct table_column *column = &row->table->columns[i];
		struct schema_row member = column->member;

		member.key = key_of(column, row);
		member.unit = member.unit ?: figure_unit_name(column->unit);
		if (member.key)
			add_member(schema, &member, definitions);
	}
}

static void add_rows(struct json_object *schema, const struct schema_row *rows,
		     struct json_object *definitions)
{
	for (; rows->key || rows->rows || rows->table; rows++) {
		if (rows->key)
			add_member(schema, rows, definitions);
		else if (rows->table)
			add_columns(schema, rows, definitions);
		else
			add_rows(schema, rows->rows, definitions);
	}
}

static struct json_object *object_of(const struct schema_row *rows,
				     struct json_object *definitions)
{
	struct json_object *schema = typed("object");

	json_add(schema, "properties", json_new());
	json_add(schema, "required", json_new_array());
	json_add_bool(schema, "additionalProperties", false);
	add_rows(schema, rows, definitions);
	return schema;
}

static struct json_object *document_of(const struct schema_document *document,
				       struct json_object *definitions)
{
	const struct schema_row rows[] = {
		MEMBER("format", JSON_ANY, NULL, NULL),
		MEMBERS_OF(document->rows),
		{ 0 },
	};
	struct json_object *schema = object_of(rows, definitions);
	struct json_object *inner;

	json_object_object_get_ex(schema, "properties", &inner);
	json_object_object_get_ex(inner, "format", &inner);
	json_add_number(inner, "const", document->format);
	json_add_text(schema, "title", document->title);
	if (document->help)
		json_add_text(schema, "description", document->help);
	return schema;
}

void schema_print(const struct schema_document *const *documents)
{
	struct json_object *schema = json_new(), *all = json_new_array();
	struct json_object *definitions = json_new();

	for (; *documents; documents++)
		json_append(all, document_of(*documents, definitions));
	json_add_text(schema, "$schema",
		      "https://json-schema.org/draft/2020-12/schema");
	json_add(schema, "anyOf", all);
	json_add(schema, "$defs", definitions);
	json_print(schema, false);
}
