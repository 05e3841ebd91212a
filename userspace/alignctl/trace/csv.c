// SPDX-License-Identifier: GPL-2.0
/*
 * Comma-separated values. The first line names the columns, in any order; each
 * other line is a request. Fields may be quoted, with "" for a quote. Columns of
 * other names are ignored.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/utf8.h"
#include "trace/columns.h"
#include "trace/writer_format.h"

static bool csv_recognize(const char *head, size_t length)
{
	CLEANUP_FREE char *line = memory_or_exit(strndup(head, length));
	char *rest = line, *name;

	rest[strcspn(rest, "\r\n")] = '\0';
	while (rest) {
		name = trace_field_take(&rest, ',');
		if (!name)
			return false;
		if (trace_column_find(name) != COLUMN_IGNORED)
			return true;
	}
	return false;
}

/* Add @name to a list of names, which is NULL if it is empty. */
static void add_name(char **list, const char *name)
{
	char *longer = *list ? message_format("%s, %s", *list, name) :
			       message_format("%s", name);

	free(*list);
	*list = longer;
}

static bool take_header(struct trace *trace, struct trace_columns *columns,
			char *rest)
{
	CLEANUP_FREE char *fault = NULL;
	CLEANUP_FREE char *ignored = NULL;
	enum trace_column column;
	char *name;

	while (rest) {
		name = trace_field_take(&rest, ',');
		if (!name) {
			trace_refuse(trace, "quotes must be closed and followed by a comma");
			return false;
		}
		if (columns->nr == TRACE_MAX_COLUMNS) {
			trace_refuse(trace, "more than %u columns",
				     TRACE_MAX_COLUMNS);
			return false;
		}
		column = trace_column_find(name);
		if (column == COLUMN_IGNORED)
			add_name(&ignored, name);
		columns->column[columns->nr++] = column;
	}
	fault = trace_columns_fault(columns, false);
	if (fault)
		trace_refuse(trace, "%s", fault);
	else if (ignored && !trace->told_columns)
		message_warning("%s: columns ignored: %s", trace->input.path,
				ignored);
	trace->told_columns = true;
	return !fault;
}

static int csv_open(struct trace *trace)
{
	struct trace_columns *columns =
		memory_or_exit(calloc(1, sizeof(*columns)));
	int failed;
	char *line;

	trace->state = columns;
	trace->facts = (struct trace_facts) { .format = "csv" };
	failed = trace_first_line(trace, &line);
	if (failed)
		return failed;
	if (!take_header(trace, columns, line))
		return ALIGNCTL_USAGE;
	trace->facts.timed = trace_columns_timed(columns);
	return ALIGNCTL_FINE;
}

static const char *name_of(enum trace_column column)
{
	return column == COLUMN_IGNORED ? "an ignored column" :
					  trace_column_names[column];
}

static enum trace_next take_row(struct trace *trace, char *rest,
				struct trace_request *request)
{
	const struct trace_columns *columns = trace->state;
	const char *reason, *missing = NULL;
	enum trace_column column;
	uint32_t i;
	char *field;

	for (i = 0; i < columns->nr; i++) {
		column = columns->column[i];
		if (!rest)
			return trace_refuse(trace, "has %" PRIu32 " of %" PRIu32 " columns",
					    i, columns->nr);
		if (trace_column_is_number(column) &&
		    trace_number_take(&rest, ',', column, request))
			continue;
		field = trace_field_take(&rest, ',');
		if (!field)
			return trace_refuse(trace, "%s: quotes must be closed and followed by a comma",
					    name_of(column));
		if (!*field && column >= COLUMN_OFFSET &&
		    column <= COLUMN_SECTORS) {
			missing = trace_column_names[column];
			continue;
		}
		if (column == COLUMN_FILE &&
		    trace_find_file(trace, field, &request->file) != TRACE_GOT)
			return TRACE_BROKEN;
		reason = trace_column_take(request, column, field);
		if (reason)
			return trace_refuse(trace, "%s \"%s\": %s",
					    trace_column_names[column], field,
					    reason);
	}
	if (rest)
		return trace_refuse(trace, "has more than %" PRIu32 " columns",
				    columns->nr);
	/* other programs may log a range with a flush */
	if (request->op == TRACE_FLUSH)
		request->offset = request->bytes = 0;
	else if (missing && request->op != TRACE_NR_OPS)
		return trace_refuse(trace, "%s is empty; only a flush has none",
				    missing);
	return TRACE_GOT;
}

static enum trace_next csv_next(struct trace *trace,
				struct trace_request *request)
{
	enum trace_next next;
	char *line;

	do {
		next = trace_line(trace, &line);
		if (next != TRACE_GOT)
			return next;
	} while (!*line);
	return take_row(trace, line, request);
}

const struct trace_format trace_csv = {
	.recognize = csv_recognize,
	.open = csv_open,
	.next = csv_next,
	.unsorted = true,
};

static void csv_begin(struct trace_writer *writer)
{
	fputs("time_ns,op,offset,bytes,flags,pid,comm,file\n", writer->stream);
}

/* Write any text as a field, as UTF-8, which readers of tables insist on. */
static void put_text(struct trace_writer *writer, const char *name)
{
	CLEANUP_FREE char *mended = utf8_mend(name);
	const char *text = mended;
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
