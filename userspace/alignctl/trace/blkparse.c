// SPDX-License-Identifier: GPL-2.0
/*
 * blkparse's default output: a line for each event,
 *
 *	MAJOR,MINOR CPU SEQUENCE SECONDS.NANOSECONDS PID ACTION FLAGS ...
 *
 * which ends, for ACTION Q, in "SECTOR + SECTORS [COMM]", or in "[COMM]" if
 * nothing is transferred; and a summary after the last event. As in binary
 * traces only queued (Q) events count, or, if there are none, issued (D) ones.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/units.h"
#include "geometry.h"
#include "trace/format.h"
#include "trace/letters.h"

/**
 * struct event - the fields at the front of each line
 * @device: device number, "MAJOR,MINOR"
 * @time_ns: time since the first event
 * @pid: number of the process
 * @rest: rest of the line, from the action on
 */
struct event {
	char device[24];
	uint64_t time_ns;
	uint32_t pid;
	const char *rest;
};

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " ");
}

static bool take_number(const char **at, uint64_t max, uint64_t *number)
{
	skip_blanks(at);
	return decimal_read(at, max, number);
}

/* Read SECONDS.NANOSECONDS, with nine digits after the point. */
static bool take_time(const char **at, uint64_t *ns)
{
	const char *point;
	uint64_t seconds, part;

	if (!take_number(at, UINT64_MAX / NS_PER_S - 1, &seconds) ||
	    *(*at)++ != '.')
		return false;
	point = *at;
	if (!decimal_read(at, NS_PER_S - 1, &part) || *at - point != 9)
		return false;
	*ns = seconds * NS_PER_S + part;
	return true;
}

static bool take_event(const char *line, struct event *event)
{
	uint64_t major, minor, cpu, sequence, pid;

	if (!take_number(&line, UINT32_MAX, &major) || *line++ != ',' ||
	    !take_number(&line, UINT32_MAX, &minor) ||
	    !take_number(&line, UINT32_MAX, &cpu))
		return false;
	skip_blanks(&line);
	/* blkparse prints the unsigned sequence number as signed */
	line += *line == '-';
	if (!take_number(&line, UINT32_MAX, &sequence) ||
	    !take_time(&line, &event->time_ns) ||
	    !take_number(&line, UINT32_MAX, &pid) || *line != ' ')
		return false;
	skip_blanks(&line);
	if (!isalpha((unsigned char)*line))
		return false;
	snprintf(event->device, sizeof(event->device), "%" PRIu64 ",%" PRIu64,
		 major, minor);
	event->pid = (uint32_t)pid;
	event->rest = line;
	return true;
}

/* Check for a line about an input file, which precedes the events. */
static bool is_notice(const char *line)
{
	static const char notice[] = "Input file ";

	return !*line || !strncmp(line, notice, strlen(notice));
}

static bool begins_summary(const char *line)
{
	return !strncmp(line, "CPU", 3) || !strncmp(line, "Total (", 7);
}

static bool blkparse_recognize(const char *head, size_t length)
{
	struct event event;
	size_t line;

	(void)length;
	while (*head) {
		line = strcspn(head, "\n");
		if (line && *head != 'I')
			break;
		head += line + (head[line] == '\n');
	}
	return take_event(head, &event);
}

static int blkparse_open(struct trace *trace)
{
	trace->facts = (struct trace_facts) {
		.format = "blkparse",
		.timed = true,
	};
	return ALIGNCTL_FINE;
}

/* Read " [COMM]", up to the end of the line. */
static bool take_comm(const char *at, struct trace_request *request)
{
	size_t length = strlen(at);

	if (length < 3 || strncmp(at, " [", 2) || at[length - 1] != ']')
		return false;
	/* what printf() makes of an unknown name */
	if (!strcmp(at, " [(null)]"))
		return true;
	trace_set_comm(request, at + 2);
	length -= 3;
	if (length < sizeof(request->comm))
		request->comm[length] = '\0';
	return true;
}

/* Check for a command to the drive instead of sectors, "36 (12 00 00) [COMM]". */
static bool is_command(const char *at)
{
	at += strspn(at, "0123456789");
	return !strncmp(at, " (", 2);
}

/* Read the fields behind the action of an event that counts. */
static enum trace_next take_counted(struct trace *trace, const char *at,
				   struct trace_request *request,
				   bool *is_request)
{
	uint64_t sectors = 0;
	bool flush;

	skip_blanks(&at);
	if (trace_letters_take(&at, request) == LETTERS_INVALID || *at != ' ')
		return trace_refuse(trace, "flags must be R, W, WZ, D, DE, F or N, with F before or F, A, S, M, U, B after");
	flush = request->preflush || request->op == TRACE_FLUSH;
	skip_blanks(&at);
	if (is_command(at)) {
		trace->left_out[TRACE_LEFT_OTHER_COMMAND]++;
		return TRACE_GOT;
	}
	if (isdigit((unsigned char)*at)) {
		if (!decimal_read(&at, UINT64_MAX >> ALIGN_SECTOR_SHIFT,
				  &request->offset) ||
		    strncmp(at, " + ", 3))
			return trace_refuse(trace, "sector must be a number on a device, followed by \" + \"");
		at += 3;
		if (!decimal_read(&at, UINT64_MAX >> ALIGN_SECTOR_SHIFT,
				  &sectors) || !sectors)
			return trace_refuse(trace, "number of sectors must be from 1 to 36028797018963967");
		request->offset <<= ALIGN_SECTOR_SHIFT;
		request->bytes = sectors << ALIGN_SECTOR_SHIFT;
		if (request->op == TRACE_FLUSH)
			request->offset = request->bytes = 0;
	} else {
		at--;
		request->op = TRACE_FLUSH;
		request->preflush = false;
		request->fua = false;
	}
	if (!take_comm(at, request))
		return trace_refuse(trace, "must end with \" [\", the process name and \"]\"");
	*is_request = sectors || flush;
	trace->left_out[TRACE_LEFT_EMPTY] += !*is_request;
	return TRACE_GOT;
}

/* Check for an event that counts, and note the others. */
static bool is_counted(struct trace *trace, const char *action)
{
	bool queued = !strncmp(action, "Q ", 2);
	bool issued = !strncmp(action, "D ", 2);

	trace->seen_queued |= queued;
	trace->seen_issued |= issued;
	return trace->issued ? issued : queued;
}

/*
 * End at the summary. Behind it comes no event, or another output, whose times begin
 * again.
 */
static enum trace_next take_summary(struct trace *trace,
				    struct trace_request *request)
{
	enum trace_next next;
	struct event event;
	char *line;

	while ((next = trace_line(trace, &line)) == TRACE_GOT)
		if (take_event(line, &event))
			return trace_refuse(trace, "another output of blkparse begins here, behind the summary of the first one; split the file");
	return next == TRACE_END ? trace_end_queued(trace, request) : next;
}

static enum trace_next blkparse_next(struct trace *trace,
				     struct trace_request *request)
{
	bool is_request = false;
	enum trace_next next;
	struct event event;
	char *line;

	do {
		next = trace_line(trace, &line);
		if (next == TRACE_END)
			return trace_end_queued(trace, request);
		if (next != TRACE_GOT)
			return next;
		if (is_notice(line))
			continue;
		if (begins_summary(line))
			return take_summary(trace, request);
		if (!take_event(line, &event))
			return trace_refuse(trace, "must begin with device, CPU, sequence, time, process and action, as blkparse prints them by default");
		if (!is_counted(trace, event.rest))
			continue;
		*request = (struct trace_request) {
			.time_ns = event.time_ns,
			.pid = event.pid,
		};
		next = take_counted(trace, event.rest + 1, request, &is_request);
	} while (next == TRACE_GOT && !is_request);
	if (next != TRACE_GOT)
		return next;
	return trace_find_file(trace, event.device, &request->file);
}

const struct trace_format trace_blkparse = {
	.recognize = blkparse_recognize,
	.open = blkparse_open,
	.next = blkparse_next,
	.unsorted = true,
};
