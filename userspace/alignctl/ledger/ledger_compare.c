// SPDX-License-Identifier: GPL-2.0
/*
 * The table and the document of stats --compare: two states of each device, and
 * the change.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/latency.h"
#include "base/message.h"
#include "base/table.h"
#include "ledger/ledger_bars.h"
#include "ledger/ledger_compare.h"
#include "ledger/ledger_report.h"
#include "ledger/mode.h"

#define JSON_FORMAT	1
#define BAR_WIDTH	20U

/*
 * The measures: as the loads of two states differ in length, those of what was
 * counted are for each write or touch.
 */
enum measure {
	MEASURE_MODE, MEASURE_PHYSICAL, MEASURE_WRITES, MEASURE_BYTES,
	MEASURE_MISALIGNED, MEASURE_TOUCHES, MEASURE_AVOIDED, MEASURE_HOST,
	MEASURE_DRIVE, MEASURE_LOST, MEASURE_PAD_READS,
	MEASURE_AMPLIFICATION_BEFORE, MEASURE_AMPLIFICATION_AFTER,
	MEASURE_ALIGNED_MEAN, MEASURE_ALIGNED_P99, MEASURE_MISALIGNED_MEAN,
	MEASURE_MISALIGNED_P99, MEASURE_ALL_MEAN, MEASURE_NR,
};

static const struct {
	const char *key;
	const char *text;
	enum figure_unit unit;
} measures[MEASURE_NR] = {
	[MEASURE_MODE] = { "mode", "mode", FIGURE_COUNT },
	[MEASURE_PHYSICAL] = { "physical_block_size", "physical block",
			       FIGURE_LENGTH },
	[MEASURE_WRITES] = { "writes", "writes", FIGURE_COUNT },
	[MEASURE_BYTES] = { "write_bytes", "bytes written", FIGURE_BYTES },
	[MEASURE_MISALIGNED] = { "misaligned_percent", "misaligned writes",
				 FIGURE_PER_CENT },
	[MEASURE_TOUCHES] = { "touches_per_1000_writes",
			      "partial touches for 1000 writes",
			      FIGURE_COUNT },
	[MEASURE_AVOIDED] = { "avoided_percent", "touches avoided",
			      FIGURE_PER_CENT },
	[MEASURE_HOST] = { "host_percent", "touches read by the host",
			   FIGURE_PER_CENT },
	[MEASURE_DRIVE] = { "drive_percent", "touches left to the drive",
			    FIGURE_PER_CENT },
	[MEASURE_LOST] = { "lost_percent", "touches lost", FIGURE_PER_CENT },
	[MEASURE_PAD_READS] = { "pad_reads_per_1000_writes",
				"reads for padding, for 1000 writes",
				FIGURE_COUNT },
	[MEASURE_AMPLIFICATION_BEFORE] = { "write_amplification_before",
					   "write amplification as it arrived",
					   FIGURE_COUNT },
	[MEASURE_AMPLIFICATION_AFTER] = { "write_amplification_after",
					  "write amplification as it was sent",
					  FIGURE_COUNT },
	[MEASURE_ALIGNED_MEAN] = { "aligned_mean_us",
				   "aligned writes, mean latency", FIGURE_US },
	[MEASURE_ALIGNED_P99] = { "aligned_p99_us",
				  "aligned writes, p99 latency", FIGURE_US },
	[MEASURE_MISALIGNED_MEAN] = { "misaligned_mean_us",
				      "misaligned writes, mean latency",
				      FIGURE_US },
	[MEASURE_MISALIGNED_P99] = { "misaligned_p99_us",
				     "misaligned writes, p99 latency",
				     FIGURE_US },
	[MEASURE_ALL_MEAN] = { "mean_us", "all writes, mean latency",
			       FIGURE_US },
};

/* Return @times of @part for each @whole; NAN where there is none. */
static double share(const struct ledger *ledger, double times,
		    enum ledger_counter part, enum ledger_counter whole)
{
	uint64_t of = ledger_value(ledger, whole);

	return of ? times * (double)ledger_value(ledger, part) / (double)of :
		    NAN;
}

static double mean_of(const struct ledger *ledger,
		      enum ledger_histogram histogram)
{
	uint64_t bins[LEDGER_MAX_BINS], count;

	ledger_histogram(ledger, histogram, bins);
	count = latency_histogram_count(bins);
	return count ? latency_histogram_sum(bins) / (double)count : NAN;
}

/* Return the mean of aligned and misaligned writes together. */
static double mean_of_all(const struct ledger *ledger)
{
	uint64_t aligned[LEDGER_MAX_BINS], misaligned[LEDGER_MAX_BINS], count;

	ledger_histogram(ledger, HISTOGRAM_LATENCY_ALIGNED, aligned);
	ledger_histogram(ledger, HISTOGRAM_LATENCY_MISALIGNED, misaligned);
	count = latency_histogram_count(aligned) +
		latency_histogram_count(misaligned);
	return count ? (latency_histogram_sum(aligned) +
			latency_histogram_sum(misaligned)) / (double)count :
		       NAN;
}

static double percentile_99(const struct ledger *ledger,
			    enum ledger_histogram histogram, bool *open)
{
	uint64_t bins[LEDGER_MAX_BINS];

	ledger_histogram(ledger, histogram, bins);
	if (!latency_histogram_count(bins))
		return NAN;
	return latency_histogram_percentile(bins, 990, open);
}

/*
 * Return a measure of numbers, NAN where it is not known. A percentile is the
 * bound of its bin, @open if that is the last one.
 */
static double number(const struct ledger *ledger, enum measure measure,
		     bool *open)
{
	*open = false;
	switch (measure) {
	case MEASURE_MODE:
	case MEASURE_NR:
		break;
	case MEASURE_PHYSICAL:
		return ledger->device.nr_targets ?
		       (double)ledger->device.target[0].status.physical : NAN;
	case MEASURE_WRITES:
		return (double)ledger_value(ledger, LEDGER_writes);
	case MEASURE_BYTES:
		return (double)ledger_value(ledger, LEDGER_write_bytes);
	case MEASURE_MISALIGNED:
		return share(ledger, 100, LEDGER_writes_misaligned,
			     LEDGER_writes);
	case MEASURE_TOUCHES:
		return share(ledger, 1000, LEDGER_rmw_expected, LEDGER_writes);
	case MEASURE_AVOIDED:
		return share(ledger, 100, LEDGER_rmw_avoided,
			     LEDGER_rmw_expected);
	case MEASURE_HOST:
		return share(ledger, 100, LEDGER_rmw_host,
			     LEDGER_rmw_expected);
	case MEASURE_DRIVE:
		return share(ledger, 100, LEDGER_rmw_drive,
			     LEDGER_rmw_expected);
	case MEASURE_LOST:
		return share(ledger, 100, LEDGER_rmw_lost,
			     LEDGER_rmw_expected);
	case MEASURE_PAD_READS:
		return share(ledger, 1000, LEDGER_pad_reads, LEDGER_writes);
	case MEASURE_AMPLIFICATION_BEFORE:
		return share(ledger, 1, LEDGER_write_block_bytes,
			     LEDGER_write_bytes);
	case MEASURE_AMPLIFICATION_AFTER:
		return share(ledger, 1, LEDGER_sent_block_bytes,
			     LEDGER_write_bytes);
	case MEASURE_ALIGNED_MEAN:
		return mean_of(ledger, HISTOGRAM_LATENCY_ALIGNED);
	case MEASURE_ALIGNED_P99:
		return percentile_99(ledger, HISTOGRAM_LATENCY_ALIGNED, open);
	case MEASURE_MISALIGNED_MEAN:
		return mean_of(ledger, HISTOGRAM_LATENCY_MISALIGNED);
	case MEASURE_MISALIGNED_P99:
		return percentile_99(ledger, HISTOGRAM_LATENCY_MISALIGNED,
				     open);
	case MEASURE_ALL_MEAN:
		return mean_of_all(ledger);
	}
	return NAN;
}

struct compare_row {
	const struct ledger *before;
	const struct ledger *after;
	enum measure measure;
};

enum compare_column {
	COMPARE_KEY, COMPARE_MEASURE, COMPARE_BEFORE, COMPARE_AFTER,
	COMPARE_CHANGE,
};

static const struct table_column compare_columns[] = {
	[COMPARE_KEY] = { .key = "measure",
		COLUMN_MEMBER(JSON_TEXT,
			"Name of the measure. Names that end in _us are times in microseconds, _percent is of the writes for misaligned and else of the touches, and mean_us is of all writes") },
	[COMPARE_MEASURE] = { .heading = "MEASURE" },
	[COMPARE_BEFORE] = { .key = "before", .heading = "BEFORE",
			     .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"Value in the state before, and in that after: of the measure mode a mode, else a number; null: not known",
			SCHEMA_NAMES(mode_names)) },
	[COMPARE_AFTER] = { .key = "after", .heading = "AFTER",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE, SCHEMA_NAMES(mode_names)) },
	[COMPARE_CHANGE] = { .key = "change_percent", .heading = "CHANGE",
			     .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"By how many per cent the value has changed; null where that is not known, or means nothing") },
};

static bool is_percentile(enum measure measure)
{
	return measure == MEASURE_ALIGNED_P99 ||
	       measure == MEASURE_MISALIGNED_P99;
}

static struct table_value state_value(const struct ledger *ledger,
				      enum measure measure)
{
	struct table_value value;
	double n;
	bool open;

	if (measure == MEASURE_MODE)
		return ledger->device.nr_targets ?
		       table_text(ledger->device.target[0].status.mode) : table_null();
	n = number(ledger, measure, &open);
	if (isnan(n))
		return table_null();
	value = table_shown(table_real(n),
			    figure(measures[measure].unit, n).text);
	if (is_percentile(measure)) {
		char *bound = value.text;

		value.text = message_format("%s %s", open ? ">=" : "<", bound);
		free(bound);
	}
	return value;
}

/* Return the change from before, per cent; null where there is none to name. */
static struct table_value change_value(const struct compare_row *row)
{
	struct table_value value;
	bool open_before, open_after;
	double before = number(row->before, row->measure, &open_before);
	double after = number(row->after, row->measure, &open_after);
	double change = 100 * (after - before) / before;

	/* bounds do not tell how far percentiles have moved */
	if (!(before > 0) || isnan(after) || is_percentile(row->measure))
		return table_null();
	value = table_real(change);
	value.text = message_format("%s%s", change < 0 ? "-" :
				    change > 0 ? "+" : "",
				    figure(FIGURE_PER_CENT,
					   fabs(change)).text);
	return value;
}

static struct table_value compare_value(const void *row, size_t column)
{
	const struct compare_row *r = row;

	switch ((enum compare_column)column) {
	case COMPARE_KEY:
		return table_text(measures[r->measure].key);
	case COMPARE_MEASURE:
		return table_text(measures[r->measure].text);
	case COMPARE_BEFORE:
		return state_value(r->before, r->measure);
	case COMPARE_AFTER:
		return state_value(r->after, r->measure);
	case COMPARE_CHANGE:
		return change_value(r);
	}
	return table_absent();
}

static const struct table_type compare_table =
	TABLE_TYPE(compare_columns, compare_value);

/* Misaligned writes by first byte, per cent of all writes of their state */

struct phases {
	double before[ALIGN_MAX_BLOCK_SECTORS];
	double after[ALIGN_MAX_BLOCK_SECTORS];
	double largest;
};

struct phase_row {
	const struct phases *phases;
	unsigned int sector;
};

enum phase_column {
	PHASE_FIRST, PHASE_BEFORE, PHASE_BEFORE_BAR, PHASE_AFTER,
	PHASE_AFTER_BAR,
};

static const struct table_column phase_columns[] = {
	[PHASE_FIRST] = { .key = "first_byte", .heading = "FIRST-BYTE",
			  .flags = TABLE_RIGHT, .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER, "First byte of the writes in the physical block") },
	[PHASE_BEFORE] = { .key = "before_percent", .heading = "BEFORE",
			   .flags = TABLE_RIGHT, .unit = FIGURE_PER_CENT,
		COLUMN_MEMBER(JSON_REAL,
			"Share of all writes in the state before, and in that after") },
	[PHASE_BEFORE_BAR] = { .heading = "BAR", .width = BAR_WIDTH },
	[PHASE_AFTER] = { .key = "after_percent", .heading = "AFTER",
			  .flags = TABLE_RIGHT, .unit = FIGURE_PER_CENT,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[PHASE_AFTER_BAR] = { .heading = "BAR" },
};

static struct table_value phase_value(const void *row, size_t column)
{
	const struct phase_row *r = row;
	const struct phases *phases = r->phases;
	double before = phases->before[r->sector];
	double after = phases->after[r->sector];

	switch ((enum phase_column)column) {
	case PHASE_FIRST:
		return table_number((uint64_t)r->sector * ALIGN_SECTOR_SIZE);
	case PHASE_BEFORE:
		return table_real(before);
	case PHASE_BEFORE_BAR:
		return table_text_taken(ledger_bar(before / phases->largest,
						   BAR_WIDTH));
	case PHASE_AFTER:
		return table_real(after);
	case PHASE_AFTER_BAR:
		return table_text_taken(ledger_bar(after / phases->largest,
						   BAR_WIDTH));
	}
	return table_absent();
}

static const struct table_type phase_table =
	TABLE_TYPE(phase_columns, phase_value);

/* Fill in shares by the sector in the block, with any logical block. */
static void get_phase(const struct ledger *ledger, double *shares,
		      double *largest)
{
	uint64_t writes = ledger_value(ledger, LEDGER_writes);
	uint64_t bins[LEDGER_MAX_BINS];
	unsigned int i;

	ledger_histogram(ledger, HISTOGRAM_PHASE, bins);
	for (i = 0; i < ALIGN_PHASE_BINS; i++) {
		uint64_t sector =
			(uint64_t)ledger_bin_bound(ledger, HISTOGRAM_PHASE, i) /
			ALIGN_SECTOR_SIZE;

		if (!bins[i] || !writes || sector >= ALIGN_MAX_BLOCK_SECTORS)
			continue;
		shares[sector] = 100.0 * (double)bins[i] / (double)writes;
		if (shares[sector] > *largest)
			*largest = shares[sector];
	}
}

static struct phases phases_of(const struct ledger *before,
			       const struct ledger *after)
{
	struct phases phases = { 0 };

	get_phase(before, phases.before, &phases.largest);
	get_phase(after, phases.after, &phases.largest);
	return phases;
}

/* Call @each for every row of phases that is not empty. */
static void each_phase(const struct phases *phases,
		       void (*each)(const struct phase_row *row, void *context),
		       void *context)
{
	struct phase_row row = { .phases = phases };

	for (row.sector = 0; row.sector < ALIGN_MAX_BLOCK_SECTORS; row.sector++)
		if (phases->before[row.sector] > 0 ||
		    phases->after[row.sector] > 0)
			each(&row, context);
}

static void add_phase(const struct phase_row *row, void *table)
{
	table_add(table, row);
}

static void append_phase(const struct phase_row *row, void *array)
{
	json_append(array, table_json(&phase_table, row));
}

static void text_pair(const struct ledger *before, const struct ledger *after)
{
	const struct phases phases = phases_of(before, after);
	struct compare_row row = { before, after, 0 };
	struct table *table = table_new(&compare_table);
	/* a file has any text */
	CLEANUP_FREE char *name_before = message_visible(before->device.name);
	CLEANUP_FREE char *name = message_visible(after->device.name);

	if (strcmp(before->device.name, after->device.name))
		printf("%s before, %s after\n", name_before, name);
	else
		printf("%s\n", name);
	for (; row.measure < MEASURE_NR; row.measure++)
		table_add(table, &row);
	table_print(table, 2);
	if (phases.largest > 0)
		puts("  misaligned writes by first byte in the physical block, of all writes:");
	table = table_new(&phase_table);
	each_phase(&phases, add_phase, table);
	table_print(table, 2);
}

static const struct schema_row measure_rows[] = {
	MEMBERS_OF_TABLE(&compare_table),
	{ 0 },
};

static const struct schema_row phase_rows[] = {
	MEMBERS_OF_TABLE(&phase_table),
	{ 0 },
};

static const struct schema_row comparison_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "Name of the device"),
	MEMBER("name_before", JSON_TEXT, NULL, "Its name in the state before"),
	MEMBER("measures", JSON_ARRAY | JSON_OBJECT, NULL, "For each measure",
	       .rows = measure_rows),
	MEMBER("phase", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each place in the physical block at which misaligned writes begin",
	       .rows = phase_rows),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("comparisons", JSON_ARRAY | JSON_OBJECT, NULL, "For each device",
	       .rows = comparison_rows),
	{ 0 },
};

const struct schema_document ledger_compare_document = {
	"stats --compare", JSON_FORMAT, NULL, document_rows,
};

static struct json_object *json_pair(const struct ledger *before,
				     const struct ledger *after)
{
	const struct phases phases = phases_of(before, after);
	struct compare_row row = { before, after, 0 };
	struct json_object *object = json_new(), *array = json_new_array();

	json_add_text(object, "name", after->device.name);
	json_add_text(object, "name_before", before->device.name);
	for (; row.measure < MEASURE_NR; row.measure++)
		json_append(array, table_json(&compare_table, &row));
	json_add(object, "measures", array);
	array = json_new_array();
	each_phase(&phases, append_phase, array);
	json_add(object, "phase", array);
	return object;
}

/* Find the device of the other state; NULL: it has none of that name. */
static const struct ledger *find_other(const struct ledger_selection *others,
				       const struct ledger_selection *own,
				       const struct ledger *ledger)
{
	size_t i;

	if (others->nr == 1 && own->nr == 1)
		return &others->ledger[0];
	for (i = 0; i < others->nr; i++)
		if (!strcmp(others->ledger[i].device.name, ledger->device.name))
			return &others->ledger[i];
	return NULL;
}

/* Warn of the devices that the other state does not have. */
static void warn_single(const struct ledger_selection *own,
			const struct ledger_selection *others,
			const char *where)
{
	size_t i;

	for (i = 0; i < own->nr; i++)
		if (!find_other(others, own, &own->ledger[i]))
			message_warning("%s: is only in the %s state",
					own->ledger[i].device.name, where);
}

int ledger_compare(const struct ledger_selection *before,
		   const struct ledger_selection *after, bool json)
{
	struct json_object *array = json_new_array(), *document;
	size_t i, pairs = 0;

	warn_single(before, after, "earlier");
	warn_single(after, before, "later");
	for (i = 0; i < after->nr; i++) {
		const struct ledger *ledger = &after->ledger[i];
		const struct ledger *other = find_other(before, after, ledger);

		if (!other)
			continue;
		pairs++;
		if (json)
			json_append(array, json_pair(other, ledger));
		else
			text_pair(other, ledger);
	}
	if (!pairs)
		message_error("no device is in both states; name one device for each state");
	if (json && pairs) {
		document = json_new_document(JSON_FORMAT);
		json_add(document, "comparisons", array);
		json_print(document, false);
	} else {
		json_object_put(array);
	}
	return pairs ? ALIGNCTL_FINE : ALIGNCTL_USAGE;
}
