// SPDX-License-Identifier: GPL-2.0
/*
 * Traces in tables whose columns are known by the format, or by --columns: a
 * line for each request, fields separated by commas, semicolons or blanks.
 * Fields beyond the known columns are ignored. The times are those of a clock,
 * and several disks may lie in one file.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "trace/columns.h"

/**
 * struct layout - how a format's lines look
 * @name: name of the format, for struct trace_facts
 * @separator: as trace_field_take() has it; 0: as the first line shows
 * @joint: character that joins several fields to the name of a disk
 * @header: names of the columns, if a first line may have them; may be NULL
 * @preamble: text may precede the first request
 * @blanks: index of a name that may have blanks in it, for join_fields(); 0: none
 * @heading: a first line without a number for the offset names the columns
 * @since_ns: least time, by which a format without words is recognized
 * @columns: the columns
 */
struct layout {
	const char *name;
	char separator;
	char joint;
	const char *header;
	bool preamble;
	bool heading;
	uint32_t blanks;
	uint64_t since_ns;
	struct trace_columns columns;
};

static const struct layout msr = {
	.name = "msr", .separator = ',', .joint = '_',
	.header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
	.columns = { 6, { COLUMN_FILETIME, COLUMN_FILE, COLUMN_FILE, COLUMN_OP,
			  COLUMN_OFFSET, COLUMN_BYTES } },
};

static const struct layout alibaba = {
	.name = "alibaba", .separator = ',',
	.header = "device_id,opcode,offset,length,timestamp",
	.columns = { 5, { COLUMN_FILE, COLUMN_OP, COLUMN_OFFSET, COLUMN_BYTES,
			  COLUMN_TIME_US } },
};

static const struct layout tencent = {
	.name = "tencent", .separator = ',',
	.header = "Timestamp,Offset,Size,IOType,VolumeID",
	/* 2001: another row of five numbers is not taken for it */
	.since_ns = 1000000000 * NS_PER_S,
	.columns = { 5, { COLUMN_TIME_S, COLUMN_OFFSET_SECTORS, COLUMN_SECTORS,
			  COLUMN_OP_1W, COLUMN_FILE } },
};

static const struct layout systor = {
	.name = "systor", .separator = ',',
	.header = "Timestamp,Response,IOType,LUN,Offset,Size",
	.columns = { 6, { COLUMN_TIME_S, COLUMN_IGNORED, COLUMN_OP, COLUMN_FILE,
			  COLUMN_OFFSET, COLUMN_BYTES } },
};

static const struct layout fiu = {
	.name = "fiu", .separator = ' ', .joint = ',', .blanks = 2,
	.columns = { 8, { COLUMN_TIME_NS, COLUMN_PID, COLUMN_COMM,
			  COLUMN_OFFSET_SECTORS, COLUMN_SECTORS, COLUMN_OP,
			  COLUMN_FILE, COLUMN_FILE } },
};

static const struct layout spc = {
	.name = "spc", .separator = ',', .header = "ASU,LBA,Size,Opcode,Timestamp",
	.columns = { 5, { COLUMN_FILE, COLUMN_OFFSET_SECTORS, COLUMN_BYTES,
			  COLUMN_OP, COLUMN_TIME_S } },
};

static const struct layout mqsim = {
	.name = "mqsim", .separator = ' ',
	.columns = { 5, { COLUMN_TIME_NS, COLUMN_FILE, COLUMN_OFFSET_SECTORS,
			  COLUMN_SECTORS, COLUMN_OP_1R } },
};

static const struct layout blkreplay = {
	.name = "blkreplay", .separator = ';', .preamble = true,
	.columns = { 4, { COLUMN_TIME_S, COLUMN_OFFSET_SECTORS, COLUMN_SECTORS,
			  COLUMN_OP } },
};

/* What a line of a table is. */
enum row { ROW_REQUEST, ROW_SHORT, ROW_INVALID };

/* Lines before the requests of a table of --columns that are skipped. */
#define MAX_BEFORE	16U

/**
 * struct fields - the fields of a line
 * @nr: number of fields
 * @field: the fields
 */
struct fields {
	uint32_t nr;
	char *field[TRACE_MAX_COLUMNS];
};

/*
 * Cut a line into fields; those that do not fit are ignored, as all extra ones.
 * Return: false if quotes are invalid.
 */
static bool cut_fields(char *line, char separator, struct fields *fields)
{
	char *rest = line;

	for (fields->nr = 0; rest && fields->nr < TRACE_MAX_COLUMNS;) {
		fields->field[fields->nr] = trace_field_take(&rest, separator);
		if (!fields->field[fields->nr++])
			return false;
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_number(const char *field)
{
	return *field && !field[strspn(field, "0123456789")];
}

/*
 * Join the fields of a name that has blanks in it: the field @at, which an
 * address, a length and a direction follow.
 */
static void join_fields(struct fields *fields, uint32_t at)
{
	char **field = fields->field;
	uint32_t i, op, extra;

	for (op = at + 3; op + 1 < fields->nr; op++)
		if (is_number(field[op - 2]) && is_number(field[op - 1]) &&
		    isalpha((unsigned char)*field[op]) &&
		    is_number(field[op + 1]))
			break;
	if (op + 1 >= fields->nr)
		return;
	extra = op - at - 3;
	for (i = at; i < at + extra; i++)
		field[i][strlen(field[i])] = ' ';
	fields->nr -= extra;
	for (i = at + 1; i < fields->nr; i++)
		field[i] = field[i + extra];
}

/**
 * struct reading - a line that is read
 * @request: the request
 * @disk: name of its disk
 * @disk_bytes: length of @disk
 * @heading: the offset is no number
 * @nr: number of fields
 * @column: the column that is wrong
 * @field: its field
 * @reason: why it is wrong
 */
struct reading {
	struct trace_request request;
	char disk[TRACE_MAX_NAME + 1];
	size_t disk_bytes;
	bool heading;
	uint32_t nr;
	enum trace_column column;
	const char *field;
	const char *reason;
};

/* Limit of the text of a disk that is remembered; most are shorter. */
#define MAX_DISK_TEXT	64U

/**
 * struct rows - a table that is being read
 * @layout: how its lines look
 * @begun: a line of the table was read, behind which neither the names of the
 *	columns nor other text may come
 * @before: number of lines so far that precede the first request
 * @nr: number of fields of the first request
 * @disk_columns: number of columns of the disk's name, if these are neighbours
 * @disk_bytes: length of @disk_text; 0: there is none
 * @disk_text: fields of these columns in the last plain line, as they were in it
 * @disk: number of that disk
 * @reading: the line that is being read
 */
struct rows {
	struct layout layout;
	bool begun;
	uint32_t before;
	uint32_t nr;
	uint32_t disk_columns;
	size_t disk_bytes;
	char disk_text[MAX_DISK_TEXT];
	uint32_t disk;
	struct reading reading;
};

static bool is_offset(enum trace_column column)
{
	return column == COLUMN_OFFSET || column == COLUMN_OFFSET_SECTORS;
}

/* Add a part to the name of the disk. */
static bool add_part(struct reading *reading, char joint, const char *part,
		     size_t bytes)
{
	if (reading->disk_bytes + 1 + bytes > TRACE_MAX_NAME)
		return false;
	if (reading->disk_bytes)
		reading->disk[reading->disk_bytes++] = joint;
	memcpy(&reading->disk[reading->disk_bytes], part, bytes);
	reading->disk_bytes += bytes;
	reading->disk[reading->disk_bytes] = '\0';
	return true;
}

static enum row read_row(const struct layout *layout, char *line,
			 struct reading *reading)
{
	const struct trace_columns *columns = &layout->columns;
	struct fields fields;
	uint32_t i;

	reading->request = (struct trace_request) { 0 };
	reading->disk[0] = '\0';
	reading->disk_bytes = 0;
	reading->heading = false;
	reading->nr = 0;
	reading->column = COLUMN_IGNORED;
	reading->field = "";
	if (!cut_fields(line, layout->separator, &fields)) {
		reading->reason = "quotes must be closed and followed by a comma";
		return ROW_INVALID;
	}
	if (layout->blanks)
		join_fields(&fields, layout->blanks);
	reading->nr = fields.nr;
	if (fields.nr < columns->nr)
		return ROW_SHORT;
	for (i = 0; i < columns->nr; i++)
		if (is_offset(columns->column[i]))
			reading->heading = !is_digit(*fields.field[i]);
	for (i = 0; i < columns->nr; i++) {
		reading->column = columns->column[i];
		reading->field = fields.field[i];
		reading->reason = trace_column_take(&reading->request,
						    reading->column,
						    reading->field);
		if (!reading->reason && reading->column == COLUMN_FILE &&
		    !add_part(reading, layout->joint, reading->field,
			      strlen(reading->field)))
			reading->reason = "too long for the name of a disk";
		/* of an operation that is missing, the rest may be missing, too */
		if (reading->reason && reading->request.op == TRACE_NR_OPS &&
		    !*reading->field)
			reading->reason = NULL;
		if (reading->reason)
			return ROW_INVALID;
	}
	return ROW_REQUEST;
}

/* Check for a line that says nothing: blank, or a comment. */
static bool is_idle(const char *line)
{
	while (is_blank(*line))
		line++;
	return !*line || *line == '#';
}

/* Check for the line that names the columns, or text before the requests. */
static bool is_before(const struct layout *layout, const char *line)
{
	if (layout->header)
		return !strcasecmp(line, layout->header);
	line += strspn(line, " \t");
	return layout->preamble && !is_digit(*line);
}

/* Check whether the first line of a file that tells is one of this format. */
static bool recognize_layout(const struct layout *layout, const char *head)
{
	CLEANUP_FREE struct reading *reading =
		memory_or_exit(malloc(sizeof(*reading)));
	CLEANUP_FREE char *copy = memory_or_exit(strdup(head));
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")) && rest) {
		line[strcspn(line, "\r")] = '\0';
		if (is_idle(line))
			continue;
		if (is_before(layout, line)) {
			if (layout->header)
				return true;
			continue;
		}
		return read_row(layout, line, reading) == ROW_REQUEST &&
		       reading->request.op != TRACE_NR_OPS &&
		       reading->request.time_ns >= layout->since_ns;
	}
	return false;
}

/*
 * Return the number of columns of the name of the disk; 0: there are none, or others
 * between them.
 */
static uint32_t disk_columns(const struct trace_columns *columns)
{
	uint32_t i, nr = 0, last = 0;

	for (i = 0; i < columns->nr; i++) {
		if (columns->column[i] != COLUMN_FILE)
			continue;
		if (nr && last + 1 != i)
			return 0;
		nr++;
		last = i;
	}
	return nr;
}

static int open_rows(struct trace *trace, const struct layout *layout)
{
	struct rows *rows = memory_or_exit(calloc(1, sizeof(*rows)));

	rows->layout = *layout;
	rows->disk_columns = disk_columns(&layout->columns);
	trace->state = rows;
	trace->facts = (struct trace_facts) {
		.format = layout->name,
		.timed = trace_columns_timed(&layout->columns),
	};
	return ALIGNCTL_FINE;
}

/* Return the number of fields that a separator makes of a line. */
static uint32_t nr_fields(const char *line, char separator)
{
	CLEANUP_FREE char *copy = memory_or_exit(strdup(line));
	struct fields fields;

	return cut_fields(copy, separator, &fields) ? fields.nr : 0;
}

/*
 * Return the separator of a table whose first line is @line: the first one that
 * gives all columns, as a field may have another one in it; if none does, one
 * that the line has.
 */
static char separator_of(const char *line, uint32_t columns)
{
	static const char separators[] = { ',', ';', ' ' };
	size_t i;

	for (i = 0; i < sizeof(separators); i++)
		if (nr_fields(line, separators[i]) >= columns)
			return separators[i];
	return strchr(line, ',') ? ',' : strchr(line, ';') ? ';' : ' ';
}

/* Forget the range that other programs may log with a flush. */
static void end_request(struct trace_request *request)
{
	if (request->op == TRACE_FLUSH)
		request->offset = request->bytes = 0;
}

/* Turn a row that was read into a request. */
static enum trace_next take_row(struct trace *trace, enum row row,
				const struct reading *reading,
				struct trace_request *request)
{
	const struct rows *rows = trace->state;

	/* between blanks, a field that is missing or has a blank moves the fields behind */
	if (rows->layout.heading && rows->layout.separator == ' ' && rows->nr &&
	    (reading->nr < rows->nr ||
	     (reading->nr > rows->nr && row == ROW_INVALID)))
		return trace_refuse(trace, "has %" PRIu32
				    " fields, the first line %" PRIu32,
				    reading->nr, rows->nr);
	switch (row) {
	case ROW_SHORT:
		return trace_refuse(trace, "has %" PRIu32 " fields, fewer than the %"
				    PRIu32 " columns", reading->nr,
				    rows->layout.columns.nr);
	case ROW_INVALID:
		if (reading->column == COLUMN_IGNORED)
			return trace_refuse(trace, "%s", reading->reason);
		return trace_refuse(trace, "%s \"%s\": %s",
				    trace_column_names[reading->column],
				    reading->field, reading->reason);
	case ROW_REQUEST:
		break;
	}
	*request = reading->request;
	end_request(request);
	return trace_find_file(trace, reading->disk, &request->file);
}

/*
 * Check for a line of --columns that precedes the requests: the names of the
 * columns, or what a program says before them.
 */
static bool precedes(struct rows *rows, enum row row)
{
	if (rows->nr || !rows->layout.heading || rows->before == MAX_BEFORE)
		return false;
	if (row != ROW_SHORT && (row != ROW_INVALID || !rows->reading.heading))
		return false;
	rows->before++;
	return true;
}

/*
 * Cut the first field off *@rest if it is plain: not empty, without quotes and
 * without blanks around. Return: the field, which ends before *@end; or NULL, and
 * then *@rest is as it was. The line stays as it is.
 */
static char *cut_plain(char **rest, char separator, char **end)
{
	char *field = *rest;

	*end = strchrnul(field, separator);
	if (*end == field || *field == '"' || is_blank(*field) ||
	    is_blank((*end)[-1]))
		return NULL;
	*rest = **end ? *end + 1 : NULL;
	return field;
}

/* Take an operation, or another word, off *@rest, as take_plain(). */
static bool take_plain_word(char **rest, char separator,
			    enum trace_column column,
			    struct trace_request *request)
{
	char *field, *end;
	bool taken;

	field = cut_plain(rest, separator, &end);
	if (!field)
		return false;
	separator = *end;
	*end = '\0';
	taken = !trace_column_take(request, column, field);
	*end = separator;
	return taken;
}

/*
 * Take the columns of the disk's name off *@rest, as take_plain(), and set rows->disk:
 * nearly always the disk of the line before. A new disk is left to read_row().
 */
static bool take_plain_disk(struct trace *trace, struct rows *rows, char **rest)
{
	char separator = rows->layout.separator, *text = *rest, *end, *field;
	struct reading *reading = &rows->reading;
	size_t bytes = rows->disk_bytes;
	uint32_t i;

	if (bytes && !strncmp(text, rows->disk_text, bytes) &&
	    (!text[bytes] || text[bytes] == separator)) {
		*rest = text[bytes] ? text + bytes + 1 : NULL;
		return true;
	}
	reading->disk_bytes = 0;
	for (i = 0; i < rows->disk_columns; i++) {
		field = *rest ? cut_plain(rest, separator, &end) : NULL;
		if (!field || !add_part(reading, rows->layout.joint, field,
					(size_t)(end - field)))
			return false;
	}
	rows->disk_bytes = 0;
	if (!rows->disk_columns ||
	    !trace_names_find(&trace->files, reading->disk, &rows->disk))
		return false;
	bytes = (size_t)(end - text);
	if (bytes <= MAX_DISK_TEXT) {
		memcpy(rows->disk_text, text, bytes);
		rows->disk_bytes = bytes;
	}
	return true;
}

/*
 * Take a request off a line behind the first one in one pass, if all of its fields are
 * plain. Return: false: they are not, or something is wrong; the line stays as it is,
 * and the request may be anything.
 */
static bool take_plain(struct trace *trace, struct rows *rows, char *line,
		       struct trace_request *request)
{
	const struct trace_columns *columns = &rows->layout.columns;
	char separator = rows->layout.separator, *rest = line;
	uint32_t i;
	bool taken;

	/* any number of blanks may separate fields */
	if (separator == ' ')
		return false;
	for (i = 0; i < columns->nr; i++) {
		enum trace_column column = columns->column[i];

		if (!rest)
			return false;
		if (trace_column_is_number(column)) {
			taken = trace_number_take(&rest, separator, column,
						  request);
		} else if (column == COLUMN_FILE) {
			/* the disk's other columns are taken with the first one */
			taken = take_plain_disk(trace, rows, &rest);
			i += rows->disk_columns - 1;
		} else {
			taken = take_plain_word(&rest, separator, column,
						request);
		}
		if (!taken)
			return false;
	}
	request->file = rows->disk;
	end_request(request);
	/* quotes have to be valid in further fields, too */
	return !rest || !strchr(rest, '"');
}

static enum trace_next rows_next(struct trace *trace,
				 struct trace_request *request)
{
	struct rows *rows = trace->state;
	struct layout *layout = &rows->layout;
	bool guess = !layout->separator;
	enum trace_next next;
	enum row row;
	char *line;

	for (;;) {
		next = trace_line(trace, &line);
		if (next == TRACE_END && rows->before && !rows->nr)
			return trace_refuse(trace, "no line so far has a request in the %" PRIu32
					    " columns of --columns",
					    layout->columns.nr);
		if (next != TRACE_GOT)
			return next;
		if (is_idle(line) || (!rows->begun && is_before(layout, line)))
			continue;
		rows->begun = true;
		if (guess)
			layout->separator = separator_of(line,
							 layout->columns.nr);
		if (rows->nr && take_plain(trace, rows, line, request))
			return TRACE_GOT;
		row = read_row(layout, line, &rows->reading);
		if (!precedes(rows, row))
			break;
	}
	if (!rows->nr)
		rows->nr = rows->reading.nr;
	return take_row(trace, row, &rows->reading, request);
}

/*
 * Read --columns: names of columns, "-" for one to ignore. Return: enum
 * alignctl_exit; reported.
 */
static int take_columns(const char *text, struct trace_columns *columns)
{
	CLEANUP_FREE char *copy = memory_or_exit(strdup(text));
	CLEANUP_FREE char *fault = NULL;
	char *rest = copy, *name;
	enum trace_column column;

	while ((name = strsep(&rest, ","))) {
		column = trace_column_find(name);
		if (column == COLUMN_IGNORED && strcmp(name, "-")) {
			message_error("--columns: \"%s\": must be - to ignore a column, or one of disk, " TRACE_COLUMN_NAMES,
				      name);
			return ALIGNCTL_USAGE;
		}
		if (columns->nr == TRACE_MAX_COLUMNS) {
			message_error("--columns: more than %u; columns behind the last one are ignored anyway",
				      TRACE_MAX_COLUMNS);
			return ALIGNCTL_USAGE;
		}
		columns->column[columns->nr++] = column;
	}
	fault = trace_columns_fault(columns, true);
	if (!fault)
		return ALIGNCTL_FINE;
	message_error("--columns %s: %s", text, fault);
	return ALIGNCTL_USAGE;
}

static int columns_open(struct trace *trace)
{
	struct layout layout = { .name = "columns", .joint = '_',
				 .heading = true };
	int failed = take_columns(trace->choice.columns, &layout.columns);

	return failed ? failed : open_rows(trace, &layout);
}

/* No file says that its columns have to be told. */
static bool columns_recognize(const char *head, size_t length)
{
	(void)head;
	(void)length;
	return false;
}

const struct trace_format trace_columns_format = {
	.recognize = columns_recognize,
	.open = columns_open,
	.next = rows_next,
	.unsorted = true,
	.foreign = true,
};

/* Define the struct trace_format of a layout. */
#define ROWS_FORMAT(format)						\
	static bool format##_recognize(const char *head, size_t length)	\
	{								\
		(void)length;						\
		return recognize_layout(&(format), head);			\
	}								\
									\
	static int format##_open(struct trace *trace)			\
	{								\
		return open_rows(trace, &(format));			\
	}								\
									\
	const struct trace_format trace_##format = {			\
		.recognize = format##_recognize,			\
		.open = format##_open,					\
		.next = rows_next,					\
		.unsorted = true,					\
		.foreign = true,					\
		.by_name = true,					\
	}

ROWS_FORMAT(msr);
ROWS_FORMAT(alibaba);
ROWS_FORMAT(tencent);
ROWS_FORMAT(systor);
ROWS_FORMAT(fiu);
ROWS_FORMAT(spc);
ROWS_FORMAT(mqsim);
ROWS_FORMAT(blkreplay);
