/* SPDX-License-Identifier: GPL-2.0 */
/* The columns of traces in tables: their names, and the values of each. */
#ifndef ALIGNCTL_TRACE_COLUMNS_H
#define ALIGNCTL_TRACE_COLUMNS_H

#include "trace/format.h"

enum trace_column {
	COLUMN_TIME_NS,
	COLUMN_TIME_US,
	COLUMN_TIME_MS,
	COLUMN_TIME_S,
	COLUMN_FILETIME,	/* 100 ns since 1601 */
	COLUMN_OP,
	COLUMN_OP_1W,		/* 0: read, 1: write */
	COLUMN_OP_1R,		/* 0: write, 1: read */
	COLUMN_OFFSET,
	COLUMN_OFFSET_SECTORS,
	COLUMN_BYTES,
	COLUMN_SECTORS,
	COLUMN_FLAGS,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_FILE,
	COLUMN_IGNORED,
};

#define TRACE_COLUMN_NAMES	"time_ns, time_us, time_ms, time_s, filetime, op, op_1w, op_1r, offset, offset_sectors, bytes, sectors, flags, pid, comm, file"

/* More columns than any table has. */
#define TRACE_MAX_COLUMNS	64U

/**
 * struct trace_columns - the columns of a table, from the left
 * @nr: number of columns
 * @column: meaning of each column
 */
struct trace_columns {
	uint32_t nr;
	enum trace_column column[TRACE_MAX_COLUMNS];
};

extern const char *const trace_column_names[COLUMN_IGNORED];

/*
 * Find the column of that name; "disk" is "file", too. Return: COLUMN_IGNORED if
 * there is none.
 */
enum trace_column trace_column_find(const char *name);

/* Check whether there is a column of times. */
bool trace_columns_timed(const struct trace_columns *columns);

/*
 * Check that what a request needs is there, and nothing twice but the parts of a
 * file's name if @parts. Return: NULL, or the error, for free().
 */
char *trace_columns_fault(const struct trace_columns *columns, bool parts);

/*
 * Cut the first field off *@rest, which becomes NULL after the last field.
 * @separator: ',' with quotes, ';', or ' ' for blanks and tabs. Return: the
 * field, without quotes and without blanks around it; NULL: its quotes are
 * invalid.
 */
char *trace_field_take(char **rest, char separator);

/* Check for a column of numbers. */
static inline bool trace_column_is_number(enum trace_column column)
{
	return column <= COLUMN_FILETIME || column == COLUMN_PID ||
	       (column >= COLUMN_OFFSET && column <= COLUMN_SECTORS);
}

/*
 * Take the first field off *@rest if it is a number and nothing else, not even a
 * blank, and set what it says of a request: trace_field_take() and
 * trace_column_take() in one step, of a column of numbers. Return: false: it is
 * not; *@rest is as it was.
 */
bool trace_number_take(char **rest, char separator, enum trace_column column,
		       struct trace_request *request);

/*
 * Set what a field says of a request; an operation that is missing sets @op to
 * TRACE_NR_OPS. COLUMN_FILE sets nothing. Return: NULL, or what the field must
 * be.
 */
const char *trace_column_take(struct trace_request *request,
			      enum trace_column column, const char *field);

#endif
