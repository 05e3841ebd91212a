// SPDX-License-Identifier: GPL-2.0
/*
 * Block traces in Parquet. DuckDB reads the file, in a child process, whose
 * standard output is text:
 *
 *	a line of JSON: what the file's metadata says
 *	ts_ns,seq,op,offset_bytes,len_bytes	a line for each row; null is empty
 *	end,ROWS
 *
 * Without the last line the child has failed, and says why on standard error.
 *
 * A verb may read a trace tens of times. What the child writes on the second
 * pass is kept in a file without a name, from which later passes read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "trace/format.h"
#include "trace/parquet.h"
#include "trace/parquet_child.h"
#include "trace/percent.h"

#define MAGIC		"PAR1"
#define ROWS_BYTES	(64U << 10)

/* More than a row can have: four numbers of 64 bits and one of 8. */
#define ROW_BYTES	96U

/* Most bytes that are kept; of a larger trace each pass has a child of its own. */
#define COPY_BYTES	(UINT64_C(1) << 30)

/* Folder of the copies without TMPDIR; copies may be large. */
#define COPY_FOLDER	"/var/tmp"

/* Words before the number of rows in the last line. */
#define END_WORD	"end,"

/* Columns of a row, in the order of the lines. */
enum column { COLUMN_TS_NS, COLUMN_SEQ, COLUMN_OP, COLUMN_OFFSET, COLUMN_LEN,
	      NR_COLUMNS };

static const struct { const char *name; uint64_t max; } columns[NR_COLUMNS] = {
	[COLUMN_TS_NS] = { "ts_ns", INT64_MAX },
	[COLUMN_SEQ] = { "seq", INT64_MAX },
	[COLUMN_OP] = { "op", UINT8_MAX },
	[COLUMN_OFFSET] = { "offset_bytes", UINT64_MAX },
	[COLUMN_LEN] = { "len_bytes", UINT32_MAX },
};

/**
 * struct parquet - a file that is being read
 * @child: the process that reads it
 * @rows: what the process writes, or @copy
 * @copy: what the process wrote; NULL: it is not kept
 * @copied: number of bytes in @copy so far
 * @complete: @copy has all of a pass
 * @nr: number of rows so far
 * @expected: number of rows that the file's index tells
 * @unix_times: times are since 1970, and the first becomes 0
 * @base_ns: the time of the first row if @unix_times
 * @last: columns of the row before
 * @sums_told: the metadata have the sums of the columns
 * @told: these sums
 * @sums: sums of the columns of the rows so far, modulo 2 to the 64
 */
struct parquet {
	struct parquet_child child;
	struct trace_input rows;
	FILE *copy;
	uint64_t copied;
	bool complete;
	uint64_t nr;
	uint64_t expected;
	bool unix_times;
	uint64_t base_ns;
	uint64_t last[NR_COLUMNS];
	bool sums_told;
	uint64_t told[NR_COLUMNS];
	uint64_t sums[NR_COLUMNS];
};

static bool parquet_recognize(const char *head, size_t length)
{
	return length >= strlen(MAGIC) && !memcmp(head, MAGIC, strlen(MAGIC));
}

static int start_child(struct trace *trace)
{
	static const char *const read[] = { "read", NULL };
	struct parquet *p = trace->state;
	const struct parquet_command command = {
		.path = trace->input.path, .arguments = (char *const *)read,
		.input = trace->input.fd, .answers = true, .apart = true,
	};
	int failed;

	if (trace->input.unpacker) {
		message_error("%s: is a compressed file of Parquet; unpack it first",
			      trace->input.path);
		return ALIGNCTL_USAGE;
	}
	if (!trace_has_way_back(trace)) {
		message_error("%s: is Parquet, whose index is at its end, which a pipe does not give first; name the file",
			      trace->input.path);
		return ALIGNCTL_USAGE;
	}
	failed = parquet_child_start(&p->child, &command);
	if (failed)
		return failed;
	trace_input_from(&p->rows, p->child.output, trace->input.path,
			 ROWS_BYTES);
	p->child.output = -1;
	return ALIGNCTL_FINE;
}

/* Begin to keep what the child writes; do without where there is no room. */
static void begin_copy(struct parquet *p)
{
	const char *folder = secure_getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : COPY_FOLDER,
		      O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	p->copied = 0;
	p->copy = fd < 0 ? NULL : fdopen(fd, "w+");
	if (fd >= 0 && !p->copy)
		close(fd);
}

static void drop_copy(struct parquet *p)
{
	if (p->copy)
		fclose(p->copy);
	p->copy = NULL;
	p->complete = false;
}

/* Keep a line of the child's, if this pass is kept. */
static void copy_line(struct parquet *p, const char *line, size_t length)
{
	if (!p->copy || p->complete)
		return;
	p->copied += length + 1;
	fwrite(line, length, 1, p->copy);
	putc('\n', p->copy);
	if (p->copied > COPY_BYTES || ferror(p->copy))
		drop_copy(p);
}

/* Check that all of a pass was kept. */
static void end_copy(struct parquet *p)
{
	if (!p->copy || p->complete)
		return;
	p->complete = !fflush(p->copy);
	if (!p->complete)
		drop_copy(p);
}

/* Read from the copy. Return: enum alignctl_exit; reported. */
static int read_copy(struct trace *trace)
{
	struct parquet *p = trace->state;
	int fd = fcntl(fileno(p->copy), F_DUPFD_CLOEXEC, 0);

	if (fd < 0 || lseek(fd, 0, SEEK_SET)) {
		message_error("%s: the copy of its rows: %s",
			      trace->input.path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return ALIGNCTL_IO;
	}
	trace_input_from(&p->rows, fd, trace->input.path, ROWS_BYTES);
	return ALIGNCTL_FINE;
}

/* Report why the rows have ended. Return: TRACE_BROKEN or TRACE_FAILED. */
static enum trace_next refuse_end(struct trace *trace)
{
	struct parquet *p = trace->state;
	CLEANUP_FREE char *reason = NULL;
	int result;

	if (p->complete) {
		message_error("%s: the copy of its rows has lost its end",
			      trace->input.path);
		return TRACE_FAILED;
	}
	trace_input_close(&p->rows);
	result = parquet_child_wait(&p->child, &reason);
	message_error("%s: %s", trace->input.path, reason ? reason :
		      "the program that runs DuckDB has not written all rows");
	return result == ALIGNCTL_USAGE ? TRACE_BROKEN : TRACE_FAILED;
}

/* Return a number of the header; 0: it has none. */
static uint64_t number_of(struct json_object *header, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(header, key, &value) ||
	    !json_object_is_type(value, json_type_int))
		return 0;
	return json_object_get_uint64(value);
}

static bool is_true(struct json_object *header, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(header, key, &value) &&
	       json_object_is_type(value, json_type_boolean) &&
	       json_object_get_boolean(value);
}

/* Return a name of the header, for free(); NULL: it has none. */
static char *name_of(struct json_object *header, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(header, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return percent_decode(json_object_get_string(value));
}

/* Take the sums of the columns, if the header has them. */
static void take_sums(struct parquet *p, struct json_object *header)
{
	struct json_object *sums;
	size_t i;

	if (!json_object_object_get_ex(header, "sums", &sums) ||
	    !json_object_is_type(sums, json_type_array) ||
	    json_object_array_length(sums) != NR_COLUMNS)
		return;
	p->sums_told = true;
	for (i = 0; i < NR_COLUMNS; i++)
		p->told[i] = json_object_get_uint64(
			json_object_array_get_idx(sums, i));
}

/* Take what the header tells of the trace. Return: as trace_find_file(). */
static enum trace_next take_header(struct trace *trace,
				   struct json_object *header)
{
	struct parquet *p = trace->state;
	struct trace_facts *facts = &trace->facts;
	CLEANUP_FREE char *volume = name_of(header, "volume");
	CLEANUP_FREE char *ignored = name_of(header, "ignored");
	uint32_t file;

	p->expected = number_of(header, "rows");
	p->unix_times = is_true(header, "unix");
	take_sums(p, header);
	*facts = (struct trace_facts) {
		.format = "parquet", .timed = is_true(header, "timed"),
		.nr_known = is_true(header, "all_requests"),
		.nr = p->expected,
		.origin = {
			.device = name_of(header, "device"),
			.logical = (uint32_t)number_of(header, "logical"),
			.physical = (uint32_t)number_of(header, "physical"),
			.offset_known = is_true(header, "offset_known"),
			.offset = (uint32_t)number_of(header, "offset"),
			.start_ns = number_of(header, "start_ns"),
			.lost = number_of(header, "lost"),
		},
	};
	if (ignored && !trace->told_columns)
		message_warning("%s: columns ignored: %s", trace->input.path,
				ignored);
	trace->told_columns = true;
	return volume ? trace_find_file(trace, volume, &file) : TRACE_GOT;
}

static int read_header(struct trace *trace)
{
	struct parquet *p = trace->state;
	CLEANUP_FREE char *fault = NULL;
	struct json_object *header = NULL;
	enum trace_next next;
	ssize_t got = trace_input_peek(&p->rows, 1);
	char *line;

	if (got < 0)
		return ALIGNCTL_IO;
	if (!got)
		return trace_next_status(refuse_end(trace));
	next = trace_input_line(&p->rows, &line);
	if (next != TRACE_GOT)
		return trace_next_status(next);
	copy_line(p, line, strlen(line));
	fault = json_parse(&header, line, strlen(line));
	if (fault || !json_object_is_type(header, json_type_object)) {
		message_error("%s: the program that runs DuckDB says \"%.40s\" for the metadata",
			      trace->input.path, line);
		next = TRACE_FAILED;
	} else {
		next = take_header(trace, header);
	}
	json_object_put(header);
	return trace_next_status(next);
}

static int parquet_open(struct trace *trace)
{
	int failed;

	trace->state = memory_or_exit(calloc(1, sizeof(struct parquet)));
	trace->facts = (struct trace_facts) { 0 };
	failed = start_child(trace);
	return failed ? failed : read_header(trace);
}

/* End a pass: of the trace, the copy is left. */
static void end_pass(struct trace *trace)
{
	struct parquet *p = trace->state;

	trace_input_close(&p->rows);
	parquet_child_kill(&p->child);
	free((char *)trace->facts.origin.device);
	trace->facts = (struct trace_facts) { 0 };
	if (!p->complete)
		drop_copy(p);
	*p = (struct parquet) {
		.copy = p->copy, .copied = p->copied, .complete = p->complete,
	};
}

static int parquet_rewind(struct trace *trace)
{
	struct parquet *p = trace->state;
	int failed;

	end_pass(trace);
	if (!p->complete)
		begin_copy(p);
	failed = p->complete ? read_copy(trace) : start_child(trace);
	return failed ? failed : read_header(trace);
}

/* Refuse the value of a column, which ends at a comma or at the line's end. */
static enum trace_next refuse_value(struct trace *trace, const char *column,
				    const char *value, uint64_t max)
{
	int length = (int)strcspn(value, ",\n");

	if (!length)
		return trace_refuse(trace, "%s is null; every row has a number",
				    column);
	if (*value == '-')
		return trace_refuse(trace, "%s %.*s is negative", column,
				    length, value);
	return trace_refuse(trace, "%s \"%.*s\": is no number up to %" PRIu64,
			    column, length, value, max);
}

/* Read a row that ends with a line's end. */
static enum trace_next read_row(struct trace *trace, const char *line,
				uint64_t row[NR_COLUMNS])
{
	struct parquet *p = trace->state;
	const char *at = line;
	size_t i;

	for (i = 0; i < NR_COLUMNS; i++) {
		const char *value = at;

		if (!decimal_read(&at, columns[i].max, &row[i]) ||
		    *at != (i + 1 < NR_COLUMNS ? ',' : '\n'))
			return refuse_value(trace, columns[i].name, value,
					    columns[i].max);
		at++;
		p->sums[i] += row[i];
	}
	return TRACE_GOT;
}

/* Check that a row lies behind the one before it. */
static enum trace_next check_order(struct trace *trace,
				   const uint64_t row[NR_COLUMNS])
{
	struct parquet *p = trace->state;
	uint64_t ns = row[COLUMN_TS_NS], seq = row[COLUMN_SEQ];

	if (p->nr > 1 && (ns < p->last[COLUMN_TS_NS] ||
			  (ns == p->last[COLUMN_TS_NS] &&
			   seq <= p->last[COLUMN_SEQ])))
		return trace_refuse(trace, "ts_ns %" PRIu64 ", seq %" PRIu64 " do not follow %" PRIu64 ", %" PRIu64 " of the row before; sort the file by (ts_ns, seq)",
				    ns, seq, p->last[COLUMN_TS_NS],
				    p->last[COLUMN_SEQ]);
	memcpy(p->last, row, sizeof(p->last));
	return TRACE_GOT;
}

static enum trace_next take_row(struct trace *trace,
				const uint64_t row[NR_COLUMNS],
				struct trace_request *request)
{
	struct parquet *p = trace->state;
	uint64_t flags = row[COLUMN_OP] & ~(uint64_t)PARQUET_OP_MASK;
	uint64_t op = row[COLUMN_OP] & PARQUET_OP_MASK;
	bool empty = !row[COLUMN_LEN] && op != TRACE_FLUSH;

	if (op >= TRACE_NR_OPS ||
	    flags & ~(uint64_t)(PARQUET_OP_PREFLUSH | PARQUET_OP_FUA))
		return trace_refuse(trace, "op %" PRIu64 " is none of layout 1: 0 to 4, with 16 (preflush) and 32 (FUA)",
				    row[COLUMN_OP]);
	if (row[COLUMN_OFFSET] > TRACE_MAX_END - row[COLUMN_LEN])
		return trace_refuse(trace, "offset_bytes %" PRIu64 ", len_bytes %" PRIu64 " end beyond byte %" PRIu64 ", the last of any file; correct or remove the row",
				    row[COLUMN_OFFSET], row[COLUMN_LEN],
				    TRACE_MAX_END);
	if (op == TRACE_FLUSH && (row[COLUMN_OFFSET] || row[COLUMN_LEN]))
		return trace_refuse(trace, "offset_bytes %" PRIu64 ", len_bytes %" PRIu64 " of a flush (op %" PRIu64 "), which has 0 and 0; correct the row",
				    row[COLUMN_OFFSET], row[COLUMN_LEN],
				    row[COLUMN_OP]);
	if (row[COLUMN_TS_NS] && !trace->facts.timed)
		return trace_refuse(trace, "ts_ns %" PRIu64 " in a file whose epoch is none; write 0, or another epoch",
				    row[COLUMN_TS_NS]);
	if (empty && trace->facts.nr_known)
		return trace_refuse(trace, "len_bytes 0 is below the least one of the file's statistics; write the file anew");
	if (p->nr == 1 && p->unix_times)
		p->base_ns = row[COLUMN_TS_NS];
	request->time_ns = row[COLUMN_TS_NS] - p->base_ns;
	request->offset = row[COLUMN_OFFSET];
	request->bytes = row[COLUMN_LEN];
	request->preflush = flags & PARQUET_OP_PREFLUSH;
	request->fua = flags & PARQUET_OP_FUA;
	/* an entry without a length, which its source has */
	request->op = empty ? TRACE_NR_OPS : (enum trace_op)op;
	return TRACE_GOT;
}

/* Check the sums: pages of Parquet need have no checksum. */
static bool check_sums(const struct trace *trace)
{
	const struct parquet *p = trace->state;
	size_t i;

	for (i = 0; p->sums_told && i < NR_COLUMNS; i++) {
		if (p->sums[i] == p->told[i])
			continue;
		message_error("%s: the sum of column %s is %" PRIu64 ", and %" PRIu64 " in its metadata; the file is damaged; fetch it again, or write it anew",
			      trace->input.path, columns[i].name, p->sums[i],
			      p->told[i]);
		return false;
	}
	return true;
}

/* End a file whose last line is at @at: the child has ended well, and has read all. */
static enum trace_next take_end(struct trace *trace, const char *at)
{
	struct parquet *p = trace->state;
	CLEANUP_FREE char *reason = NULL;
	uint64_t nr;

	at += strlen(END_WORD);
	if (!decimal_read(&at, UINT64_MAX, &nr) || *at != '\n' ||
	    nr != p->nr || nr != p->expected) {
		message_error("%s: has %" PRIu64 " rows by its index, and %" PRIu64 " were read; read it again, or write it anew",
			      trace->input.path, p->expected, p->nr);
		return TRACE_FAILED;
	}
	trace_input_close(&p->rows);
	if (p->complete || !parquet_child_wait(&p->child, &reason)) {
		if (!check_sums(trace))
			return TRACE_BROKEN;
		end_copy(p);
		return TRACE_END;
	}
	message_error("%s: %s", trace->input.path, reason);
	return TRACE_FAILED;
}

static enum trace_next parquet_next(struct trace *trace,
				    struct trace_request *request)
{
	struct parquet *p = trace->state;
	ssize_t got = trace_input_peek(&p->rows, ROW_BYTES);
	const char *line = p->rows.buffer + p->rows.start;
	const char *end = got > 0 ? memchr(line, '\n', (size_t)got) : NULL;
	uint64_t row[NR_COLUMNS];
	enum trace_next next;

	trace->at = (struct trace_place) { trace->input.path, "row",
					   p->nr + 1 };
	if (got < 0)
		return trace_input_failure(&p->rows);
	if (!end)
		return refuse_end(trace);
	copy_line(p, line, (size_t)(end - line));
	if (!strncmp(line, END_WORD, strlen(END_WORD)))
		return take_end(trace, line);
	p->nr++;
	next = read_row(trace, line, row);
	if (next == TRACE_GOT)
		next = check_order(trace, row);
	if (next == TRACE_GOT)
		next = take_row(trace, row, request);
	trace_input_take(&p->rows, (size_t)(end + 1 - line));
	return next;
}

static void parquet_close(struct trace *trace)
{
	struct parquet *p = trace->state;

	if (!p)
		return;
	end_pass(trace);
	drop_copy(p);
	free(p);
}

const struct trace_format trace_parquet = {
	.no_op = TRACE_LEFT_NO_LENGTH,
	.recognize = parquet_recognize,
	.open = parquet_open,
	.next = parquet_next,
	.rewind = parquet_rewind,
	.close = parquet_close,
};
