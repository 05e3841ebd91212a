// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/schema.h"
#include "base/table.h"
#include "tests/printed.h"
#include "tests/tap.h"

static struct table_value no_value(const void *row, size_t column)
{
	(void)row;
	(void)column;
	return table_absent();
}

static const struct table_column columns[] = {
	{ .heading = "SHOWN" },
	{ .key = "outer", .flags = TABLE_OUTER },
	{ .key = "length", .unit = FIGURE_LENGTH,
	  COLUMN_MEMBER(JSON_NUMBER | JSON_NULL, "How long it is") },
	{ .key = "time.mean_us", .unit = FIGURE_US, COLUMN_MEMBER(JSON_REAL, NULL) },
};
static const struct table_type table = {
	columns, sizeof(columns) / sizeof(columns[0]), no_value,
};

static const struct schema_row time_rows[] = {
	MEMBERS_OF_TABLE(&table, .within = "time."),
	{ 0 },
};

static const struct schema_row shared_rows[] = {
	MEMBER("length", JSON_TEXT, NULL, "Not this one, but the column"),
	MEMBER("last", JSON_BOOL | JSON_ABSENT, NULL, "At times"),
	{ 0 },
};

static const struct schema_row rows[] = {
	MEMBERS_OF_TABLE(&table),
	MEMBERS_OF_TABLE(&table, .outer = TABLE_OUTER),
	MEMBER("time", JSON_OBJECT, NULL, NULL, .rows = time_rows, .name = "time"),
	MEMBER("more", JSON_ARRAY | JSON_OBJECT | JSON_NULL, NULL, "Or none",
	       .rows = time_rows, .name = "time"),
	MEMBER("word", JSON_TEXT, NULL, NULL, SCHEMA_WORDS("a", "b")),
	MEMBER("offset", JSON_NUMBER, "bytes", "Where", SCHEMA_WORDS("unknown")),
	MEMBER("shift", JSON_SIGNED, NULL, AS_ABOVE),
	MEMBER("by_name", JSON_MAP | JSON_NUMBER | JSON_NULLS, NULL, NULL),
	MEMBER("bins", JSON_ARRAY | JSON_BIN, NULL, NULL),
	MEMBERS_OF(shared_rows),
	{ 0 },
};

static const struct schema_document document = { "test", 3, "All of it", rows };
static const struct schema_document other = { "test --other", 4, NULL, time_rows };

/* Find a part of a schema by keys that are separated by spaces; NULL: none. */
static const char *part_of(struct json_object *schema, const char *path)
{
	static char copy[128];
	char *rest = copy, *key;

	snprintf(copy, sizeof(copy), "%s", path);
	while (schema && (key = strsep(&rest, " ")))
		schema = json_object_is_type(schema, json_type_array) ?
			json_object_array_get_idx(schema, (size_t)atoi(key)) :
			json_object_object_get(schema, key);
	return schema ? json_text(schema, 0) : "none";
}

static void members(void)
{
	static const char *const parts[][2] = {
		{ "anyOf 0 title", "\"test\"" },
		{ "anyOf 0 description", "\"All of it\"" },
		{ "anyOf 0 properties format", "{\"const\":3}" },
		{ "anyOf 1 properties format", "{\"const\":4}" },
		{ "anyOf 2", "none" },
		{ "anyOf 0 additionalProperties", "false" },
		{ "anyOf 0 required",
		  "[\"format\",\"length\",\"outer\",\"time\",\"more\",\"word\",\"offset\",\"shift\",\"by_name\",\"bins\"]" },
		{ "anyOf 0 properties length",
		  "{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"null\"}],\"description\":\"How long it is\",\"x-unit\":\"bytes\"}" },
		{ "anyOf 0 properties time", "{\"$ref\":\"#\\/$defs\\/time\"}" },
		{ "anyOf 0 properties more",
		  "{\"anyOf\":[{\"type\":\"array\",\"items\":{\"$ref\":\"#\\/$defs\\/time\"}},{\"type\":\"null\"}],\"description\":\"Or none\"}" },
		{ "$defs time",
		  "{\"type\":\"object\",\"properties\":{\"mean_us\":{\"type\":\"number\",\"x-unit\":\"us\"}},\"required\":[\"mean_us\"],\"additionalProperties\":false}" },
		{ "anyOf 0 properties word", "{\"enum\":[\"a\",\"b\"]}" },
		{ "anyOf 0 properties offset",
		  "{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0},{\"enum\":[\"unknown\"]}],\"description\":\"Where\",\"x-unit\":\"bytes\"}" },
		{ "anyOf 0 properties shift",
		  "{\"type\":\"integer\",\"description\":\"Where\"}" },
		{ "anyOf 0 properties by_name",
		  "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[{\"type\":\"integer\",\"minimum\":0},{\"type\":\"null\"}]}}" },
		{ "anyOf 0 properties bins items",
		  "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"number\"},{\"type\":\"integer\",\"minimum\":0}],\"minItems\":2,\"items\":false}" },
		{ "anyOf 0 properties last",
		  "{\"type\":\"boolean\",\"description\":\"At times\"}" },
		{ "$schema", "\"https:\\/\\/json-schema.org\\/draft\\/2020-12\\/schema\"" },
	};
	CLEANUP_FREE char *printed = NULL, *wrong = NULL;
	struct json_object *schema;
	size_t i;

	printed_begin();
	schema_print(SCHEMA_DOCUMENTS(&document, &other));
	printed = printed_end();
	wrong = json_parse(&schema, printed, strlen(printed));
	CHECK(!wrong, "%s: %s", wrong, printed);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *part = part_of(schema, parts[i][0]);

		CHECK(!strcmp(part, parts[i][1]), "%s: %s", parts[i][0], part);
	}
	json_object_put(schema);
}

const struct tap_test schema_tests[] = {
	{ "rows and columns become a JSON Schema with all that they say", members },
	{ 0 },
};
