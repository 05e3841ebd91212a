/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks shared by the targets of all trace formats. The file that a target
 * makes of its input is read as a trace: each request is valid, a rewind
 * returns equal requests, converting to a recording preserves them, to CSV also
 * but for names that are no UTF-8, and a malformed trace is refused with one message.
 */
#ifndef FUZZ_TRACE_H
#define FUZZ_TRACE_H

#include <fcntl.h>

#include "base/exit_codes.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "fuzz_files.h"
#include "trace/convert.h"
#include "trace/parquet_child.h"

static unsigned int fuzz_messages;

/* What is read of the target's input. */
static struct trace_choice fuzz_choice = { .from = TRACE_NR_READABLE };

int __wrap_parquet_child_start(struct parquet_child *child,
			       const struct parquet_command *command);
int __wrap_parquet_child_wait(struct parquet_child *child, char **reason);
void __wrap_parquet_child_kill(struct parquet_child *child);
void __wrap_message_error(const char *format, ...);
void __wrap_message_warning(const char *format, ...);
int __wrap_fsync(int fd);

void __wrap_message_error(const char *format, ...)
{
	(void)format;
	fuzz_messages++;
}

void __wrap_message_warning(const char *format, ...)
{
	(void)format;
}

/* Bytes of the input by which it is taken for Parquet. */
#define FUZZ_PARQUET_MAGIC	4

/* Let the input behind the magic word be what a child writes that reads Parquet. */
int __wrap_parquet_child_start(struct parquet_child *child,
			       const struct parquet_command *command)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", command->input);
	*child = (struct parquet_child) {
		.pid = 1, .output = open(path, O_RDONLY), .words = -1,
	};
	FUZZ_CHECK(child->output >= 0 &&
		   lseek(child->output, FUZZ_PARQUET_MAGIC, SEEK_SET) > 0);
	return ALIGNCTL_FINE;
}

/* Let the child end well: what it wrote may end anywhere all the same. */
int __wrap_parquet_child_wait(struct parquet_child *child, char **reason)
{
	child->pid = 0;
	*reason = NULL;
	return ALIGNCTL_FINE;
}

void __wrap_parquet_child_kill(struct parquet_child *child)
{
	child->pid = 0;
}

/* Skip fsync: no file has to survive. */
int __wrap_fsync(int fd)
{
	(void)fd;
	return 0;
}

/*
 * Number and checksum of the requests read, and whether the end was reached.
 * @as_csv: the checksum of what a table of them has, whose names are UTF-8
 * @many_files: more files than can be written
 */
struct fuzz_trace_sum {
	uint64_t nr;
	uint64_t sum;
	uint64_t as_csv;
	bool whole;
	bool has_line_ends;
	bool many_files;
};

static void fuzz_add(uint64_t *sum, const void *data, size_t size)
{
	const uint8_t *byte = data;

	for (; size; size--)
		*sum = (*sum ^ *byte++) * 0x100000001b3ULL;
}

static void fuzz_add_request(uint64_t *sum, const struct trace_request *r,
			     const char *name)
{
	fuzz_add(sum, &r->time_ns, sizeof(r->time_ns));
	fuzz_add(sum, &r->offset, sizeof(r->offset));
	fuzz_add(sum, &r->bytes, sizeof(r->bytes));
	fuzz_add(sum, &r->op, sizeof(r->op));
	fuzz_add(sum, &r->preflush, 1);
	fuzz_add(sum, &r->fua, 1);
	fuzz_add(sum, &r->pid, sizeof(r->pid));
	fuzz_add(sum, r->comm, strlen(r->comm));
	fuzz_add(sum, name, name ? strlen(name) : 0);
}

/* Add a request as it is read from the table: its name is cut off once more. */
static void fuzz_add_as_csv(uint64_t *sum, const struct trace_request *r,
			    const char *name)
{
	struct trace_request read = *r;
	char *comm = utf8_mend(r->comm);
	char *mended = name ? utf8_mend(name) : NULL;

	snprintf(read.comm, sizeof(read.comm), "%s", comm);
	fuzz_add_request(sum, &read, mended);
	free(mended);
	free(comm);
}

static void fuzz_check_request(const struct trace_request *r, uint64_t before)
{
	FUZZ_CHECK(r->time_ns >= before);
	FUZZ_CHECK(r->op < TRACE_NR_OPS);
	FUZZ_CHECK(r->offset <= INT64_MAX && r->bytes <= INT64_MAX);
	FUZZ_CHECK(r->offset + r->bytes <= INT64_MAX);
	FUZZ_CHECK((r->op == TRACE_FLUSH) == !r->bytes);
	FUZZ_CHECK(r->op != TRACE_FLUSH || !r->offset);
	FUZZ_CHECK(memchr(r->comm, 0, sizeof(r->comm)));
}

static struct fuzz_trace_sum fuzz_read(struct trace *trace)
{
	const struct trace_facts *facts = trace_facts(trace);
	struct fuzz_trace_sum sum = { 0 };
	uint64_t before = 0, end = 0;
	struct trace_request r;
	enum trace_next next;
	const char *name;
	char *place;

	while ((next = trace_next(trace, &r)) == TRACE_GOT) {
		fuzz_check_request(&r, before);
		before = r.time_ns;
		if (end < r.offset + r.bytes)
			end = r.offset + r.bytes;
		sum.many_files |= r.file >= TRACE_MAX_FILES;
		name = trace_file(trace, r.file);
		fuzz_add_request(&sum.sum, &r, name);
		fuzz_add_as_csv(&sum.as_csv, &r, name);
		sum.has_line_ends |= r.comm[strcspn(r.comm, "\r\n")] ||
				     (name && name[strcspn(name, "\r\n")]);
		sum.nr++;
	}
	FUZZ_CHECK(trace_next(trace, &r) == next);
	sum.whole = next == TRACE_END;
	if (sum.whole && facts->nr_known)
		FUZZ_CHECK(facts->nr == sum.nr);
	if (sum.whole && facts->end_known)
		FUZZ_CHECK(facts->end == end);
	if (!facts->timed)
		FUZZ_CHECK(!before);
	place = trace_position(trace);
	FUZZ_CHECK(strstr(place, ": line ") || strstr(place, ": byte ") ||
		   strstr(place, ": row "));
	free(place);
	return sum;
}

static int fuzz_convert(const char *path, enum trace_written format)
{
	const struct trace_conversion conversion = {
		.source = path, .choice = fuzz_choice,
		.output = fuzz_written, .to = format,
	};
	struct trace_converted done;
	int result = trace_convert(&conversion, &done);

	trace_names_free(&done.names);
	return result;
}

static void fuzz_check_written(const char *path,
			       const struct fuzz_trace_sum *expected,
			       enum trace_written format)
{
	struct fuzz_trace_sum sum;
	struct trace *trace;

	FUZZ_CHECK(fuzz_convert(path, format) == ALIGNCTL_FINE);
	FUZZ_CHECK(trace_open(&trace, fuzz_written) == ALIGNCTL_FINE);
	sum = fuzz_read(trace);
	FUZZ_CHECK(sum.whole && sum.nr == expected->nr);
	if (format == TRACE_WRITE_CSV)
		FUZZ_CHECK(sum.sum == expected->as_csv ||
			   expected->has_line_ends);
	else
		FUZZ_CHECK(sum.sum == expected->sum);
	trace_close(trace);
}

static void fuzz_trace(const void *data, size_t size)
{
	const char *path = fuzz_given(data, size);
	struct fuzz_trace_sum sum, again;
	struct trace *trace;

	fuzz_messages = 0;
	if (trace_open_as(&trace, path, &fuzz_choice) != ALIGNCTL_FINE) {
		FUZZ_CHECK(!trace && fuzz_messages == 1);
		return;
	}
	FUZZ_CHECK(!fuzz_messages);
	sum = fuzz_read(trace);
	FUZZ_CHECK(fuzz_messages == !sum.whole);
	FUZZ_CHECK(trace_rewind(trace) == ALIGNCTL_FINE);
	again = fuzz_read(trace);
	FUZZ_CHECK(again.nr == sum.nr && again.sum == sum.sum &&
		   again.whole == sum.whole);
	trace_close(trace);
	if (!sum.whole || sum.many_files) {
		FUZZ_CHECK(fuzz_convert(path, TRACE_WRITE_RECORDING) !=
			   ALIGNCTL_FINE);
		return;
	}
	fuzz_check_written(path, &sum, TRACE_WRITE_RECORDING);
	fuzz_check_written(path, &sum, TRACE_WRITE_CSV);
}

#endif
