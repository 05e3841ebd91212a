// SPDX-License-Identifier: GPL-2.0
/*
 * Rows for the shapes of writes: how each lies on blocks, and the requests that it
 * became.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/table.h"
#include "ledger/ledger_bars.h"
#include "record/shapes_report.h"

#define MOST_SHAPES	20U	/* lines of the table */
#define MOST_NODES	64U	/* lines of the tree */
#define BAR_WIDTH	20U	/* characters, of the largest count */

static const char *operation(bool zeroes)
{
	return zeroes ? "write-zeroes" : "write";
}

/* Return a number as it is, for free(): figures are rounded from a million on. */
static char *exact(uint64_t n)
{
	return message_format("%" PRIu64, n);
}

static struct table_value table_exact(uint64_t n)
{
	CLEANUP_FREE char *text = exact(n);

	return table_shown(table_number(n), text);
}

enum shape_column {
	SHAPE_OPERATION, SHAPE_BYTES, SHAPE_START, SHAPE_COUNT, SHAPE_BEFORE,
	SHAPE_REQUESTS, SHAPE_AFTER, SHAPE_BECAME, SHAPE_BECAME_TEXT,
};

static const struct schema_row piece_rows[] = {
	MEMBER("bytes", JSON_NUMBER, "bytes",
	       "Length of the write's part in the request"),
	MEMBER("merged", JSON_BOOL, NULL,
	       "Whether the request has other bios, too"),
	{ 0 },
};

static const struct table_column shape_columns[] = {
	[SHAPE_OPERATION] = { .key = "operation", .heading = "OPERATION",
		COLUMN_MEMBER(JSON_TEXT,
			"Operation of the writes",
			SCHEMA_WORDS("write", "write-zeroes")) },
	[SHAPE_BYTES] = { .key = "bytes", .heading = "LENGTH",
			  .flags = TABLE_RIGHT, .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER, "Length of a write") },
	[SHAPE_START] = { .key = "start", .heading = "START",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Where a write begins in the physical block, in bytes") },
	[SHAPE_COUNT] = { .key = "count", .heading = "COUNT",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of writes of this shape") },
	[SHAPE_BEFORE] = { .key = "touches_before", .heading = "TOUCHES",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Partial touches of one such write") },
	[SHAPE_REQUESTS] = { .key = "requests", .heading = "REQUESTS",
			     .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of requests that one write became") },
	[SHAPE_AFTER] = { .key = "touches_after", .heading = "THEIR-TOUCHES",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Partial touches of these requests") },
	[SHAPE_BECAME] = { .key = "became",
		COLUMN_MEMBER(JSON_ARRAY | JSON_OBJECT,
			"For each part of the write: the request it became",
			.rows = piece_rows) },
	[SHAPE_BECAME_TEXT] = { .heading = "BECAME" },
};

static bool equal(const struct shape_piece *a, const struct shape_piece *b)
{
	return a->bytes == b->bytes && a->merged == b->merged;
}

/* Return the requests as "512 + 2x688128 + 4096 (merged)", for free(). */
static char *text_became(const struct shape *shape)
{
	char *text = NULL, *longer;
	size_t i, run;

	for (i = 0; i < shape->nr; i += run) {
		const struct shape_piece *piece = &shape->piece[i];
		CLEANUP_FREE char *times = NULL;

		for (run = 1; i + run < shape->nr &&
		     equal(piece, piece + run); run++)
			;
		times = run > 1 ? message_format("%zux", run) :
				  message_format("%s", "");
		longer = message_format("%s%s%s%" PRIu32 "%s", text ? text : "",
					text ? " + " : "", times, piece->bytes,
					piece->merged ? " (merged)" : "");
		free(text);
		text = longer;
	}
	return text;
}

static struct table_value became_value(const struct shape *shape)
{
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < shape->nr; i++) {
		struct json_object *one = json_new();

		json_add_number(one, "bytes", shape->piece[i].bytes);
		json_add_bool(one, "merged", shape->piece[i].merged);
		json_append(array, one);
	}
	return table_object(array);
}

static struct table_value shape_value(const void *row, size_t column)
{
	const struct shape *shape = row;

	switch ((enum shape_column)column) {
	case SHAPE_OPERATION:
		return table_text(operation(shape->zeroes));
	case SHAPE_BYTES:
		return table_number(shape->bytes);
	case SHAPE_START:
		return table_number(shape->start);
	case SHAPE_COUNT:
		return table_number(shape->count);
	case SHAPE_BEFORE:
		return table_number(shape->touches_before);
	case SHAPE_REQUESTS:
		return table_number(shape->nr);
	case SHAPE_AFTER:
		return table_number(shape->touches_after);
	case SHAPE_BECAME:
		return became_value(shape);
	case SHAPE_BECAME_TEXT:
		return table_text_taken(text_became(shape));
	}
	return table_absent();
}

static const struct table_type shape_table =
	TABLE_TYPE(shape_columns, shape_value);

/**
 * struct node - a line of the tree
 * @shapes: where the blocks are known
 * @kind: name of what it is, as printed
 * @depth: number of nodes above it
 * @range: the write, its part, or the request
 * @part: part of the write that is in the request; NULL: no request
 */
struct node {
	const struct shapes *shapes;
	const char *kind;
	unsigned int depth;
	const struct story_range *range;
	const struct story_range *part;
};

enum node_column {
	NODE_KIND, NODE_DEPTH, NODE_NAME, NODE_SECTOR, NODE_BYTES, NODE_START,
	NODE_TOUCHES, NODE_PART_SECTOR, NODE_PART_BYTES,
};

static const struct table_column node_columns[] = {
	[NODE_KIND] = { .key = "kind",
		COLUMN_MEMBER(JSON_TEXT,
			"What the node is: the write, a part that it was split into, or a request; merged if it has other bios, too",
			SCHEMA_WORDS("write", "write-zeroes", "split", "request", "merged request")) },
	[NODE_DEPTH] = { .key = "depth",
		COLUMN_MEMBER(JSON_NUMBER, "Number of nodes above it") },
	[NODE_NAME] = { .heading = "NODE" },
	[NODE_SECTOR] = { .key = "sector", .heading = "SECTOR",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "First sector of 512 bytes on the device") },
	[NODE_BYTES] = { .key = "bytes", .heading = "BYTES",
			 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Length") },
	[NODE_START] = { .key = "start", .heading = "START",
			 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Where it begins in the physical block, in bytes") },
	[NODE_TOUCHES] = { .key = "touches", .heading = "TOUCHES",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Partial touches") },
	[NODE_PART_SECTOR] = { .key = "part_sector",
		COLUMN_MEMBER(JSON_NUMBER | JSON_ABSENT,
			"Part of the write in a request: first sector and length; absent of other nodes") },
	[NODE_PART_BYTES] = { .key = "part_bytes", .heading = "OF-THE-WRITE",
			      .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_ABSENT, AS_ABOVE) },
};

static uint64_t bytes_of(const struct story_range *range)
{
	return range->sectors << ALIGN_SECTOR_SHIFT;
}

static struct table_value node_value(const void *row, size_t column)
{
	const struct node *node = row;

	switch ((enum node_column)column) {
	case NODE_KIND:
		return table_text(node->kind);
	case NODE_DEPTH:
		return table_number(node->depth);
	case NODE_NAME:
		return table_text_taken(message_format("%*s%s",
						       2 * (int)node->depth, "",
						       node->kind));
	case NODE_SECTOR:
		return table_exact(node->range->sector);
	case NODE_BYTES:
		return table_exact(bytes_of(node->range));
	case NODE_START:
		return table_number(align_sector_in_block(
					&node->shapes->geometry,
					node->range->sector) <<
				    ALIGN_SECTOR_SHIFT);
	case NODE_TOUCHES:
		return table_number(shapes_touches(node->shapes, node->range));
	case NODE_PART_SECTOR:
		return node->part ? table_number(node->part->sector) :
				    table_absent();
	case NODE_PART_BYTES:
		return node->part ? table_exact(bytes_of(node->part)) :
				    table_absent();
	}
	return table_absent();
}

static const struct table_type node_table =
	TABLE_TYPE(node_columns, node_value);

static bool holds(const struct story_range *range, uint64_t sector)
{
	return sector - range->sector < range->sectors;
}

/*
 * Call @each with the nodes of a story: the write, and below it each part that
 * was split off, with its request, and the request of the rest.
 */
static void walk_tree(const struct shapes *shapes, const struct story *story,
		      void (*each)(const struct node *node, void *context),
		      void *context)
{
	struct node node = { .shapes = shapes, .kind = operation(story->zeroes),
			     .range = &story->range };
	size_t i, j;

	each(&node, context);
	for (i = 0; i < story->nr_requests; i++) {
		const struct story_request *request = &story->request[i];
		unsigned int depth = 1;

		for (j = 0; j < story->nr_splits; j++) {
			const struct story_range *split = &story->split[j];

			if (holds(split, request->part.sector))
				depth = 2;
			if (!holds(&request->part, split->sector))
				continue;
			node = (struct node) { .shapes = shapes,
					       .kind = "split", .depth = 1,
					       .range = split };
			each(&node, context);
		}
		node = (struct node) {
			.shapes = shapes,
			.kind = request->merged ? "merged request" : "request",
			.depth = depth, .range = &request->whole,
			.part = &request->part,
		};
		each(&node, context);
	}
}

/**
 * struct start_row - writes and requests that begin at one place in the block
 * @start: bytes from the start of the physical block
 * @writes: number of writes
 * @requests: number of requests
 * @most: the largest of all these numbers
 */
struct start_row {
	uint32_t start;
	uint64_t writes;
	uint64_t requests;
	uint64_t most;
};

enum start_column {
	START_START, START_WRITES, START_WRITES_BAR, START_REQUESTS,
	START_REQUESTS_BAR,
};

static const struct table_column start_columns[] = {
	[START_START] = { .key = "start", .heading = "START",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Place in the physical block, in bytes") },
	[START_WRITES] = { .key = "writes", .heading = "WRITES",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of writes and of requests that begin there") },
	[START_WRITES_BAR] = { .heading = "BAR", .width = BAR_WIDTH },
	[START_REQUESTS] = { .key = "requests", .heading = "REQUESTS",
			     .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[START_REQUESTS_BAR] = { .heading = "BAR", .width = BAR_WIDTH },
};

static struct table_value bar(uint64_t n, const struct start_row *row)
{
	return table_text_taken(ledger_bar((double)n / (double)row->most,
					   BAR_WIDTH));
}

static struct table_value start_value(const void *row, size_t column)
{
	const struct start_row *r = row;

	switch ((enum start_column)column) {
	case START_START:
		return table_number(r->start);
	case START_WRITES:
		return table_number(r->writes);
	case START_WRITES_BAR:
		return bar(r->writes, r);
	case START_REQUESTS:
		return table_number(r->requests);
	case START_REQUESTS_BAR:
		return bar(r->requests, r);
	}
	return table_absent();
}

static const struct table_type start_table =
	TABLE_TYPE(start_columns, start_value);

/* Call @each with each row that is not empty. */
static void walk_starts(const struct shapes *shapes,
			void (*each)(const struct start_row *row,
				     void *context), void *context)
{
	struct start_row row = { 0 };
	unsigned int i;

	for (i = 0; i < ALIGN_PHASE_BINS; i++) {
		if (shapes->write_starts[i] > row.most)
			row.most = shapes->write_starts[i];
		if (shapes->request_starts[i] > row.most)
			row.most = shapes->request_starts[i];
	}
	for (i = 0; i < ALIGN_PHASE_BINS; i++) {
		row.start = i * align_phase_bin_bytes(&shapes->geometry);
		row.writes = shapes->write_starts[i];
		row.requests = shapes->request_starts[i];
		if (row.writes || row.requests)
			each(&row, context);
	}
}

static void add_start(const struct start_row *row, void *table)
{
	table_add(table, row);
}

static void append_start(const struct start_row *row, void *array)
{
	json_append(array, table_json(&start_table, row));
}

/**
 * struct tree_lines - the tree, as far as it is printed
 * @table: the lines
 * @nr: number of all lines
 */
struct tree_lines {
	struct table *table;
	size_t nr;
};

static void add_node(const struct node *node, void *context)
{
	struct tree_lines *lines = context;

	if (lines->nr++ < MOST_NODES)
		table_add(lines->table, node);
}

static void append_node(const struct node *node, void *array)
{
	json_append(array, table_json(&node_table, node));
}

static void text_more(size_t nr, size_t most)
{
	if (nr > most)
		printf("  and %s more, in --json\n", FIGURE_OF(nr - most));
}

static void text_shapes(const struct shapes *shapes)
{
	struct table *table = table_new(&shape_table);
	size_t i;

	puts("How the writes became requests, most touches first:");
	for (i = 0; i < shapes->nr && i < MOST_SHAPES; i++)
		table_add(table, shapes->shape[i]);
	table_print(table, 2);
	text_more(shapes->nr, MOST_SHAPES);
	if (shapes->other_shapes)
		printf("  and %s writes of other shapes\n",
		       FIGURE_OF(shapes->other_shapes));
}

/* Print the tree of the write to which most touches were added. */
static void text_tree(const struct shapes *shapes)
{
	const struct story *story = &shapes->best;
	struct tree_lines lines = { .table = table_new(&node_table) };
	CLEANUP_FREE char *comm = message_format("%.*s", OBSERVED_COMM_BYTES,
						 story->comm);
	CLEANUP_FREE char *visible = message_visible(comm);

	printf("The one with most touches added, of %s (%" PRIu32 "):\n",
	       visible, story->pid);
	walk_tree(shapes, story, add_node, &lines);
	table_print(lines.table, 2);
	text_more(lines.nr, MOST_NODES);
}

static void text_starts(const struct shapes *shapes)
{
	struct table *table = table_new(&start_table);

	puts("Starts within the physical block:");
	walk_starts(shapes, add_start, table);
	table_print(table, 2);
}

/* Print a line of the writes that are not in the figures above, if there are any. */
static void text_unless_0(uint64_t n, const char *text)
{
	if (n)
		printf("  %s %s\n", FIGURE_OF(n), text);
}

static void text_left_out(const struct shapes *shapes)
{
	text_unless_0(shapes->unfinished,
		      "writes had not been issued as a whole at the end");
	text_unless_0(shapes->incomplete,
		      "writes have ended without requests for all of their bytes");
	text_unless_0(shapes->untied,
		      "parts of requests are of no write that arrived during the recording");
	text_unless_0(shapes->sent_back,
		      "writes would have had to wait; followed once they were sent again");
	text_unless_0(shapes->again,
		      "parts were issued again, as the driver gave them back");
}

void shapes_report_text(const struct followed *followed)
{
	const struct shapes *shapes = &followed->shapes;

	printf("%s writes became %s requests, %s of them merged; %s partial touches before, %s after; lost %s\n",
	       FIGURE_OF(shapes->writes), FIGURE_OF(shapes->requests),
	       FIGURE_OF(shapes->merged), FIGURE_OF(shapes->touches_before),
	       FIGURE_OF(shapes->touches_after),
	       followed_lost(followed) ? FIGURE_OF(followed_lost(followed)) :
					 "nothing");
	text_left_out(shapes);
	if (shapes->nr)
		text_shapes(shapes);
	if (shapes->best.nr_requests > 1)
		text_tree(shapes);
	if (shapes->writes || shapes->requests)
		text_starts(shapes);
}

static struct json_object *json_tree(const struct shapes *shapes)
{
	struct json_object *object, *array;
	const struct story *story = &shapes->best;
	CLEANUP_FREE char *comm = NULL;

	if (!story->number)
		return NULL;
	object = json_new();
	array = json_new_array();
	comm = message_format("%.*s", OBSERVED_COMM_BYTES, story->comm);
	json_add_text(object, "process", comm);
	json_add_number(object, "pid", story->pid);
	json_add_number(object, "time_ns", story->time_ns);
	walk_tree(shapes, story, append_node, array);
	json_add(object, "nodes", array);
	return object;
}

static struct json_object *json_lost(const struct followed *followed)
{
	const struct follow_lost *lost = &followed->lost;
	struct json_object *object = json_new();

	json_add_number(object, "writes",
			lost->kind[FOLLOW_WRITE] + lost->map_full);
	json_add_number(object, "requests", lost->kind[FOLLOW_REQUEST]);
	json_add_number(object, "ends", lost->kind[FOLLOW_END]);
	json_add_number(object, "long_requests", lost->long_requests);
	json_add_number(object, "skipped", followed->skipped);
	return object;
}

static const struct schema_row lost_rows[] = {
	MEMBER("writes", JSON_NUMBER, NULL,
	       "Writes for which there was no room"),
	MEMBER("requests", JSON_NUMBER, NULL,
	       "Parts of writes in requests for which there was no room"),
	MEMBER("ends", JSON_NUMBER, NULL,
	       "Ends of writes for which there was no room"),
	MEMBER("long_requests", JSON_NUMBER, NULL,
	       "Requests with more bios than are followed"),
	MEMBER("skipped", JSON_NUMBER, NULL,
	       "Events that no program saw, those of other devices among them"),
	{ 0 },
};

static const struct schema_row shape_rows[] = {
	MEMBERS_OF_TABLE(&shape_table),
	{ 0 },
};

static const struct schema_row node_rows[] = {
	MEMBERS_OF_TABLE(&node_table),
	{ 0 },
};

static const struct schema_row start_rows[] = {
	MEMBERS_OF_TABLE(&start_table),
	{ 0 },
};

static const struct schema_row tree_rows[] = {
	MEMBER("process", JSON_TEXT, NULL,
	       "Name and number of the thread that sent the write"),
	MEMBER("pid", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("time_ns", JSON_NUMBER, "ns",
	       "When it was sent, by the monotonic clock"),
	MEMBER("nodes", JSON_ARRAY | JSON_OBJECT, NULL,
	       "The write, its parts and their requests, each behind the node that it is part of",
	       .rows = node_rows),
	{ 0 },
};

const struct schema_row shapes_report_members[] = {
	MEMBER("writes", JSON_NUMBER, NULL,
	       "Number of writes and write-zeroes that arrived and were not sent back"),
	MEMBER("requests", JSON_NUMBER, NULL,
	       "Number of requests with a write that were issued to the driver"),
	MEMBER("merged", JSON_NUMBER, NULL,
	       "Number of requests that have several bios"),
	MEMBER("touches_before", JSON_NUMBER, NULL,
	       "Partial touches of the writes, and of the requests"),
	MEMBER("touches_after", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("sent_back", JSON_NUMBER, NULL,
	       "Number of writes that the device sent back at once; they are not in writes"),
	MEMBER("issued_again", JSON_NUMBER, NULL,
	       "Number of parts of writes that the driver gave back and that were issued again; each counts once"),
	MEMBER("untied", JSON_NUMBER, NULL,
	       "Number of bios in requests whose write is not known, and their length; their requests are in requests"),
	MEMBER("untied_bytes", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("in_flight", JSON_NUMBER, NULL,
	       "Number of writes that had not been completed at the end"),
	MEMBER("unfinished", JSON_NUMBER, NULL,
	       "Number of these writes that had not been issued completely; they are in no shape"),
	MEMBER("incomplete", JSON_NUMBER, NULL,
	       "Number of writes that ended and had not been issued completely; they are in no shape"),
	MEMBER("lost", JSON_NUMBER, NULL, "Sum of the members of lost_by_kind"),
	MEMBER("lost_by_kind", JSON_OBJECT, NULL,
	       "Number of events that are not known, by kind",
	       .rows = lost_rows),
	MEMBER("skipped_ends", JSON_NUMBER, NULL,
	       "Number of ends of bios of any device that no program saw, which do no harm: such a write counts at the end of the recording"),
	MEMBER("other_shapes", JSON_NUMBER, NULL,
	       "Number of writes that are in no shape, because there were more than 65536 shapes"),
	MEMBER("shapes", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each way in which writes became requests, those with most touches first",
	       .rows = shape_rows),
	MEMBER("tree", JSON_OBJECT | JSON_NULL, NULL,
	       "The write to which most touches were added; null if none were added",
	       .rows = tree_rows),
	MEMBER("starts", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each place in the physical block at which a write or request begins",
	       .rows = start_rows),
	{ 0 },
};

struct json_object *shapes_report_json(const struct followed *followed)
{
	const struct shapes *shapes = &followed->shapes;
	struct json_object *object = json_new(), *array = json_new_array();
	struct json_object *starts = json_new_array();
	size_t i;

	json_add_number(object, "writes", shapes->writes);
	json_add_number(object, "requests", shapes->requests);
	json_add_number(object, "merged", shapes->merged);
	json_add_number(object, "touches_before", shapes->touches_before);
	json_add_number(object, "touches_after", shapes->touches_after);
	json_add_number(object, "sent_back", shapes->sent_back);
	json_add_number(object, "issued_again", shapes->again);
	json_add_number(object, "untied", shapes->untied);
	json_add_number(object, "untied_bytes", shapes->untied_bytes);
	json_add_number(object, "in_flight", shapes->in_flight);
	json_add_number(object, "unfinished", shapes->unfinished);
	json_add_number(object, "incomplete", shapes->incomplete);
	json_add_number(object, "lost", followed_lost(followed));
	json_add(object, "lost_by_kind", json_lost(followed));
	json_add_number(object, "skipped_ends", followed->skipped_ends);
	json_add_number(object, "other_shapes", shapes->other_shapes);
	for (i = 0; i < shapes->nr; i++)
		json_append(array, table_json(&shape_table, shapes->shape[i]));
	json_add(object, "shapes", array);
	json_add(object, "tree", json_tree(shapes));
	walk_starts(shapes, append_start, starts);
	json_add(object, "starts", starts);
	return object;
}
