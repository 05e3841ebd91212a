// SPDX-License-Identifier: GPL-2.0
/*
 * Comma-separated values. The first line names the columns, in any order; each
 * other line is a request. Fields may be quoted, with "" for a quote.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "geometry.h"
#include "trace/format.h"
#include "trace/writer_format.h"

enum column {
	COLUMN_TIME_NS,
	COLUMN_TIME_US,
	COLUMN_TIME_S,
	COLUMN_OP,
	COLUMN_OFFSET,
	COLUMN_OFFSET_SECTORS,
	COLUMN_BYTES,
	COLUMN_SECTORS,
	COLUMN_FLAGS,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_FILE,
	NR_COLUMNS,
};

static const char *const column_names[NR_COLUMNS] = {
	"time_ns", "time_us", "time_s", "op", "offset", "offset_sectors",
	"bytes", "sectors", "flags", "pid", "comm", "file",
};

static const char byte_order_mark[] = "\xef\xbb\xbf";

/**
 * struct csv - a table that is being read
 * @nr: number of columns
 * @columns: meaning of each column
 */
struct csv {
	uint32_t nr;
	enum column columns[NR_COLUMNS];
};

static bool find_column(const char *name, enum column *column)
{
	size_t i;

	for (i = 0; i < NR_COLUMNS; i++) {
		if (strcmp(name, column_names[i]))
			continue;
		*column = i;
		return true;
	}
	return false;
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

/*
 * Cut the first field off *@rest, which becomes NULL after the last field.
 * Return: the field, without quotes and without blanks around it; NULL: its
 * quotes are invalid.
 */
static char *take_field(char **rest)
{
	char *field = skip_blanks(*rest), *from = field, *to, *end;
	bool closed = false;

	if (*field == '"') {
		for (to = field, from++; *from; *to++ = *from++) {
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
	/* most fields are too short to be worth a call of strcspn() */
	for (end = field; *end && *end != ','; end++)
		;
	*rest = *end ? end + 1 : NULL;
	while (end > field && is_blank(end[-1]))
		end--;
	*end = '\0';
	return field;
}

static bool csv_recognize(const char *head, size_t length)
{
	CLEANUP_FREE char *line = memory_or_exit(strndup(head, length));
	char *rest = line, *name;
	enum column column;

	line[strcspn(line, "\r\n")] = '\0';
	if (!strncmp(rest, byte_order_mark, strlen(byte_order_mark)))
		rest += strlen(byte_order_mark);
	while (rest) {
		name = take_field(&rest);
		if (!name)
			return false;
		if (find_column(name, &column))
			return true;
	}
	return false;
}

/*
 * Check that exactly one of some columns is present, or none unless @needed.
 * Return: false if not; reported.
 */
static bool has_one(struct trace *trace, const struct csv *csv,
		    enum column first, enum column last, bool needed)
{
	uint32_t i, found = 0;

	for (i = 0; i < csv->nr; i++)
		found += csv->columns[i] >= first && csv->columns[i] <= last;
	if (found == 1 || (!found && !needed))
		return true;
	if (found)
		trace_refuse(trace, "column \"%s\" is given twice, or in two units",
			     column_names[first]);
	else
		trace_refuse(trace, "column \"%s\"%s%s%s is missing",
			     column_names[first],
			     last > first ? " or \"" : "",
			     last > first ? column_names[last] : "",
			     last > first ? "\"" : "");
	return false;
}

static bool take_header(struct trace *trace, struct csv *csv, char *rest)
{
	enum column column;
	char *name;

	if (!strncmp(rest, byte_order_mark, strlen(byte_order_mark)))
		rest += strlen(byte_order_mark);
	while (rest) {
		name = take_field(&rest);
		if (!name || !find_column(name, &column)) {
			trace_refuse(trace, "column \"%s\": must be one of time_ns, time_us, time_s, op, offset, offset_sectors, bytes, sectors, flags, pid, comm, file",
				     name ? name : "\"");
			return false;
		}
		if (csv->nr == NR_COLUMNS) {
			trace_refuse(trace, "column \"%s\" is given twice",
				     name);
			return false;
		}
		csv->columns[csv->nr++] = column;
	}
	return has_one(trace, csv, COLUMN_TIME_NS, COLUMN_TIME_S, false) &&
	       has_one(trace, csv, COLUMN_OP, COLUMN_OP, true) &&
	       has_one(trace, csv, COLUMN_OFFSET, COLUMN_OFFSET_SECTORS, true) &&
	       has_one(trace, csv, COLUMN_BYTES, COLUMN_SECTORS, true) &&
	       has_one(trace, csv, COLUMN_FLAGS, COLUMN_FLAGS, false) &&
	       has_one(trace, csv, COLUMN_PID, COLUMN_PID, false) &&
	       has_one(trace, csv, COLUMN_COMM, COLUMN_COMM, false) &&
	       has_one(trace, csv, COLUMN_FILE, COLUMN_FILE, false);
}

static int csv_open(struct trace *trace)
{
	struct csv *csv = memory_or_exit(calloc(1, sizeof(*csv)));
	int failed;
	char *line;
	uint32_t i;

	trace->state = csv;
	trace->facts = (struct trace_facts) { .format = "csv" };
	failed = trace_first_line(trace, &line);
	if (failed)
		return failed;
	if (!take_header(trace, csv, line))
		return ALIGNCTL_USAGE;
	for (i = 0; i < csv->nr; i++)
		trace->facts.timed |= csv->columns[i] <= COLUMN_TIME_S;
	return ALIGNCTL_FINE;
}

static bool take_number(const char *field, uint64_t max, uint64_t *number)
{
	return decimal_read(&field, max, number) && !*field;
}

static bool take_sectors(const char *field, uint64_t *bytes)
{
	if (!take_number(field, UINT64_MAX >> ALIGN_SECTOR_SHIFT, bytes))
		return false;
	*bytes <<= ALIGN_SECTOR_SHIFT;
	return true;
}

/* Read seconds with up to nine digits after the point, as nanoseconds. */
static bool take_seconds(const char *field, uint64_t *ns)
{
	uint64_t whole, part = 0;
	const char *start;

	if (!decimal_read(&field, UINT64_MAX / NS_PER_S - 1, &whole))
		return false;
	if (*field == '.') {
		start = ++field;
		if (!decimal_read(&field, NS_PER_S - 1, &part) ||
		    field - start > 9)
			return false;
		for (; field - start < 9; start--)
			part *= 10;
	}
	*ns = whole * NS_PER_S + part;
	return !*field;
}

static bool take_op(const char *field, enum trace_op *op)
{
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++) {
		if (strcmp(field, trace_op_names[i]))
			continue;
		*op = i;
		return true;
	}
	return false;
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

static const char *take_value(struct trace_request *request,
			      enum column column, const char *field)
{
	uint64_t number;

	switch (column) {
	case COLUMN_TIME_NS:
		if (take_number(field, UINT64_MAX, &request->time_ns))
			return NULL;
		return "must be a number of nanoseconds";
	case COLUMN_TIME_US:
		if (take_number(field, UINT64_MAX / NS_PER_US,
				&request->time_ns)) {
			request->time_ns *= NS_PER_US;
			return NULL;
		}
		return "must be a number of microseconds";
	case COLUMN_TIME_S:
		if (take_seconds(field, &request->time_ns))
			return NULL;
		return "must be seconds, with up to nine digits after the point";
	case COLUMN_OP:
		if (take_op(field, &request->op))
			return NULL;
		return "must be read, write, flush, discard or write-zeroes";
	case COLUMN_OFFSET:
		if (take_number(field, UINT64_MAX, &request->offset))
			return NULL;
		return "must be a number of bytes";
	case COLUMN_OFFSET_SECTORS:
		if (take_sectors(field, &request->offset))
			return NULL;
		return "must be a number of 512-byte sectors";
	case COLUMN_BYTES:
		if (take_number(field, UINT64_MAX, &request->bytes))
			return NULL;
		return "must be a number of bytes";
	case COLUMN_SECTORS:
		if (take_sectors(field, &request->bytes))
			return NULL;
		return "must be a number of 512-byte sectors";
	case COLUMN_FLAGS:
		if (take_flags(field, request))
			return NULL;
		return "must be empty, preflush, fua or preflush+fua";
	case COLUMN_PID:
		if (!*field)
			return NULL;
		if (!take_number(field, UINT32_MAX, &number))
			return "must be a process number";
		request->pid = (uint32_t)number;
		return NULL;
	case COLUMN_COMM:
		trace_set_comm(request, field);
		return NULL;
	case COLUMN_FILE:	/* taken by take_row() */
	case NR_COLUMNS:
		break;
	}
	return NULL;
}

static enum trace_next take_row(struct trace *trace, char *rest,
				struct trace_request *request)
{
	const struct csv *csv = trace->state;
	const char *reason, *missing = NULL;
	uint32_t i;
	char *field;

	for (i = 0; i < csv->nr; i++) {
		if (!rest)
			return trace_refuse(trace, "has %" PRIu32 " of %" PRIu32 " columns",
					    i, csv->nr);
		field = take_field(&rest);
		if (!field)
			return trace_refuse(trace, "%s: quotes must be closed and followed by a comma",
					    column_names[csv->columns[i]]);
		if (!*field && csv->columns[i] >= COLUMN_OFFSET &&
		    csv->columns[i] <= COLUMN_SECTORS) {
			missing = column_names[csv->columns[i]];
			continue;
		}
		if (csv->columns[i] == COLUMN_FILE &&
		    trace_find_file(trace, field, &request->file) != TRACE_GOT)
			return TRACE_BROKEN;
		reason = take_value(request, csv->columns[i], field);
		if (reason)
			return trace_refuse(trace, "%s \"%s\": %s",
					    column_names[csv->columns[i]],
					    field, reason);
	}
	if (rest)
		return trace_refuse(trace, "has more than %" PRIu32 " columns",
				    csv->nr);
	/* other programs may log a range with a flush */
	if (request->op == TRACE_FLUSH)
		request->offset = request->bytes = 0;
	else if (missing)
		return trace_refuse(trace, "%s is empty; only a flush has none",
				    missing);
	return TRACE_GOT;
}

static enum trace_next csv_next(struct trace *trace,
				struct trace_request *request)
{
	enum trace_next next;
	char *line;

	do
		next = trace_line(trace, &line);
	while (next == TRACE_GOT && !*line);
	return next == TRACE_GOT ? take_row(trace, line, request) : next;
}

static void csv_close(struct trace *trace)
{
	free(trace->state);
	trace->state = NULL;
}

const struct trace_format trace_csv = {
	.recognize = csv_recognize,
	.open = csv_open,
	.next = csv_next,
	.close = csv_close,
};

static void csv_begin(struct trace_writer *writer)
{
	fputs("time_ns,op,offset,bytes,flags,pid,comm,file\n", writer->stream);
}

/* Write any text as a field. */
static void put_text(struct trace_writer *writer, const char *text)
{
	bool quoted = text[strcspn(text, ",\" \t")];

	if (quoted)
		putc('"', writer->stream);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', writer->stream);
		/* a field cannot contain a line end */
		if (strchr("\r\n", *text))
			putc('?', writer->stream);
		else
			putc(*text, writer->stream);
	}
	if (quoted)
		putc('"', writer->stream);
}

static bool csv_add(struct trace_writer *writer,
		    const struct trace_request *request)
{
	const char *name = trace_names_get(&writer->files, request->file);

	if (request->comm[strcspn(request->comm, "\r\n")])
		writer->lost[TRACE_LOST_LINE_END]++;
	fprintf(writer->stream, "%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%s%s%s,%" PRIu32 ",",
		request->time_ns, trace_op_names[request->op], request->offset,
		request->bytes, request->preflush ? "preflush" : "",
		request->preflush && request->fua ? "+" : "",
		request->fua ? "fua" : "", request->pid);
	put_text(writer, request->comm);
	putc(',', writer->stream);
	put_text(writer, name ? name : "");
	putc('\n', writer->stream);
	return true;
}

const struct trace_written_format trace_written_csv = {
	.begin = csv_begin,
	.add = csv_add,
};
