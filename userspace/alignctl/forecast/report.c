// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/table.h"
#include "base/units.h"
#include "forecast/report.h"

/* 1: what it was before documents had a number; there format was what is now source_format. */
#define JSON_FORMAT	2

static const char *const class_names[] = {
	[ALIGN_WHOLE] = "aligned", [ALIGN_SUB_BLOCK] = "sub_block",
	[ALIGN_HEAD] = "head_only", [ALIGN_TAIL] = "tail_only",
	[ALIGN_BOTH] = "both_ends",
};

#define NR_CLASSES	(sizeof(class_names) / sizeof(class_names[0]))

static uint64_t misaligned(const struct forecast *f)
{
	return f->figures.requests - f->class[ALIGN_WHOLE];
}

/* A table of so many columns, all but the first flush right. */
static struct table new_table(size_t columns, const char *const *heading)
{
	static const bool right[] = { false, true, true, true, true };
	struct table table = { .columns = columns, .right = right };
	size_t i;

	for (i = 0; i < columns; i++)
		table_add(&table, message_format("%s", heading[i]));
	return table;
}

static void text_mode(struct table *table, const char *name,
		      const struct fixing_figures *figures, uint64_t most)
{
	table_add(table, message_format("  %s", name));
	table_add(table, message_format("%" PRIu64, figures->drive));
	table_add(table, message_format("%" PRIu64, figures->host));
	table_add(table, message_format("%" PRIu64, most));
	table_add(table, message_format("%" PRIu64, figures->avoided));
}

static void text_modes(const struct forecast *f)
{
	static const char *const heading[] = {
		"  MODE", "TOUCHES-LEFT", "BLOCK-READS", "AT-MOST", "AVOIDED",
	};
	const struct fixing_figures raw = { .drive = f->figures.touches };
	uint64_t most = forecast_most_reads(f);
	struct table table = new_table(5, heading);

	text_mode(&table, "none, report", &raw, 0);
	if (f->timed) {
		text_mode(&table, "pad, as timed", &f->pad_timed, most);
		text_mode(&table, "coalesce, as timed", &f->coalesce_timed,
			  most);
	}
	text_mode(&table, f->timed ? "pad, untimed" : "pad", &f->pad, most);
	text_mode(&table, f->timed ? "coalesce, untimed" : "coalesce",
		  &f->coalesce, most);
	table_print(&table);
	printf("  TOUCHES-LEFT: to the drive, which does a read-modify-write of each without a cache\n"
	       "  for %s, one request at a time; AT-MOST: however slowly, and however many in flight\n",
	       f->cache_block ? "what the page cache sends" : "direct I/O");
	if (f->timed)
		printf("  as timed: at the times of the trace, a block being held for %u ms at most and\n"
		       "  known for %u ms; untimed: as if no block had to wait that long\n",
		       ALIGN_DEFAULT_HOLD_MS, ALIGN_KNOWN_MS);
	else
		printf("  with less than %u ms between two touches of a block\n",
		       ALIGN_KNOWN_MS);
	if (f->coalesce.crowded)
		puts("  coalesce would hold more than three quarters of max_blocks: how many it then\n"
		     "  reads depends on when it empties them");
}

static void text_shifts(const struct forecast *f)
{
	static const char *const heading[] = { "  SECTORS", "TOUCHES" };
	uint32_t sectors = align_block_sectors(&f->geometry), shift;
	uint32_t best = forecast_worthwhile_shift(f);
	struct table table = new_table(2, heading);

	puts("\nIf the start moved on by so many sectors:");
	for (shift = 0; shift < sectors; shift++) {
		table_add(&table, message_format("  %" PRIu32, shift));
		table_add(&table, message_format("%" PRIu64,
						 f->shifted[shift]));
	}
	table_print(&table);
	if (!best)
		puts("  nothing to gain by moving");
	else
		printf("  best: start moved by %" PRIu32 " sector%s: %" PRIu64
		       " touches, %.0f %% less\n", best,
		       best == 1 ? "" : "s", f->shifted[best],
		       100.0 * (f->shifted[0] - f->shifted[best]) /
		       f->shifted[0]);
}

/* Takes @name. */
static void text_row(struct table *table, char *name,
		     const struct forecast_row *row)
{
	if (!row->writes) {
		free(name);
		return;
	}
	table_add(table, name);
	table_add(table, message_format("%" PRIu64, row->writes));
	table_add(table, message_format("%" PRIu64, row->misaligned));
	table_add(table, message_format("%" PRIu64, row->touches));
}

static struct table rows_table(const char *what)
{
	const char *const heading[] = { what, "WRITES", "MISALIGNED",
					"TOUCHES" };

	putchar('\n');
	return new_table(4, heading);
}

static void text_rows(const struct forecast *f)
{
	struct table table;
	uint32_t i;

	table = rows_table("BYTES");
	for (i = 0; i < f->nr_sizes; i++)
		text_row(&table, message_format("%" PRIu64, f->size[i].bytes),
			 &f->size[i].row);
	text_row(&table, message_format("others"), &f->other_sizes);
	table_print(&table);

	table = rows_table("START-SECTOR-IN-BLOCK");
	for (i = 0; i < align_block_sectors(&f->geometry); i++)
		text_row(&table, message_format("%" PRIu32, i), &f->phase[i]);
	table_print(&table);

	/* one that has no name is no news */
	if (f->nr_processes == 1 && !f->process[0].comm[0])
		return;
	table = rows_table("PROCESS");
	for (i = 0; i < f->nr_processes; i++)
		text_row(&table, f->process[i].comm[0] ?
			 message_visible(f->process[i].comm) :
			 message_format("(unknown)"), &f->process[i].row);
	text_row(&table, message_format("(others)"), &f->other_processes);
	table_print(&table);
}

/* What was asked of the page cache, and what it is taken to do. */
static void text_issued(const struct forecast *f)
{
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		if (f->issued[i])
			printf("  buffered     %s: %" PRIu64
			       " requests, %.2f MB\n", trace_op_names[i],
			       f->issued[i], f->issued_bytes[i] / MB);
	printf("Assumed of the page cache: blocks of %" PRIu32
	       " bytes, none there at first; what a\n"
	       "write covers in part is read once and stays; what was written is sent at each\n"
	       "flush and at the end, not before, each block by itself. Then the device gets\n",
	       f->cache_block);
}

void forecast_report_text(const struct forecast *f, const struct source *source,
			  bool offset_known)
{
	size_t i;

	printf("%s on physical blocks of %" PRIu32 " bytes, alignment offset ",
	       source->name, f->geometry.physical);
	if (offset_known)
		printf("%" PRIu32, f->geometry.offset);
	else
		printf("unknown (taken as 0)");
	if (f->shift)
		printf(", start moved by %" PRIu64 " sectors", f->shift);
	putchar('\n');
	if (f->cache_block)
		text_issued(f);
	for (i = 0; i < TRACE_NR_OPS; i++)
		if (f->requests[i])
			printf("  %-12s %" PRIu64 " requests, %.2f MB\n",
			       trace_op_names[i], f->requests[i],
			       f->bytes[i] / MB);
	printf("  misaligned   %" PRIu64 " of %" PRIu64 " writes: %" PRIu64
	       " inside a block, %" PRIu64 " head only, %" PRIu64
	       " tail only, %" PRIu64 " both ends\n", misaligned(f),
	       f->figures.requests, f->class[ALIGN_SUB_BLOCK],
	       f->class[ALIGN_HEAD], f->class[ALIGN_TAIL],
	       f->class[ALIGN_BOTH]);
	if (f->requests[TRACE_WRITE_ZEROES])
		printf("  misaligned   %" PRIu64 " of %" PRIu64
		       " write-zeroes\n", f->zeroes_misaligned,
		       f->requests[TRACE_WRITE_ZEROES]);
	printf("  expected     %" PRIu64 " partial touches", f->figures.touches);
	if (f->requests[TRACE_WRITE_ZEROES])
		printf(", %" PRIu64 " of them by write-zeroes",
		       f->zero_touches);
	printf("; %" PRIu64 " distinct blocks\n", f->figures.distinct);
	printf("  block reads  %" PRIu64 " in mode coalesce%s; %" PRIu64
	       " that nothing avoids\n\n",
	       f->timed ? f->coalesce_timed.host : f->coalesce.host,
	       f->timed ? ", as timed" : "", f->figures.rmin);
	text_modes(f);
	text_shifts(f);
	text_rows(f);
}

static struct json_object *json_mode(const struct forecast *f,
				     const struct fixing_figures *figures)
{
	struct json_object *object = json_new();

	/* as the counters of the ledger are called, but for rmw_drive */
	json_add_number(object, "rmw_expected", figures->expected);
	json_add_number(object, "rmw_expected_zeroes",
			figures->expected_zeroes);
	json_add_number(object, "rmw_avoided", figures->avoided);
	json_add_number(object, "rmw_host", figures->host);
	json_add_number(object, "touches_left", figures->drive);
	json_add_number(object, "pad_read_bytes",
			figures->host * f->geometry.physical);
	json_add_number(object, "pad_writes", figures->written);
	return object;
}

static struct json_object *json_modes(const struct forecast *f)
{
	const struct fixing_figures raw = {
		.expected = f->figures.touches,
		.expected_zeroes = f->zero_touches,
		.drive = f->figures.touches,
	};
	struct json_object *object = json_new();

	json_add(object, "report", json_mode(f, &raw));
	json_add(object, "pad", json_mode(f, &f->pad));
	json_add(object, "coalesce", json_mode(f, &f->coalesce));
	json_add(object, "pad_as_timed",
		 f->timed ? json_mode(f, &f->pad_timed) : NULL);
	json_add(object, "coalesce_as_timed",
		 f->timed ? json_mode(f, &f->coalesce_timed) : NULL);
	json_add_number(object, "rmw_host_at_most", forecast_most_reads(f));
	json_add_bool(object, "coalesce_crowded", f->coalesce.crowded);
	return object;
}

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
	json_add_number(object, "known_ms", ALIGN_KNOWN_MS);
	json_add_number(object, "hold_ms", ALIGN_DEFAULT_HOLD_MS);
	return object;
}

static void json_row(struct json_object *array, struct json_object *object,
		     const struct forecast_row *row)
{
	json_add_number(object, "writes", row->writes);
	json_add_number(object, "misaligned", row->misaligned);
	json_add_number(object, "touches", row->touches);
	json_append(array, object);
}

static struct json_object *json_sizes(const struct forecast *f)
{
	struct json_object *array = json_new_array(), *object;
	uint32_t i;

	for (i = 0; i < f->nr_sizes; i++) {
		object = json_new();
		json_add_number(object, "bytes", f->size[i].bytes);
		json_row(array, object, &f->size[i].row);
	}
	if (f->other_sizes.writes) {
		object = json_new();
		json_add_null(object, "bytes");
		json_row(array, object, &f->other_sizes);
	}
	return array;
}

static struct json_object *json_phases(const struct forecast *f)
{
	struct json_object *array = json_new_array();
	uint32_t i;

	for (i = 0; i < align_block_sectors(&f->geometry); i++) {
		struct json_object *object;

		if (!f->phase[i].writes)
			continue;
		object = json_new();
		json_add_number(object, "sector", i);
		json_row(array, object, &f->phase[i]);
	}
	return array;
}

static struct json_object *json_processes(const struct forecast *f)
{
	struct json_object *array = json_new_array(), *object;
	uint32_t i;

	for (i = 0; i < f->nr_processes; i++) {
		object = json_new();
		json_add_text(object, "comm", f->process[i].comm[0] ?
			      f->process[i].comm : NULL);
		json_row(array, object, &f->process[i].row);
	}
	if (f->other_processes.writes) {
		object = json_new();
		json_add_text(object, "comm", "(others)");
		json_row(array, object, &f->other_processes);
	}
	return array;
}

static struct json_object *json_ops(const uint64_t *requests,
				    const uint64_t *bytes)
{
	struct json_object *ops = json_new();
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++) {
		struct json_object *op = json_new();

		json_add_number(op, "requests", requests[i]);
		json_add_number(op, "bytes", bytes[i]);
		json_add(ops, trace_op_names[i], op);
	}
	return ops;
}

void forecast_report_json(const struct forecast *f, const struct source *source,
			  bool offset_known)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct json_object *classes = json_new(), *shifts = json_new_array();
	uint32_t i;

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
	json_add(object, "issued", f->cache_block ?
		 json_ops(f->issued, f->issued_bytes) : NULL);
	json_add(object, "requests", json_ops(f->requests, f->bytes));
	json_add_number(object, "fua", f->fua);
	json_add_number(object, "writes_misaligned", misaligned(f));
	json_add_number(object, "write_zeroes_misaligned",
			f->zeroes_misaligned);
	for (i = 0; i < NR_CLASSES; i++)
		json_add_number(classes, class_names[i], f->class[i]);
	json_add(object, "classes", classes);
	json_add_number(object, "touches_expected", f->figures.touches);
	json_add_number(object, "write_touches",
			f->figures.touches - f->zero_touches);
	json_add_number(object, "zero_touches", f->zero_touches);
	json_add_number(object, "rmin", f->figures.rmin);
	json_add_number(object, "distinct_blocks", f->figures.distinct);
	json_add(object, "modes", json_modes(f));
	json_add(object, "assumed", json_assumed(f));
	for (i = 0; i < align_block_sectors(&f->geometry); i++)
		json_append_number(shifts, f->shifted[i]);
	json_add(object, "touches_if_moved", shifts);
	json_add_number(object, "best_move_sectors", forecast_best_shift(f));
	json_add_number(object, "worthwhile_move_sectors",
			forecast_worthwhile_shift(f));
	json_add(object, "by_size", json_sizes(f));
	json_add(object, "by_start_sector", json_phases(f));
	json_add(object, "by_process", json_processes(f));
	json_print(object, false);
}
