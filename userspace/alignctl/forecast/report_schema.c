// SPDX-License-Identifier: GPL-2.0
/* What the document of a forecast holds, which forecast/report.c makes. */
#include "forecast/report.h"
#include "forecast/report_tables.h"
#include "trace/operations.h"

static const struct schema_row mode_rows[] = {
	MEMBERS_OF_TABLE(&forecast_mode_table),
	{ 0 },
};

#define MODE_MEMBER(key, type, help) \
	MEMBER(key, JSON_OBJECT | (type), NULL, help, .rows = mode_rows, \
	       .name = "mode_forecast")

static const struct schema_row modes_rows[] = {
	MODE_MEMBER("report", 0, "What the counters of the target would rise by"),
	MODE_MEMBER("pad", JSON_NULL,
		    "The same in that mode; null if the physical block is above 262144 bytes, which the modes do not fix"),
	MODE_MEMBER("coalesce", JSON_NULL, AS_ABOVE),
	MODE_MEMBER("pad_as_timed", JSON_NULL,
		    "The same in that mode at the times of the trace; null if the requests have no times, and where pad is null"),
	MODE_MEMBER("coalesce_as_timed", JSON_NULL, AS_ABOVE),
	MEMBERS_OF_TABLE(&forecast_mode_table, .outer = TABLE_OUTER),
	{ 0 },
};

static const struct schema_row class_rows[] = {
	MEMBER("aligned", JSON_NUMBER, NULL, "Writes without a partial touch"),
	MEMBER("sub_block", JSON_NUMBER, NULL, "Writes inside one block"),
	MEMBER("head_only", JSON_NUMBER, NULL,
	       "Writes that only begin inside a block"),
	MEMBER("tail_only", JSON_NUMBER, NULL,
	       "Writes that only end inside a block"),
	MEMBER("both_ends", JSON_NUMBER, NULL,
	       "Writes that begin and end inside different blocks"),
	{ 0 },
};

static const struct schema_row assumed_rows[] = {
	MEMBER("direct", JSON_BOOL, NULL,
	       "Whether the requests do not go through a page cache"),
	MEMBER("cache_block_size", JSON_NUMBER | JSON_NULL, "bytes",
	       "Block of the page cache; null if direct"),
	MEMBER("cache_keeps_all", JSON_BOOL, NULL,
	       "Whether the page cache keeps every block that it has read or written; false if direct"),
	MEMBER("cache_writes_at_flush", JSON_BOOL, NULL,
	       "Whether the page cache writes at flushes only; false if direct"),
	MEMBER("one_at_a_time", JSON_BOOL, NULL,
	       "Always true: each request begins when the one before has ended"),
	MEMBER("flush_at_the_end", JSON_BOOL, NULL,
	       "Always true: a flush follows the last request"),
	MEMBER("known_ms", JSON_NUMBER, NULL,
	       "How long a block stays known, and how long mode coalesce holds one"),
	MEMBER("hold_ms", JSON_NUMBER, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row shift_rows[] = {
	MEMBERS_OF_TABLE(&forecast_shift_table),
	{ 0 },
};

static const struct schema_row case_rows[] = {
	MEMBERS_OF_TABLE(&forecast_case_table),
	{ 0 },
};

static const struct schema_row what_if_rows[] = {
	MEMBER("physical_block_size", JSON_NUMBER, "bytes",
	       "The physical block"),
	MEMBER("touches_if_moved", JSON_ARRAY | JSON_NUMBER, NULL,
	       "As touches_if_moved of the document, for this block"),
	MEMBER("write_amplification_if_moved", JSON_ARRAY | JSON_REAL, NULL,
	       "For each of these moves: bytes of whole blocks touched, for each byte written"),
	MEMBER("as_is", JSON_OBJECT, NULL,
	       "For the start as it is",
	       .rows = case_rows, .name = "what_if_case"),
	MEMBER("best", JSON_OBJECT, NULL,
	       "For the shortest move with the fewest touches",
	       .rows = case_rows, .name = "what_if_case"),
	{ 0 },
};

const struct schema_row forecast_advice_members[] = {
	MEMBER("remedy", JSON_TEXT, NULL,
	       "What to do: move the start, use a mode of the target, or nothing",
	       SCHEMA_WORDS("move", "pad", "coalesce", "nothing")),
	MEMBER("left", JSON_NUMBER, NULL,
	       "Read-modify-writes of the drive, or blocks that the target reads, that remain"),
	MEMBER("gain_percent", JSON_REAL, NULL,
	       "By how many per cent left is less than touches_expected"),
	{ 0 },
};

static const struct schema_row size_rows[] = {
	MEMBERS_OF_TABLE(&forecast_size_table),
	{ 0 },
};

static const struct schema_row start_rows[] = {
	MEMBERS_OF_TABLE(&forecast_phase_table),
	{ 0 },
};

static const struct schema_row process_rows[] = {
	MEMBERS_OF_TABLE(&forecast_process_table),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("source", JSON_TEXT, NULL, "SOURCE, as on the command line"),
	MEMBER("source_format", JSON_TEXT, NULL,
	       "The word workload, or the format of the trace"),
	MEMBER("physical_block_size", JSON_NUMBER, "bytes",
	       "The blocks that the figures are for"),
	MEMBER("logical_block_size", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("alignment_offset", JSON_NUMBER, "bytes",
	       "Where the first physical block begins; unknown: the kernel cannot say, and 0 is used",
	       SCHEMA_WORDS("unknown")),
	MEMBER("shift_sectors", JSON_NUMBER, NULL,
	       "N of --shift, in sectors of 512 bytes"),
	MEMBER("seconds", JSON_REAL | JSON_NULL, NULL,
	       "Time from the start of the trace until its last request; null if the requests have no times"),
	MEMBER("issued", JSON_OBJECT | JSON_NULL, NULL,
	       "The requests to the page cache, by operation; null if they do not go through one",
	       .rows = trace_operations_requested_members,
	       .name = "operations_requested"),
	MEMBER("requests", JSON_OBJECT, NULL,
	       "The requests that the device gets, by operation",
	       .rows = trace_operations_requested_members,
	       .name = "operations_requested"),
	MEMBER("fua", JSON_NUMBER, NULL, "Number of writes with FUA"),
	MEMBER("writes_misaligned", JSON_NUMBER, NULL,
	       "Number of writes with a partial touch"),
	MEMBER("write_zeroes_misaligned", JSON_NUMBER, NULL,
	       "Number of write-zeroes with a partial touch"),
	MEMBER("classes", JSON_OBJECT, NULL,
	       "Number of writes, without write-zeroes, in each class",
	       .rows = class_rows),
	MEMBER("touches_expected", JSON_NUMBER, NULL,
	       "As in alignctl-replay(8), JSON OF REPLAY, including write-zeroes"),
	MEMBER("write_touches", JSON_NUMBER, NULL,
	       "Partial touches of writes and of write-zeroes; their sum is touches_expected"),
	MEMBER("zero_touches", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("rmin", JSON_NUMBER | JSON_NULL, NULL,
	       "As in alignctl-replay(8), JSON OF REPLAY, including write-zeroes; null with --touches-only"),
	MEMBER("distinct_blocks", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("modes", JSON_OBJECT | JSON_NULL, NULL,
	       "What would be added to the counters of the target in each mode; null with --touches-only",
	       .rows = modes_rows),
	MEMBER("assumed", JSON_OBJECT, NULL,
	       "What the figures assume", .rows = assumed_rows),
	MEMBERS_OF(shift_rows),
	MEMBER("best_move_sectors", JSON_NUMBER, NULL,
	       "The shortest move with the fewest touches, in sectors of 512 bytes"),
	MEMBER("worthwhile_move_sectors", JSON_NUMBER, NULL,
	       "The same move if it saves a tenth of the touches, else 0"),
	MEMBER("what_if", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each physical block of 4 KiB to 256 KiB, but not below the logical block",
	       .rows = what_if_rows),
	MEMBER("recommendation", JSON_OBJECT | JSON_NULL, NULL,
	       "The best remedy; null with --touches-only",
	       .rows = forecast_advice_members, .name = "recommendation"),
	MEMBER("by_size", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Writes by length", .rows = size_rows),
	MEMBER("by_start_sector", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Writes by their start in the physical block",
	       .rows = start_rows),
	MEMBER("by_process", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Writes by process", .rows = process_rows),
	{ 0 },
};

const struct schema_document forecast_report_schema = {
	"plan", FORECAST_FORMAT,
	"In 1, format was the name of what is now source_format, and touches_left was called rmw_drive.",
	document_rows,
};
