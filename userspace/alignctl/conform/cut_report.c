// SPDX-License-Identifier: GPL-2.0
/* Print what was prepared, or what the cut left, with an example for each fault. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/units.h"
#include "conform/cut_report.h"
#include "conform/report.h"
#include "remedy/remedy.h"

#define JSON_FORMAT	1

static const char *const stop_names[] = {
	[CUT_STOP_NONE] = "not",
	[CUT_STOP_ALL] = "all",
	[CUT_STOP_SIGNAL] = "signal",
	[CUT_STOP_DEVICE] = "device",
	[CUT_STOP_STATE] = "state",
};

static uint64_t sum_of(const uint64_t *parts)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < PART_NR; i++)
		sum += parts[i];
	return sum;
}

/* Before the cut */

/* Return why requests ended, and what to do next, for free(). */
static char *next_step(const struct cut_options *options,
		       const struct cut_prepared *prepared, const char *save)
{
	CLEANUP_FREE char *after = remedy_of_words(
		save ? REMEDY_CONFORM_RESTORE : REMEDY_CONFORM_AFTER,
		&(struct remedy_words) { .device = options->path,
					 .name = options->state,
					 .file = save });

	if (!sum_of(prepared->sent) && !save)
		return message_format("no request was sent; prepare again, with another STATE");
	if (!sum_of(prepared->sent))
		return message_format("no request was sent; restore the area by: %s",
				      after);
	switch (prepared->stop) {
	case CUT_STOP_DEVICE:
		return message_format("the device has failed, as without power; when it is back: %s",
				      after);
	case CUT_STOP_STATE:
		return message_format("STATE could not be written; cut the power of %s now, and then: %s",
				      options->path, after);
	default:
		break;
	}
	return message_format("%s; cut the power of %s now, before anything flushes it, and then: %s",
			      prepared->stop == CUT_STOP_SIGNAL ?
			      "stopped" : "all requests have ended",
			      options->path, after);
}

void cut_prepared_text(const struct cut_options *options,
		       const struct cut_prepared *prepared, double seconds,
		       const char *save)
{
	CLEANUP_FREE char *next = next_step(options, prepared, save);
	size_t i;

	printf("%s: %" PRIu64 " requests sent in %.1f s, %" PRIu64
	       " ended, of these %" PRIu64 " flushes and %" PRIu64
	       " writes with FUA; seed %" PRIu64 ", by %s\n", options->path,
	       sum_of(prepared->sent), seconds, sum_of(prepared->ended),
	       prepared->ended[PART_FLUSH], prepared->ended[PART_FUA],
	       options->area.seed, prepared->method);
	for (i = 0; i < PART_NR; i++)
		if (prepared->untried[i])
			printf("cannot tell: %s: %s\n", kind_part_name(i),
			       strerror(prepared->untried[i]));
	printf("%s\n", next);
}

/* Make an object of a number for each part that is sent. */
static struct json_object *parts_json(const uint64_t *parts)
{
	struct json_object *object = json_new();
	size_t i;

	for (i = 0; i < PART_NR; i++)
		if (i != PART_READ)
			json_add_number(object, kind_part_name(i), parts[i]);
	return object;
}

static struct json_object *untried_json(const int *untried)
{
	struct json_object *object = json_new();
	size_t i;

	for (i = 0; i < PART_NR; i++)
		if (untried[i])
			json_add_text(object, kind_part_name(i),
				      strerror(untried[i]));
	return object;
}

static void add_area(struct json_object *document, const struct cut_area *area)
{
	json_add_number(document, "logical_block_size", area->logical);
	json_add_number(document, "block_size", area->block);
	json_add_number(document, "start", area->start);
	json_add_number(document, "length", area->bytes);
	json_add_number(document, "seed", area->seed);
}

static const struct schema_row part_rows[] = {
	MEMBER("sub-block", JSON_NUMBER, NULL, "Writes inside one block"),
	MEMBER("whole", JSON_NUMBER, NULL, "Writes of one whole block"),
	MEMBER("two-blocks", JSON_NUMBER, NULL,
	       "Writes of parts of two blocks"),
	MEMBER("flush", JSON_NUMBER, NULL, "Flushes"),
	MEMBER("fua", JSON_NUMBER, NULL, "Writes inside one block, with FUA"),
	MEMBER("discard", JSON_NUMBER, NULL, "Discards"),
	MEMBER("zeroes", JSON_NUMBER, NULL, "Write-zeroes"),
	{ 0 },
};

static const struct schema_row prepared_rows[] = {
	MEMBER("device", JSON_TEXT, NULL,
	       "DEV and STATE, as on the command line"),
	MEMBER("state", JSON_TEXT, NULL, AS_ABOVE),
	MEMBER("logical_block_size", JSON_NUMBER, "bytes",
	       "Logical and physical block that the device says"),
	MEMBER("block_size", JSON_NUMBER, "bytes",
	       "The block that is taken for the physical one"),
	MEMBER("start", JSON_NUMBER, "bytes",
	       "Where the area begins, at a physical block, and its length"),
	MEMBER("length", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("seed", JSON_NUMBER, NULL,
	       "What the requests were computed from"),
	MEMBER("method", JSON_TEXT, NULL,
	       "How the requests were sent: io_uring or sync"),
	MEMBER("seconds", JSON_REAL, NULL,
	       "How long the requests took, with the first writing of the area"),
	MEMBER("stopped", JSON_TEXT, NULL,
	       "Why the requests ended: all were sent, signal, device (it failed) or state (STATE could not be written)",
	       SCHEMA_NAMES(stop_names)),
	MEMBER("sent", JSON_OBJECT, NULL,
	       "Number of requests of each kind that were sent; those that have not ended have failed",
	       .rows = part_rows, .name = "parts"),
	MEMBER("ended", JSON_OBJECT, NULL, "Number of these that ended",
	       .rows = part_rows, .name = "parts"),
	MEMBER("cannot_tell", JSON_MAP | JSON_TEXT, NULL,
	       "For each kind of request that the device does not take: its error, in words"),
	MEMBER("next", JSON_TEXT, NULL, "What to do next, in words"),
	{ 0 },
};

const struct schema_document cut_prepared_schema = {
	"conform --prepare", JSON_FORMAT, NULL, prepared_rows,
};

void cut_prepared_json(const struct cut_options *options,
		       const struct cut_prepared *prepared, double seconds,
		       const char *save)
{
	struct json_object *document = json_new_document(JSON_FORMAT);
	CLEANUP_FREE char *next = next_step(options, prepared, save);

	json_add_text(document, "device", options->path);
	json_add_text(document, "state", options->state);
	add_area(document, &options->area);
	json_add_text(document, "method", prepared->method);
	json_add_real(document, "seconds", seconds);
	json_add_text(document, "stopped", stop_names[prepared->stop]);
	json_add(document, "sent", parts_json(prepared->sent));
	json_add(document, "ended", parts_json(prepared->ended));
	json_add(document, "cannot_tell", untried_json(prepared->untried));
	json_add_text(document, "next", next);
	json_print(document, false);
}

/* After it */

/* Count the requests that STATE knows, by part: all, and those that had ended. */
static void count_requests(const struct cut_state *state, uint64_t *sent,
			   uint64_t *ended)
{
	size_t i;

	memset(sent, 0, PART_NR * sizeof(*sent));
	memset(ended, 0, PART_NR * sizeof(*ended));
	for (i = 0; i < state->nr; i++) {
		const struct cut_sent *one = &state->sent[i];
		enum kind_part part = cut_shape(&state->header.area,
						one->number).part;

		sent[part]++;
		ended[part] += one->ended_ns != UINT64_MAX;
	}
}

/* Return the time of STATE's first record, "2026-11-28 03:50:19Z", for free(). */
static char *since_text(const struct cut_state *state)
{
	time_t seconds = (time_t)(state->header.since_ns / NS_PER_S);
	struct tm parts;
	char text[64] = "at an unknown time";

	if (gmtime_r(&seconds, &parts))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%SZ", &parts);
	return message_format("%s", text);
}

/* Return "write 17" and the like, for free(). */
static char *name_of(const struct cut_request *request)
{
	switch (request->part) {
	case PART_FLUSH:
	case PART_DISCARD:
	case PART_ZEROES:
		return message_format("%s %" PRIu64,
				      kind_part_name(request->part),
				      request->number);
	default:
		break;
	}
	return message_format("write %" PRIu64, request->number);
}

static void print_request(const struct cut_request *request, const char *does)
{
	CLEANUP_FREE char *name = name_of(request);

	printf(" %s %s", name, does);
	if (request->bytes)
		printf(": %s, %" PRIu64 " bytes at byte %" PRIu64 ",",
		       kind_part_name(request->part), request->bytes,
		       request->start);
	else
		printf(":");
	printf(" sent at %.1f us", ns_to_us((double)request->began_ns));
	if (request->ended_ns != UINT64_MAX)
		printf(", ended at %.1f us\n",
		       ns_to_us((double)request->ended_ns));
	else
		printf(", not known to have ended\n");
}

/* Return words for what was found, for free(). */
static char *found_text(const struct cut_finding *finding)
{
	CLEANUP_FREE char *name = name_of(&finding->found_request);

	switch (finding->found) {
	case CUT_FOUND_FIRST:
		return message_format("the content before all requests");
	case CUT_FOUND_WRITE:
		return message_format("that of %s", name);
	case CUT_FOUND_ZEROES:
		return message_format("zeroes");
	case CUT_FOUND_ANOTHER:
		return message_format("that of another --prepare");
	case CUT_FOUND_PARTS:
		return message_format("parts of different contents");
	case CUT_FOUND_OTHER:
		return message_format("nothing that was written there");
	case CUT_FOUND_NOTHING:
		break;
	}
	return message_format("nothing: %s", strerror(finding->error));
}

/* Return bytes as "12 00 ff", for free(). */
static char *format_hex(const uint8_t *bytes)
{
	char text[3 * CUT_BYTES + 1];
	size_t i;

	for (i = 0; i < CUT_BYTES; i++)
		snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
	text[3 * CUT_BYTES - 1] = '\0';
	return message_format("%s", text);
}

static void print_finding(const struct cut_finding *finding)
{
	CLEANUP_FREE char *found = found_text(finding);
	CLEANUP_FREE char *expected = finding->expected.known ?
		name_of(&finding->expected) : NULL;
	CLEANUP_FREE char *right = format_hex(finding->expected_bytes);
	CLEANUP_FREE char *wrong = format_hex(finding->found_bytes);

	printf("\n%s: bytes %" PRIu64 " to %" PRIu64 " must have %s%s, or later content; they have %s\n",
	       cut_fault_names[finding->fault], finding->start,
	       finding->start + finding->bytes - 1,
	       expected ? "that of " : "the content before all requests",
	       expected ? expected : "", found);
	if (finding->expected.known)
		print_request(&finding->expected, finding->promise.known ?
			      "is lost" : "is lost, and had FUA");
	if (finding->promise.known)
		print_request(&finding->promise, "made it durable");
	if (finding->found == CUT_FOUND_WRITE)
		print_request(&finding->found_request, "is there");
	if (finding->found != CUT_FOUND_NOTHING)
		printf(" from byte %" PRIu64 " on: %s expected, %s found\n",
		       finding->start + finding->differs, right, wrong);
}

static void print_limits(const struct cut_report *report, const uint64_t *ended)
{
	const struct cut_state *state = report->state;
	const struct cut_verdict *verdict = report->verdict;
	size_t i;

	for (i = 0; i < PART_NR; i++)
		if (state->untried[i])
			printf("cannot tell: %s: %s\n", kind_part_name(i),
			       strerror(state->untried[i]));
	if (!ended[PART_FLUSH] && !ended[PART_FUA])
		puts("cannot tell: no flush and no write with FUA had ended, so that only the first content is durable");
	if (!verdict->open_lost)
		puts("cannot tell: whether the power was cut, as nothing is missing that was not durable");
	if (!verdict->own)
		printf("cannot tell: whether this is the device that was prepared, as it has nothing of it%s\n",
		       verdict->other_runs ?
		       ", and blocks of another --prepare" : "");
}

void cut_report_text(const struct cut_report *report)
{
	const struct cut_state *state = report->state;
	const struct cut_verdict *verdict = report->verdict;
	const struct cut_area *area = &state->header.area;
	CLEANUP_FREE char *since = since_text(state);
	uint64_t sent[PART_NR], ended[PART_NR], faulty = cut_faulty(verdict);
	size_t i;

	count_requests(state, sent, ended);
	printf("%s: blocks of %" PRIu32 " bytes in logical ones of %" PRIu32
	       ", prepared %s with seed %" PRIu64 "\n", report->path,
	       area->block, area->logical, since, area->seed);
	for (i = 0; i < verdict->nr; i++)
		print_finding(&verdict->finding[i]);
	if (verdict->nr)
		putchar('\n');
	printf("requests: %" PRIu64 " sent in %.1f s, %" PRIu64
	       " ended, of these %" PRIu64 " flushes and %" PRIu64
	       " writes with FUA\n", sum_of(sent),
	       ns_to_s((double)state->last_ns), sum_of(ended),
	       ended[PART_FLUSH], ended[PART_FUA]);
	if (state->left_out)
		printf("%s: %" PRIu64 " bytes at its end are not whole, and left out\n",
		       report->file, state->left_out);
	printf("logical blocks: %" PRIu64 " read; of %" PRIu64 " the last request had ended and was not durable: the cut took %" PRIu64 "; %" PRIu64 " may have anything, by a discard\n",
	       verdict->blocks, verdict->open, verdict->open_lost,
	       verdict->anything);
	printf("durable: %" PRIu64 " logical blocks by flush or FUA; faulty: %"
	       PRIu64, verdict->promised, faulty);
	for (i = 0; i < CUT_FAULT_NR; i++)
		if (verdict->faults[i])
			printf(", %s %" PRIu64, cut_fault_names[i],
			       verdict->faults[i]);
	if (verdict->promised && !faulty)
		printf("; fewer than 1 in %" PRIu64 " at 95 %%",
		       report_bound(verdict->promised));
	putchar('\n');
	print_limits(report, ended);
}

static struct json_object *request_json(const struct cut_request *request)
{
	struct json_object *object;

	if (!request->known)
		return NULL;
	object = json_new();
	json_add_number(object, "number", request->number);
	json_add_text(object, "request", kind_part_name(request->part));
	json_add(object, "offset", request->bytes ?
		 json_from_number(request->start) : NULL);
	json_add(object, "bytes", request->bytes ?
		 json_from_number(request->bytes) : NULL);
	json_add_real(object, "sent_us", ns_to_us((double)request->began_ns));
	json_add(object, "ended_us", request->ended_ns != UINT64_MAX ?
		 json_from_real(ns_to_us((double)request->ended_ns)) : NULL);
	return object;
}

static struct json_object *finding_json(const struct cut_finding *finding)
{
	struct json_object *object = json_new();
	CLEANUP_FREE char *found = found_text(finding);
	CLEANUP_FREE char *right = format_hex(finding->expected_bytes);
	CLEANUP_FREE char *wrong = format_hex(finding->found_bytes);
	bool read = finding->found != CUT_FOUND_NOTHING;

	json_add_text(object, "fault", cut_fault_names[finding->fault]);
	json_add_number(object, "offset", finding->start);
	json_add_number(object, "bytes", finding->bytes);
	json_add(object, "expected", request_json(&finding->expected));
	json_add(object, "made_durable_by", request_json(&finding->promise));
	json_add_text(object, "found", found);
	json_add(object, "found_request",
		 request_json(&finding->found_request));
	json_add(object, "differs_at", read ?
		 json_from_number(finding->start + finding->differs) : NULL);
	json_add_text(object, "expected_bytes", read ? right : NULL);
	json_add_text(object, "found_bytes", read ? wrong : NULL);
	return object;
}

static const struct schema_row request_rows[] = {
	MEMBER("number", JSON_NUMBER, NULL,
	       "Number of the request, from the first one that was sent"),
	MEMBER("request", JSON_TEXT, NULL, "Kind of the request"),
	MEMBER("offset", JSON_NUMBER | JSON_NULL, "bytes",
	       "Its first byte on the device; null for a flush"),
	MEMBER("bytes", JSON_NUMBER | JSON_NULL, NULL,
	       "Its length; null for a flush"),
	MEMBER("sent_us", JSON_REAL, NULL,
	       "When it was sent, in microseconds since STATE was begun"),
	MEMBER("ended_us", JSON_REAL | JSON_NULL, NULL,
	       "When it ended, likewise; null: STATE does not know that"),
	{ 0 },
};

static const struct schema_row fault_rows[] = {
	MEMBER("lost-write", JSON_NUMBER, NULL,
	       "Blocks with older content than what was durable"),
	MEMBER("torn-block", JSON_NUMBER, NULL,
	       "Blocks with parts of different writes"),
	MEMBER("neighbour", JSON_NUMBER, NULL,
	       "Blocks with content of no request, beside one that was not durable"),
	MEMBER("foreign", JSON_NUMBER, NULL,
	       "Other blocks with content of no request"),
	MEMBER("unreadable", JSON_NUMBER, NULL, "Blocks that cannot be read"),
	{ 0 },
};

static const struct schema_row finding_rows[] = {
	MEMBER("fault", JSON_TEXT, NULL, "The fault, as in faults",
	       SCHEMA_NAMES(cut_fault_names)),
	MEMBER("offset", JSON_NUMBER, "bytes",
	       "First of the neighbouring logical blocks with the fault, and their length"),
	MEMBER("bytes", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("expected", JSON_OBJECT | JSON_NULL, NULL,
	       "The request whose content must be there; null: the first content",
	       .rows = request_rows, .name = "cut_request"),
	MEMBER("made_durable_by", JSON_OBJECT | JSON_NULL, NULL,
	       "The flush that made it durable; null: a write with FUA, or the first content",
	       .rows = request_rows, .name = "cut_request"),
	MEMBER("found", JSON_TEXT, NULL, "What is there, in words"),
	MEMBER("found_request", JSON_OBJECT | JSON_NULL, NULL,
	       "The request whose content is there; null: of none",
	       .rows = request_rows, .name = "cut_request"),
	MEMBER("differs_at", JSON_NUMBER | JSON_NULL, "bytes",
	       "First byte of the device that differs; null: the block cannot be read"),
	MEMBER("expected_bytes", JSON_TEXT | JSON_NULL, NULL,
	       "Eight bytes from there on, in hexadecimal; null likewise"),
	MEMBER("found_bytes", JSON_TEXT | JSON_NULL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("device", JSON_TEXT, NULL,
	       "DEV and STATE, as on the command line"),
	MEMBER("state", JSON_TEXT, NULL, AS_ABOVE),
	MEMBER("prepared_as", JSON_TEXT, NULL, "DEV of --prepare"),
	MEMBER("logical_block_size", JSON_NUMBER, "bytes",
	       "Logical and physical block that the device says"),
	MEMBER("block_size", JSON_NUMBER, "bytes",
	       "The block that is taken for the physical one"),
	MEMBER("start", JSON_NUMBER, "bytes",
	       "Where the area begins, at a physical block, and its length"),
	MEMBER("length", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("seed", JSON_NUMBER, NULL,
	       "What the requests were computed from"),
	MEMBER("began", JSON_REAL, NULL,
	       "When STATE was begun, in seconds since 1970"),
	MEMBER("seconds", JSON_REAL, NULL,
	       "When its last record was written, in seconds from then on"),
	MEMBER("stopped", JSON_TEXT, NULL,
	       "As stopped of --prepare; not: the host died, or the end of STATE is missing",
	       SCHEMA_NAMES(stop_names)),
	MEMBER("left_out_bytes", JSON_NUMBER, "bytes",
	       "Length of the end of STATE that is no whole record"),
	MEMBER("sent", JSON_OBJECT, NULL,
	       "Number of requests of each kind that were sent, as far as STATE knows",
	       .rows = part_rows, .name = "parts"),
	MEMBER("ended", JSON_OBJECT, NULL, "Number of these that ended",
	       .rows = part_rows, .name = "parts"),
	MEMBER("cannot_tell", JSON_MAP | JSON_TEXT, NULL,
	       "For each kind of request that the device does not take: its error, in words"),
	MEMBER("blocks", JSON_NUMBER, NULL,
	       "Number of logical blocks that were read"),
	MEMBER("durable", JSON_NUMBER, NULL,
	       "Number of those in which a request is durable"),
	MEMBER("not_durable", JSON_NUMBER, NULL,
	       "Number of blocks whose last request had ended, and was not durable"),
	MEMBER("not_durable_lost", JSON_NUMBER, NULL,
	       "Number of those with older content; 0: nothing shows that the power was cut"),
	MEMBER("anything", JSON_NUMBER, NULL,
	       "Number of blocks that may have any content, because of a discard"),
	MEMBER("nothing_of_it", JSON_BOOL, NULL,
	       "Whether no block has content of this --prepare: then the device has lost everything, or is another one"),
	MEMBER("faulty", JSON_NUMBER, NULL,
	       "Number of logical blocks with a fault"),
	MEMBER("fewer_than_one_in", JSON_NUMBER | JSON_NULL, NULL,
	       "N: with 95 % confidence fewer than one durable block in N has a fault; null with faults, or if none is durable"),
	MEMBER("faults", JSON_OBJECT, NULL,
	       "Number of logical blocks with each fault", .rows = fault_rows),
	MEMBER("findings", JSON_ARRAY | JSON_OBJECT, NULL,
	       "The first 32 findings at most", .rows = finding_rows),
	MEMBER("restored", JSON_BOOL, NULL, "Whether the content of the area was restored"),
	{ 0 },
};

const struct schema_document cut_report_schema = {
	"conform --after", JSON_FORMAT, NULL, document_rows,
};

void cut_report_json(const struct cut_report *report)
{
	const struct cut_state *state = report->state;
	const struct cut_verdict *verdict = report->verdict;
	struct json_object *document = json_new_document(JSON_FORMAT);
	struct json_object *faults = json_new();
	struct json_object *findings = json_new_array();
	uint64_t sent[PART_NR], ended[PART_NR], faulty = cut_faulty(verdict);
	size_t i;

	count_requests(state, sent, ended);
	json_add_text(document, "device", report->path);
	json_add_text(document, "state", report->file);
	json_add_text(document, "prepared_as", state->header.path);
	add_area(document, &state->header.area);
	json_add_real(document, "began",
		      ns_to_s((double)state->header.since_ns));
	json_add_real(document, "seconds", ns_to_s((double)state->last_ns));
	json_add_text(document, "stopped", stop_names[state->stop]);
	json_add_number(document, "left_out_bytes", state->left_out);
	json_add(document, "sent", parts_json(sent));
	json_add(document, "ended", parts_json(ended));
	json_add(document, "cannot_tell", untried_json(state->untried));
	json_add_number(document, "blocks", verdict->blocks);
	json_add_number(document, "durable", verdict->promised);
	json_add_number(document, "not_durable", verdict->open);
	json_add_number(document, "not_durable_lost", verdict->open_lost);
	json_add_number(document, "anything", verdict->anything);
	json_add_bool(document, "nothing_of_it", !verdict->own);
	json_add_number(document, "faulty", faulty);
	json_add(document, "fewer_than_one_in", faulty || !verdict->promised ?
		 NULL : json_from_number(report_bound(verdict->promised)));
	for (i = 0; i < CUT_FAULT_NR; i++)
		json_add_number(faults, cut_fault_names[i], verdict->faults[i]);
	json_add(document, "faults", faults);
	for (i = 0; i < verdict->nr; i++)
		json_append(findings, finding_json(&verdict->finding[i]));
	json_add(document, "findings", findings);
	json_add_bool(document, "restored", report->restored);
	json_print(document, false);
}
