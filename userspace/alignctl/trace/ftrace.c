// SPDX-License-Identifier: GPL-2.0
/*
 * Text of the kernel's trace events, as ftrace, "perf script" and "trace-cmd
 * report" print it, a line for each event:
 *
 *	NAME-PID [CPU] FLAGS SECONDS.FRACTION: block_rq_issue: ...
 *	NAME PID [CPU] SECONDS.FRACTION: block:block_bio_queue: ...
 *
 * Of block_bio_queue, "MAJOR,MINOR LETTERS SECTOR + SECTORS [NAME]" follows; of
 * block_rq_issue, BYTES and (COMMAND) stand behind the letters and, since Linux
 * 6.11, an I/O priority before the name. Queued bios are writes as issued; of a
 * trace without any, the issued requests are read. Other events are ignored.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "geometry.h"
#include "trace/format.h"
#include "trace/letters.h"

#define FRACTION_DIGITS	9

static const char queued_name[] = "block_bio_queue:";
static const char issued_name[] = "block_rq_issue:";

enum event_kind { EVENT_OTHER, EVENT_QUEUED, EVENT_ISSUED };

/**
 * struct event - the front of a line
 * @kind: which event it is
 * @time_ns: its time
 * @pid: number of the thread; 0: not known
 * @rest: the text behind the event's name
 */
struct event {
	enum event_kind kind;
	uint64_t time_ns;
	uint32_t pid;
	const char *rest;
};

/**
 * struct ftrace - a trace that is being read
 * @kind: the events that are requests; EVENT_OTHER: none was seen yet
 * @lost_line: first line that says that events are missing; 0: none so far
 * @lost_more: a line says so without their number
 */
struct ftrace {
	enum event_kind kind;
	uint64_t lost_line;
	bool lost_more;
};

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

/* Read "SECONDS.FRACTION:", with up to nine digits after the point. */
static bool take_time(const char **at, uint64_t *ns)
{
	const char *text = *at, *point;
	uint64_t seconds, part;

	if (!decimal_read(&text, UINT64_MAX / NS_PER_S - 1, &seconds) ||
	    *text++ != '.')
		return false;
	point = text;
	if (!decimal_read(&text, NS_PER_S - 1, &part) ||
	    text - point > FRACTION_DIGITS || *text != ':')
		return false;
	*at = text + 1;
	for (; text - point < FRACTION_DIGITS; point--)
		part *= 10;
	*ns = seconds * NS_PER_S + part;
	return true;
}

/* Return the thread's number, with which the text from @line to @end ends. */
static uint32_t pid_before(const char *line, const char *end)
{
	const char *digits;
	uint64_t pid;

	while (end > line && isblank((unsigned char)end[-1]))
		end--;
	/* ftrace's option record-tgid: "(-----)" or "(  1234)" */
	if (end > line && end[-1] == ')') {
		while (end > line && *end != '(')
			end--;
		while (end > line && isblank((unsigned char)end[-1]))
			end--;
	}
	for (digits = end; digits > line && isdigit((unsigned char)digits[-1]);)
		digits--;
	return digits < end && decimal_read(&digits, UINT32_MAX, &pid) ?
	       (uint32_t)pid : 0;
}

static enum event_kind kind_of(const char **at)
{
	static const char system[] = "block:";

	if (!strncmp(*at, system, strlen(system)))
		*at += strlen(system);
	if (!strncmp(*at, queued_name, strlen(queued_name))) {
		*at += strlen(queued_name);
		return EVENT_QUEUED;
	}
	if (!strncmp(*at, issued_name, strlen(issued_name))) {
		*at += strlen(issued_name);
		return EVENT_ISSUED;
	}
	return EVENT_OTHER;
}

/* Read what follows the bracket of "[CPU]", up to the event's name. */
static bool take_front(const char *at, struct event *event)
{
	uint64_t cpu;

	if (!decimal_read(&at, UINT32_MAX, &cpu) || *at++ != ']')
		return false;
	skip_blanks(&at);
	if (!take_time(&at, &event->time_ns)) {
		/* the flags, "d..1." */
		at += strcspn(at, " \t");
		skip_blanks(&at);
		if (!take_time(&at, &event->time_ns))
			return false;
	}
	skip_blanks(&at);
	event->kind = kind_of(&at);
	event->rest = at;
	/* a word and a colon, as any event has */
	return event->kind != EVENT_OTHER ||
	       (isalpha((unsigned char)*at) && at[strcspn(at, " \t:")] == ':');
}

/* Read the front of a line; a name before it may have blanks and brackets. */
static bool take_event(const char *line, struct event *event)
{
	const char *at;

	for (at = strchr(line, '['); at; at = strchr(at + 1, '[')) {
		if (!take_front(at + 1, event))
			continue;
		event->pid = pid_before(line, at);
		return true;
	}
	return false;
}

static bool ftrace_recognize(const char *head, size_t length)
{
	static const char tracer[] = "# tracer: ";
	struct event event;
	const char *line = head, *end;
	bool found = !strncmp(head, tracer, strlen(tracer));

	(void)length;
	while (!found && *line) {
		char text[512];
		size_t bytes = strcspn(line, "\n");

		snprintf(text, sizeof(text), "%.*s", (int)bytes, line);
		found = take_event(text, &event);
		end = line + bytes;
		line = end + (*end == '\n');
	}
	return found;
}

/*
 * Read the trace until both events were seen, and choose the queued ones if there
 * are any. Return: enum alignctl_exit; reported.
 */
static int choose_events(struct trace *trace)
{
	struct ftrace *ftrace = trace->state;
	bool seen[] = { [EVENT_QUEUED] = false, [EVENT_ISSUED] = false };
	enum trace_next next;
	struct event event;
	char *line;

	while (!seen[EVENT_QUEUED] || !seen[EVENT_ISSUED]) {
		next = trace_line(trace, &line);
		if (next == TRACE_END)
			break;
		if (next != TRACE_GOT)
			return trace_next_status(next);
		if (take_event(line, &event))
			seen[event.kind] = true;
	}
	if (seen[EVENT_QUEUED])
		ftrace->kind = EVENT_QUEUED;
	else if (seen[EVENT_ISSUED])
		ftrace->kind = EVENT_ISSUED;
	if (seen[EVENT_QUEUED] && seen[EVENT_ISSUED] && !trace->told_events)
		message_warning("%s: has block_bio_queue and block_rq_issue; only block_bio_queue is read: writes as issued",
				trace->input.path);
	trace->told_events |= seen[EVENT_QUEUED];
	return trace_input_rewind(&trace->input);
}

static int ftrace_open(struct trace *trace)
{
	trace->state = memory_or_exit(calloc(1, sizeof(struct ftrace)));
	trace->facts = (struct trace_facts) {
		.format = "ftrace",
		.timed = true,
	};
	return trace_input_has_way_back(&trace->input) ?
	       choose_events(trace) : ALIGNCTL_FINE;
}

/* Check whether an event is a request; of a pipe the first event decides. */
static enum trace_next choose_event(struct trace *trace, enum event_kind kind,
				    bool *chosen)
{
	struct ftrace *ftrace = trace->state;

	*chosen = false;
	if (kind == EVENT_OTHER)
		return TRACE_GOT;
	if (ftrace->kind == EVENT_OTHER)
		ftrace->kind = kind;
	if (ftrace->kind == EVENT_ISSUED && kind == EVENT_QUEUED)
		return trace_refuse(trace, "block_bio_queue behind block_rq_issue: save the trace to a file, which can be read twice");
	*chosen = kind == ftrace->kind;
	if (*chosen && kind == EVENT_ISSUED && !trace->told_events) {
		message_warning("%s: has no block_bio_queue; block_rq_issue is read: requests, not writes as issued",
				trace->input.path);
		trace->told_events = true;
	}
	return TRACE_GOT;
}

/* Read " [NAME]", or "PRIORITY [NAME]", up to the end of the line. */
static bool take_comm(const char *at, struct trace_request *request)
{
	const char *name = strchr(at, '[');
	size_t length;

	if (!name)
		return false;
	length = strlen(++name);
	while (length && isblank((unsigned char)name[length - 1]))
		length--;
	if (!length || name[length - 1] != ']')
		return false;
	trace_set_comm(request, name);
	if (--length < sizeof(request->comm))
		request->comm[length] = '\0';
	return true;
}

/* Skip BYTES and "(COMMAND)" of an issued request. */
static bool skip_command(const char **at)
{
	uint64_t bytes;

	if (!decimal_read(at, UINT32_MAX, &bytes))
		return false;
	skip_blanks(at);
	if (**at != '(')
		return false;
	*at += strcspn(*at, ")");
	*at += **at == ')';
	skip_blanks(at);
	return true;
}

static enum trace_next take_request(struct trace *trace,
				    const struct event *event,
				    struct trace_request *request)
{
	const char *at = event->rest;
	uint64_t major, minor, sector, sectors;
	char device[24];

	skip_blanks(&at);
	if (!decimal_read(&at, UINT32_MAX, &major) || *at++ != ',' ||
	    !decimal_read(&at, UINT32_MAX, &minor) || *at++ != ' ')
		return trace_refuse(trace, "device must be MAJOR,MINOR");
	skip_blanks(&at);
	if (trace_letters_take(&at, request) == LETTERS_INVALID || *at != ' ')
		return trace_refuse(trace, "flags must be those of the kernel, as R, W, WS or FWFS");
	skip_blanks(&at);
	if (event->kind == EVENT_ISSUED && !skip_command(&at))
		return trace_refuse(trace, "flags must be followed by a number of bytes and (COMMAND)");
	if (!decimal_read(&at, UINT64_MAX, &sector) || strncmp(at, " + ", 3))
		return trace_refuse(trace, "sector must be a number on a device, followed by \" + \"");
	at += 3;
	if (!decimal_read(&at, UINT64_MAX >> ALIGN_SECTOR_SHIFT, &sectors) ||
	    (sectors && sector > UINT64_MAX >> ALIGN_SECTOR_SHIFT))
		return trace_refuse(trace, "sectors must be below 36028797018963968");
	if (!take_comm(at, request))
		return trace_refuse(trace, "must end with \"[\", the process name and \"]\"");
	if (!sectors && request->preflush) {
		request->op = TRACE_FLUSH;
		request->preflush = request->fua = false;
	}
	if (request->op != TRACE_FLUSH && sectors) {
		request->offset = sector << ALIGN_SECTOR_SHIFT;
		request->bytes = sectors << ALIGN_SECTOR_SHIFT;
	}
	request->time_ns = event->time_ns;
	request->pid = event->pid;
	snprintf(device, sizeof(device), "%" PRIu64 ",%" PRIu64, major, minor);
	return trace_find_file(trace, device, &request->file);
}

/* Count lost events; @number 0: at least one, as their number is not known. */
static void count_lost(struct trace *trace, uint64_t number)
{
	struct ftrace *ftrace = trace->state;
	uint64_t *lost = &trace->facts.origin.lost;

	if (!ftrace->lost_line)
		ftrace->lost_line = trace->at.number;
	ftrace->lost_more |= !number;
	if (__builtin_add_overflow(*lost, number ? number : 1, lost))
		*lost = UINT64_MAX;
}

/* Read the number at @text; 0: there is none. */
static uint64_t number_at(const char *text)
{
	uint64_t number;

	return decimal_read(&text, UINT64_MAX, &number) ? number : 0;
}

/*
 * Count the events that are missing where a line says so: of ftrace "CPU:1 [LOST
 * 2 EVENTS]", of trace-cmd "CPU:1 [2 EVENTS DROPPED]", both also without the
 * number; of perf script "PERF_RECORD_LOST lost 2" and PERF_RECORD_LOST_SAMPLES.
 * A snapshot of ftrace says in its heading how many of all events the buffer
 * still had.
 */
static void note_lost(struct trace *trace, const char *line)
{
	static const char heading[] = "# entries-in-buffer/entries-written: ";
	static const char perf[] = "PERF_RECORD_LOST";
	uint64_t kept, written;
	const char *at;

	if (!strncmp(line, heading, strlen(heading))) {
		at = line + strlen(heading);
		if (decimal_read(&at, UINT64_MAX, &kept) && *at++ == '/' &&
		    decimal_read(&at, UINT64_MAX, &written) && written > kept)
			count_lost(trace, written - kept);
	} else if (!strncmp(line, "CPU:", 4)) {
		at = strchr(line, '[');
		if (!at || !strstr(at, "EVENTS"))
			return;
		at++;
		if (!strncmp(at, "LOST ", 5))
			at += 5;
		count_lost(trace, number_at(at));
	} else {
		at = strstr(line, perf);
		if (!at)
			return;
		at = strstr(at, " lost ");
		count_lost(trace, at ? number_at(at + strlen(" lost ")) : 0);
	}
}

/* Warn, once, of the events that are missing in the whole trace. */
static void tell_lost(struct trace *trace)
{
	const struct ftrace *ftrace = trace->state;
	uint64_t lost = trace->facts.origin.lost;

	if (lost && !trace->told)
		message_warning("%s: incomplete: %s%" PRIu64
				" event%s lost, first at line %" PRIu64
				"; trace with a larger buffer",
				trace->input.path,
				ftrace->lost_more ? "at least " : "", lost,
				lost == 1 ? " was" : "s were",
				ftrace->lost_line);
	trace->told |= lost != 0;
}

/* Check for a line of an event that counts, whose front is damaged. */
static bool is_damaged(const char *line)
{
	return strstr(line, queued_name) || strstr(line, issued_name);
}

static enum trace_next ftrace_next(struct trace *trace,
				   struct trace_request *request)
{
	const struct ftrace *ftrace = trace->state;
	enum trace_next next;
	struct event event;
	bool chosen = false;
	char *line;

	do {
		next = trace_line(trace, &line);
		if (next == TRACE_END)
			tell_lost(trace);
		if (next == TRACE_END && ftrace->kind == EVENT_OTHER)
			return trace_refuse(trace, "no event so far is block_bio_queue or block_rq_issue; trace one of these");
		if (next != TRACE_GOT)
			return next;
		if (take_event(line, &event)) {
			next = choose_event(trace, event.kind, &chosen);
			if (next != TRACE_GOT)
				return next;
			if (event.kind == EVENT_OTHER)
				note_lost(trace, line);
		} else if (*line != '#' && is_damaged(line)) {
			return trace_refuse(trace, "must have [CPU] and seconds before the event");
		} else {
			note_lost(trace, line);
		}
	} while (!chosen);
	return take_request(trace, &event, request);
}

const struct trace_format trace_ftrace = {
	.no_op = TRACE_LEFT_OTHER_COMMAND,
	.recognize = ftrace_recognize,
	.open = ftrace_open,
	.next = ftrace_next,
	.unsorted = true,
	.foreign = true,
};
