// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "tests/printed.h"
#include "tests/tap.h"

/* A request of a kind, as reports have them; 0 is not known. */
struct row {
	const char *name;
	uint64_t count;
	uint64_t bytes;
	double mean_us;
	uint64_t spare;
};

enum { NAME, COUNT, BYTES, SOURCE, MEAN, P99, SPARE, OUTER, STATE, NR };

/* @name, @count and @mean: by which of these rows go. */
#define COLUMNS(name, count, mean) {					\
	[NAME] = { .key = "name", .heading = "NAME", .flags = (name) },	\
	[COUNT] = { .key = "count", .heading = "COUNT",			\
		    .flags = TABLE_RIGHT | (count) },			\
	[BYTES] = { .key = "bytes", .heading = "SIZE",			\
		    .flags = TABLE_RIGHT, .unit = FIGURE_BYTES },	\
	[SOURCE] = { .key = "source" },					\
	[MEAN] = { .key = "time.mean_us", .heading = "MEAN",		\
		   .flags = TABLE_RIGHT | (mean), .unit = FIGURE_US },	\
	[P99] = { .key = "time.p99_us", .unit = FIGURE_US },		\
	[SPARE] = { .key = "spare", .heading = "SPARE",			\
		    .flags = TABLE_RIGHT | TABLE_OPTIONAL },		\
	[OUTER] = { .key = "all", .flags = TABLE_OUTER },		\
	[STATE] = { .heading = "STATE" },				\
}

static const struct table_column by_nothing[NR] = COLUMNS(0, 0, 0);
static const struct table_column flush_right[NR] = COLUMNS(TABLE_RIGHT, 0, 0);
static const struct table_column by_name[NR] = COLUMNS(TABLE_RISING, 0, 0);
static const struct table_column by_count[NR] = COLUMNS(0, TABLE_FALLING, 0);
static const struct table_column by_mean[NR] = COLUMNS(0, 0, TABLE_RISING);
static const struct table_column by_worst[NR] = COLUMNS(0, 0, TABLE_FALLING);

static struct table_value value(const void *of, size_t column)
{
	const struct row *row = of;

	switch (column) {
	case NAME:
		return table_text(row->name);
	case COUNT:
		return table_number(row->count);
	case BYTES:
		return table_number(row->bytes);
	case SOURCE:
		return table_object(json_new_array());
	case MEAN:
		return row->mean_us > 0 ? table_real(row->mean_us) :
					  table_null();
	case P99:
		return row->mean_us > 0 ? table_real(2 * row->mean_us) :
					  table_absent();
	case SPARE:
		return table_number(row->spare);
	case OUTER:
		return table_bool(true);
	case STATE:
		return row->spare ?
			table_shown(table_object(json_object_new_int64((int64_t)row->spare)),
				    "held") : table_bool(row->count);
	}
	return table_absent();
}

static const struct row rows[] = {
	{ "write", 12345678, 50567897088, 532, 0 },
	{ "read", 999999, 4096, 0, 0 },
	{ "flush", 0, 0, 1512345.25, 0 },
	{ "discard", 12345679, 512, 16550.8, 0 },
};

/* What the first @nr rows look like in columns of that kind; for free(). */
static char *shown(const struct table_column *columns, const struct row *row,
		   size_t nr, unsigned int indent)
{
	const struct table_type type = { columns, NR, value };
	struct table *table = table_new(&type);
	size_t i;

	for (i = 0; i < nr; i++)
		table_add(table, &row[i]);
	printed_begin();
	table_print(table, indent);
	return printed_end();
}

static void text(void)
{
	CLEANUP_FREE char *found = shown(by_nothing, rows, 4, 1);
	static const char wanted[] =
		" NAME      COUNT      SIZE     MEAN  STATE\n"
		" write    12.3 M  47.1 GiB   532 us  yes\n"
		" read     999999     4 KiB        -  yes\n"
		" flush         0       0 B   1.51 s  no\n"
		" discard  12.3 M     512 B  16.6 ms  yes\n";

	CHECK(!strcmp(found, wanted), "\n%s", found);
}

static void optional(void)
{
	static const struct row spare[] = { { "a", 1, 2, 3, 4 },
					    { "bc", 1, 2, 3, 0 } };
	CLEANUP_FREE char *found = shown(by_nothing, spare, 2, 0);
	static const char wanted[] =
		"NAME  COUNT  SIZE  MEAN  SPARE  STATE\n"
		"a         1   2 B  3 us      4  held\n"
		"bc        1   2 B  3 us      0  yes\n";

	CHECK(!strcmp(found, wanted), "\n%s", found);
}

static void nothing(void)
{
	CLEANUP_FREE char *found = shown(by_name, rows, 0, 0);

	CHECK(!*found, "%s", found);
}

static void hostile(void)
{
	static const struct row bad[] = { { "a\x1b[2Jb\nc\\x20d", 1, 1, 1, 0 },
					  { "", 1, 1, 1, 0 } };
	CLEANUP_FREE char *found = shown(by_nothing, bad, 2, 0);

	CHECK(strstr(found, "\na\\x1b[2Jb\\x0ac\\x20d  "), "%s", found);
	CHECK(strstr(found, "\n-  "), "%s", found);
}

/* As of a flush-right column, whose width libsmartcols counts by characters. */
static void unreadable(void)
{
	static const struct row bad[] = { { "pa\x9e\x64", 1, 1, 1, 0 },
					  { "\xc3\xa9\xc3", 1, 1, 1, 0 } };
	CLEANUP_FREE char *left = shown(by_nothing, bad, 2, 0);
	CLEANUP_FREE char *right = NULL;

	/* it was seen to hang */
	alarm(60);
	right = shown(flush_right, bad, 2, 0);
	alarm(0);
	CHECK(strstr(left, "\npa\\x9ed  "), "%s", left);
	CHECK(strstr(right, "pa\\x9ed  "), "%s", right);
	CHECK(strstr(right, "\\xc3  "), "%s", right);
}

/* The names of the rows, in their order; for free(). */
static char *order(const struct table_column *columns)
{
	CLEANUP_FREE char *found = shown(columns, rows, 4, 0);
	char *names = calloc(1, strlen(found) + 1);
	char *rest = found, *line;

	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && *line)
		strncat(names, line, strcspn(line, " ") + 1);
	return names;
}

static void sorting(void)
{
	static const struct {
		const struct table_column *columns;
		const char *order;
	} kinds[] = {
		{ by_nothing, "write read flush discard " },
		{ by_name, "discard flush read write " },
		/* raw: both are 12.3 M for people */
		{ by_count, "discard write read flush " },
		/* what is not known is last, whichever way */
		{ by_mean, "write discard flush read " },
		{ by_worst, "flush discard write read " },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		CLEANUP_FREE char *found = order(kinds[i].columns);

		CHECK(!strcmp(found, kinds[i].order), "%s, not %s", found,
		      kinds[i].order);
	}
}

static void stable(void)
{
	static const struct row same[] = {
		{ "c", 7, 1, 1, 0 }, { "a", 7, 2, 1, 0 }, { "b", 7, 3, 1, 0 },
	};
	CLEANUP_FREE char *found = shown(by_count, same, 3, 0);

	CHECK(strstr(found, "\nc") < strstr(found, "\na") &&
	      strstr(found, "\na") < strstr(found, "\nb"), "%s", found);
}

/* A row in one line of JSON. */
static void check_json(const struct row *row, const char *wanted)
{
	const struct table_type type = { by_count, NR, value };
	struct json_object *object = table_json(&type, row);
	const char *found =
		json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);

	CHECK(!strcmp(found, wanted), "%s, not %s", found, wanted);
	json_object_put(object);
}

static void json(void)
{
	check_json(&rows[0], "{\"name\":\"write\",\"count\":12345678,"
			     "\"bytes\":50567897088,\"source\":[],"
			     "\"time\":{\"mean_us\":532.000000,"
			     "\"p99_us\":1064.000000},\"spare\":0}");
	check_json(&rows[1], "{\"name\":\"read\",\"count\":999999,"
			     "\"bytes\":4096,\"source\":[],"
			     "\"time\":{\"mean_us\":null},\"spare\":0}");
}

static void outer(void)
{
	const struct table_type type = { by_count, NR, value };
	struct json_object *object = json_new();
	const char *found;

	table_json_outer(object, &type, &rows[0]);
	json_add(object, "count", table_json_cell(&type, &rows[0], COUNT));
	json_add(object, "mean", table_json_cell(&type, &rows[1], MEAN));
	json_add(object, "state",
		 table_json_cell(&type, &(struct row){ .spare = 5 }, STATE));
	found = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	CHECK(!strcmp(found, "{\"all\":true,\"count\":12345678,\"mean\":null,"
			     "\"state\":5}"), "%s", found);
	json_object_put(object);
}

const struct tap_test table_tests[] = {
	{ "columns are as wide as what stands in them, figures flush right",
	  text },
	{ "a column that may be left out is, where no row has anything",
	  optional },
	{ "a table without rows prints nothing", nothing },
	{ "a cell cannot control a terminal, and none is empty", hostile },
	{ "a cell that is no text in the locale is shown by its bytes",
	  unreadable },
	{ "rows go by the raw value, what is not known last", sorting },
	{ "rows that are equal stay as they were", stable },
	{ "the same columns make a document, of raw numbers and null", json },
	{ "members of the object around, and single cells, are made too",
	  outer },
	{ 0 },
};
