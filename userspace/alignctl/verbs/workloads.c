// SPDX-License-Identifier: GPL-2.0
/* alignctl workloads: the built-in ones, where they come from, what they cost. */
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/table.h"
#include "forecast/forecast.h"
#include "verbs/plan_options.h"
#include "verbs/verbs.h"
#include "workload/method.h"
#include "workload/page_cache.h"

#define JSON_FORMAT	1

/* The disk that the first of them were measured on; random ones spread on it. */
#define DISK_SECTORS	1953525168ULL

/* Work out what the published run must cost on that disk. */
static int published_figures(const struct workload *w,
			     struct plan_figures *figures)
{
	struct align_geometry g;
	struct plan plan;

	align_geometry_init(&g, DISK_PHYSICAL, DISK_LOGICAL, 0, 0,
			    DISK_SECTORS);
	plan_init(&plan, w);
	if ((workload_random(w) && !plan.places) ||
	    w->device == WORKLOAD_SPREAD)
		plan_spread(&plan, (DISK_SECTORS << ALIGN_SECTOR_SHIFT) -
				   plan.start - WORKLOAD_INSIDE);
	return plan_figures(&plan, &g, plan.buffered ? PAGE_CACHE_BLOCK : 0,
			    figures);
}

/* A workload, and what its published run must cost. */
struct workloads_row {
	const struct workload *w;
	struct plan_figures figures;
	struct plan plan;
};

enum workloads_column {
	WORKLOADS_NAME, WORKLOADS_SUMMARY, WORKLOADS_ORIGIN, WORKLOADS_COUNT,
	WORKLOADS_READS, WORKLOADS_BUFFERED, WORKLOADS_WRITES, WORKLOADS_BYTES,
	WORKLOADS_CACHE, WORKLOADS_CACHE_BLOCK, WORKLOADS_CACHE_READS,
	WORKLOADS_CACHE_WRITES, WORKLOADS_TOUCHES, WORKLOADS_RMIN,
	WORKLOADS_BLOCKS, WORKLOADS_WALL, WORKLOADS_MEAN, WORKLOADS_NOTE,
};

static const struct table_type workloads_table;

static const struct schema_row page_cache_rows[] = {
	MEMBERS_OF_TABLE(&workloads_table, .within = "page_cache."),
	{ 0 },
};

static const struct table_column workloads_columns[] = {
	[WORKLOADS_NAME] = { .key = "name", .heading = "NAME",
		COLUMN_MEMBER(JSON_TEXT, "Name, as replay and plan take it") },
	[WORKLOADS_SUMMARY] = { .key = "summary",
		COLUMN_MEMBER(JSON_TEXT, "What its requests are, in words") },
	[WORKLOADS_ORIGIN] = { .key = "origin",
		COLUMN_MEMBER(JSON_TEXT, "Who published it, in words") },
	[WORKLOADS_COUNT] = { .key = "count", .heading = "COUNT",
			      .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Repetitions of the published run") },
	[WORKLOADS_READS] = { .key = "reads", .heading = "READS",
			      .flags = TABLE_RIGHT | TABLE_OPTIONAL,
		COLUMN_MEMBER(JSON_NUMBER,
			"Number of reads of the published run") },
	[WORKLOADS_BUFFERED] = { .key = "buffered",
		COLUMN_MEMBER(JSON_BOOL, "Whether the requests go through the page cache") },
	[WORKLOADS_WRITES] = { .key = "writes", .heading = "WRITES",
			       .flags = TABLE_RIGHT | TABLE_OPTIONAL,
		COLUMN_MEMBER(JSON_NUMBER,
			"Number of writes of the published run") },
	[WORKLOADS_BYTES] = { .key = "bytes",
		COLUMN_MEMBER(JSON_NUMBER, "Bytes of these reads and writes") },
	/* null, or an object of the three that follow */
	[WORKLOADS_CACHE] = { .key = "page_cache",
		COLUMN_MEMBER(JSON_OBJECT | JSON_NULL,
			"What reaches the device through the page cache; null if not buffered",
			.rows = page_cache_rows) },
	[WORKLOADS_CACHE_BLOCK] = { .key = "page_cache.block_bytes",
		COLUMN_MEMBER(JSON_NUMBER, "Block of the page cache") },
	[WORKLOADS_CACHE_READS] = { .key = "page_cache.blocks_read",
				    .heading = "CACHE-READS",
				    .flags = TABLE_RIGHT | TABLE_OPTIONAL,
		COLUMN_MEMBER(JSON_NUMBER, "Blocks that the page cache reads") },
	[WORKLOADS_CACHE_WRITES] = { .key = "page_cache.blocks_written",
				     .heading = "CACHE-WRITES",
				     .flags = TABLE_RIGHT | TABLE_OPTIONAL,
		COLUMN_MEMBER(JSON_NUMBER,
			"Blocks that the page cache writes") },
	[WORKLOADS_TOUCHES] = { .key = "touches_expected", .heading = "TOUCHES",
				.flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"As in alignctl-replay(8), JSON OF REPLAY, for the published run") },
	[WORKLOADS_RMIN] = { .key = "rmin", .heading = "RMIN",
			     .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[WORKLOADS_BLOCKS] = { .key = "distinct_blocks", .heading = "BLOCKS",
			       .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[WORKLOADS_WALL] = { .key = "published.wall_s", .heading = "WALL",
			     .flags = TABLE_RIGHT | TABLE_OPTIONAL,
			     .unit = FIGURE_S,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"Published time of the run, mean latency of its requests, and other results in words; null: not published") },
	[WORKLOADS_MEAN] = { .key = "published.mean_us", .heading = "MEAN",
			     .flags = TABLE_RIGHT | TABLE_OPTIONAL,
			     .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[WORKLOADS_NOTE] = { .key = "published.note",
		COLUMN_MEMBER(JSON_TEXT | JSON_NULL, AS_ABOVE) },
};

/* 0 stands for what was not published. */
static struct table_value published_value(double value)
{
	return value > 0 ? table_real(value) : table_null();
}

static struct table_value of_cache(const struct workload *w, uint64_t n)
{
	return w->buffered ? table_number(n) : table_absent();
}

static struct table_value workloads_value(const void *row, size_t column)
{
	const struct workloads_row *r = row;
	const struct plan_figures *f = &r->figures;
	const struct workload *w = r->w;
	uint64_t requests = plan_requests(&r->plan);

	switch ((enum workloads_column)column) {
	case WORKLOADS_NAME:
		return table_text(w->name);
	case WORKLOADS_SUMMARY:
		return table_text(w->summary);
	case WORKLOADS_ORIGIN:
		return table_text(w->origin);
	case WORKLOADS_COUNT:
		return table_number(w->default_count);
	case WORKLOADS_READS:
		return table_number(w->reads ? requests : 0);
	case WORKLOADS_BUFFERED:
		return table_bool(w->buffered);
	case WORKLOADS_WRITES:
		return table_number(w->reads ? 0 : requests);
	case WORKLOADS_BYTES:
		/* those that are buffered have one length */
		return table_number(w->buffered ? requests * r->plan.length :
						  f->bytes);
	case WORKLOADS_CACHE:
		return w->buffered ? table_absent() : table_null();
	case WORKLOADS_CACHE_BLOCK:
		return of_cache(w, PAGE_CACHE_BLOCK);
	case WORKLOADS_CACHE_READS:
		return of_cache(w, f->reads);
	case WORKLOADS_CACHE_WRITES:
		return of_cache(w, f->requests);
	case WORKLOADS_TOUCHES:
		return table_number(f->touches);
	case WORKLOADS_RMIN:
		return table_number(f->rmin);
	case WORKLOADS_BLOCKS:
		return table_number(f->distinct);
	case WORKLOADS_WALL:
		return published_value(w->wall_s);
	case WORKLOADS_MEAN:
		return published_value(w->mean_us);
	case WORKLOADS_NOTE:
		return table_text(w->published);
	}
	return table_absent();
}

static const struct table_type workloads_table =
	TABLE_TYPE(workloads_columns, workloads_value);

/* Return: enum alignctl_exit; errors have been reported. */
static int make_row(struct workloads_row *row, const struct workload *w)
{
	row->w = w;
	plan_init(&row->plan, w);
	return published_figures(w, &row->figures);
}

/* Workloads of one origin, from @index on, which becomes that of the next. */
static int print_origin(size_t *index)
{
	struct table *table = table_new(&workloads_table);
	const struct workload *first = workload_at(*index), *w;
	int result = ALIGNCTL_FINE;
	size_t i;

	for (i = *index; !result && (w = workload_at(i)) &&
	     !strcmp(w->origin, first->origin); i++) {
		struct workloads_row row;

		result = make_row(&row, w);
		if (!result)
			table_add(table, &row);
	}
	printf("%s\n", first->origin);
	table_print(table, 2);
	for (; !result && *index < i; ++*index) {
		w = workload_at(*index);
		if (w->published)
			printf("  %s: %s\n", w->name, w->published);
	}
	return result;
}

static const struct schema_row published_rows[] = {
	MEMBERS_OF_TABLE(&workloads_table, .within = "published."),
	{ 0 },
};

static const struct schema_row workload_rows[] = {
	MEMBERS_OF_TABLE(&workloads_table),
	MEMBER("published", JSON_OBJECT, NULL, "Published results",
	       .rows = published_rows),
	{ 0 },
};

static const struct schema_row method_rows[] = {
	MEMBERS_OF_TABLE(&method_table),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("physical_block_size", JSON_NUMBER, "bytes",
	       "Physical block of the disk that the figures are for"),
	MEMBER("sectors", JSON_NUMBER, "sectors of 512 bytes",
	       "Length of that disk"),
	MEMBER("workloads", JSON_ARRAY | JSON_OBJECT, NULL, "For each workload",
	       .rows = workload_rows),
	MEMBER("methods", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each method of probe", .rows = method_rows),
	{ 0 },
};

static const struct schema_document document = {
	"workloads", JSON_FORMAT, NULL, document_rows,
};

static struct json_object *json_methods(void)
{
	struct json_object *array = json_new_array();
	const struct method *m;
	size_t i;

	for (i = 0; (m = method_at(i)); i++)
		json_append(array, table_json(&method_table, m));
	return array;
}

/* Methods have no touches of their own: each of their runs has. */
static void print_methods(void)
{
	const struct method *first, *m;
	size_t start, i;

	puts("\nMethods, each of many runs: what a device can do");
	for (start = 0; (first = method_at(start)); start = i) {
		struct table *table = table_new(&method_table);

		for (i = start; (m = method_at(i)) &&
		     !strcmp(m->origin, first->origin); i++)
			table_add(table, m);
		printf("%s\n", first->origin);
		table_print(table, 2);
		for (i = start; (m = method_at(i)) &&
		     !strcmp(m->origin, first->origin); i++)
			if (m->published)
				printf("  %s: %s\n", m->name, m->published);
	}
}

static int print_text(void)
{
	size_t index = 0;
	int result = ALIGNCTL_FINE;

	printf("Requests of the published run, and what they cost on physical blocks of %s:\n"
	       "partial touches, block reads that nothing avoids, blocks written. Where they go\n"
	       "through the page cache, CACHE-READS and CACHE-WRITES are the blocks that it reads\n"
	       "and writes. Then what was published of it. 'alignctl plan NAME' tells more.\n\n",
	       figure(FIGURE_LENGTH, DISK_PHYSICAL).text);
	while (!result && workload_at(index))
		result = print_origin(&index);
	if (!result)
		print_methods();
	return result;
}

static int print_json(void)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct json_object *array = json_new_array();
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		struct workloads_row row;

		if (make_row(&row, w)) {
			json_object_put(array);
			json_object_put(object);
			return ALIGNCTL_IO;
		}
		json_append(array, table_json(&workloads_table, &row));
	}
	json_add_number(object, "physical_block_size", DISK_PHYSICAL);
	json_add_number(object, "sectors", DISK_SECTORS);
	json_add(object, "workloads", array);
	json_add(object, "methods", json_methods());
	json_print(object, false);
	return ALIGNCTL_FINE;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	bool json = false;
	int first, result;

	result = options_parse(verb, argc, argv, options_take_json, &json, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	return json ? print_json() : print_text();
}

const struct verb verb_workloads = {
	"workloads", "", 0, 0,
	"Show the built-in workloads, their origin, and the cost of each",
	options_json_only, NULL, run, NULL, SCHEMA_DOCUMENTS(&document),
};
