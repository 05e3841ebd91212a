// SPDX-License-Identifier: GPL-2.0
/*
 * Print the costs of a source by class of write, by mode, by move and by size of
 * block.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/table.h"
#include "base/units.h"
#include "forecast/report.h"
#include "forecast/report_tables.h"
#include "trace/operations.h"

static const char *const class_names[] = {
	[ALIGN_WHOLE] = "aligned", [ALIGN_SUB_BLOCK] = "sub_block",
	[ALIGN_HEAD] = "head_only", [ALIGN_TAIL] = "tail_only",
	[ALIGN_BOTH] = "both_ends",
};

#define NR_CLASSES	(sizeof(class_names) / sizeof(class_names[0]))

static uint64_t sum_misaligned(const struct forecast *f)
{
	return f->figures.requests - f->class[ALIGN_WHOLE];
}

/* By what they do: the requests to the device, or those to the page cache */

static void make_operations(struct trace_operation row[TRACE_NR_OPS],
			    const struct forecast *f, bool issued)
{
	unsigned int op;

	for (op = 0; op < TRACE_NR_OPS; op++)
		row[op] = (struct trace_operation){
			.op = op, .on_blocks = !issued,
			.requests = issued ? f->issued[op] : f->requests[op],
			.bytes = issued ? f->issued_bytes[op] : f->bytes[op],
		};
	row[TRACE_WRITE].misaligned = sum_misaligned(f);
	row[TRACE_WRITE].touches = f->figures.touches - f->zero_touches;
	row[TRACE_WRITE_ZEROES].misaligned = f->zeroes_misaligned;
	row[TRACE_WRITE_ZEROES].touches = f->zero_touches;
}

static void text_operations(const struct forecast *f, bool issued)
{
	struct trace_operation row[TRACE_NR_OPS];

	make_operations(row, f, issued);
	trace_operations_print(&trace_operations_requested, row);
}

/* Modes, from none to the one that does most */

/**
 * struct mode_row - what a mode makes of the requests
 * @name: for people
 * @figures: outcome of the touches
 * @f: all of the forecast
 * @most: block reads at most
 */
struct mode_row {
	const char *name;
	const struct fixing_figures *figures;
	const struct forecast *f;
	uint64_t most;
};

enum mode_column {
	MODE_NAME, MODE_EXPECTED, MODE_EXPECTED_ZEROES, MODE_AVOIDED,
	MODE_READS, MODE_AT_MOST, MODE_LEFT, MODE_READ_BYTES, MODE_WRITES,
	MODE_CROWDED,
};

/* As the counters of the ledger are called, but for rmw_drive. */
static const struct table_column mode_columns[] = {
	[MODE_NAME] = { .heading = "MODE" },
	[MODE_EXPECTED] = { .key = "rmw_expected",
		COLUMN_MEMBER(JSON_NUMBER, "Partial touches that would arrive") },
	[MODE_EXPECTED_ZEROES] = { .key = "rmw_expected_zeroes",
		COLUMN_MEMBER(JSON_NUMBER,
			"Those of these that write-zeroes would bring") },
	[MODE_AVOIDED] = { .key = "rmw_avoided", .heading = "AVOIDED",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Touches that would need no read") },
	[MODE_READS] = { .key = "rmw_host", .heading = "BLOCK-READS",
			 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Blocks that the target would read") },
	[MODE_AT_MOST] = { .key = "rmw_host_at_most", .heading = "AT-MOST",
			   .flags = TABLE_OUTER | TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Most blocks that the target reads, at any speed and with any number of requests in flight") },
	[MODE_LEFT] = { .key = "touches_left", .heading = "TOUCHES-LEFT",
			.flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Touches left to the drive: by how much rmw_drive would rise") },
	[MODE_READ_BYTES] = { .key = "pad_read_bytes",
		COLUMN_MEMBER(JSON_NUMBER, "Bytes that the target would read") },
	[MODE_WRITES] = { .key = "pad_writes",
		COLUMN_MEMBER(JSON_NUMBER, "Whole blocks that the target would write") },
	[MODE_CROWDED] = { .key = "coalesce_crowded", .flags = TABLE_OUTER,
		COLUMN_MEMBER(JSON_BOOL,
			"Whether mode coalesce would hold more than three quarters of max_blocks") },
};

static struct table_value mode_value(const void *row, size_t column)
{
	const struct mode_row *r = row;
	const struct fixing_figures *figures = r->figures;

	switch ((enum mode_column)column) {
	case MODE_NAME:
		return table_text(r->name);
	case MODE_EXPECTED:
		return table_number(figures->expected);
	case MODE_EXPECTED_ZEROES:
		return table_number(figures->expected_zeroes);
	case MODE_AVOIDED:
		return table_number(figures->avoided);
	case MODE_READS:
		return table_number(figures->host);
	case MODE_AT_MOST:
		return table_number(r->most);
	case MODE_LEFT:
		return table_number(figures->drive);
	case MODE_READ_BYTES:
		return table_number(figures->host * r->f->geometry.physical);
	case MODE_WRITES:
		return table_number(figures->written);
	case MODE_CROWDED:
		return table_bool(r->f->coalesce.crowded);
	}
	return table_absent();
}

const struct table_type forecast_mode_table =
	TABLE_TYPE(mode_columns, mode_value);

/* Return the figures of the drive alone, which gets all touches. */
static struct fixing_figures figures_of_none(const struct forecast *f)
{
	return (struct fixing_figures){
		.expected = f->figures.touches,
		.expected_zeroes = f->zero_touches,
		.drive = f->figures.touches,
	};
}

static void add_mode(struct table *table, const struct forecast *f,
		     const char *name, const struct fixing_figures *figures,
		     uint64_t most)
{
	const struct mode_row row = {
		.name = name, .figures = figures, .f = f, .most = most,
	};

	table_add(table, &row);
}

static void text_modes(const struct forecast *f)
{
	const struct fixing_figures none = figures_of_none(f);
	uint64_t most = forecast_most_reads(f);
	struct table *table = table_new(&forecast_mode_table);

	add_mode(table, f, "none, report", &none, 0);
	if (!forecast_fixes(f)) {
		table_print(table, 2);
		printf("  TOUCHES-LEFT: to the drive, which does a read-modify-write of each without a cache\n"
		       "  pad and coalesce fix blocks of at most %u bytes\n",
		       ALIGN_MAX_FIXED);
		return;
	}
	if (f->timed) {
		add_mode(table, f, "pad, as timed", &f->pad_timed, most);
		add_mode(table, f, "coalesce, as timed", &f->coalesce_timed,
			 most);
	}
	add_mode(table, f, f->timed ? "pad, untimed" : "pad", &f->pad, most);
	add_mode(table, f, f->timed ? "coalesce, untimed" : "coalesce",
		 &f->coalesce, most);
	table_print(table, 2);
	printf("  TOUCHES-LEFT: to the drive, which does a read-modify-write of each without a cache\n"
	       "  for %s, one request at a time; AT-MOST: however slowly, and however many in flight\n",
	       f->cache_block ? "what the page cache sends" : "direct I/O");
	if (f->timed)
		printf("  as timed: at the times of the trace, a block being held for %u ms at most and\n"
		       "  known for %u ms; untimed: as if no block had to wait that long\n",
		       ALIGN_DEFAULT_HOLD_MS, ALIGN_CACHED_MS);
	else
		printf("  with less than %u ms between two touches of a block\n",
		       ALIGN_CACHED_MS);
	if (f->coalesce.crowded)
		puts("  coalesce would hold more than three quarters of max_blocks: how many it then\n"
		     "  reads depends on when it empties them");
}

static void json_add_mode(struct json_object *object, const struct forecast *f,
			  const char *key, const struct fixing_figures *figures)
{
	const struct mode_row row = { .figures = figures, .f = f };

	json_add(object, key, figures ? table_json(&forecast_mode_table, &row) : NULL);
}

static struct json_object *json_modes(const struct forecast *f)
{
	const struct fixing_figures none = figures_of_none(f);
	const struct mode_row row = { .figures = &f->pad, .f = f,
				      .most = forecast_most_reads(f) };
	struct json_object *object = json_new();
	bool fixes = forecast_fixes(f);

	json_add_mode(object, f, "report", &none);
	json_add_mode(object, f, "pad", fixes ? &f->pad : NULL);
	json_add_mode(object, f, "coalesce", fixes ? &f->coalesce : NULL);
	json_add_mode(object, f, "pad_as_timed",
		      fixes && f->timed ? &f->pad_timed : NULL);
	json_add_mode(object, f, "coalesce_as_timed",
		      fixes && f->timed ? &f->coalesce_timed : NULL);
	table_json_outer(object, &forecast_mode_table, &row);
	return object;
}

/* Moves of the start, the shortest first */

struct shift_row {
	const struct forecast *f;
	uint32_t sectors;
};

enum shift_column { SHIFT_SECTORS, SHIFT_TOUCHES };

/* In the document an array, of which each has the place that the move is. */
static const struct table_column shift_columns[] = {
	[SHIFT_SECTORS] = { .heading = "SECTORS", .flags = TABLE_RIGHT },
	[SHIFT_TOUCHES] = { .key = "touches_if_moved", .heading = "TOUCHES",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_ARRAY | JSON_NUMBER,
			"Partial touches if the start moved on by 0, 1 and so on sectors of 512 bytes") },
};

static struct table_value shift_value(const void *row, size_t column)
{
	const struct shift_row *r = row;

	switch ((enum shift_column)column) {
	case SHIFT_SECTORS:
		return table_number(r->sectors);
	case SHIFT_TOUCHES:
		return table_number(r->f->shifted[r->sectors]);
	}
	return table_absent();
}

const struct table_type forecast_shift_table =
	TABLE_TYPE(shift_columns, shift_value);

/* With more moves than this, people see those alone that change something. */
#define MOST_SHIFTS	128

static void text_shifts(const struct forecast *f)
{
	uint32_t sectors = align_block_sectors(&f->geometry);
	uint32_t best = forecast_worthwhile_shift(f);
	struct table *table = table_new(&forecast_shift_table);
	struct shift_row row = { .f = f };

	for (row.sectors = 0; row.sectors < sectors; row.sectors++)
		if (sectors <= MOST_SHIFTS || !row.sectors ||
		    f->shifted[row.sectors] != f->shifted[row.sectors - 1])
			table_add(table, &row);
	puts("\nIf the start moved on by so many sectors:");
	table_print(table, 2);
	if (sectors > MOST_SHIFTS)
		puts("  a move that is left out has the touches of the one above");
	if (!best)
		puts("  nothing to gain by moving");
	else
		printf("  best: start moved by %" PRIu32 " sector%s: %s touches, %.0f %% less\n",
		       best, PLURAL_OF(best),
		       FIGURE_OF(f->shifted[best]),
		       100.0 * (f->shifted[0] - f->shifted[best]) /
		       f->shifted[0]);
}

static void json_add_shifts(struct json_object *object,
			    const struct forecast *f)
{
	uint32_t sectors = align_block_sectors(&f->geometry);
	struct json_object *array = json_new_array();
	struct shift_row row = { .f = f };

	for (row.sectors = 0; row.sectors < sectors; row.sectors++)
		json_append(array, table_json_cell(&forecast_shift_table, &row,
						   SHIFT_TOUCHES));
	json_add(object, shift_columns[SHIFT_TOUCHES].key, array);
}

/* Blocks of other sizes, and the best start for each */

/**
 * struct case_row - one size of blocks with one start
 * @physical: physical block, bytes
 * @outcome: cost of the writes then
 */
struct case_row {
	uint32_t physical;
	const struct what_if_case *outcome;
};

enum case_column {
	CASE_PHYSICAL, CASE_MOVED, CASE_TOUCHES, CASE_AMPLIFICATION, CASE_EXTRA,
	CASE_RMIN, CASE_PAD, CASE_COALESCE, CASE_CROWDED,
};

static const struct table_column case_columns[] = {
	[CASE_PHYSICAL] = { .key = "physical_block_size",
			    .heading = "PHYSICAL", .flags = TABLE_RIGHT,
			    .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER, "The physical block") },
	[CASE_MOVED] = { .key = "move_sectors", .heading = "MOVED",
			 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"By how many sectors of 512 bytes the start moves on") },
	[CASE_TOUCHES] = { .key = "touches", .heading = "TOUCHES",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Partial touches") },
	[CASE_AMPLIFICATION] = { .key = "write_amplification",
				 .heading = "AMPLIFICATION",
				 .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_REAL,
			"Bytes of whole blocks touched, for each byte written; 0 without writes") },
	[CASE_EXTRA] = { .key = "extra_bytes",
		COLUMN_MEMBER(JSON_NUMBER, "Bytes of whole blocks touched, less the bytes written") },
	[CASE_RMIN] = { .key = "rmin", .heading = "RMIN",
			.flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"As rmin of the document; null with --touches-only, and where the source is a pipe") },
	[CASE_PAD] = { .key = "pad_left", .heading = "PAD",
		       .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Blocks read and touches left to the drive in that mode, as timed where there are times; null likewise, and where the modes do not fix the blocks") },
	[CASE_COALESCE] = { .key = "coalesce_left", .heading = "COALESCE",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL, AS_ABOVE) },
	[CASE_CROWDED] = { .key = "coalesce_crowded",
		COLUMN_MEMBER(JSON_BOOL | JSON_NULL,
			"Whether mode coalesce would hold more than three quarters of max_blocks, which is less for larger blocks; null likewise") },
};

/* Return the read-modify-writes left by a mode: reads, and touches passed on. */
static struct table_value mode_left(const struct what_if_case *c,
				    const struct fixing_figures *figures)
{
	return c->modes_known ? table_number(forecast_left_by(figures)) :
				table_null();
}

static struct table_value case_value(const void *row, size_t column)
{
	const struct case_row *r = row;
	const struct what_if_case *c = r->outcome;

	switch ((enum case_column)column) {
	case CASE_PHYSICAL:
		return table_number(r->physical);
	case CASE_MOVED:
		return table_number(c->moved);
	case CASE_TOUCHES:
		return table_number(c->touches);
	case CASE_AMPLIFICATION:
		return table_real(c->amplification);
	case CASE_EXTRA:
		return table_number(c->extra);
	case CASE_RMIN:
		return c->rmin_known ? table_number(c->rmin) : table_null();
	case CASE_PAD:
		return mode_left(c, &c->pad);
	case CASE_COALESCE:
		return mode_left(c, &c->coalesce);
	case CASE_CROWDED:
		return c->modes_known ? table_bool(c->coalesce.crowded) :
					table_null();
	}
	return table_absent();
}

const struct table_type forecast_case_table =
	TABLE_TYPE(case_columns, case_value);

/* Name the sizes of blocks of which coalesce would hold too many. */
static void text_crowded(const struct forecast *f)
{
	CLEANUP_FREE char *sizes = NULL;
	uint32_t i;

	for (i = 0; i < f->what_if.nr; i++) {
		const struct what_if_size *size = &f->what_if.size[i];
		char *before = sizes;

		if (!size->as_is.coalesce.crowded && !size->best.coalesce.crowded)
			continue;
		sizes = message_format("%s%s%s", before ? before : "",
				       before ? ", " : "",
				       figure(FIGURE_LENGTH, size->physical).text);
		free(before);
	}
	if (sizes)
		printf("  coalesce would hold more than three quarters of max_blocks, and how many it then\n"
		       "  reads depends on when it empties them: %s\n", sizes);
}

static void text_what_if(const struct forecast *f)
{
	CLEANUP_FREE char *advice = forecast_advice_text(f);
	struct table *table = table_new(&forecast_case_table);
	uint32_t i;

	for (i = 0; i < f->what_if.nr; i++) {
		const struct what_if_size *size = &f->what_if.size[i];
		struct case_row row = { size->physical, &size->as_is };

		table_add(table, &row);
		row.outcome = &size->best;
		if (size->best.moved)
			table_add(table, &row);
	}
	puts("\nOn blocks of other sizes, with the start as it is, and moved on to where it is best:");
	table_print(table, 2);
	text_crowded(f);
	if (!f->touches_only)
		printf("  recommended: %s\n", advice);
}

static struct json_object *json_what_if(const struct what_if_size *size)
{
	struct json_object *object = json_new(), *touches = json_new_array();
	struct json_object *amplification = json_new_array();
	const struct case_row as_is = { size->physical, &size->as_is };
	const struct case_row best = { size->physical, &size->best };
	uint32_t i;

	for (i = 0; i < size->physical >> ALIGN_SECTOR_SHIFT; i++) {
		json_append_number(touches, size->touches[i]);
		json_append(amplification,
			    json_from_real(size->amplification[i]));
	}
	json_add_number(object, "physical_block_size", size->physical);
	json_add(object, "touches_if_moved", touches);
	json_add(object, "write_amplification_if_moved", amplification);
	json_add(object, "as_is", table_json(&forecast_case_table, &as_is));
	json_add(object, "best", table_json(&forecast_case_table, &best));
	return object;
}

static void json_add_what_if(struct json_object *object,
			     const struct forecast *f)
{
	const struct forecast_advice advice = forecast_advise(f);
	struct json_object *array = json_new_array(), *advised;
	uint32_t i;

	for (i = 0; i < f->what_if.nr; i++)
		json_append(array, json_what_if(&f->what_if.size[i]));
	json_add(object, "what_if", array);
	if (f->touches_only) {
		json_add_null(object, "recommendation");
		return;
	}
	advised = json_new();
	json_add_text(advised, "remedy", forecast_remedy_name(advice.remedy));
	json_add_number(advised, "left", advice.left);
	json_add_real(advised, "gain_percent",
		      forecast_gain_percent(f, advice.left));
	json_add(object, "recommendation", advised);
}

/* Writes that have something in common */

/**
 * struct writes_row - what writes have in common, and what they come to
 * @f: all of the forecast
 * @index: in the array of the forecast; behind the last one: all others
 */
struct writes_row {
	const struct forecast *f;
	uint32_t index;
};

enum writes_column {
	WRITES_COMMON, WRITES_WRITES, WRITES_MISALIGNED, WRITES_TOUCHES,
};

/* Three kinds, which differ in what is common, and in what people look for. */
#define WRITES_COLUMNS(touches, ...) {					\
	[WRITES_COMMON] = { __VA_ARGS__ },				\
	[WRITES_WRITES] = { .key = "writes", .heading = "WRITES",	\
			    .flags = TABLE_RIGHT,			\
		COLUMN_MEMBER(JSON_NUMBER,				\
			"Number of writes, without write-zeroes; number of those with a partial touch; partial touches") }, \
	[WRITES_MISALIGNED] = { .key = "misaligned",			\
				.heading = "MISALIGNED",		\
				.flags = TABLE_RIGHT,			\
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },			\
	[WRITES_TOUCHES] = { .key = "touches", .heading = "TOUCHES",	\
			     .flags = TABLE_RIGHT | (touches),		\
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },			\
}

static const struct table_column size_columns[] =
	WRITES_COLUMNS(0, .key = "bytes", .heading = "LENGTH",
		       .flags = TABLE_RIGHT | TABLE_RISING,
		       .unit = FIGURE_LENGTH,
		       COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Length of the writes; null: all lengths without a row of their own"));
static const struct table_column phase_columns[] =
	WRITES_COLUMNS(0, .key = "sector", .heading = "START-SECTOR-IN-BLOCK",
		       .flags = TABLE_RIGHT | TABLE_RISING,
		       COLUMN_MEMBER(JSON_NUMBER,
			"Sector of 512 bytes in the physical block at which the writes begin"));
static const struct table_column process_columns[] =
	WRITES_COLUMNS(TABLE_FALLING, .key = "comm", .heading = "PROCESS",
		       COLUMN_MEMBER(JSON_TEXT | JSON_NULL,
			"Name of the process; null where the trace does not tell"));

static struct table_value writes_value(const struct forecast_row *row,
				       size_t column)
{
	switch ((enum writes_column)column) {
	case WRITES_WRITES:
		return table_number(row->writes);
	case WRITES_MISALIGNED:
		return table_number(row->misaligned);
	case WRITES_TOUCHES:
		return table_number(row->touches);
	case WRITES_COMMON:
		break;
	}
	return table_absent();
}

static const struct forecast_row *size_row(const struct writes_row *r)
{
	return r->index < r->f->nr_sizes ? &r->f->size[r->index].row :
					   &r->f->other_sizes;
}

static struct table_value size_value(const void *row, size_t column)
{
	const struct writes_row *r = row;

	if (column != WRITES_COMMON)
		return writes_value(size_row(r), column);
	if (r->index < r->f->nr_sizes)
		return table_number(r->f->size[r->index].bytes);
	return table_shown(table_null(), "others");
}

static const struct forecast_row *phase_row(const struct writes_row *r)
{
	return &r->f->phase[r->index];
}

static struct table_value phase_value(const void *row, size_t column)
{
	const struct writes_row *r = row;

	if (column != WRITES_COMMON)
		return writes_value(phase_row(r), column);
	return table_number(r->index);
}

static const struct forecast_row *process_row(const struct writes_row *r)
{
	return r->index < r->f->nr_processes ? &r->f->process[r->index].row :
					       &r->f->other_processes;
}

static struct table_value process_value(const void *row, size_t column)
{
	const struct writes_row *r = row;

	if (column != WRITES_COMMON)
		return writes_value(process_row(r), column);
	if (r->index == r->f->nr_processes)
		return table_text("(others)");
	if (!r->f->process[r->index].comm[0])
		return table_shown(table_null(), "(unknown)");
	return table_text(r->f->process[r->index].comm);
}

const struct table_type forecast_size_table =
	TABLE_TYPE(size_columns, size_value);
const struct table_type forecast_phase_table =
	TABLE_TYPE(phase_columns, phase_value);
const struct table_type forecast_process_table =
	TABLE_TYPE(process_columns, process_value);

/**
 * struct writes_kind - one of the three
 * @key: of the array in the document
 * @table: its columns
 * @row: the figures of a row
 * @nr: rows of a forecast
 */
struct writes_kind {
	const char *key;
	const struct table_type *table;
	const struct forecast_row *(*row)(const struct writes_row *r);
	uint32_t (*nr)(const struct forecast *f);
};

static uint32_t nr_sizes(const struct forecast *f)
{
	return f->nr_sizes + 1;
}

static uint32_t nr_phases(const struct forecast *f)
{
	return align_block_sectors(&f->geometry);
}

static uint32_t nr_processes(const struct forecast *f)
{
	return f->nr_processes + 1;
}

/*
 * People get lengths and starts by rising size, and processes by touches, the most
 * first; documents, all of them as they first occurred, starts rising.
 */
static const struct writes_kind writes_kinds[] = {
	{ "by_size", &forecast_size_table, size_row, nr_sizes },
	{ "by_start_sector", &forecast_phase_table, phase_row, nr_phases },
	{ "by_process", &forecast_process_table, process_row, nr_processes },
};

#define NR_WRITES_KINDS	(sizeof(writes_kinds) / sizeof(writes_kinds[0]))

static void text_writes(const struct writes_kind *kind,
			const struct forecast *f)
{
	struct writes_row row = { .f = f };
	struct table *table = NULL;

	for (row.index = 0; row.index < kind->nr(f); row.index++) {
		if (!kind->row(&row)->writes)
			continue;
		if (!table)
			table = table_new(kind->table);
		table_add(table, &row);
	}
	if (!table)
		return;
	putchar('\n');
	table_print(table, 2);
}

static void json_add_writes(struct json_object *object,
			    const struct writes_kind *kind,
			    const struct forecast *f)
{
	struct json_object *array = json_new_array();
	struct writes_row row = { .f = f };

	for (row.index = 0; row.index < kind->nr(f); row.index++)
		if (kind->row(&row)->writes)
			json_append(array, table_json(kind->table, &row));
	json_add(object, kind->key, array);
}

/* Text */

/* Print what was asked of the page cache, and what it is assumed to do. */
static void text_issued(const struct forecast *f)
{
	puts("Asked of the page cache:");
	text_operations(f, true);
	printf("Assumed of the page cache: blocks of %" PRIu32
	       " bytes, none there at first; what a\n"
	       "write covers in part is read once and stays; what was written is sent at each\n"
	       "flush and at the end, not before, each block by itself. Then the device gets\n",
	       f->cache_block);
}

static void text_summary(const struct forecast *f)
{
	printf("  misaligned   %s of %s writes: %s inside a block, %s head only, %s tail only, %s both ends\n",
	       FIGURE_OF(sum_misaligned(f)), FIGURE_OF(f->figures.requests),
	       FIGURE_OF(f->class[ALIGN_SUB_BLOCK]),
	       FIGURE_OF(f->class[ALIGN_HEAD]), FIGURE_OF(f->class[ALIGN_TAIL]),
	       FIGURE_OF(f->class[ALIGN_BOTH]));
	printf("  expected     %s partial touches",
	       FIGURE_OF(f->figures.touches));
	if (f->requests[TRACE_WRITE_ZEROES])
		printf(", %s of them by write-zeroes",
		       FIGURE_OF(f->zero_touches));
	if (f->touches_only) {
		putchar('\n');
		return;
	}
	printf("; %s distinct blocks\n", FIGURE_OF(f->figures.distinct));
	if (!forecast_fixes(f)) {
		printf("  block reads  %s that nothing avoids\n\n",
		       FIGURE_OF(f->figures.rmin));
		return;
	}
	printf("  block reads  %s in mode coalesce%s; %s that nothing avoids\n\n",
	       FIGURE_OF(f->timed ? f->coalesce_timed.host : f->coalesce.host),
	       f->timed ? ", as timed" : "", FIGURE_OF(f->figures.rmin));
}

void forecast_report_text(const struct forecast *f, const struct source *source,
			  bool offset_known)
{
	size_t i;

	printf("%s on physical blocks of %s, alignment offset %s", source->name,
	       figure(FIGURE_LENGTH, f->geometry.physical).text,
	       offset_known ? figure(FIGURE_LENGTH, f->geometry.offset).text :
			      "unknown (taken as 0)");
	if (f->shift)
		printf(", start moved by %" PRIu64 " sectors", f->shift);
	putchar('\n');
	if (f->cache_block)
		text_issued(f);
	text_operations(f, false);
	text_summary(f);
	if (!f->touches_only)
		text_modes(f);
	text_shifts(f);
	text_what_if(f);
	for (i = 0; i < NR_WRITES_KINDS; i++) {
		/* one process that has no name is no news */
		if (writes_kinds[i].row == process_row &&
		    f->nr_processes == 1 && !f->process[0].comm[0])
			continue;
		text_writes(&writes_kinds[i], f);
	}
}

/* JSON */

static struct json_object *json_assumed(const struct forecast *f)
{
	struct json_object *object = json_new();

	json_add_bool(object, "direct", !f->cache_block);
	if (f->cache_block)
		json_add_number(object, "cache_block_size", f->cache_block);
	else
		json_add_null(object, "cache_block_size");
	json_add_bool(object, "cache_keeps_all", f->cache_block);
	json_add_bool(object, "cache_writes_at_flush", f->cache_block);
	json_add_bool(object, "one_at_a_time", true);
	json_add_bool(object, "flush_at_the_end", true);
	json_add_number(object, "known_ms", ALIGN_CACHED_MS);
	json_add_number(object, "hold_ms", ALIGN_DEFAULT_HOLD_MS);
	return object;
}

/* Add the figure of an operation that is a member of the whole document. */
static void json_add_operation(struct json_object *object, const char *key,
			       const struct trace_operation *row,
			       enum operation_column column)
{
	json_add(object, key,
		 table_json_cell(&trace_operations_requested, row, column));
}

/* Return a figure that is not known of touches alone. */
static struct json_object *json_known(const struct forecast *f, uint64_t number)
{
	return f->touches_only ? NULL : json_from_number(number);
}

void forecast_report_json(const struct forecast *f, const struct source *source,
			  bool offset_known)
{
	struct json_object *object = json_new_document(FORECAST_FORMAT);
	struct trace_operation operation[TRACE_NR_OPS];
	struct json_object *classes = json_new();
	size_t i;

	json_add_text(object, "source", source->name);
	json_add_text(object, "source_format", source_facts(source).format);
	json_add_number(object, "physical_block_size", f->geometry.physical);
	json_add_number(object, "logical_block_size", f->geometry.logical);
	if (offset_known)
		json_add_number(object, "alignment_offset",
				f->geometry.offset);
	else
		json_add_text(object, "alignment_offset", "unknown");
	json_add_number(object, "shift_sectors", f->shift);
	if (f->timed)
		json_add_real(object, "seconds", ns_to_s((double)f->last_ns));
	else
		json_add_null(object, "seconds");
	json_add(object, "issued", f->cache_block ?
		 trace_operations_json(&trace_operations_requested, f->issued,
				       f->issued_bytes) : NULL);
	json_add(object, "requests",
		 trace_operations_json(&trace_operations_requested,
				       f->requests, f->bytes));
	json_add_number(object, "fua", f->fua);
	make_operations(operation, f, false);
	json_add_operation(object, "writes_misaligned",
			   &operation[TRACE_WRITE], OPERATION_MISALIGNED);
	json_add_operation(object, "write_zeroes_misaligned",
			   &operation[TRACE_WRITE_ZEROES],
			   OPERATION_MISALIGNED);
	for (i = 0; i < NR_CLASSES; i++)
		json_add_number(classes, class_names[i], f->class[i]);
	json_add(object, "classes", classes);
	json_add_number(object, "touches_expected", f->figures.touches);
	json_add_operation(object, "write_touches", &operation[TRACE_WRITE],
			   OPERATION_TOUCHES);
	json_add_operation(object, "zero_touches",
			   &operation[TRACE_WRITE_ZEROES], OPERATION_TOUCHES);
	json_add(object, "rmin", json_known(f, f->figures.rmin));
	json_add(object, "distinct_blocks", json_known(f, f->figures.distinct));
	json_add(object, "modes", f->touches_only ? NULL : json_modes(f));
	json_add(object, "assumed", json_assumed(f));
	json_add_shifts(object, f);
	json_add_number(object, "best_move_sectors", forecast_best_shift(f));
	json_add_number(object, "worthwhile_move_sectors",
			forecast_worthwhile_shift(f));
	json_add_what_if(object, f);
	for (i = 0; i < NR_WRITES_KINDS; i++)
		json_add_writes(object, &writes_kinds[i], f);
	json_print(object, false);
}
