// SPDX-License-Identifier: GPL-2.0
/*
 * Print a judged stack: the tree of devices, the findings below it, or both as one
 * JSON document.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "audit/report.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/table.h"

#define JSON_FORMAT	1

/**
 * struct audit_row - a device, where the tree has it
 * @layer: the device
 * @position: its position
 * @depth: number of devices between it and the disk
 * @again: the tree has shown it on another device below
 */
struct audit_row {
	const struct stack_layer *layer;
	const struct position *position;
	unsigned int depth;
	bool again;
};

enum audit_column {
	AUDIT_NAME, AUDIT_KIND, AUDIT_LOGICAL, AUDIT_PHYSICAL, AUDIT_IO_MIN,
	AUDIT_OFFSET, AUDIT_START, AUDIT_END, AUDIT_SHIFT, AUDIT_CONTENT,
	AUDIT_MOUNTED,
};

/* The document has more: json_device(). */
static const struct table_column audit_columns[] = {
	[AUDIT_NAME] = { .heading = "DEVICE" },
	[AUDIT_KIND] = { .key = "kind", .heading = "KIND" },
	[AUDIT_LOGICAL] = { .key = "logical_block_size", .heading = "LOGICAL",
			    .flags = TABLE_RIGHT },
	[AUDIT_PHYSICAL] = { .key = "physical_block_size",
			     .heading = "PHYSICAL", .flags = TABLE_RIGHT },
	[AUDIT_IO_MIN] = { .key = "minimum_io_size", .heading = "IO-MIN",
			   .flags = TABLE_RIGHT },
	[AUDIT_OFFSET] = { .key = "alignment_offset", .heading = "OFFSET",
			   .flags = TABLE_RIGHT },
	[AUDIT_START] = { .key = "start_bytes", .heading = "START",
			  .flags = TABLE_RIGHT },
	[AUDIT_END] = { .key = "end_bytes", .heading = "END",
			.flags = TABLE_RIGHT },
	[AUDIT_SHIFT] = { .key = "shift_bytes", .heading = "SHIFT",
			  .flags = TABLE_RIGHT },
	[AUDIT_CONTENT] = { .heading = "CONTENT" },
	[AUDIT_MOUNTED] = { .heading = "MOUNTED" },
};

/* Return a figure with all its digits, for what is off is off by few bytes. */
static struct table_value exact(struct maybe figure)
{
	CLEANUP_FREE char *text = NULL;
	int64_t n;

	if (!maybe_get(figure, &n))
		return table_null();
	text = message_format("%" PRId64, n);
	if (n < 0)
		return table_shown(table_object(json_object_new_int64(n)),
				   text);
	return table_shown(table_number((uint64_t)n), text);
}

/* A figure of a header, by its key in the document and its name for people. */
struct content_figure {
	const char *key;
	const char *name;
	struct maybe value;
};

#define CONTENT_FIGURES	8

static void content_figures(const struct stack_content *content,
			    struct content_figure figures[CONTENT_FIGURES])
{
	const struct content_figure all[CONTENT_FIGURES] = {
		{ "data_start", "data at", content->start },
		{ "sector_size", "sector", content->sector },
		{ "block_size", "block", content->block },
		{ "extent_size", "extent", content->extent },
		{ "chunk_size", "chunk", content->chunk },
		{ "file_system_bytes", NULL, content->bytes },
		{ "table_sector_size", NULL, content->table_sector },
		{ "array_logical_block_size", NULL, content->logical },
	};
	size_t i;

	for (i = 0; i < CONTENT_FIGURES; i++)
		figures[i] = all[i];
}

/* Return "xfs, sector 512, block 4096", for free(); NULL: nothing known. */
static char *content_text(const struct stack_content *content)
{
	struct content_figure figures[CONTENT_FIGURES];
	char *text;
	size_t i;

	if (!content->type)
		return content->table ?
			message_format("%s table", content->table) :
			content->unread ? message_format("unread") : NULL;
	text = message_format("%s", content->type);
	content_figures(content, figures);
	for (i = 0; i < CONTENT_FIGURES; i++) {
		char *longer;
		int64_t value;

		if (!figures[i].name || !maybe_get(figures[i].value, &value))
			continue;
		longer = message_format("%s, %s %" PRId64, text,
					figures[i].name, value);
		free(text);
		text = longer;
	}
	return text;
}

static char *tree_name(const struct audit_row *row)
{
	const char *name = row->layer->label ? row->layer->label :
					       row->layer->name;
	CLEANUP_FREE char *visible = message_visible(name);

	return message_format("%*s%s%s", (int)(2 * row->depth), "", visible,
			      row->again ? " (see above)" : "");
}

static struct maybe end_of(const struct stack_layer *layer)
{
	int64_t bytes;

	if (!maybe_get(layer->bytes, &bytes))
		return MAYBE_UNKNOWN;
	return maybe_of(maybe_or(layer->start, 0) + bytes);
}

static struct table_value audit_value(const void *row, size_t column)
{
	const struct audit_row *r = row;
	const struct stack_layer *layer = r->layer;
	const struct maybe *figure = layer->view[STACK_SYSFS].figure;

	if (r->again && column != AUDIT_NAME)
		return table_absent();
	switch ((enum audit_column)column) {
	case AUDIT_NAME:
		return table_text_taken(tree_name(r));
	case AUDIT_KIND:
		return table_text(stack_kind_name(layer->kind));
	case AUDIT_LOGICAL:
		return exact(figure[STACK_LOGICAL]);
	case AUDIT_PHYSICAL:
		return exact(figure[STACK_PHYSICAL]);
	case AUDIT_IO_MIN:
		return exact(figure[STACK_IO_MIN]);
	case AUDIT_OFFSET:
		return exact(figure[STACK_OFFSET]);
	case AUDIT_START:
		return exact(layer->start);
	case AUDIT_END:
		return exact(end_of(layer));
	case AUDIT_SHIFT:
		return exact(r->position->shift);
	case AUDIT_CONTENT:
		return table_text_taken(content_text(&layer->content));
	case AUDIT_MOUNTED:
		return layer->nr_mounts ?
			table_text_taken(message_visible(layer->mounts[0])) :
			layer->swap ? table_text("[swap]") : table_null();
	}
	return table_absent();
}

static const struct table_type audit_table =
	TABLE_TYPE(audit_columns, audit_value);

/**
 * struct tree - the tree being printed
 * @stack: the stack
 * @judgement: its judgement
 * @shown: the devices that have been shown
 * @table: the table of rows
 */
struct tree {
	const struct stack *stack;
	const struct judgement *judgement;
	bool *shown;
	struct table *table;
};

/* Add a device and all that lies on it, each with its own once. */
static void add_tree(struct tree *tree, size_t index, unsigned int depth)
{
	const struct audit_row row = {
		&tree->stack->layer[index], &tree->judgement->position[index],
		depth, tree->shown[index],
	};
	const struct stack_layer *above = NULL;

	if (row.layer->aside)
		return;
	table_add(tree->table, &row);
	tree->shown[index] = true;
	while (!row.again && (above = stack_above(tree->stack, index, above)))
		add_tree(tree, (size_t)(above - tree->stack->layer), depth + 1);
}

static void print_tree(const struct stack *stack,
		       const struct judgement *judgement)
{
	CLEANUP_FREE bool *shown = memory_or_exit(calloc(stack->nr + 1,
							 sizeof(*shown)));
	struct tree tree = { stack, judgement, shown, table_new(&audit_table) };
	size_t i;

	for (i = 0; i < stack->nr; i++)
		if (!stack->layer[i].nr_below)
			add_tree(&tree, i, 0);
	table_print(tree.table, 0);
}

static void print_finding(const struct stack *stack,
			  const struct finding *finding)
{
	const struct stack_layer *layer = &stack->layer[finding->layer];
	const struct remedy *remedy = remedy_of(finding->remedy);
	CLEANUP_FREE char *name = message_visible(layer->label ? layer->label :
								 layer->name);
	CLEANUP_FREE char *text = message_visible(finding->text);
	CLEANUP_FREE char *mend = message_visible(finding->command ?
						  finding->command :
						  finding->reason);

	printf("\n%s%s: %s\n  cost: %s\n  %s: %s\n",
	       finding->note ? "note: " : "", name, text, finding->cost,
	       !finding->command ? "workaround" :
	       remedy->unmount ? "fix (unmount and back up first)" : "fix (may stay in use)",
	       mend);
	if (finding->advice.text)
		printf("  recommended: %s\n", finding->advice.text);
	if (remedy)
		printf("  destroys: %s; %s\n", remedy_harm_name(remedy->harm),
		       remedy->unmount ? "unmount first" : "may stay mounted");
}

void audit_report_text(const struct stack *stack,
		       const struct judgement *judgement)
{
	size_t i, faults = judgement_faults(judgement);

	print_tree(stack, judgement);
	for (i = 0; i < judgement->nr; i++)
		print_finding(stack, &judgement->finding[i]);
	printf("\nfindings: %zu, notes: %zu\n", faults, judgement->nr - faults);
}

static void add_figure(struct json_object *object, const char *key,
		       struct maybe figure)
{
	int64_t value;

	json_add(object, key, maybe_get(figure, &value) ?
			      json_object_new_int64(value) : NULL);
}

static void add_views(struct json_object *object,
		      const struct stack_layer *layer)
{
	size_t i, k;

	for (i = STACK_SYSFS + 1; i < STACK_NR_SOURCES; i++) {
		struct json_object *view = json_new();
		bool known = false;

		for (k = 0; k < STACK_NR_FIGURES; k++) {
			struct maybe figure = layer->view[i].figure[k];

			known |= maybe_known(figure);
			add_figure(view, stack_figure_key(k), figure);
		}
		if (!known) {
			json_object_put(view);
			view = NULL;
		}
		json_add(object, stack_source_name(i), view);
	}
}

static struct json_object *json_content(const struct stack_content *content)
{
	struct content_figure figures[CONTENT_FIGURES];
	struct json_object *object = json_new();
	size_t i;

	json_add_text(object, "type", content->type);
	json_add_text(object, "partition_table", content->table);
	json_add_text(object, "unread", content->unread);
	content_figures(content, figures);
	for (i = 0; i < CONTENT_FIGURES; i++)
		add_figure(object, figures[i].key, figures[i].value);
	return object;
}

static struct json_object *json_device(const struct stack *stack,
				       const struct stack_layer *layer,
				       const struct position *position)
{
	const struct audit_row row = { layer, position, 0, false };
	struct json_object *object = json_new();
	struct json_object *below = json_new_array();
	struct json_object *mounts = json_new_array();
	CLEANUP_FREE char *devno = message_format("%u:%u", major(layer->devno),
						  minor(layer->devno));
	size_t i;

	json_add_text(object, "name", layer->name);
	json_add_text(object, "path", layer->path);
	json_add_text(object, "devno", layer->devno ? devno : NULL);
	json_add_text(object, "partition_type", layer->type);
	json_add_text(object, "model", layer->unit.model);
	for (i = 0; i < audit_table.nr; i++)
		if (audit_columns[i].key)
			json_add(object, audit_columns[i].key,
				 table_json_cell(&audit_table, &row, i));
	add_figure(object, "optimal_io_size", layer->io_opt);
	add_figure(object, "max_io_bytes", layer->max_io);
	add_figure(object, "disk_physical_block_size", position->block);
	add_figure(object, "data_shift_bytes", position->data_shift);
	add_views(object, layer);
	json_add(object, "unit", layer->unit.nr ? unit_json(&layer->unit) :
						   NULL);
	json_add(object, "content", json_content(&layer->content));
	for (i = 0; i < layer->nr_below; i++)
		json_append(below, json_from_text(
			stack->layer[layer->below[i]].name));
	json_add(object, "lies_on", below);
	for (i = 0; i < layer->nr_mounts; i++)
		json_append(mounts, json_from_text(layer->mounts[i]));
	json_add(object, "mounted_on", mounts);
	json_add_bool(object, "swap", layer->swap);
	return object;
}

/* Return what mends a finding, or NULL if that is words only. */
static struct json_object *json_remedy(const struct finding *finding)
{
	const struct remedy *remedy = remedy_of(finding->remedy);
	struct json_object *object;

	if (!remedy)
		return NULL;
	object = json_new();
	json_add_text(object, "name", remedy->name);
	json_add_text(object, "command", finding->command ? finding->command :
							     finding->inner);
	json_add_text(object, "destroys", remedy_harm_name(remedy->harm));
	json_add_bool(object, "unmount", remedy->unmount);
	return object;
}

/* Return the advice as plan has it; NULL: nothing is forecast. */
static struct json_object *json_advice(const struct finding_advice *advice)
{
	struct json_object *object;

	if (!advice->remedy)
		return NULL;
	object = json_new();
	json_add_text(object, "remedy", advice->remedy);
	json_add_number(object, "left", advice->left);
	json_add_real(object, "gain_percent", advice->gain_percent);
	return object;
}

static struct json_object *json_finding(const struct stack *stack,
					const struct finding *finding)
{
	struct json_object *object = json_new();

	json_add_text(object, "finding", finding->rule->name);
	json_add_text(object, "device", stack->layer[finding->layer].name);
	json_add_bool(object, "note", finding->note);
	json_add_text(object, "cause", finding->rule == &rule_cause ?
		      cause_name(finding->cause) : NULL);
	json_add_text(object, "text", finding->text);
	json_add_text(object, "cost", finding->cost);
	json_add_text(object, "command", finding->command);
	json_add_text(object, "not_in_place", finding->reason);
	json_add(object, "remedy", json_remedy(finding));
	json_add(object, "recommendation", json_advice(&finding->advice));
	return object;
}

void audit_report_json(const struct stack *stack,
		       const struct judgement *judgement)
{
	struct json_object *document = json_new_document(JSON_FORMAT);
	struct json_object *devices = json_new_array();
	struct json_object *findings = json_new_array();
	size_t i;

	for (i = 0; i < stack->nr; i++)
		if (!stack->layer[i].aside)
			json_append(devices, json_device(stack,
				&stack->layer[i], &judgement->position[i]));
	for (i = 0; i < judgement->nr; i++)
		json_append(findings, json_finding(stack,
						   &judgement->finding[i]));
	json_add(document, "devices", devices);
	json_add(document, "findings", findings);
	json_print(document, false);
}
