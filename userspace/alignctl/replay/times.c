// SPDX-License-Identifier: GPL-2.0
/* Rows of percentiles over all requests, and by operation and size. */
#include "base/units.h"
#include "replay/times.h"

enum column { TIMES_NAME, TIMES_COUNT, TIMES_MEAN, TIMES_SD, TIMES_MIN,
	      TIMES_P50, TIMES_P90, TIMES_P98, TIMES_P99, TIMES_P99_9,
	      TIMES_P99_99, TIMES_MAX };

/* All figures; p98 and p99.99 only in documents. */
static const struct table_column whole[] = {
	[TIMES_NAME] = { .heading = "TIME" },
	[TIMES_COUNT] = { .key = "count", .heading = "COUNT",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of requests") },
	[TIMES_MEAN] = { .key = "mean", .heading = "MEAN",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL,
			"Mean, standard deviation, least, percentiles and greatest") },
	[TIMES_SD] = { .key = "sd", .heading = "SD",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_MIN] = { .key = "min", .heading = "MIN",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_P50] = { .key = "p50", .heading = "P50",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_P90] = { .key = "p90", .heading = "P90",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_P98] = { .key = "p98",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_P99] = { .key = "p99", .heading = "P99",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_P99_9] = { .key = "p99_9", .heading = "P99.9",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_P99_99] = { .key = "p99_99",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
	[TIMES_MAX] = { .key = "max", .heading = "MAX",
			  .flags = TABLE_RIGHT, .unit = FIGURE_US,
		COLUMN_MEMBER(JSON_REAL, AS_ABOVE) },
};

/*
 * Number, mean and p99; the other figures only in documents, where service_us has
 * the members of whole[].
 */
#define BY_COLUMNS(...) {						\
	[TIMES_NAME] = { __VA_ARGS__ },					\
	[TIMES_COUNT] = { .key = "service_us.count", .heading = "COUNT",	\
			  .flags = TABLE_RIGHT },			\
	[TIMES_MEAN] = { .key = "service_us.mean", .heading = "MEAN",	\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_SD] = { .key = "service_us.sd",				\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_MIN] = { .key = "service_us.min",			\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_P50] = { .key = "service_us.p50",			\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_P90] = { .key = "service_us.p90",			\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_P98] = { .key = "service_us.p98",			\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_P99] = { .key = "service_us.p99", .heading = "P99",	\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_P99_9] = { .key = "service_us.p99_9",			\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_P99_99] = { .key = "service_us.p99_99",			\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
	[TIMES_MAX] = { .key = "service_us.max",			\
			  .flags = TABLE_RIGHT, .unit = FIGURE_US },	\
}

static const struct table_column by_kind[] =
	BY_COLUMNS(.key = "kind", .heading = "KIND",
		   COLUMN_MEMBER(JSON_TEXT, "Kind of request"));
static const struct table_column by_size[] =
	BY_COLUMNS(.key = "bytes", .heading = "LENGTH",
		   .flags = TABLE_RIGHT | TABLE_RISING, .unit = FIGURE_LENGTH,
		   COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
				 "Length of the requests; 32 lengths have a row, null: all others"));
static const struct table_column by_class[] =
	BY_COLUMNS(.key = "class", .heading = "CLASS",
		   COLUMN_MEMBER(JSON_TEXT,
				 "Which ends of the writes lie inside a physical block",
				 SCHEMA_WORDS("whole", "sub-block", "head", "tail", "both")));
static const struct table_column by_phase[] =
	BY_COLUMNS(.key = "phase", .heading = "FIRST-BYTE",
		   .flags = TABLE_RIGHT | TABLE_RISING, .unit = FIGURE_LENGTH,
		   COLUMN_MEMBER(JSON_NUMBER,
				 "From the start of the physical block to that of the write; if a block has more than 128 logical blocks, rounded down to a multiple of its 128th part"));

static struct table_value percentile(const struct histogram *times,
				     unsigned int rank)
{
	return table_real(ns_to_us(histogram_percentile(times, rank)));
}

static struct table_value value(const void *row, size_t column)
{
	const struct times_row *r = row;
	const struct histogram *times = r->times;

	switch ((enum column)column) {
	case TIMES_NAME:
		return r->name ? table_text(r->name) : table_number(r->number);
	case TIMES_COUNT:
		return table_number(times->count);
	case TIMES_MEAN:
		return table_real(ns_to_us(histogram_mean(times)));
	case TIMES_SD:
		return table_real(ns_to_us(histogram_sd(times)));
	case TIMES_MIN:
		return table_real(times->count ? ns_to_us(times->min) : 0);
	case TIMES_P50:
		return percentile(times, 5000);
	case TIMES_P90:
		return percentile(times, 9000);
	case TIMES_P98:
		return percentile(times, 9800);
	case TIMES_P99:
		return percentile(times, 9900);
	case TIMES_P99_9:
		return percentile(times, 9990);
	case TIMES_P99_99:
		return percentile(times, 9999);
	case TIMES_MAX:
		return table_real(ns_to_us(times->max));
	}
	return table_absent();
}

/* Return the cell of a table by size, whose last row has all other lengths. */
static struct table_value value_by_size(const void *row, size_t column)
{
	const struct times_row *r = row;

	if (column == TIMES_NAME && r->name)
		return table_shown(table_null(), r->name);
	return value(row, column);
}

const struct table_type times_table[TIMES_NR] = {
	[TIMES_WHOLE] = TABLE_TYPE(whole, value),
	[TIMES_KIND] = TABLE_TYPE(by_kind, value),
	[TIMES_SIZE] = TABLE_TYPE(by_size, value_by_size),
	[TIMES_CLASS] = TABLE_TYPE(by_class, value),
	[TIMES_PHASE] = TABLE_TYPE(by_phase, value),
};
