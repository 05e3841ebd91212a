// SPDX-License-Identifier: GPL-2.0
/*
 * The table of column names with the parser of each, and the checks of a set of
 * columns.
 */
#include <ctype.h>
#include <string.h>

#include "base/decimal.h"
#include "base/message.h"
#include "base/units.h"
#include "geometry.h"
#include "trace/columns.h"
#include "trace/letters.h"

#define NS_PER_FILETIME	100U

const char *const trace_column_names[COLUMN_IGNORED] = {
	"time_ns", "time_us", "time_ms", "time_s", "filetime", "op", "op_1w",
	"op_1r", "offset", "offset_sectors", "bytes", "sectors", "flags",
	"pid", "comm", "file",
};

enum trace_column trace_column_find(const char *name)
{
	enum trace_column i;

	if (!strcmp(name, "disk"))
		return COLUMN_FILE;
	for (i = 0; i < COLUMN_IGNORED; i++)
		if (!strcmp(name, trace_column_names[i]))
			break;
	return i;
}

/* Return the number of columns from @first to @last. */
static uint32_t count_columns(const struct trace_columns *columns,
			      enum trace_column first, enum trace_column last)
{
	uint32_t i, found = 0;

	for (i = 0; i < columns->nr; i++)
		found += columns->column[i] >= first &&
			 columns->column[i] <= last;
	return found;
}

bool trace_columns_timed(const struct trace_columns *columns)
{
	return count_columns(columns, COLUMN_TIME_NS, COLUMN_FILETIME);
}

char *trace_columns_fault(const struct trace_columns *columns, bool parts)
{
	static const struct {
		enum trace_column first, last;
		bool needed;
	} groups[] = {
		{ COLUMN_TIME_NS, COLUMN_FILETIME, false },
		{ COLUMN_OP, COLUMN_OP_1R, true },
		{ COLUMN_OFFSET, COLUMN_OFFSET_SECTORS, true },
		{ COLUMN_BYTES, COLUMN_SECTORS, true },
		{ COLUMN_FLAGS, COLUMN_FLAGS, false },
		{ COLUMN_PID, COLUMN_PID, false },
		{ COLUMN_COMM, COLUMN_COMM, false },
		{ COLUMN_FILE, COLUMN_FILE, false },
	};
	size_t i, nr = sizeof(groups) / sizeof(groups[0]) - parts;
	uint32_t found;

	for (i = 0; i < nr; i++) {
		const char *first = trace_column_names[groups[i].first];
		bool units = groups[i].first == COLUMN_OFFSET ||
			     groups[i].first == COLUMN_BYTES;

		found = count_columns(columns, groups[i].first, groups[i].last);
		if (found > 1)
			return message_format("column \"%s\" is given twice, or in two units",
					      first);
		if (!found && groups[i].needed)
			return message_format("column \"%s\"%s%s%s is missing",
					      first, units ? " or \"" : "",
					      units ? trace_column_names[groups[i].last] : "",
					      units ? "\"" : "");
	}
	return NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char *skip_blanks(char *text)
{
	while (is_blank(*text))
		text++;
	return text;
}

/* Take a field in quotes, from the first quote on; as trace_field_take(). */
static char *take_quoted(char **rest, char *field)
{
	char *from = field + 1, *to;
	bool closed = false;

	for (to = field; *from; *to++ = *from++) {
		closed = *from == '"' && *++from != '"';
		if (closed)
			break;
	}
	from = skip_blanks(from);
	if (!closed || (*from && *from != ','))
		return NULL;
	*rest = *from ? from + 1 : NULL;
	*to = '\0';
	return field;
}

char *trace_field_take(char **rest, char separator)
{
	char *field = skip_blanks(*rest), *end;

	if (separator == ',' && *field == '"')
		return take_quoted(rest, field);
	if (separator != ' ') {
		end = strchrnul(field, separator);
		*rest = *end ? end + 1 : NULL;
	} else {
		for (end = field; *end && !is_blank(*end); end++)
			;
		*rest = *end ? end + 1 : NULL;
		/* blanks at the end of a line separate nothing */
		if (*rest && !*skip_blanks(*rest))
			*rest = NULL;
	}
	while (end > field && is_blank(end[-1]))
		end--;
	*end = '\0';
	return field;
}

/**
 * struct number - what a field of a column of numbers must be
 * @max: the largest whole number, whose @unit fits into 64 bits; of times, with a
 *	part of another one
 * @unit: what 1 is in nanoseconds, bytes or processes
 * @digits: limit of digits after the point, the last of which are nanoseconds
 * @demand: unit and limit in words
 */
struct number {
	uint64_t max;
	uint64_t unit;
	int digits;
	const char *demand;
};

#define TIME(unit, digits, demand) \
	{ UINT64_MAX / (unit) - 1, unit, digits, demand }
#define WHOLE(unit, demand)	{ UINT64_MAX / (unit), unit, 0, demand }

static const struct number numbers[COLUMN_IGNORED] = {
	[COLUMN_TIME_NS] = TIME(1, 0, "must be a number of nanoseconds"),
	[COLUMN_TIME_US] = TIME(NS_PER_US, 3, "must be microseconds, with up to three digits after the point"),
	[COLUMN_TIME_MS] = TIME(NS_PER_MS, 6, "must be milliseconds, with up to six digits after the point"),
	[COLUMN_TIME_S] = TIME(NS_PER_S, 9, "must be seconds, with up to nine digits after the point"),
	[COLUMN_FILETIME] = WHOLE(NS_PER_FILETIME, "must be a number of 100 nanoseconds since 1601"),
	[COLUMN_OFFSET] = WHOLE(1, "must be a number of bytes"),
	[COLUMN_OFFSET_SECTORS] = WHOLE(ALIGN_SECTOR_SIZE, "must be a number of 512-byte sectors"),
	[COLUMN_BYTES] = WHOLE(1, "must be a number of bytes"),
	[COLUMN_SECTORS] = WHOLE(ALIGN_SECTOR_SIZE, "must be a number of 512-byte sectors"),
	[COLUMN_PID] = { UINT32_MAX, 1, 0, "must be a process number" },
};

/* Read a number at *@at and advance *@at past it. Return: false: there is none. */
static inline bool read_number(const char **at, const struct number *number,
			uint64_t *value)
{
	uint64_t whole, part = 0;
	const char *start;

	if (!decimal_read_inline(at, number->max, &whole))
		return false;
	if (number->digits && **at == '.') {
		start = ++*at;
		if (!decimal_read(at, number->unit - 1, &part) ||
		    *at - start > number->digits)
			return false;
		for (; *at - start < number->digits; start--)
			part *= 10;
	}
	*value = whole * number->unit + part;
	return true;
}

/* Set what a number says of a request. */
static void set_number(struct trace_request *request, enum trace_column column,
		       uint64_t value)
{
	if (column <= COLUMN_FILETIME)
		request->time_ns = value;
	else if (column == COLUMN_PID)
		request->pid = (uint32_t)value;
	else if (column <= COLUMN_OFFSET_SECTORS)
		request->offset = value;
	else
		request->bytes = value;
}

bool trace_number_take(char **rest, char separator, enum trace_column column,
		       struct trace_request *request)
{
	const char *at = *rest;
	uint64_t value;

	if (!read_number(&at, &numbers[column], &value))
		return false;
	if (*at && *at != separator)
		return false;
	set_number(request, column, value);
	*rest = *at ? (char *)at + 1 : NULL;
	return true;
}

/* As trace_column_take(), of a column of numbers. */
static const char *take_number(struct trace_request *request,
			       enum trace_column column, const char *field)
{
	uint64_t value;

	if (column == COLUMN_PID && !*field)
		return NULL;
	if (!read_number(&field, &numbers[column], &value) || *field)
		return numbers[column].demand;
	set_number(request, column, value);
	return NULL;
}

/* Read flags: "", or words joined by "+". */
static bool take_flags(const char *field, struct trace_request *request)
{
	size_t length;

	if (!*field)
		return true;
	for (;; field += length + 1) {
		length = strcspn(field, "+");
		if (length == 3 && !strncmp(field, "fua", length))
			request->fua = true;
		else if (length == 8 && !strncmp(field, "preflush", length))
			request->preflush = true;
		else
			return false;
		if (!field[length])
			return true;
	}
}

/* Compare without regard to case; the first letter shows nearly all that differ. */
static bool is_word(const char *field, const char *word)
{
	return tolower((unsigned char)*field) == *word &&
	       !strcasecmp(field, word);
}

/* Read an operation: a word, or letters, in any case. */
static bool take_op(const char *field, struct trace_request *request)
{
	static const struct {
		const char *word;
		enum trace_op op;
	} words[] = {
		{ "write", TRACE_WRITE }, { "read", TRACE_READ },
		{ "flush", TRACE_FLUSH }, { "discard", TRACE_DISCARD },
		{ "trim", TRACE_DISCARD }, { "unmap", TRACE_DISCARD },
		{ "write-zeroes", TRACE_WRITE_ZEROES },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(field, words[i].word)) {
			request->op = words[i].op;
			return true;
		}
	return trace_letters_take(&field, request) != LETTERS_INVALID && !*field;
}

/*
 * Read a direction that is 0 or 1; @one: what 1 means. Where that is a write, 2
 * is a trim, as fio's logs have it.
 */
static bool take_direction(const char *field, enum trace_op one,
			   enum trace_op *op)
{
	bool writes = one == TRACE_WRITE;

	if (*field < '0' || *field > (writes ? '2' : '1') || field[1])
		return false;
	*op = *field == '1' ? one : *field == '2' ? TRACE_DISCARD :
	      writes ? TRACE_READ : TRACE_WRITE;
	return true;
}

static const char *take_any_op(const char *field, enum trace_column column,
			       struct trace_request *request)
{
	enum trace_op op;

	if (!*field) {
		request->op = TRACE_NR_OPS;
		return NULL;
	}
	if (column == COLUMN_OP_1R)
		return take_direction(field, TRACE_READ, &request->op) ? NULL :
		       "must be 0 or 1";
	if (column == COLUMN_OP_1W)
		return take_direction(field, TRACE_WRITE, &request->op) ? NULL :
		       "must be 0, 1, or 2 for a trim";
	/* some traces have 1 for reads, and others for writes */
	if (take_direction(field, TRACE_READ, &op))
		return "could be a read or a write; name the column op_1w (1 is a write) or op_1r (1 is a read)";
	return take_op(field, request) ? NULL :
	       "must be read, write, flush, discard or write-zeroes";
}

const char *trace_column_take(struct trace_request *request,
			      enum trace_column column, const char *field)
{
	switch (column) {
	case COLUMN_OP:
	case COLUMN_OP_1W:
	case COLUMN_OP_1R:
		return take_any_op(field, column, request);
	case COLUMN_FLAGS:
		return take_flags(field, request) ?
		       NULL : "must be empty, preflush, fua or preflush+fua";
	case COLUMN_COMM:
		trace_set_comm(request, field);
		break;
	case COLUMN_FILE:
	case COLUMN_IGNORED:
		break;
	default:
		return take_number(request, column, field);
	}
	return NULL;
}
