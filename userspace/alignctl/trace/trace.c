// SPDX-License-Identifier: GPL-2.0
/*
 * Recognize the format, read requests through it in order, and refuse or count
 * what makes none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "trace/blktrace.h"
#include "trace/format.h"
#include "trace/sorter.h"

#define INPUT_BYTES	(64U << 10)

/* Bytes by which a file's format is recognized. */
#define HEAD_BYTES	4096U

/* Byte of an archive of tar at which its magic word is. */
#define TAR_MAGIC_BYTE	257U

const char *const trace_readable_names[TRACE_NR_READABLE] = {
	[TRACE_READABLE_RECORDING] = "recording",
	[TRACE_READABLE_IOLOG] = "fio",
	[TRACE_READABLE_BLKTRACE] = "blktrace",
	[TRACE_READABLE_BLKPARSE] = "blkparse",
	[TRACE_READABLE_CSV] = "csv",
	[TRACE_READABLE_MSR] = "msr",
	[TRACE_READABLE_ALIBABA] = "alibaba",
	[TRACE_READABLE_TENCENT] = "tencent",
	[TRACE_READABLE_SYSTOR] = "systor",
	[TRACE_READABLE_FIU] = "fiu",
	[TRACE_READABLE_SPC] = "spc",
	[TRACE_READABLE_MQSIM] = "mqsim",
	[TRACE_READABLE_BLKREPLAY] = "blkreplay",
	[TRACE_READABLE_VSCSI] = "vscsi",
	[TRACE_READABLE_FTRACE] = "ftrace",
	[TRACE_READABLE_PARQUET] = "parquet",
};

const char *const trace_left_out_names[TRACE_NR_LEFT_OUT] = {
	[TRACE_LEFT_NO_OP] = "no_operation",
	[TRACE_LEFT_OTHER_COMMAND] = "other_command",
	[TRACE_LEFT_NO_LENGTH] = "no_length",
	[TRACE_LEFT_EMPTY] = "empty_event",
	[TRACE_LEFT_SYNC_RANGE] = "sync_file_range",
	[TRACE_LEFT_OTHER_DISK] = "other_disk",
};

/* The same for people. */
static const char *const left_out_reasons[TRACE_NR_LEFT_OUT] = {
	[TRACE_LEFT_NO_OP] = "no operation",
	[TRACE_LEFT_OTHER_COMMAND] = "command that is neither read, write nor flush",
	[TRACE_LEFT_NO_LENGTH] = "length is 0",
	[TRACE_LEFT_EMPTY] = "no length, and no flush",
	[TRACE_LEFT_SYNC_RANGE] = "sync_file_range makes nothing durable",
	[TRACE_LEFT_OTHER_DISK] = "another disk",
};

static const struct trace_format *const formats[TRACE_NR_READABLE] = {
	[TRACE_READABLE_RECORDING] = &trace_recording,
	[TRACE_READABLE_IOLOG] = &trace_iolog,
	[TRACE_READABLE_BLKTRACE] = &trace_blktrace,
	[TRACE_READABLE_BLKPARSE] = &trace_blkparse,
	[TRACE_READABLE_CSV] = &trace_csv,
	[TRACE_READABLE_MSR] = &trace_msr,
	[TRACE_READABLE_ALIBABA] = &trace_alibaba,
	[TRACE_READABLE_TENCENT] = &trace_tencent,
	[TRACE_READABLE_SYSTOR] = &trace_systor,
	[TRACE_READABLE_FIU] = &trace_fiu,
	[TRACE_READABLE_SPC] = &trace_spc,
	[TRACE_READABLE_MQSIM] = &trace_mqsim,
	[TRACE_READABLE_BLKREPLAY] = &trace_blkreplay,
	[TRACE_READABLE_VSCSI] = &trace_vscsi,
	[TRACE_READABLE_FTRACE] = &trace_ftrace,
	[TRACE_READABLE_PARQUET] = &trace_parquet,
};

/*
 * Return the format of a file's first bytes; TRACE_NR_READABLE: unknown. CSV is any
 * table of which one column has a known name, as the headings of a published format
 * may have, so that it comes last.
 */
static enum trace_readable recognize_head(const char *head, size_t length)
{
	enum trace_readable i;

	for (i = 0; i < TRACE_NR_READABLE; i++)
		if (i != TRACE_READABLE_CSV && formats[i]->recognize(head, length))
			return i;
	return trace_csv.recognize(head, length) ? TRACE_READABLE_CSV :
						   TRACE_NR_READABLE;
}

/* Check for an archive of tar, in which some traces are published. */
static bool is_tar(const char *head, size_t length)
{
	static const char magic[] = "ustar";

	return length > TAR_MAGIC_BYTE + strlen(magic) &&
	       !memcmp(head + TAR_MAGIC_BYTE, magic, strlen(magic));
}

/* Check for two letters of ASCII in UTF-16, the zero bytes from @zero on. */
static bool is_wide(const char *head, size_t length, size_t zero)
{
	return length >= 4 && !head[zero] && !head[zero + 2] &&
	       head[1 - zero] > 0 && head[3 - zero] > 0;
}

/*
 * Return what a file is that no reader takes, and how it becomes a trace; NULL:
 * nothing of that kind. UTF-16 without a mark may also be a binary trace, which
 * its reader knows (@known).
 */
static const char *kind_of_other(const char *head, size_t length, bool known)
{
	static const struct {
		const char *magic;
		const char *kind;
	} kinds[] = {
		{ "PK\3\4", "is a zip archive; extract the trace first (unzip -p)" },
		{ "7z\xbc\xaf\x27\x1c", "is a 7z archive; extract the trace first (7z x -so)" },
		{ "Rar!\x1a\x07", "is a rar archive; extract the trace first (unrar p)" },
		{ "\xff\xfe", "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16)" },
		{ "\xfe\xff", "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16)" },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (length >= strlen(kinds[i].magic) &&
		    !memcmp(head, kinds[i].magic, strlen(kinds[i].magic)))
			return kinds[i].kind;
	if (!known && is_wide(head, length, 1))
		return "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16LE)";
	if (!known && is_wide(head, length, 0))
		return "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16BE)";
	return NULL;
}

/*
 * Find the format of the open file; TRACE_NR_READABLE: not known. Return: enum
 * alignctl_exit; reported.
 */
static int find_format(struct trace *trace, enum trace_readable *found)
{
	char head[HEAD_BYTES + 2];
	ssize_t length = trace_input_peek(&trace->input, HEAD_BYTES);
	const char *other;

	if (length < 0)
		return trace_next_status(trace_input_failure(&trace->input));
	/* blktrace leaves an empty file for a processor without events */
	if (!length && blktrace_is_member(trace->input.path)) {
		*found = TRACE_READABLE_BLKTRACE;
		return ALIGNCTL_FINE;
	}
	if (!length) {
		message_error("%s: is empty; a trace has at least a header or a request",
			      trace->input.path);
		return ALIGNCTL_USAGE;
	}
	memcpy(head, trace->input.buffer + trace->input.start, (size_t)length);
	head[length] = '\0';
	if (is_tar(head, (size_t)length)) {
		message_error("%s: is an archive; extract the trace: tar -xOf %s FILE | alignctl ... -",
			      trace->input.path, trace->input.path);
		return ALIGNCTL_USAGE;
	}
	/* the last line of a whole file needs no end */
	if (length < (ssize_t)HEAD_BYTES && head[length - 1] != '\n')
		memcpy(head + length, "\n", 2);
	*found = recognize_head(head, (size_t)length);
	other = kind_of_other(head, (size_t)length,
			      *found != TRACE_NR_READABLE);
	if (!other)
		return ALIGNCTL_FINE;
	message_error("%s: %s", trace->input.path, other);
	return ALIGNCTL_USAGE;
}

/* Set trace->format to the open file's format, which must be the chosen one. */
static int set_format(struct trace *trace)
{
	enum trace_readable found = TRACE_NR_READABLE;
	enum trace_readable wanted = trace->choice.from;
	int failed = find_format(trace, &found);

	if (failed)
		return failed;
	if (trace->choice.columns) {
		trace->format = &trace_columns_format;
		return ALIGNCTL_FINE;
	}
	if (wanted == TRACE_NR_READABLE && found == TRACE_NR_READABLE) {
		message_error("%s: unknown format; name the format with --from, or the columns of a table with --columns",
			      trace->input.path);
		return ALIGNCTL_USAGE;
	}
	if (wanted == TRACE_NR_READABLE)
		wanted = found;
	if (found != wanted && found != TRACE_NR_READABLE &&
	    !formats[wanted]->by_name) {
		message_error("%s: is in format %s, not %s",
			      trace->input.path, trace_readable_names[found],
			      trace_readable_names[wanted]);
		return ALIGNCTL_USAGE;
	}
	trace->format = formats[wanted];
	return ALIGNCTL_FINE;
}

void trace_set_blocks(struct trace *trace, uint32_t physical, uint32_t offset)
{
	trace_disks_set_blocks(&trace->disks, physical, offset);
}

/* Count touches by the blocks of the recorded device, as far as known. */
static void set_blocks_of_origin(struct trace *trace)
{
	const struct trace_origin *origin = &trace->facts.origin;

	trace_set_blocks(trace,
			 origin->physical ? origin->physical : TRACE_PHYSICAL,
			 origin->offset_known ? origin->offset : 0);
}

int trace_open(struct trace **opened, const char *path)
{
	return trace_open_as(opened, path, &TRACE_ANY);
}

int trace_open_as(struct trace **opened, const char *path,
		  const struct trace_choice *choice)
{
	CLEANUP_FREE char *member = NULL;
	struct trace *trace;
	int failed;

	*opened = NULL;
	if (!*path) {
		message_error("SOURCE \"\": is empty; give a trace's path or, where allowed, a workload's name");
		return ALIGNCTL_USAGE;
	}
	if (access(path, F_OK))
		member = blktrace_member(path);
	trace = memory_or_exit(calloc(1, sizeof(*trace)));
	trace->choice = *choice;
	failed = trace_input_open(&trace->input, member ? member : path,
				  INPUT_BYTES);
	if (!failed)
		failed = set_format(trace);
	if (!failed)
		failed = trace_begin(trace, trace->format->open);
	if (failed) {
		trace_close(trace);
		return failed;
	}
	if (trace->format->unsorted && trace->facts.timed)
		trace->sorter = trace_sorter_new();
	set_blocks_of_origin(trace);
	*opened = trace;
	return ALIGNCTL_FINE;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->format)
		trace_end(trace);
	trace_input_close(&trace->input);
	trace_names_free(&trace->files);
	trace_disks_free(&trace->disks);
	trace_sorter_free(trace->sorter);
	free(trace);
}

const struct trace_facts *trace_facts(const struct trace *trace)
{
	return &trace->facts;
}

const struct trace_choice *trace_choice_of(const struct trace *trace)
{
	return &trace->choice;
}

uint64_t trace_clock_ns(const struct trace *trace)
{
	return trace->format->foreign ? trace->base_ns :
					trace->facts.origin.start_ns;
}

uint64_t trace_left_out(const struct trace *trace, enum trace_left_out why)
{
	return trace->left_out[why];
}

const char *trace_file(const struct trace *trace, uint32_t file)
{
	const char *name = trace->choice.disk ? trace->choice.disk :
			   trace_names_get(&trace->files, file);

	return name && *name ? name : NULL;
}

/* List all disks, after a message that says what for. */
static void list_disks(const struct trace *trace)
{
	if (trace->disks.beyond)
		message_warning("%s: the list of disks is incomplete: the trace has more than the %"
				PRIu32 " that can be named",
				trace->input.path, trace->files.nr_named);
	trace_disks_print(&trace->disks, &trace->files);
}

void trace_refuse_disks(struct trace *trace)
{
	CLEANUP_FREE char *position = trace_position(trace);
	struct trace_request request;
	enum trace_next next = TRACE_GOT;

	while (next == TRACE_GOT && !interrupt_seen())
		next = trace_next(trace, &request);
	message_error("%s: is for another disk or file than before; choose one with --disk",
		      position);
	if (next != TRACE_END)
		message_warning("%s: the list of disks is incomplete: %s at %s %"
				PRIu64, trace->input.path,
				next == TRACE_GOT ? "interrupted" :
						    "the trace cannot be read on",
				trace->at.unit, trace->at.number);
	list_disks(trace);
}

char *trace_position(const struct trace *trace)
{
	return message_format("%s: %s %" PRIu64, trace->returned.path,
			      trace->returned.unit, trace->returned.number);
}

/* Check whether a request goes to a disk that was not chosen. */
static bool is_of_other_disk(const struct trace *trace,
			     const struct trace_request *request)
{
	const char *name;

	if (!trace->choice.disk)
		return false;
	name = trace_names_get(&trace->files, request->file);
	return !name || strcmp(name, trace->choice.disk);
}

/* Return why an entry makes no request of its disk; TRACE_NR_LEFT_OUT: none. */
static enum trace_left_out why_no_request(const struct trace *trace,
					  const struct trace_request *request)
{
	if (request->op == TRACE_NR_OPS)
		return trace->format->no_op;
	if (trace->format->foreign && !request->bytes &&
	    request->op != TRACE_FLUSH)
		return TRACE_LEFT_NO_LENGTH;
	return TRACE_NR_LEFT_OUT;
}

/*
 * Count an entry with its disk if it is a request, and with the reason if it is
 * left out. Return: true if it is left out; else @fault is trace_request_fault().
 */
static bool leave_out(struct trace *trace, const struct trace_request *request,
		      const char **fault)
{
	enum trace_left_out why = why_no_request(trace, request);

	*fault = trace_request_fault(request);
	if (why == TRACE_NR_LEFT_OUT && !*fault)
		trace_disks_add(&trace->disks, request);
	if (is_of_other_disk(trace, request))
		why = TRACE_LEFT_OTHER_DISK;
	if (why == TRACE_NR_LEFT_OUT)
		return false;
	trace->left_out[why]++;
	return true;
}

/* Read a request in the order of the file, and check it. */
static enum trace_next next_of_format(struct trace *trace,
				      struct trace_request *request)
{
	enum trace_next next;
	const char *fault;

	if (trace->ended)
		return TRACE_END;
	do {
		*request = (struct trace_request) { 0 };
		next = trace->format->next(trace, request);
		trace->ended = next == TRACE_END;
		if (next != TRACE_GOT)
			return next;
	} while (leave_out(trace, request, &fault));
	if (trace->choice.disk) {
		trace->disk_found = true;
		request->file = 0;
	}
	if (fault)
		return trace_refuse(trace, "%s", fault);
	if (request->time_ns >= trace->last_ns)
		return TRACE_GOT;
	return trace_refuse(trace, "time %" PRIu64 " ns is before the %" PRIu64 " ns of %s; sort the trace by time",
			    request->time_ns, trace->last_ns,
			    trace->sorter ? "over 8192 previous requests" :
					    "the previous request");
}

/* Fill the sorter. Return: TRACE_GOT, also where the trace ends, or its fault. */
static enum trace_next fill_sorter(struct trace *trace)
{
	struct trace_request request;
	enum trace_next next;

	while (!trace_sorter_full(trace->sorter)) {
		next = next_of_format(trace, &request);
		if (next == TRACE_END)
			break;
		if (next != TRACE_GOT)
			return next;
		trace_sorter_add(trace->sorter, &request, &trace->at);
	}
	return TRACE_GOT;
}

static enum trace_next next_in_order(struct trace *trace,
				     struct trace_request *request)
{
	enum trace_next next;

	if (!trace->sorter) {
		next = next_of_format(trace, request);
		trace->returned = trace->at;
		return next;
	}
	next = fill_sorter(trace);
	if (next != TRACE_GOT)
		return next;
	if (trace_sorter_empty(trace->sorter))
		return TRACE_END;
	trace_sorter_take(trace->sorter, request, &trace->returned);
	return TRACE_GOT;
}

/* Return why entries were left out, with numbers if for several reasons. */
static char *describe_left_out(const struct trace *trace, uint64_t all)
{
	char *list = message_format("%s", "");
	size_t i;

	for (i = 0; i < TRACE_NR_LEFT_OUT; i++) {
		CLEANUP_FREE char *before = NULL;
		uint64_t nr = trace->left_out[i];

		if (!nr)
			continue;
		before = list;
		if (nr == all)
			list = message_format("%s", left_out_reasons[i]);
		else
			list = message_format("%s%s%s: %" PRIu64, before,
					      *before ? ", " : "",
					      left_out_reasons[i], nr);
	}
	return list;
}

/* Warn of entries left out, once even if the trace is read several times. */
static void tell_left_out(struct trace *trace)
{
	CLEANUP_FREE char *what = NULL;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < TRACE_NR_LEFT_OUT; i++)
		all += trace->left_out[i];
	if (all && !trace->told_left_out) {
		what = describe_left_out(trace, all);
		message_warning("%s: entries left out: %" PRIu64 " (%s)",
				trace->input.path, all, what);
	}
	trace->told_left_out = true;
}

/* End a trace. Return: TRACE_END; TRACE_BROKEN: its disk is missing; reported. */
static enum trace_next end_trace(struct trace *trace)
{
	if (!trace->choice.disk || trace->disk_found) {
		tell_left_out(trace);
		return TRACE_END;
	}
	message_error("%s: has no request to disk %s; %s", trace->input.path,
		      trace->choice.disk, trace->files.nr_named ?
		      "choose one with --disk" :
		      "the trace names no disks; leave --disk out");
	if (trace->files.nr_named)
		list_disks(trace);
	return TRACE_BROKEN;
}

void trace_read_ahead(struct trace *trace)
{
	enum trace_next next;

	if (!trace->sorter || trace_next_status(trace->broken))
		return;
	next = fill_sorter(trace);
	if (next != TRACE_GOT)
		trace->broken = next;
}

enum trace_next trace_next(struct trace *trace, struct trace_request *request)
{
	enum trace_next next;

	if (trace_next_status(trace->broken))
		return trace->broken;
	next = next_in_order(trace, request);
	if (next == TRACE_END && trace->broken != TRACE_END)
		next = end_trace(trace);
	trace->broken = next;
	if (next != TRACE_GOT)
		return next;
	trace->last_ns = request->time_ns;
	if (!trace->format->foreign)
		return next;
	if (!trace->has_base)
		trace->base_ns = request->time_ns;
	trace->has_base = true;
	request->time_ns -= trace->base_ns;
	return next;
}
