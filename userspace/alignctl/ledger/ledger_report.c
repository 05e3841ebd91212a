// SPDX-License-Identifier: GPL-2.0
/*
 * Print ledgers as stats does: tables of counters, times and targets, or one
 * document.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/output.h"
#include "base/table.h"
#include "ledger/ledger_bars.h"
#include "ledger/ledger_interval.h"
#include "ledger/ledger_report.h"
#include "ledger/mode.h"

static uint64_t sum_bins(const uint64_t *bins)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < LEDGER_MAX_BINS; i++)
		sum += bins[i];
	return sum;
}

/* Targets, in the order of the device's table */

/* A target, and the ledger of its device. */
struct target_row {
	const struct ledger *ledger;
	const struct align_target *target;
};

enum target_column {
	TARGET_INDEX, TARGET_MODE, TARGET_LOGICAL, TARGET_PHYSICAL,
	TARGET_OFFSET, TARGET_ON, TARGET_GONE, TARGET_HOLD, TARGET_MAX_BLOCKS, TARGET_BLOCKS,
	TARGET_MEMORY, TARGET_HIGH_WATER,
};

static const struct table_column target_columns[] = {
	[TARGET_INDEX] = { .key = "index", .heading = "TARGET",
			   .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of the target, from 0") },
	[TARGET_MODE] = { .key = "mode", .heading = "MODE",
		COLUMN_MEMBER(JSON_TEXT, "What the target does", SCHEMA_NAMES(mode_names)) },
	/* where the target makes it: else it is that of the device below */
	[TARGET_LOGICAL] = { .key = "logical_block_size", .heading = "LOGICAL",
			     .flags = TABLE_RIGHT | TABLE_OPTIONAL,
			     .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Logical block that the target offers over larger ones of the device below; null: those of the device below") },
	[TARGET_PHYSICAL] = { .key = "physical_block_size",
			      .heading = "PHYSICAL", .flags = TABLE_RIGHT,
			      .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER,
			"The blocks by which touches are counted") },
	[TARGET_OFFSET] = { .key = "alignment_offset", .heading = "OFFSET",
			    .flags = TABLE_RIGHT, .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER,
			"Where the first physical block begins; unknown: the kernel cannot say, and 0 is used",
			SCHEMA_WORDS("unknown")) },
	[TARGET_ON] = { .key = "device", .heading = "ON",
		COLUMN_MEMBER(JSON_TEXT,
			"The kernel's name of the underlying device; its number if it is gone") },
	[TARGET_GONE] = { .key = "device_gone",
		COLUMN_MEMBER(JSON_BOOL,
			"Whether the underlying device no longer exists") },
	[TARGET_HOLD] = { .key = "hold_ms", .heading = "HOLD",
			  .flags = TABLE_RIGHT, .unit = FIGURE_MS,
		COLUMN_MEMBER(JSON_NUMBER, "How long a partial touch may be held") },
	[TARGET_MAX_BLOCKS] = { .key = "max_blocks", .heading = "MAX-BLOCKS",
				.flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER,
			"Most blocks that may be in memory") },
	[TARGET_BLOCKS] = { .key = "blocks", .heading = "BLOCKS",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Blocks in memory now") },
	[TARGET_MEMORY] = { .key = "memory_bytes", .heading = "MEMORY",
			    .flags = TABLE_RIGHT, .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER, "Memory of blocks now") },
	[TARGET_HIGH_WATER] = { .key = "memory_high_water_bytes",
				.heading = "HIGH-WATER", .flags = TABLE_RIGHT,
				.unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER, "Most memory of blocks so far") },
};

static struct table_value target_value(const void *row, size_t column)
{
	const struct target_row *r = row;
	const struct align_target *target = r->target;
	int64_t offset;

	switch ((enum target_column)column) {
	case TARGET_INDEX:
		return table_number(target->index);
	case TARGET_MODE:
		return table_text(target->status.mode);
	case TARGET_LOGICAL:
		return target_offers_smaller(target, r->ledger->device.logical) ?
			table_number(r->ledger->device.logical) : table_null();
	case TARGET_PHYSICAL:
		return table_number(target->status.physical);
	case TARGET_OFFSET:
		return maybe_get(target->status.offset, &offset) ?
			table_number((uint64_t)offset) : table_text("unknown");
	case TARGET_ON:
		return table_text(target->device);
	case TARGET_GONE:
		return table_bool(target->device_gone);
	case TARGET_HOLD:
		return mode_hold_value(target->status.mode, target->hold_ms);
	case TARGET_MAX_BLOCKS:
		return table_number(target->status.max_blocks);
	case TARGET_BLOCKS:
		return table_number(target->status.blocks);
	case TARGET_MEMORY:
		return table_number(target->status.memory_bytes);
	case TARGET_HIGH_WATER:
		return table_number(target->memory_high_water);
	}
	return table_absent();
}

static const struct table_type target_table =
	TABLE_TYPE(target_columns, target_value);

static void text_targets(const struct ledger *ledger)
{
	struct table *table = table_new(&target_table);
	size_t i;

	for (i = 0; i < ledger->device.nr_targets; i++) {
		const struct target_row row = { ledger, &ledger->device.target[i] };

		table_add(table, &row);
	}
	table_print(table, 2);
}

static struct json_object *json_targets(const struct ledger *ledger)
{
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < ledger->device.nr_targets; i++) {
		const struct target_row row = { ledger, &ledger->device.target[i] };

		json_append(array, table_json(&target_table, &row));
	}
	return array;
}

/* Counters, in the order of kmod/ledger_table.h, the accounts first */

/* A counter of a ledger. */
struct counter_row {
	const struct ledger *ledger;
	enum ledger_counter counter;
};

enum counter_column {
	COUNTER_NAME, COUNTER_VALUE, COUNTER_RAW, COUNTER_UNIT,
	COUNTER_MEANING,
};

const struct schema_row ledger_counter_members[] = {
#define LEDGER_COUNTER(name, kind, unit, help) \
	MEMBER(#name, JSON_NUMBER | JSON_NULL, unit, help),
#include "ledger_table.h"
#undef LEDGER_COUNTER
	{ 0 },
};

/* In the document each with a key is an object, with a member for each name. */
static const struct table_column counter_columns[] = {
	[COUNTER_NAME] = { .heading = "COUNTER" },
	[COUNTER_VALUE] = { .key = "counters", .heading = "VALUE",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_OBJECT,
			"Every counter of the ledger by name, since the last reset, or in the interval. rmw_pending, held_blocks, degraded and held_bytes are gauges, and always as they are now. A counter that an older module does not have is null",
			.rows = ledger_counter_members, .name = "counters") },
	[COUNTER_RAW] = { .key = "raw",
		COLUMN_MEMBER(JSON_OBJECT,
			"The same as the kernel counts them, since the device was created",
			.rows = ledger_counter_members, .name = "counters") },
	[COUNTER_UNIT] = { .heading = "UNIT" },
	[COUNTER_MEANING] = { .heading = "MEANING", .flags = TABLE_WRAP },
};

static struct table_value count_of(const struct ledger_row *row, uint64_t n)
{
	struct table_value value = table_number(n);

	if (strcmp(row->unit, "bytes"))
		return value;
	return table_shown(value, figure(FIGURE_BYTES, (double)n).text);
}

static struct table_value counter_value(const void *row, size_t column)
{
	const struct counter_row *r = row;
	const struct ledger_row *of = &ledger_rows[r->counter];

	switch ((enum counter_column)column) {
	case COUNTER_NAME:
		return table_text(of->name);
	case COUNTER_VALUE:
		if (r->ledger->missing[r->counter])
			return table_null();
		return count_of(of, ledger_value(r->ledger, r->counter));
	case COUNTER_RAW:
		if (r->ledger->missing[r->counter])
			return table_null();
		return table_number(r->ledger->raw[r->counter]);
	case COUNTER_UNIT:
		return table_text(of->unit);
	case COUNTER_MEANING:
		return table_text(of->help);
	}
	return table_absent();
}

static const struct table_type counter_table =
	TABLE_TYPE(counter_columns, counter_value);

/* Tell whether people who ask for no counter by name get one. */
static bool is_usual(const struct ledger *ledger, enum ledger_counter counter)
{
	/* the accounts always, the rest unless there is nothing */
	return counter <= LEDGER_rmw_pending || ledger_value(ledger, counter) ||
	       ledger->missing[counter];
}

static void text_counters(const struct ledger *ledger,
			  const struct ledger_choice *choice)
{
	struct table *table = table_new(&counter_table);
	unsigned int i;

	for (i = 0; i < LEDGER_NR; i++) {
		const struct counter_row row = { ledger, i };

		if (choice ? choice->counter[i] : is_usual(ledger, i))
			table_add(table, &row);
	}
	table_print(table, 2);
}

const char *ledger_choose(struct ledger_choice *choice, char *patterns)
{
	char *pattern;

	while ((pattern = strsep(&patterns, ","))) {
		bool found = false;
		unsigned int i;

		for (i = 0; i < LEDGER_NR; i++) {
			if (fnmatch(pattern, ledger_rows[i].name, 0))
				continue;
			choice->counter[i] = true;
			found = true;
		}
		if (!found)
			return pattern;
	}
	return NULL;
}

static void json_add_counters(struct json_object *object,
			      const struct ledger *ledger,
			      enum counter_column column)
{
	struct json_object *all = json_new();
	unsigned int i;

	for (i = 0; i < LEDGER_NR; i++) {
		const struct counter_row row = { ledger, i };

		json_add(all, ledger_rows[i].name,
			 table_json_cell(&counter_table, &row, column));
	}
	json_add(object, counter_columns[column].key, all);
}

/* Counters of no device, for help */

enum help_column { HELP_NAME, HELP_UNIT, HELP_MEANING };

static const struct table_column help_columns[] = {
	[HELP_NAME] = { .heading = "COUNTER" },
	[HELP_UNIT] = { .heading = "UNIT" },
	[HELP_MEANING] = { .heading = "MEANING", .flags = TABLE_WRAP },
};

static struct table_value help_value(const void *row, size_t column)
{
	const struct ledger_row *r = row;

	switch ((enum help_column)column) {
	case HELP_NAME:
		return table_text(r->name);
	case HELP_UNIT:
		return table_text(r->unit);
	case HELP_MEANING:
		return table_text(r->help);
	}
	return table_absent();
}

static const struct table_type help_table = TABLE_TYPE(help_columns, help_value);

void ledger_report_counters(void)
{
	struct table *table = table_new(&help_table);
	unsigned int i;

	for (i = 0; i < LEDGER_NR; i++)
		table_add(table, &ledger_rows[i]);
	table_print(table, 1);
}

/* Histograms, in the order of ledger_histograms[] */

struct histogram_row {
	const struct ledger *ledger;
	enum ledger_histogram histogram;
	uint64_t bins[LEDGER_MAX_BINS];
};

enum histogram_column {
	TIMES_NAME, TIMES_UNIT, TIMES_COUNT, TIMES_BINS, TIMES_OPEN, TIMES_P50,
	TIMES_P90, TIMES_P99,
};

/* In the document an object by its name; people get those of times so. */
static const struct table_column histogram_columns[] = {
	[TIMES_NAME] = { .heading = "HISTOGRAM" },
	[TIMES_UNIT] = { .key = "unit",
		COLUMN_MEMBER(JSON_TEXT, "Unit of a bin's bound") },
	[TIMES_COUNT] = { .key = "count", .heading = "COUNT",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Sum of the bins") },
	[TIMES_BINS] = { .key = "bins",
		COLUMN_MEMBER(JSON_ARRAY | JSON_BIN,
			"Pairs of the bound and the count of a bin, without empty ones") },
	/* the last bin has the bound of the one before */
	[TIMES_OPEN] = { .key = "open",
		COLUMN_MEMBER(JSON_NUMBER | JSON_ABSENT,
			"Of times: the count of the last bin, whose bound is that of the bin before it") },
	[TIMES_P50] = { .key = "p50_us", .heading = "P50", .flags = TABLE_RIGHT,
			.unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_ABSENT,
			"Of times: the upper ends of the bins that these percentiles lie in: all times in a bin are below its end, and none need be near it. The last bin has no end; there the value is its lower end, and all times are at least that") },
	[TIMES_P90] = { .key = "p90_us", .heading = "P90", .flags = TABLE_RIGHT,
			.unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_ABSENT, AS_ABOVE) },
	[TIMES_P99] = { .key = "p99_us", .heading = "P99", .flags = TABLE_RIGHT,
			.unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_ABSENT, AS_ABOVE) },
};

static struct json_object *json_bins(const struct histogram_row *row)
{
	struct json_object *array = json_new_array();
	unsigned int i;

	for (i = 0; i < ledger_histograms[row->histogram].bins; i++)
		if (row->bins[i])
			json_append_bin(array,
					ledger_bin_bound(row->ledger,
							 row->histogram, i),
					row->bins[i]);
	return array;
}

static struct table_value percentile(const struct histogram_row *row,
				     unsigned int per_mille)
{
	return ledger_histograms[row->histogram].of_times ?
	       ledger_percentile(row->bins, per_mille) : table_absent();
}

static struct table_value histogram_value(const void *row, size_t column)
{
	static const char *const units[HISTOGRAM_NR] = {
		[HISTOGRAM_PHASE] = "bytes from the start of the block",
		[HISTOGRAM_SIZE] = "bytes, at least",
		[HISTOGRAM_LATENCY_ALIGNED] = "us, less than",
		[HISTOGRAM_LATENCY_MISALIGNED] = "us, less than",
		[HISTOGRAM_HOLD_TIME] = "us, less than",
	};
	const struct histogram_row *r = row;

	switch ((enum histogram_column)column) {
	case TIMES_NAME:
		return table_text(ledger_histograms[r->histogram].name);
	case TIMES_UNIT:
		return table_text(units[r->histogram]);
	case TIMES_COUNT:
		return table_number(sum_bins(r->bins));
	case TIMES_BINS:
		return table_object(json_bins(r));
	case TIMES_OPEN:
		return ledger_histograms[r->histogram].of_times ?
		       table_number(r->bins[ALIGN_LATENCY_BINS - 1]) :
		       table_absent();
	case TIMES_P50:
		return percentile(r, 500);
	case TIMES_P90:
		return percentile(r, 900);
	case TIMES_P99:
		return percentile(r, 990);
	}
	return table_absent();
}

static const struct table_type histogram_table =
	TABLE_TYPE(histogram_columns, histogram_value);

static struct histogram_row histogram_of(const struct ledger *ledger,
					 enum ledger_histogram histogram)
{
	struct histogram_row row = { .ledger = ledger, .histogram = histogram };

	ledger_histogram(ledger, histogram, row.bins);
	return row;
}

static void text_times(const struct ledger *ledger)
{
	struct table *table = table_new(&histogram_table);
	unsigned int i;

	for (i = 0; i < HISTOGRAM_NR; i++) {
		const struct histogram_row row = histogram_of(ledger, i);

		if (ledger_histograms[i].of_times && sum_bins(row.bins))
			table_add(table, &row);
	}
	table_print(table, 2);
}

static struct json_object *json_histograms(const struct ledger *ledger)
{
	struct json_object *object = json_new();
	unsigned int i;

	for (i = 0; i < HISTOGRAM_NR; i++) {
		const struct histogram_row row = histogram_of(ledger, i);

		json_add(object, ledger_histograms[i].name,
			 table_json(&histogram_table, &row));
	}
	return object;
}

/* Phases, from the start of the block on */

struct phase_row {
	const struct histogram_row *histogram;
	unsigned int bin;
};

enum phase_column { PHASE_FIRST, PHASE_WRITES, PHASE_SHARE };

/* In the document, the pairs of the phase histogram's bins. */
static const struct table_column phase_columns[] = {
	[PHASE_FIRST] = { .heading = "FIRST-BYTE", .flags = TABLE_RIGHT,
			  .unit = FIGURE_LENGTH },
	[PHASE_WRITES] = { .heading = "WRITES", .flags = TABLE_RIGHT },
	[PHASE_SHARE] = { .heading = "SHARE", .flags = TABLE_RIGHT,
			  .unit = FIGURE_PER_CENT },
};

static struct table_value phase_value(const void *row, size_t column)
{
	const struct phase_row *r = row;
	const uint64_t *bins = r->histogram->bins;

	switch ((enum phase_column)column) {
	case PHASE_FIRST:
		return table_real(ledger_bin_bound(r->histogram->ledger,
						   HISTOGRAM_PHASE, r->bin));
	case PHASE_WRITES:
		return table_number(bins[r->bin]);
	case PHASE_SHARE:
		return table_real(100.0 * bins[r->bin] / sum_bins(bins));
	}
	return table_absent();
}

static const struct table_type phase_table =
	TABLE_TYPE(phase_columns, phase_value);

static void text_phase(const struct ledger *ledger)
{
	const struct histogram_row histogram = histogram_of(ledger,
							    HISTOGRAM_PHASE);
	struct phase_row row = { .histogram = &histogram };
	struct table *table;

	if (!sum_bins(histogram.bins))
		return;
	table = table_new(&phase_table);
	for (row.bin = 0; row.bin < ALIGN_PHASE_BINS; row.bin++)
		if (histogram.bins[row.bin])
			table_add(table, &row);
	puts("  misaligned writes by first byte in the physical block:");
	table_print(table, 2);
}

/* Print what would be lost with power now, if there is something. */
static void text_held(const struct ledger *ledger)
{
	uint64_t blocks = ledger->raw[LEDGER_held_blocks];
	int64_t oldest;

	if (!blocks)
		return;
	printf("  held, and not on the drive: %s in %" PRIu64 " block%s, the oldest for %s\n",
	       ledger->missing[LEDGER_held_bytes] ? "-" :
	       figure(FIGURE_BYTES,
		      (double)ledger->raw[LEDGER_held_bytes]).text,
	       blocks, PLURAL_OF(blocks),
	       maybe_get(ledger->device.held_oldest_ms, &oldest) ?
	       figure(FIGURE_MS, (double)oldest).text : "-");
}

/* Print the faults of a device, if it has any. */
static void text_faults(const struct ledger *ledger)
{
	const struct align_target *gone = dm_align_gone(&ledger->device);

	if (gone)
		printf("  gone: %s, below, is no longer there; reads and writes fail\n",
		       gone->device);
	if (ledger->device.state.degraded)
		puts("  degraded: held blocks cannot be written, and every flush fails");
	if (!ledger_balanced(ledger))
		puts("  the ledger does not balance at this moment");
}

static void text_heading(const struct ledger *ledger)
{
	/* only libdevmapper quotes what does not print */
	CLEANUP_FREE char *name = message_visible(ledger->device.name);

	printf("%s (%s), epoch %" PRIu64 "\n", name, ledger->device.dm,
	       ledger->device.state.epoch);
}

static void text_device(const struct ledger *ledger)
{
	text_heading(ledger);
	text_targets(ledger);
	text_counters(ledger, NULL);
	printf("  write amplification: %s as it arrived, %s as it was sent\n",
	       FIGURE_OF(ledger_amplification_before(ledger)),
	       FIGURE_OF(ledger_amplification_after(ledger)));
	text_held(ledger);
	text_times(ledger);
	text_phase(ledger);
	text_faults(ledger);
	if (ledger->suggested)
		printf("  io_min below hints at physical blocks of %s\n",
		       figure(FIGURE_LENGTH, (double)ledger->suggested).text);
}

void ledger_report_text(const struct ledger *ledgers, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		text_device(&ledgers[i]);
	output_flush();
}

void ledger_report_chosen(const struct ledger *ledgers, size_t nr,
			  const struct ledger_choice *choice)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		text_heading(&ledgers[i]);
		text_counters(&ledgers[i], choice);
		text_faults(&ledgers[i]);
	}
}

static const struct schema_row target_rows[] = {
	MEMBERS_OF_TABLE(&target_table),
	{ 0 },
};

static const struct schema_row derived_rows[] = {
	MEMBER("write_amplification_before", JSON_REAL, NULL,
	       "Bytes of whole physical blocks touched by the writes that arrived, and by those that were sent to the drive, for each byte of the writes that arrived; 0 if there were none"),
	MEMBER("write_amplification_after", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("balanced", JSON_BOOL, NULL,
	       "Whether rmw_expected = rmw_avoided + rmw_host + rmw_drive + rmw_lost + rmw_pending holds for the raw counters; under load it may not for a moment"),
	MEMBER("degraded", JSON_BOOL, NULL,
	       "Whether held blocks cannot be written back; the counter of that name says how many"),
	{ 0 },
};

static const struct schema_row histogram_rows[] = {
	MEMBERS_OF_TABLE(&histogram_table),
	{ 0 },
};

#define HISTOGRAM_MEMBER(key, help) \
	MEMBER(key, JSON_OBJECT, NULL, help, .rows = histogram_rows, \
	       .name = "histogram")

static const struct schema_row histograms_rows[] = {
	HISTOGRAM_MEMBER("phase",
			 "Misaligned writes by their first byte in the physical block; the bound is the first byte of the bin, which has a logical block, or the 128th part of a physical block if that is more"),
	HISTOGRAM_MEMBER("size",
			 "Writes by size; the bound is the smallest size of the bin"),
	HISTOGRAM_MEMBER("latency_aligned",
			 "Writes without and with partial touches by latency; the bound is the upper end in microseconds"),
	HISTOGRAM_MEMBER("latency_misaligned", AS_ABOVE),
	HISTOGRAM_MEMBER("hold_time",
			 "Held blocks, from their first held write until they were written back or dropped; the bound is the upper end in microseconds"),
	{ 0 },
};

const struct schema_row ledger_device_members[] = {
	MEMBER("name", JSON_TEXT, NULL, "The device's name"),
	MEMBER("dm", JSON_TEXT, NULL, "The kernel's name for it"),
	MEMBER("epoch", JSON_NUMBER, NULL,
	       "Number of the epoch: a reload that changes the physical block size starts a new one"),
	MEMBER("suggested_physical_block_size", JSON_NUMBER, "bytes",
	       "Physical block that sysfs suggests instead; 0: nothing suggests larger blocks"),
	MEMBER("held_oldest_ms", JSON_NUMBER | JSON_NULL, "ms",
	       "Age of the oldest held block, from the arrival of the first write that is held in it; 0 if nothing is held, null if the module is older and does not say"),
	MEMBER("targets", JSON_ARRAY | JSON_OBJECT, NULL, "For each target",
	       .rows = target_rows),
	MEMBERS_OF_TABLE(&counter_table),
	MEMBER("derived", JSON_OBJECT, NULL, "Computed from the counters",
	       .rows = derived_rows),
	MEMBER("histograms", JSON_OBJECT, NULL, "The histograms by name",
	       .rows = histograms_rows),
	MEMBER("interval", JSON_OBJECT | JSON_ABSENT, NULL,
	       "Only with --interval: rates of the interval, as the row in TABLES",
	       .rows = ledger_interval_members),
	{ 0 },
};

static struct json_object *json_device(const struct ledger *ledger)
{
	struct json_object *object = json_new(), *part;
	int64_t oldest;

	json_add_text(object, "name", ledger->device.name);
	json_add_text(object, "dm", ledger->device.dm);
	json_add_number(object, "epoch", ledger->device.state.epoch);
	json_add_number(object, "suggested_physical_block_size",
			ledger->suggested);
	if (maybe_get(ledger->device.held_oldest_ms, &oldest))
		json_add_number(object, "held_oldest_ms", (uint64_t)oldest);
	else
		json_add_null(object, "held_oldest_ms");
	json_add(object, "targets", json_targets(ledger));
	json_add_counters(object, ledger, COUNTER_VALUE);
	json_add_counters(object, ledger, COUNTER_RAW);
	part = json_new();
	json_add_real(part, "write_amplification_before",
		      ledger_amplification_before(ledger));
	json_add_real(part, "write_amplification_after",
		      ledger_amplification_after(ledger));
	json_add_bool(part, "balanced", ledger_balanced(ledger));
	json_add_bool(part, "degraded", ledger->device.state.degraded);
	json_add(object, "derived", part);
	json_add(object, "histograms", json_histograms(ledger));
	if (ledger->since_ns)
		json_add(object, "interval", ledger_interval_json(ledger));
	return object;
}

struct json_object *
ledger_report_document(const struct ledger *ledgers, size_t nr,
		       uint64_t interval)
{
	struct json_object *object = json_new_document(LEDGER_REPORT_FORMAT);
	struct json_object *array = json_new_array();
	size_t i;

	if (interval)
		json_add_number(object, "interval_s", interval);
	for (i = 0; i < nr; i++)
		json_append(array, json_device(&ledgers[i]));
	json_add(object, "devices", array);
	return object;
}

void ledger_report_json(const struct ledger *ledgers, size_t nr,
			uint64_t interval)
{
	json_print(ledger_report_document(ledgers, nr, interval), interval);
}
