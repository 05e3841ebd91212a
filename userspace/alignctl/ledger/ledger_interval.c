// SPDX-License-Identifier: GPL-2.0
/*
 * The row of a device for each interval of stats --interval, as text and as
 * JSON.
 */
#include <time.h>

#include "base/latency.h"
#include "base/message.h"
#include "base/table.h"
#include "base/units.h"
#include "ledger/ledger_bars.h"
#include "ledger/ledger_interval.h"

/* Latencies of a device's writes in the interval. */
struct times {
	uint64_t bins[LEDGER_MAX_BINS];
	uint64_t count;
	double mean;		/* microseconds; 0 without writes */
};

struct interval_row {
	const struct ledger *ledger;
	double seconds;
	struct times aligned;
	struct times misaligned;
};

enum interval_column {
	INTERVAL_TIME, INTERVAL_NAME, INTERVAL_SECONDS, INTERVAL_WRITES,
	INTERVAL_MISALIGNED, INTERVAL_TOUCHES, INTERVAL_AVOIDED, INTERVAL_HOST,
	INTERVAL_DRIVE, INTERVAL_LOST, INTERVAL_AMPLIFICATION_BEFORE,
	INTERVAL_AMPLIFICATION_AFTER, INTERVAL_ALIGNED_MEAN,
	INTERVAL_ALIGNED_P99, INTERVAL_MISALIGNED_MEAN,
	INTERVAL_MISALIGNED_P99, INTERVAL_PRICE,
};

/* The rows of all intervals are in line, so each column has a least width. */
static const struct table_column interval_columns[] = {
	[INTERVAL_TIME] = { .key = "time", .heading = "TIME", .width = 8,
		COLUMN_MEMBER(JSON_NUMBER, "End of the interval, in seconds since 1970") },
	[INTERVAL_NAME] = { .heading = "NAME", .width = 4 },
	[INTERVAL_SECONDS] = { .key = "seconds",
		COLUMN_MEMBER(JSON_REAL,
			"Number of seconds that the figures are for") },
	[INTERVAL_WRITES] = { .key = "writes_per_second",
			      .heading = "WRITES/s", .flags = TABLE_RIGHT,
			      .width = 7,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"Writes that arrived, per second; this and all others are null where there was nothing to compute it from") },
	[INTERVAL_MISALIGNED] = { .key = "misaligned_percent",
				  .heading = "MISALIGNED",
				  .flags = TABLE_RIGHT, .width = 6,
				  .unit = FIGURE_PER_CENT,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"Share of these writes that had a partial touch") },
	[INTERVAL_TOUCHES] = { .key = "touches_per_second",
			       .heading = "TOUCHES/s", .flags = TABLE_RIGHT,
			       .width = 7,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"Partial touches per second: those that arrived, avoided, read for, left to the drive, and lost") },
	[INTERVAL_AVOIDED] = { .key = "avoided_per_second",
			       .heading = "AVOIDED/s", .flags = TABLE_RIGHT,
			       .width = 7,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[INTERVAL_HOST] = { .key = "host_per_second", .heading = "HOST/s",
			    .flags = TABLE_RIGHT, .width = 7,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[INTERVAL_DRIVE] = { .key = "drive_per_second", .heading = "DRIVE/s",
			     .flags = TABLE_RIGHT, .width = 7,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[INTERVAL_LOST] = { .key = "lost_per_second", .heading = "LOST/s",
			    .flags = TABLE_RIGHT, .width = 7,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[INTERVAL_AMPLIFICATION_BEFORE] = {
		.key = "write_amplification_before", .heading = "AMP-IN",
		.flags = TABLE_RIGHT, .width = 4,
			COLUMN_MEMBER(JSON_REAL | JSON_NULL, "As in derived") },
	[INTERVAL_AMPLIFICATION_AFTER] = {
		.key = "write_amplification_after", .heading = "AMP-OUT",
		.flags = TABLE_RIGHT, .width = 4,
			COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[INTERVAL_ALIGNED_MEAN] = { .key = "aligned_mean_us",
				    .heading = "A-MEAN", .flags = TABLE_RIGHT,
				    .width = 7, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"Mean latency of writes without partial touches, and the upper end of the bin that 99 % lie below") },
	[INTERVAL_ALIGNED_P99] = { .key = "aligned_p99_us",
				   .heading = "A-P99", .flags = TABLE_RIGHT,
				   .width = 10, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[INTERVAL_MISALIGNED_MEAN] = { .key = "misaligned_mean_us",
				       .heading = "M-MEAN",
				       .flags = TABLE_RIGHT, .width = 7,
				       .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"The same of writes with partial touches") },
	[INTERVAL_MISALIGNED_P99] = { .key = "misaligned_p99_us",
				      .heading = "M-P99",
				      .flags = TABLE_RIGHT, .width = 10,
				      .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
	[INTERVAL_PRICE] = { .key = "price_ms_per_second",
			     .heading = "PRICE/s", .flags = TABLE_RIGHT,
			     .width = 8, .unit = FIGURE_MS,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL,
			"Additional time per second that all misaligned writes took, beside as many aligned ones") },
};

static struct table_value rate(const struct interval_row *row,
			       enum ledger_counter counter)
{
	if (row->seconds <= 0)
		return table_null();
	return table_real((double)ledger_value(row->ledger, counter) /
			  row->seconds);
}

/* Return the value if the counter it is derived from is not 0. */
static struct table_value if_any(const struct interval_row *row,
				 enum ledger_counter counter, double value)
{
	return ledger_value(row->ledger, counter) ?
	       table_real(value) : table_null();
}

/* Seconds since 1970, and for people the local time of day. */
static struct table_value time_value(time_t time)
{
	char text[16] = "";
	struct tm local;

	if (localtime_r(&time, &local))
		strftime(text, sizeof(text), "%T", &local);
	return table_shown(table_number((uint64_t)time), text);
}

static struct table_value mean(const struct times *times)
{
	return times->count ? table_real(times->mean) : table_null();
}

static struct table_value percentile_99(const struct times *times)
{
	return times->count ? ledger_percentile(times->bins, 990) :
			      table_null();
}

/*
 * Return how much longer misaligned writes took than as many aligned ones, at the
 * mean of the same interval; null where there is nothing to compare.
 */
static struct table_value price(const struct interval_row *row)
{
	const struct times *aligned = &row->aligned, *more = &row->misaligned;
	struct table_value value;
	double ms;

	if (!aligned->count || !more->count || row->seconds <= 0)
		return table_null();
	ms = (double)more->count * (more->mean - aligned->mean) /
	     (double)NS_PER_US / row->seconds;
	value = table_real(ms);
	if (ms < 0)
		value.text = message_format("-%s",
					    figure(FIGURE_MS, -ms).text);
	return value;
}

static struct table_value interval_value(const void *row, size_t column)
{
	const struct interval_row *r = row;
	const struct ledger *ledger = r->ledger;

	switch ((enum interval_column)column) {
	case INTERVAL_TIME:
		return time_value(ledger->time);
	case INTERVAL_NAME:
		return table_text(r->ledger->device.name);
	case INTERVAL_SECONDS:
		return table_real(r->seconds);
	case INTERVAL_WRITES:
		return rate(r, LEDGER_writes);
	case INTERVAL_MISALIGNED:
		return if_any(r, LEDGER_writes,
			      ledger_misaligned_percent(ledger));
	case INTERVAL_TOUCHES:
		return rate(r, LEDGER_rmw_expected);
	case INTERVAL_AVOIDED:
		return rate(r, LEDGER_rmw_avoided);
	case INTERVAL_HOST:
		return rate(r, LEDGER_rmw_host);
	case INTERVAL_DRIVE:
		return rate(r, LEDGER_rmw_drive);
	case INTERVAL_LOST:
		return rate(r, LEDGER_rmw_lost);
	case INTERVAL_AMPLIFICATION_BEFORE:
		return if_any(r, LEDGER_write_bytes,
			      ledger_amplification_before(ledger));
	case INTERVAL_AMPLIFICATION_AFTER:
		return if_any(r, LEDGER_write_bytes,
			      ledger_amplification_after(ledger));
	case INTERVAL_ALIGNED_MEAN:
		return mean(&r->aligned);
	case INTERVAL_ALIGNED_P99:
		return percentile_99(&r->aligned);
	case INTERVAL_MISALIGNED_MEAN:
		return mean(&r->misaligned);
	case INTERVAL_MISALIGNED_P99:
		return percentile_99(&r->misaligned);
	case INTERVAL_PRICE:
		return price(r);
	}
	return table_absent();
}

static const struct table_type interval_table =
	TABLE_TYPE(interval_columns, interval_value);

const struct schema_row ledger_interval_members[] = {
	MEMBERS_OF_TABLE(&interval_table),
	{ 0 },
};

static void get_times(struct times *times, const struct ledger *ledger,
		      enum ledger_histogram histogram)
{
	ledger_histogram(ledger, histogram, times->bins);
	times->count = latency_histogram_count(times->bins);
	times->mean = times->count ? latency_histogram_sum(times->bins) /
				     (double)times->count : 0;
}

static struct interval_row row_of(const struct ledger *ledger)
{
	struct interval_row row = { .ledger = ledger };

	row.seconds = ns_to_s((double)(ledger->read_ns - ledger->since_ns));
	get_times(&row.aligned, ledger, HISTOGRAM_LATENCY_ALIGNED);
	get_times(&row.misaligned, ledger, HISTOGRAM_LATENCY_MISALIGNED);
	return row;
}

void ledger_interval_text(const struct ledger *ledgers, size_t nr,
			  bool headings)
{
	struct table *table = table_new(&interval_table);
	size_t i;

	if (!headings)
		table_hide_headings(table);
	for (i = 0; i < nr; i++) {
		const struct interval_row row = row_of(&ledgers[i]);

		table_add(table, &row);
	}
	table_print(table, 0);
}

struct json_object *ledger_interval_json(const struct ledger *ledger)
{
	const struct interval_row row = row_of(ledger);

	return table_json(&interval_table, &row);
}
