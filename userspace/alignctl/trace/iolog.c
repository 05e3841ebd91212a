// SPDX-License-Identifier: GPL-2.0
/*
 * fio's I/O logs, versions 2 and 3, with a line for each operation on a file:
 *
 *	[TIME] FILE add|open|close
 *	[TIME] FILE read|write|trim|sync|datasync|wait OFFSET LENGTH
 *
 * Version 3 has the times, in us since the start. In version 2 the OFFSET of a
 * wait is the earliest time of the lines below; fio reads it as ms since the
 * start, unlike its manual.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "trace/format.h"
#include "trace/writer_format.h"

/* Bytes of the longest name and of the longest request that fio reads. */
#define MAX_NAME	255U
#define MAX_BYTES	UINT32_MAX

#define MAX_WORDS	6U

static const char version_line[] = "fio version";

/**
 * struct iolog - a log that is being read
 * @version: 2 or 3
 * @waited_ns: end of the waits so far, ns since the start; version 2 only
 */
struct iolog {
	uint32_t version;
	uint64_t waited_ns;
};

/* The actions of a line besides enum trace_op. */
enum action {
	ACTION_ADD = TRACE_NR_OPS,
	ACTION_OPEN,
	ACTION_CLOSE,
	ACTION_WAIT,
	ACTION_RANGE,
};

static const struct {
	const char *name;
	uint32_t action;
} actions[] = {
	{ "read", TRACE_READ },
	{ "write", TRACE_WRITE },
	{ "sync", TRACE_FLUSH },
	{ "datasync", TRACE_FLUSH },
	{ "syncfs", TRACE_FLUSH },
	{ "trim", TRACE_DISCARD },
	{ "add", ACTION_ADD },
	{ "open", ACTION_OPEN },
	{ "close", ACTION_CLOSE },
	{ "wait", ACTION_WAIT },
	/* only starts writeback: nothing is durable, the drive gets no flush */
	{ "sync_file_range", ACTION_RANGE },
};

static bool find_action(const char *name, uint32_t *action)
{
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(name, actions[i].name))
			continue;
		*action = actions[i].action;
		return true;
	}
	return false;
}

/* Split a line; return its number of words. @words gets the first MAX_WORDS. */
static uint32_t split_words(char *line, char **words)
{
	uint32_t nr = 0;

	for (;;) {
		line += strspn(line, " \t");
		if (!*line)
			return nr;
		if (nr < MAX_WORDS)
			words[nr] = line;
		nr++;
		line += strcspn(line, " \t");
		if (*line)
			*line++ = '\0';
	}
}

static bool iolog_recognize(const char *head, size_t length)
{
	return length >= strlen(version_line) &&
	       !strncmp(head, version_line, strlen(version_line));
}

static int open_at_first_line(struct trace *trace, struct iolog *log)
{
	char *line;
	int failed = trace_first_line(trace, &line);

	if (failed)
		return failed;
	if (!strcmp(line, "fio version 2 iolog")) {
		log->version = 2;
	} else if (!strcmp(line, "fio version 3 iolog")) {
		log->version = 3;
	} else {
		trace_refuse(trace, "\"%s\": must be \"fio version 2 iolog\" or \"fio version 3 iolog\"",
			     line);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* Read a log of version 2 through, and check whether it waits anywhere. */
static int look_for_waits(struct trace *trace, bool *waits)
{
	char *line, *words[MAX_WORDS];
	enum trace_next next;

	*waits = false;
	while ((next = trace_line(trace, &line)) == TRACE_GOT && !*waits)
		*waits = split_words(line, words) > 1 && !strcmp(words[1], "wait");
	if (trace_next_status(next))
		return trace_next_status(next);
	return trace_input_rewind(&trace->input);
}

static int iolog_open(struct trace *trace)
{
	struct iolog *log = memory_or_exit(calloc(1, sizeof(*log)));
	bool timed = true;
	int failed;

	trace->state = log;
	failed = open_at_first_line(trace, log);
	if (!failed && log->version == 2) {
		timed = false;
		if (trace_input_has_way_back(&trace->input)) {
			failed = look_for_waits(trace, &timed);
			if (!failed)
				failed = open_at_first_line(trace, log);
		}
	}
	trace->facts = (struct trace_facts) {
		.format = log->version == 2 ? "fio iolog v2" : "fio iolog v3",
		.timed = timed,
	};
	return failed;
}

static bool take_number(const char *word, uint64_t max, uint64_t *number)
{
	return decimal_read(&word, max, number) && !*word;
}

/* Find a file that was added; any file if those added are too many to name. */
static bool find_added(struct trace *trace, const char *name, uint32_t *file)
{
	if (trace_names_find(&trace->files, name, file))
		return true;
	*file = TRACE_OTHER_FILE;
	return trace_names_full(&trace->files);
}

/* Take a line about a file as a whole: add, open or close. */
static enum trace_next take_file(struct trace *trace, uint32_t action,
				 const char *name)
{
	uint32_t file;

	if (action == ACTION_ADD)
		return trace_find_file(trace, name, &file);
	if (!find_added(trace, name, &file))
		return trace_refuse(trace, "file \"%s\": must be added before it is opened or closed",
				    name);
	return TRACE_GOT;
}

/* Take the words of a line that is not about a file as a whole. */
static enum trace_next take_request(struct trace *trace, uint32_t action,
				    char *const *words,
				    struct trace_request *request)
{
	struct iolog *log = trace->state;

	if (!find_added(trace, words[0], &request->file))
		return trace_refuse(trace, "file \"%s\": must be added before it is used",
				    words[0]);
	if (!take_number(words[2], UINT64_MAX, &request->offset))
		return trace_refuse(trace, "offset \"%s\": must be a number",
				    words[2]);
	if (!take_number(words[3], UINT64_MAX, &request->bytes))
		return trace_refuse(trace, "length \"%s\": must be a number of bytes",
				    words[3]);
	if (action == ACTION_WAIT) {
		if (log->version == 3)
			return trace_refuse(trace, "wait: not known in version 3, whose lines have times");
		if (!trace->facts.timed)
			return trace_refuse(trace, "wait: a log that waits cannot be read from a pipe; save the log to a file first");
		if (request->offset > UINT64_MAX / NS_PER_MS)
			return trace_refuse(trace, "wait \"%s\": must be a number of milliseconds",
					    words[2]);
		if (log->waited_ns < request->offset * NS_PER_MS)
			log->waited_ns = request->offset * NS_PER_MS;
		return TRACE_GOT;
	}
	if (log->version == 2)
		request->time_ns = log->waited_ns;
	/* fio logs the range of the previous write with a sync */
	if (action == TRACE_FLUSH)
		request->offset = request->bytes = 0;
	return TRACE_GOT;
}

/* Take a line, and set @is_request to whether it makes a request. */
static enum trace_next take_line(struct trace *trace, char *line,
				 struct trace_request *request,
				 bool *is_request)
{
	const struct iolog *log = trace->state;
	bool begins_again = !strncmp(line, version_line, strlen(version_line));
	char *words[MAX_WORDS], **word = words;
	uint32_t nr, action;

	*is_request = false;
	if (begins_again)
		return trace_refuse(trace, "another log begins here: fio appends to an existing log; split the file");
	nr = split_words(line, words);
	if (!nr)
		return TRACE_GOT;
	if (log->version == 3) {
		if (!take_number(*word, UINT64_MAX / NS_PER_US,
				 &request->time_ns))
			return trace_refuse(trace, "time \"%s\": must be a number of microseconds",
					    *word);
		request->time_ns *= NS_PER_US;
		word++;
		nr--;
	}
	if (nr < 2 || !find_action(word[1], &action))
		return trace_refuse(trace, "action \"%s\": must be add, open, close, read, write, trim, sync, datasync or wait",
				    nr < 2 ? "" : word[1]);
	if (nr != (action >= ACTION_ADD && action <= ACTION_CLOSE ? 2 : 4))
		return trace_refuse(trace, "%s: the line must be FILE %s%s",
				    word[1], word[1],
				    action >= ACTION_ADD &&
				    action <= ACTION_CLOSE ? "" :
				    " OFFSET LENGTH");
	if (action >= ACTION_ADD && action <= ACTION_CLOSE)
		return take_file(trace, action, word[0]);
	*is_request = action < TRACE_NR_OPS;
	if (*is_request)
		request->op = action;
	trace->left_out[TRACE_LEFT_SYNC_RANGE] += action == ACTION_RANGE;
	return take_request(trace, action, word, request);
}

static enum trace_next iolog_next(struct trace *trace,
				  struct trace_request *request)
{
	enum trace_next next;
	bool is_request;
	char *line;

	do {
		*request = (struct trace_request) { 0 };
		next = trace_line(trace, &line);
		if (next != TRACE_GOT)
			return next;
		next = take_line(trace, line, request, &is_request);
	} while (next == TRACE_GOT && !is_request);
	return next;
}

const struct trace_format trace_iolog = {
	.recognize = iolog_recognize,
	.open = iolog_open,
	.next = iolog_next,
};

/**
 * struct iolog_writer - a log that is being written
 * @names: names of the opened files, by the trace's number of the file
 */
struct iolog_writer {
	char *names[TRACE_MAX_FILES];
};

static void iolog_begin(struct trace_writer *writer)
{
	writer->state = memory_or_exit(calloc(1, sizeof(struct iolog_writer)));
	fputs("fio version 3 iolog\n", writer->stream);
}

/* Return the path that fio shall open for a file; for free(). */
static char *name_of(const struct trace_writer *writer, uint32_t file)
{
	const char *name = trace_names_get(&writer->files, file);
	const char *device = writer->origin.device;

	if (name && *name)
		return message_format("%s", name);
	if (!device)
		device = "device";
	if (file)
		return message_format("%s.%" PRIu32, device, file);
	return message_format("%s%s", strchr(device, '/') ? "" : "/dev/",
			      device);
}

/* Open a request's file if it is not open. Return: its name; NULL: reported. */
static const char *open_file(struct trace_writer *writer,
			     const struct trace_request *request)
{
	struct iolog_writer *log = writer->state;
	char **name = &log->names[request->file];
	uint64_t us = request->time_ns / NS_PER_US;

	if (*name)
		return *name;
	*name = name_of(writer, request->file);
	if (strlen(*name) > MAX_NAME || (*name)[strcspn(*name, " \t\r\n\v\f")]) {
		message_error("%s: file \"%s\": fio reads names of at most 255 bytes without blanks; write CSV",
			      writer->path, *name);
		return NULL;
	}
	fprintf(writer->stream, "%" PRIu64 " %s add\n%" PRIu64 " %s open\n",
		us, *name, us, *name);
	return *name;
}

static bool iolog_add(struct trace_writer *writer,
		      const struct trace_request *request)
{
	static const char *const names[TRACE_NR_OPS] = {
		"read", "write", "datasync", "trim", "write",
	};
	const char *name = open_file(writer, request);

	if (!name)
		return false;
	if (request->bytes > MAX_BYTES) {
		message_error("%s: request %" PRIu64 " of %" PRIu64 " bytes: fio reads no length above 4294967295; write CSV",
			      writer->path, writer->nr + 1, request->bytes);
		return false;
	}
	writer->lost[TRACE_LOST_FUA] += request->fua;
	writer->lost[TRACE_LOST_PREFLUSH] += request->preflush;
	writer->lost[TRACE_LOST_ZEROES] += request->op == TRACE_WRITE_ZEROES;
	writer->lost[TRACE_LOST_PROCESS] += request->pid || *request->comm;
	fprintf(writer->stream, "%" PRIu64 " %s %s %" PRIu64 " %" PRIu64 "\n",
		request->time_ns / NS_PER_US, name, names[request->op],
		request->offset, request->bytes);
	return true;
}

static void iolog_end(struct trace_writer *writer)
{
	struct iolog_writer *log = writer->state;
	uint32_t i;

	for (i = 0; i < TRACE_MAX_FILES; i++)
		if (log->names[i])
			fprintf(writer->stream, "%" PRIu64 " %s close\n",
				writer->last_ns / NS_PER_US, log->names[i]);
}

static void iolog_release(struct trace_writer *writer)
{
	struct iolog_writer *log = writer->state;
	uint32_t i;

	for (i = 0; i < TRACE_MAX_FILES; i++)
		free(log->names[i]);
}

const struct trace_written_format trace_written_iolog = {
	.begin = iolog_begin,
	.add = iolog_add,
	.end = iolog_end,
	.release = iolog_release,
};
