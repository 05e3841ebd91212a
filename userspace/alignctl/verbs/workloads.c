// SPDX-License-Identifier: GPL-2.0
/* alignctl workloads: the built-in ones, where they come from, what they cost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/table.h"
#include "forecast/forecast.h"
#include "verbs/plan_options.h"
#include "verbs/verbs.h"
#include "workload/method.h"
#include "workload/page_cache.h"

#define JSON_FORMAT	1

/* The disk that the first of them were measured on; random ones spread on it. */
#define DISK_SECTORS	1953525168ULL

static const struct option_row rows[] = {
	{ "json", NULL, "print one JSON object" },
	{ 0 },
};

static int take(size_t row, const char *argument, void *context)
{
	(void)row;
	(void)argument;
	*(bool *)context = true;
	return 0;
}

/* What the published run must cost on that disk. */
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

/* 0 stands for what was not published. */
static void add_published(struct json_object *object, const char *key,
			  double value)
{
	if (value > 0)
		json_add_real(object, key, value);
	else
		json_add_null(object, key);
}

/* What the page cache sends to the device; null: nothing goes through it. */
static void json_add_cache(struct json_object *object, const struct workload *w,
			   const struct plan_figures *f)
{
	struct json_object *cache = w->buffered ? json_new() : NULL;

	if (cache) {
		json_add_number(cache, "block_bytes", PAGE_CACHE_BLOCK);
		json_add_number(cache, "blocks_read", f->reads);
		json_add_number(cache, "blocks_written", f->requests);
	}
	json_add(object, "page_cache", cache);
}

static struct json_object *json_workload(const struct workload *w,
					 const struct plan_figures *f)
{
	struct json_object *object = json_new(), *published = json_new();
	struct plan plan;

	plan_init(&plan, w);
	json_add_text(object, "name", w->name);
	json_add_text(object, "summary", w->summary);
	json_add_text(object, "origin", w->origin);
	json_add_number(object, "count", w->default_count);
	json_add_number(object, "reads", w->reads ? plan_requests(&plan) : 0);
	json_add_bool(object, "buffered", w->buffered);
	json_add_number(object, "writes", w->reads ? 0 : plan_requests(&plan));
	/* those that are buffered have one length */
	json_add_number(object, "bytes", w->buffered ?
			plan_requests(&plan) * plan.length : f->bytes);
	json_add_cache(object, w, f);
	json_add_number(object, "touches_expected", f->touches);
	json_add_number(object, "rmin", f->rmin);
	json_add_number(object, "distinct_blocks", f->distinct);
	add_published(published, "wall_s", w->wall_s);
	add_published(published, "mean_us", w->mean_us);
	json_add_text(published, "note", w->published);
	json_add(object, "published", published);
	return object;
}

static char *published_cell(const char *format, double value)
{
	char text[32];

	if (value <= 0)
		return message_format("-");
	snprintf(text, sizeof(text), format, value);
	return message_format("%s", text);
}

static void add_row(struct table *table, const struct workload *w,
		    const struct plan_figures *f)
{
	struct plan plan;

	plan_init(&plan, w);
	table_add(table, message_format("  %s", w->name));
	table_add(table, message_format("%" PRIu32, w->default_count));
	table_add(table, message_format("%" PRIu64, plan_requests(&plan)));
	table_add(table, message_format("%" PRIu64, f->touches));
	table_add(table, message_format("%" PRIu64, f->rmin));
	table_add(table, message_format("%" PRIu64, f->distinct));
	table_add(table, published_cell("%.3f", w->wall_s));
	table_add(table, published_cell("%.0f", w->mean_us));
}

/* A line more: what the page cache makes of a workload; the figures are of it. */
static void add_cached(char **lines, const struct workload *w,
		       const struct plan_figures *f)
{
	char *longer = message_format("%s  %s: buffered; the page cache reads %"
				      PRIu64 " blocks of %u bytes and writes %"
				      PRIu64 "\n", *lines, w->name, f->reads,
				      PAGE_CACHE_BLOCK, f->requests);

	free(*lines);
	*lines = longer;
}

/* Workloads of one origin, from @index on, which becomes that of the next. */
static int print_origin(size_t *index)
{
	static const char *const heading[] = {
		"  NAME", "COUNT", "REQUESTS", "TOUCHES", "RMIN", "BLOCKS",
		"WALL-S", "MEAN-US",
	};
	static const bool right[] = {
		false, true, true, true, true, true, true, true,
	};
	struct table table = {
		.columns = sizeof(right) / sizeof(right[0]), .right = right,
	};
	const struct workload *first = workload_at(*index), *w;
	CLEANUP_FREE char *cached = message_format("%s", "");
	size_t i;

	printf("%s\n", first->origin);
	for (i = 0; i < table.columns; i++)
		table_add(&table, message_format("%s", heading[i]));
	for (i = *index; (w = workload_at(i)); i++) {
		struct plan_figures figures;

		if (strcmp(w->origin, first->origin))
			break;
		if (published_figures(w, &figures))
			return ALIGNCTL_IO;
		add_row(&table, w, &figures);
		if (w->buffered)
			add_cached(&cached, w, &figures);
	}
	table_print(&table);
	for (; *index < i; ++*index) {
		w = workload_at(*index);
		if (w->published)
			printf("  %s: %s\n", w->name, w->published);
	}
	fputs(cached, stdout);
	return ALIGNCTL_FINE;
}

static struct json_object *json_methods(void)
{
	struct json_object *array = json_new_array();
	const struct method *m;
	size_t i;

	for (i = 0; (m = method_at(i)); i++) {
		struct json_object *object = json_new();

		json_add_text(object, "name", m->name);
		json_add_text(object, "summary", m->summary);
		json_add_text(object, "origin", m->origin);
		json_add_number(object, "count", m->default_count);
		json_add_bool(object, "writes", m->writes);
		json_add_text(object, "published", m->published);
		json_append(array, object);
	}
	return array;
}

/* Methods have no touches of their own: each of their runs has. */
static void print_methods(void)
{
	const struct method *m;
	size_t i;

	puts("\nMethods, each of many runs: what a device can do");
	for (i = 0; (m = method_at(i)); i++) {
		printf("  %-17s %s; %s\n", m->name, m->summary, m->origin);
		if (m->published)
			printf("  %s: %s\n", m->name, m->published);
	}
}

static int print_text(void)
{
	size_t index = 0;
	int result = ALIGNCTL_FINE;

	printf("Requests of the published run, and what they cost on physical blocks of %u bytes:\n"
	       "partial touches, block reads that nothing avoids, blocks written. Then what was\n"
	       "published of it. 'alignctl plan NAME' tells more.\n\n",
	       DISK_PHYSICAL);
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
		struct plan_figures figures;

		if (published_figures(w, &figures)) {
			json_object_put(array);
			json_object_put(object);
			return ALIGNCTL_IO;
		}
		json_append(array, json_workload(w, &figures));
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

	result = options_parse(verb, argc, argv, take, &json, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	return json ? print_json() : print_text();
}

const struct verb verb_workloads = {
	"workloads", "", 0, 0,
	"Show the built-in workloads, their origin, and what each must cost",
	rows, NULL, run,
};
