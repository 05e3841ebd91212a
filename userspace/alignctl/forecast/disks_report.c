// SPDX-License-Identifier: GPL-2.0
/* Rank the disks of a set by what their requests cost, and print them and their sum. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/message.h"
#include "base/table.h"
#include "forecast/disks_report.h"
#include "forecast/forecast.h"
#include "forecast/moves.h"
#include "forecast/what_if.h"

#define JSON_FORMAT	1

/**
 * struct cost - what writes cost on blocks of one size
 * @physical: physical block, bytes
 * @touches: number of partial touches
 * @extra: bytes of whole blocks touched less bytes written
 * @moved: sectors of the shortest move of the start that leaves the fewest touches
 * @touches_moved: number of touches after that move; of several disks, each after
 *	its own
 * @extra_moved: extra bytes after that move, likewise
 */
struct cost {
	uint32_t physical;
	uint64_t touches;
	uint64_t extra;
	uint32_t moved;
	uint64_t touches_moved;
	uint64_t extra_moved;
};

/**
 * struct outcome - a disk as it is printed
 * @tally: its tally; NULL: all disks together
 * @cost: what its writes cost on the blocks that were asked for
 * @writes: number of writes and write-zeroes
 * @written: their bytes
 * @modes_known: @pad and @coalesce are known
 * @pad: what is left in mode pad
 * @coalesce: what is left in mode coalesce
 */
struct outcome {
	const struct tally *tally;
	struct cost cost;
	uint64_t writes;
	uint64_t written;
	bool modes_known;
	uint64_t pad;
	uint64_t coalesce;
};

/**
 * struct disks_report - what is printed
 * @tallies: the tallies
 * @outcome: the disks, the dearest first
 * @total: all of them together
 * @sizes: all of them together, on blocks of other sizes
 * @nr_sizes: number of elements of @sizes
 */
struct disks_report {
	const struct tallies *tallies;
	struct outcome *outcome;
	struct outcome total;
	struct cost sizes[WHAT_IF_NR_SIZES];
	unsigned int nr_sizes;
};

/* Note all writes of a disk by the blocks that tell their kinds apart; to be freed. */
static struct moves *moves_of(const struct tallies_question *q,
			      const struct tally *tally)
{
	struct moves *moves = moves_new(&q->geometry, 1, q->sectors);
	const uint32_t lead = tallies_start_of(q, 0);
	uint32_t i;

	for (i = 0; i < tally->room; i++) {
		const struct write_kind *kind = &tally->kind[i];

		if (kind->nr)
			moves_add(moves, kind->start + q->sectors - lead,
				  kind->length, kind->nr);
	}
	return moves;
}

static struct cost cost_of(const struct tallies_question *q,
			   const struct moves *moves, uint32_t physical)
{
	uint32_t sectors = physical >> ALIGN_SECTOR_SHIFT, best = 0, moved;
	uint64_t touches[ALIGN_MAX_BLOCK_SECTORS];
	uint64_t gaps[ALIGN_MAX_BLOCK_SECTORS];

	moves_count(moves, sectors, touches, gaps);
	/* a start is at a logical block */
	for (moved = 0; moved < sectors;
	     moved += q->geometry.logical >> ALIGN_SECTOR_SHIFT)
		if (touches[moved] < touches[best])
			best = moved;
	return (struct cost) {
		.physical = physical, .touches = touches[0],
		.extra = gaps[0] << ALIGN_SECTOR_SHIFT, .moved = best,
		.touches_moved = touches[best],
		.extra_moved = gaps[best] << ALIGN_SECTOR_SHIFT,
	};
}

static void add_cost(struct cost *sum, const struct cost *cost)
{
	sum->touches += cost->touches;
	sum->extra += cost->extra;
	sum->touches_moved += cost->touches_moved;
	sum->extra_moved += cost->extra_moved;
}

static struct outcome outcome_of(const struct tallies_question *q,
				 const struct tally *tally,
				 const struct moves *moves)
{
	return (struct outcome) {
		.tally = tally,
		.cost = cost_of(q, moves, q->geometry.physical),
		.writes = tally_writes(tally), .written = tally_written(tally),
		.modes_known = tally->modes_known,
		.pad = tally->pad_left, .coalesce = tally->coalesce_left,
	};
}

static void add_outcome(struct outcome *sum, const struct outcome *outcome)
{
	add_cost(&sum->cost, &outcome->cost);
	sum->writes += outcome->writes;
	sum->written += outcome->written;
	sum->modes_known = sum->modes_known && outcome->modes_known;
	sum->pad += outcome->pad;
	sum->coalesce += outcome->coalesce;
}

/* Order by cost, the dearest first, then by name. */
static int compare_rows(const void *a, const void *b)
{
	const struct outcome *x = a, *y = b;

	if (x->cost.extra != y->cost.extra)
		return x->cost.extra < y->cost.extra ? 1 : -1;
	return strcmp(x->tally->disk, y->tally->disk);
}

/* Set the sizes of blocks that costs are told for. */
static void set_sizes(struct disks_report *r)
{
	uint32_t physical = WHAT_IF_LEAST << ALIGN_SECTOR_SHIFT;

	for (; physical <= WHAT_IF_LARGEST << ALIGN_SECTOR_SHIFT; physical *= 2)
		if (physical >= r->tallies->question.geometry.logical)
			r->sizes[r->nr_sizes++].physical = physical;
}

/* Add a disk to the report. */
static void add_disk(struct disks_report *r, struct outcome *outcome,
		     const struct tally *tally)
{
	const struct tallies_question *q = &r->tallies->question;
	struct moves *moves = moves_of(q, tally);
	unsigned int i;

	*outcome = outcome_of(q, tally, moves);
	add_outcome(&r->total, outcome);
	for (i = 0; i < r->nr_sizes; i++) {
		struct cost cost = cost_of(q, moves, r->sizes[i].physical);

		add_cost(&r->sizes[i], &cost);
	}
	moves_free(moves);
}

struct disks_report *disks_report_new(const struct tallies *tallies)
{
	struct disks_report *r = memory_or_exit(calloc(1, sizeof(*r)));
	uint32_t i;

	r->tallies = tallies;
	r->outcome = memory_or_exit(calloc((size_t)tallies->nr + 1,
					   sizeof(*r->outcome)));
	r->total.cost.physical = tallies->question.geometry.physical;
	r->total.modes_known = tallies->nr;
	set_sizes(r);
	for (i = 0; i < tallies->nr; i++)
		add_disk(r, &r->outcome[i], &tallies->tally[i]);
	if (tallies->nr)
		qsort(r->outcome, tallies->nr, sizeof(*r->outcome), compare_rows);
	return r;
}

void disks_report_free(struct disks_report *r)
{
	free(r->outcome);
	free(r);
}

/* Disks */

enum column {
	COLUMN_DISK, COLUMN_REQUESTS, COLUMN_WRITES, COLUMN_WRITTEN,
	COLUMN_TOUCHES, COLUMN_EXTRA, COLUMN_MOVED, COLUMN_TOUCHES_MOVED,
	COLUMN_EXTRA_MOVED, COLUMN_PAD, COLUMN_COALESCE, COLUMN_REMEDY,
};

static const struct table_column columns[] = {
	[COLUMN_DISK] = { .key = "disk", .heading = "DISK",
		COLUMN_MEMBER(JSON_TEXT | JSON_ABSENT,
			"Name of the disk; without one in the trace, the device that was recorded, or the path of the trace") },
	[COLUMN_REQUESTS] = { .key = "requests",
		COLUMN_MEMBER(JSON_NUMBER | JSON_ABSENT,
			"Number of requests of all operations") },
	[COLUMN_WRITES] = { .key = "writes", .heading = "WRITES",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Number of writes and write-zeroes, and their total length") },
	[COLUMN_WRITTEN] = { .key = "bytes_written", .heading = "WRITTEN",
			     .flags = TABLE_RIGHT, .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[COLUMN_TOUCHES] = { .key = "touches", .heading = "TOUCHES",
			     .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Partial touches") },
	[COLUMN_EXTRA] = { .key = "extra_bytes", .heading = "EXTRA",
			   .flags = TABLE_RIGHT, .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER,
			"Bytes of all blocks touched, less the bytes written") },
	[COLUMN_MOVED] = { .key = "best_move_sectors", .heading = "BEST-MOVE",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_ABSENT,
			"The shortest move of the start with the fewest touches, in sectors of 512 bytes") },
	[COLUMN_TOUCHES_MOVED] = { .key = "touches_moved", .heading = "MOVED",
				   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"touches and extra_bytes after that move") },
	[COLUMN_EXTRA_MOVED] = { .key = "extra_bytes_moved",
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[COLUMN_PAD] = { .key = "pad_left", .heading = "PAD",
			 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Blocks read and touches left to the drive in that mode; null with --touches-only, and where the modes do not fix the blocks") },
	[COLUMN_COALESCE] = { .key = "coalesce_left", .heading = "COALESCE",
			      .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL, AS_ABOVE) },
	[COLUMN_REMEDY] = { .key = "recommendation", .heading = "RECOMMENDED",
		COLUMN_MEMBER(JSON_TEXT | JSON_ABSENT,
			"What to do: move the start, use a mode of the target, or nothing",
			SCHEMA_WORDS("move", "pad", "coalesce", "nothing")) },
};

/* Return what helps most; of all disks together nothing is said. */
static struct table_value remedy_value(const struct outcome *o)
{
	const uint64_t left[] = {
		[FORECAST_NOTHING] = o->cost.touches,
		[FORECAST_MOVE] = o->cost.touches_moved,
		[FORECAST_PAD] = o->pad,
		[FORECAST_COALESCE] = o->coalesce,
	};
	struct forecast_advice advice;

	if (!o->tally)
		return table_absent();
	advice = forecast_choose(left, o->modes_known ? FORECAST_COALESCE :
							FORECAST_MOVE);
	return table_text(forecast_remedy_name(advice.remedy));
}

static struct table_value value(const void *row, size_t column)
{
	const struct outcome *o = row;

	switch ((enum column)column) {
	case COLUMN_DISK:
		return o->tally ? table_text(o->tally->disk) :
				  table_shown(table_absent(), "all");
	case COLUMN_REQUESTS:
		return o->tally ? table_number(o->tally->nr) :
				  table_absent();
	case COLUMN_WRITES:
		return table_number(o->writes);
	case COLUMN_WRITTEN:
		return table_number(o->written);
	case COLUMN_TOUCHES:
		return table_number(o->cost.touches);
	case COLUMN_EXTRA:
		return table_number(o->cost.extra);
	case COLUMN_MOVED:
		return o->tally ? table_number(o->cost.moved) : table_absent();
	case COLUMN_TOUCHES_MOVED:
		return table_number(o->cost.touches_moved);
	case COLUMN_EXTRA_MOVED:
		return table_number(o->cost.extra_moved);
	case COLUMN_PAD:
		return o->modes_known ? table_number(o->pad) : table_null();
	case COLUMN_COALESCE:
		return o->modes_known ? table_number(o->coalesce) :
					table_null();
	case COLUMN_REMEDY:
		return remedy_value(o);
	}
	return table_absent();
}

static const struct table_type disk_table = TABLE_TYPE(columns, value);

/* Sizes of blocks */

/**
 * struct size_row - one size of blocks
 * @cost: what the writes cost on them
 * @written: bytes written
 * @one: of one disk, which has one best move
 */
struct size_row {
	const struct cost *cost;
	uint64_t written;
	bool one;
};

enum size_column {
	SIZE_PHYSICAL, SIZE_TOUCHES, SIZE_EXTRA, SIZE_AMPLIFICATION, SIZE_MOVED,
	SIZE_TOUCHES_MOVED, SIZE_EXTRA_MOVED,
};

static const struct table_column size_columns[] = {
	[SIZE_PHYSICAL] = { .key = "physical_block_size", .heading = "PHYSICAL",
			    .flags = TABLE_RIGHT, .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER, "The physical block") },
	[SIZE_TOUCHES] = { .key = "touches", .heading = "TOUCHES",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Partial touches") },
	[SIZE_EXTRA] = { .key = "extra_bytes", .heading = "EXTRA",
			 .flags = TABLE_RIGHT, .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER, "Bytes of whole blocks touched, less the bytes written") },
	[SIZE_AMPLIFICATION] = { .key = "write_amplification",
				 .heading = "AMPLIFICATION",
				 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_REAL,
			"Bytes of whole blocks touched, for each byte written; 0 without writes") },
	[SIZE_MOVED] = { .key = "best_move_sectors",
		COLUMN_MEMBER(JSON_NUMBER | JSON_ABSENT,
			"The shortest move with the fewest touches, in sectors of 512 bytes") },
	[SIZE_TOUCHES_MOVED] = { .key = "touches_moved", .heading = "MOVED",
				 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "touches and extra_bytes after that move") },
	[SIZE_EXTRA_MOVED] = { .key = "extra_bytes_moved",
			       .heading = "EXTRA-MOVED", .flags = TABLE_RIGHT,
			       .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
};

static struct table_value size_value(const void *row, size_t column)
{
	const struct size_row *r = row;

	switch ((enum size_column)column) {
	case SIZE_PHYSICAL:
		return table_number(r->cost->physical);
	case SIZE_TOUCHES:
		return table_number(r->cost->touches);
	case SIZE_EXTRA:
		return table_number(r->cost->extra);
	case SIZE_AMPLIFICATION:
		return table_real(r->written ? 1 + (double)r->cost->extra /
					       (double)r->written : 0);
	case SIZE_MOVED:
		return r->one ? table_number(r->cost->moved) : table_absent();
	case SIZE_TOUCHES_MOVED:
		return table_number(r->cost->touches_moved);
	case SIZE_EXTRA_MOVED:
		return table_number(r->cost->extra_moved);
	}
	return table_absent();
}

static const struct table_type size_table =
	TABLE_TYPE(size_columns, size_value);

/* Text */

void disks_report_text(const struct disks_report *r)
{
	const struct tallies *tallies = r->tallies;
	const struct tallies_question *q = &tallies->question;
	struct table *table = table_new(&disk_table);
	uint32_t i;

	printf("%" PRIu32 " disk%s on physical blocks of %s, alignment offset %s",
	       tallies->nr, PLURAL_OF(tallies->nr),
	       figure(FIGURE_LENGTH, q->geometry.physical).text,
	       figure(FIGURE_LENGTH, q->geometry.offset).text);
	if (q->shift)
		printf(", starts moved by %" PRIu64 " sectors", q->shift);
	puts(", the dearest first:");
	for (i = 0; i < tallies->nr; i++)
		table_add(table, &r->outcome[i]);
	if (tallies->nr > 1)
		table_add(table, &r->total);
	table_print(table, 2);
	puts("  TOUCHES: partial touches, each a read-modify-write of the drive; EXTRA: bytes of\n"
	     "  whole blocks touched beyond those written; MOVED: touches with the start moved on\n"
	     "  by BEST-MOVE sectors");
	if (r->total.modes_known)
		puts("  PAD, COALESCE: read-modify-writes left in that mode, one request at a time");
	puts("\nOn blocks of other sizes, all disks together, each with its start as it is, and moved\n"
	     "on to where it is best:");
	table = table_new(&size_table);
	for (i = 0; i < r->nr_sizes; i++) {
		const struct size_row row = { &r->sizes[i], r->total.written,
					      false };

		table_add(table, &row);
	}
	table_print(table, 2);
}

/* JSON */

static struct json_object *json_sizes(const struct disks_report *r,
				      const struct outcome *o)
{
	const struct tallies_question *q = &r->tallies->question;
	struct moves *moves = o->tally ? moves_of(q, o->tally) : NULL;
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < r->nr_sizes; i++) {
		struct cost cost = r->sizes[i];
		const struct size_row row = { &cost, o->written, moves };

		if (moves)
			cost = cost_of(q, moves, cost.physical);
		json_append(array, table_json(&size_table, &row));
	}
	moves_free(moves);
	return array;
}

static struct json_object *json_outcome(const struct disks_report *r,
					const struct outcome *o)
{
	struct json_object *object = table_json(&disk_table, o);

	json_add(object, "what_if", json_sizes(r, o));
	return object;
}

static struct json_object *json_disk(void *context, size_t index)
{
	const struct disks_report *r = context;

	return json_outcome(r, &r->outcome[index]);
}

static const struct schema_row size_rows[] = {
	MEMBERS_OF_TABLE(&size_table),
	{ 0 },
};

static const struct schema_row outcome_rows[] = {
	MEMBERS_OF_TABLE(&disk_table),
	MEMBER("what_if", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For physical blocks of 4 KiB to 256 KiB, but not below the logical block",
	       .rows = size_rows),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("physical_block_size", JSON_NUMBER, "bytes",
	       "The blocks that the figures are for"),
	MEMBER("logical_block_size", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("alignment_offset", JSON_NUMBER, "bytes",
	       "Alignment offset that the figures are for"),
	MEMBER("shift_sectors", JSON_NUMBER, NULL,
	       "N of --shift, in sectors of 512 bytes"),
	MEMBER("disks", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each disk, the one with most extra_bytes first",
	       .rows = outcome_rows, .name = "disk_outcome"),
	MEMBER("total", JSON_OBJECT, NULL,
	       "The sums of all disks, but no disk, requests, recommendation and best_move_sectors: what is said of moved starts is the sum over disks that are each moved to where it is best",
	       .rows = outcome_rows, .name = "disk_outcome"),
	{ 0 },
};

const struct schema_document disks_report_schema = {
	"plan --each-disk", JSON_FORMAT, NULL, document_rows,
};

struct json_object *disks_report_json(struct disks_report *r)
{
	const struct tallies *tallies = r->tallies;
	const struct tallies_question *q = &tallies->question;
	struct json_object *object = json_new_document(JSON_FORMAT);

	json_add_number(object, "physical_block_size", q->geometry.physical);
	json_add_number(object, "logical_block_size", q->geometry.logical);
	json_add_number(object, "alignment_offset", q->geometry.offset);
	json_add_number(object, "shift_sectors", q->shift);
	json_add(object, "disks", json_new_lazy_array(tallies->nr, json_disk, r));
	json_add(object, "total", json_outcome(r, &r->total));
	return object;
}
