// SPDX-License-Identifier: GPL-2.0
/*
 * Print the kinds and methods that were tried, the faults, and the bound on what
 * was not seen.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/table.h"
#include "base/units.h"
#include "conform/report.h"
#include "geometry.h"

#define JSON_FORMAT	1
#define MISSED		0.05	/* 1 less the confidence */
/* Kinds with faults that people are shown; the document has all. */
#define SHOWN_KINDS	10U

uint64_t report_bound(uint64_t rounds)
{
	double most = 1 - pow(MISSED, 1.0 / (double)rounds);

	return rounds && most > 0 ? (uint64_t)(1 / most) : 0;
}

static uint64_t faulty_rounds(const struct rounds_result *result)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < KIND_NR; i++)
		sum += result->faulty[i];
	return sum;
}

/* Kinds */

/* A kind with a fault, in the table. */
struct kind_row {
	const struct rounds_result *result;
	size_t number;
};

enum kind_column { KIND_NAME, KIND_ROUNDS, KIND_FAULTY, KIND_BOUND };

static const struct table_column kind_columns[] = {
	[KIND_NAME] = { .key = "kind", .heading = "KIND",
		COLUMN_MEMBER(JSON_TEXT,
			"Name of the kind: which requests overlap") },
	[KIND_ROUNDS] = { .key = "rounds", .heading = "ROUNDS",
			  .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of rounds, and of those with a fault") },
	[KIND_FAULTY] = { .key = "faulty", .heading = "FAULTY",
			  .flags = TABLE_RIGHT | TABLE_FALLING,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
	[KIND_BOUND] = { .key = "fewer_than_one_in",
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"As in the document; null with faults") },
};

static struct table_value kind_value(const void *row, size_t column)
{
	const struct kind_row *kind_row = row;
	const struct rounds_result *result = kind_row->result;
	const struct kind kind = kind_at(kind_row->number);
	uint64_t rounds = result->rounds[kind_row->number], bound;

	switch ((enum kind_column)column) {
	case KIND_NAME:
		return table_text_taken(kind_name(&kind));
	case KIND_ROUNDS:
		return table_number(rounds);
	case KIND_FAULTY:
		return table_number(result->faulty[kind_row->number]);
	case KIND_BOUND:
		break;
	}
	bound = report_bound(rounds);
	return result->faulty[kind_row->number] || !bound ?
	       table_null() : table_number(bound);
}

static const struct table_type kind_table = TABLE_TYPE(kind_columns,
							kind_value);

/* Methods */

struct method_row {
	const struct rounds_result *result;
	enum round_method method;
};

enum method_column { METHOD_NAME, METHOD_ROUNDS, METHOD_FAULTY };

static const struct table_column method_columns[] = {
	[METHOD_NAME] = { .key = "method", .heading = "METHOD",
		COLUMN_MEMBER(JSON_TEXT,
			"How the requests were sent",
			SCHEMA_NAMES(round_methods)) },
	[METHOD_ROUNDS] = { .key = "rounds", .heading = "ROUNDS",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of rounds, and of those with a fault") },
	[METHOD_FAULTY] = { .key = "faulty", .heading = "FAULTY",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, AS_ABOVE) },
};

static struct table_value method_value(const void *row, size_t column)
{
	const struct method_row *own = row;
	const struct method_rounds *found = &own->result->method[own->method];

	switch ((enum method_column)column) {
	case METHOD_NAME:
		return table_text(round_methods[own->method]);
	case METHOD_ROUNDS:
		return table_number(found->rounds);
	case METHOD_FAULTY:
		break;
	}
	return table_number(found->faulty);
}

static const struct table_type method_table = TABLE_TYPE(method_columns,
							  method_value);

/* Requests of a fault */

struct request_row {
	const struct round_fault *fault;
	size_t index;
};

enum request_column { REQUEST_NUMBER, REQUEST_PART, REQUEST_START,
		      REQUEST_BYTES, REQUEST_MEMORY, REQUEST_BEGAN,
		      REQUEST_ENDED };

static const struct table_column request_columns[] = {
	[REQUEST_NUMBER] = { .heading = "REQUEST", .flags = TABLE_RIGHT },
	[REQUEST_PART] = { .key = "request", .heading = "",
		COLUMN_MEMBER(JSON_TEXT, "Kind of the request") },
	[REQUEST_START] = { .key = "offset", .heading = "OFFSET",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Its first byte on the device; null for a flush") },
	[REQUEST_BYTES] = { .key = "bytes", .heading = "BYTES",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Its length; null for a flush") },
	[REQUEST_MEMORY] = { .key = "memory_offset",
		COLUMN_MEMBER(JSON_NUMBER,
			"Where its memory begins in a page, in bytes") },
	[REQUEST_BEGAN] = { .key = "sent_us", .heading = "SENT/us",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_REAL,
			"When it was sent and ended, in microseconds since the first one was sent; null if it did not end") },
	[REQUEST_ENDED] = { .key = "ended_us", .heading = "ENDED/us",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_REAL | JSON_NULL, AS_ABOVE) },
};

/* Show all digits: a place is looked for on the device. */
static struct table_value exact_value(uint64_t n)
{
	CLEANUP_FREE char *text = message_format("%" PRIu64, n);

	return table_shown(table_number(n), text);
}

static struct table_value us_value(uint64_t ns)
{
	CLEANUP_FREE char *text = message_format("%.1f",
						 ns_to_us((double)ns));

	return table_shown(table_real(ns_to_us((double)ns)), text);
}

static struct table_value request_value(const void *row, size_t column)
{
	const struct request_row *own = row;
	const struct round_request *request =
		&own->fault->request[own->index];

	switch ((enum request_column)column) {
	case REQUEST_NUMBER:
		return table_number(own->index + 1);
	case REQUEST_PART:
		return table_text(kind_part_name(request->part));
	case REQUEST_START:
		return request->bytes ? exact_value(request->start) :
					table_null();
	case REQUEST_BYTES:
		return request->bytes ? exact_value(request->bytes) :
					table_null();
	case REQUEST_MEMORY:
		return table_number(request->memory);
	case REQUEST_BEGAN:
		return us_value(request->began_ns);
	case REQUEST_ENDED:
		break;
	}
	return us_value(request->ended_ns);
}

static const struct table_type request_table = TABLE_TYPE(request_columns,
							   request_value);

static char *reader_text(const struct round_fault *fault)
{
	return fault->reader < fault->nr ?
		message_format("request %zu read it", fault->reader + 1) :
		message_format("a read afterwards has found it");
}

static void print_fault(const struct rounds_options *options,
			const struct round_fault *fault)
{
	const struct kind kind = kind_at(fault->kind);
	CLEANUP_FREE char *name = kind_name(&kind);
	CLEANUP_FREE char *reader = reader_text(fault);
	struct table *table = table_new(&request_table);
	size_t i;

	printf("\n%s: byte %" PRIu64 " %s; %s\n", fault_names[fault->fault],
	       fault->at, fault->text, reader);
	for (i = 0; i < fault->nr; i++)
		table_add(table, &(struct request_row) { fault, i });
	table_print(table, 1);
	printf(" round %" PRIu64 "; more of its kind: --kind %s --method %s --seed %"
	       PRIu64 "\n", fault->round, name, round_methods[fault->method],
	       options->seed);
}

/* Return the number of kinds that were tried; @least: rounds of the least tried. */
static size_t count_tried(const struct rounds_result *result, uint64_t *least)
{
	size_t nr = 0, i;

	*least = UINT64_MAX;
	for (i = 0; i < KIND_NR; i++) {
		if (!result->rounds[i])
			continue;
		nr++;
		if (result->rounds[i] < *least)
			*least = result->rounds[i];
	}
	return nr;
}

/* Print the kinds with most faulty rounds. */
static void print_kinds(const struct rounds_result *result)
{
	struct table *table = table_new(&kind_table);
	bool shown[KIND_NR] = { 0 };
	size_t nr, faulty = 0, worst, i;

	for (i = 0; i < KIND_NR; i++)
		faulty += result->faulty[i] > 0;
	for (nr = 0; nr < faulty && nr < SHOWN_KINDS; nr++) {
		for (worst = 0, i = 0; i < KIND_NR; i++)
			if (!shown[i] && (shown[worst] ||
			    result->faulty[i] > result->faulty[worst]))
				worst = i;
		shown[worst] = true;
		table_add(table, &(struct kind_row) { result, worst });
	}
	table_print(table, 0);
	if (faulty > nr)
		printf("and %zu more kinds\n", faulty - nr);
}

/* Print what each method has found. */
static void print_methods(const struct rounds_result *result)
{
	struct table *table = table_new(&method_table);
	enum round_method method;

	for (method = 0; method < METHOD_NR; method++)
		if (result->method[method].rounds)
			table_add(table, &(struct method_row) { result,
								method });
	table_print(table, 0);
}

/* Return the methods that were used, joined by " and ", for free(). */
static char *methods_text(const struct rounds_result *result)
{
	const bool uring = result->method[METHOD_URING].rounds;
	const bool sync = result->method[METHOD_SYNC].rounds;

	return message_format("%s%s%s",
			      uring ? round_methods[METHOD_URING] : "",
			      uring && sync ? " and " : "",
			      sync ? round_methods[METHOD_SYNC] : "");
}

void conform_report_text(const struct conform_report *report)
{
	const struct rounds_options *options = report->options;
	const struct rounds_result *result = report->result;
	uint64_t rounds = rounds_sum(result), faulty = faulty_rounds(result);
	uint64_t least;
	size_t nr = count_tried(result, &least), i;
	CLEANUP_FREE char *methods = methods_text(result);

	printf("%s: blocks of %" PRIu32 " bytes in logical ones of %" PRIu32
	       "%s%s\n", options->path, options->block, options->logical,
	       *methods ? ", by " : "", methods);
	for (i = 0; i < result->nr; i++)
		print_fault(options, &result->fault[i]);
	if (faulty)
		putchar('\n');
	print_kinds(result);
	if (faulty) {
		putchar('\n');
		print_methods(result);
	}
	printf("%srounds: %" PRIu64 " of %zu kinds in %.1f s, seed %" PRIu64
	       "; faulty: %" PRIu64, faulty ? "\n" : "", rounds, nr,
	       report->seconds, options->seed, faulty);
	if (rounds && !faulty)
		printf("; fewer than 1 in %" PRIu64 " at 95 %%, of the least tried kind than 1 in %"
		       PRIu64, report_bound(rounds), report_bound(least));
	putchar('\n');
	if (report->physical == options->logical)
		printf("physical block: %" PRIu32 " bytes, as the logical one, of which a write cannot be a part; blocks of %"
		       PRIu32 " were tried as if they were physical ones\n",
		       report->physical, options->block);
	else if (!align_is_power_of_2(report->physical) || report->physical > MIB)
		printf("physical block: %" PRIu32 " bytes, no power of two up to 1 MiB; blocks of %"
		       PRIu32 " were tried as if they were physical ones\n",
		       report->physical, options->block);
	for (i = 0; i < PART_NR; i++)
		if (result->untried[i])
			printf("cannot tell: %s: %s\n", kind_part_name(i),
			       strerror(result->untried[i]));
}

static struct json_object *fault_json(const struct round_fault *fault)
{
	struct json_object *object = json_new();
	struct json_object *requests = json_new_array();
	const struct kind kind = kind_at(fault->kind);
	CLEANUP_FREE char *name = kind_name(&kind);
	size_t i;

	json_add_text(object, "fault", fault_names[fault->fault]);
	json_add_text(object, "kind", name);
	json_add_text(object, "method", round_methods[fault->method]);
	json_add_number(object, "round", fault->round);
	json_add_number(object, "offset", fault->at);
	json_add_text(object, "text", fault->text);
	json_add(object, "read_by", fault->reader < fault->nr ?
		 json_from_number(fault->reader) : NULL);
	json_add(object, "content_of", fault->found < fault->nr ?
		 json_from_number(fault->found) : NULL);
	for (i = 0; i < fault->nr; i++)
		json_append(requests, table_json(&request_table,
			&(struct request_row) { fault, i }));
	json_add(object, "requests", requests);
	return object;
}

static const struct schema_row kind_rows[] = {
	MEMBERS_OF_TABLE(&kind_table),
	{ 0 },
};

static const struct schema_row method_rows[] = {
	MEMBERS_OF_TABLE(&method_table),
	{ 0 },
};

static const struct schema_row request_rows[] = {
	MEMBERS_OF_TABLE(&request_table),
	{ 0 },
};

static const struct schema_row fault_rows[] = {
	MEMBER("lost-update", JSON_NUMBER, NULL,
	       "Content of a write that is not there"),
	MEMBER("stale-read", JSON_NUMBER, NULL,
	       "Reads of content that had been replaced"),
	MEMBER("torn-block", JSON_NUMBER, NULL,
	       "Logical blocks with parts of different writes"),
	MEMBER("neighbour", JSON_NUMBER, NULL,
	       "Blocks that no request covers, and that have changed"),
	MEMBER("foreign", JSON_NUMBER, NULL,
	       "Content of another block, or of no request"),
	{ 0 },
};

static const struct schema_row example_rows[] = {
	MEMBER("fault", JSON_TEXT, NULL, "The fault, as in faults",
	       SCHEMA_NAMES(fault_names)),
	MEMBER("kind", JSON_TEXT, NULL, "The kind, as in kinds"),
	MEMBER("method", JSON_TEXT, NULL, "How the requests were sent",
	       SCHEMA_NAMES(round_methods)),
	MEMBER("round", JSON_NUMBER, NULL, "Number of the round"),
	MEMBER("offset", JSON_NUMBER, "bytes",
	       "First byte of the logical block"),
	MEMBER("text", JSON_TEXT, NULL,
	       "What must be there and what is, in words"),
	MEMBER("read_by", JSON_NUMBER | JSON_NULL, NULL,
	       "Index in requests of the read that found it; null: the read after the round"),
	MEMBER("content_of", JSON_NUMBER | JSON_NULL, NULL,
	       "Index in requests of the write whose content is there; null: of none"),
	MEMBER("requests", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each request of the round", .rows = request_rows),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("device", JSON_TEXT, NULL, "DEV, as on the command line"),
	MEMBER("logical_block_size", JSON_NUMBER, "bytes",
	       "Logical and physical block that the device says"),
	MEMBER("physical_block_size", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("block_size", JSON_NUMBER, "bytes",
	       "The block that is taken for the physical one"),
	MEMBER("start", JSON_NUMBER, "bytes",
	       "Where the area begins, at a physical block, and its length"),
	MEMBER("length", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("memory_alignment", JSON_NUMBER, "bytes",
	       "Alignment of memory that the device asks for; the memory of requests begins at any multiple of it in a page"),
	MEMBER("seed", JSON_NUMBER, NULL,
	       "What the requests were computed from"),
	MEMBER("seconds", JSON_REAL, NULL, "How long the rounds took"),
	MEMBER("restored", JSON_BOOL, NULL, "Whether the content of the area was restored"),
	MEMBER("rounds", JSON_NUMBER, NULL,
	       "Number of rounds, and of those with a fault"),
	MEMBER("faulty", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("fewer_than_one_in", JSON_NUMBER | JSON_NULL, NULL,
	       "N: with 95 % confidence fewer than one round in N has a fault; null with faults, or without rounds"),
	MEMBER("faults", JSON_OBJECT, NULL, "Number of rounds with each fault",
	       .rows = fault_rows),
	MEMBER("cannot_tell", JSON_MAP | JSON_TEXT, NULL,
	       "For each kind of request that the device does not take: its error, in words"),
	MEMBER("kinds", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each kind of overlap that was tried", .rows = kind_rows),
	MEMBER("methods", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each way to send requests", .rows = method_rows),
	MEMBER("examples", JSON_ARRAY | JSON_OBJECT, NULL,
	       "The first 32 faults at most", .rows = example_rows),
	{ 0 },
};

const struct schema_document conform_report_schema = {
	"conform", JSON_FORMAT, NULL, document_rows,
};

struct json_object *conform_report_json(const struct conform_report *report)
{
	const struct rounds_options *options = report->options;
	const struct rounds_result *result = report->result;
	struct json_object *document = json_new_document(JSON_FORMAT);
	struct json_object *faults = json_new();
	struct json_object *kinds = json_new_array();
	struct json_object *methods = json_new_array();
	enum round_method method;
	struct json_object *examples = json_new_array();
	struct json_object *untried = json_new();
	uint64_t rounds = rounds_sum(result), faulty = faulty_rounds(result);
	size_t i;

	json_add_text(document, "device", options->path);
	json_add_number(document, "logical_block_size", options->logical);
	json_add_number(document, "physical_block_size", report->physical);
	json_add_number(document, "block_size", options->block);
	json_add_number(document, "start", options->start);
	json_add_number(document, "length", options->bytes);
	json_add_number(document, "memory_alignment", options->memory);
	json_add_number(document, "seed", options->seed);
	json_add_real(document, "seconds", report->seconds);
	json_add_bool(document, "restored", report->restored);
	json_add_number(document, "rounds", rounds);
	json_add_number(document, "faulty", faulty);
	json_add(document, "fewer_than_one_in", faulty || !rounds ? NULL :
		 json_from_number(report_bound(rounds)));
	for (i = 0; i < FAULT_NR; i++)
		json_add_number(faults, fault_names[i], result->faults[i]);
	json_add(document, "faults", faults);
	for (i = 0; i < PART_NR; i++)
		if (result->untried[i])
			json_add_text(untried, kind_part_name(i),
				      strerror(result->untried[i]));
	json_add(document, "cannot_tell", untried);
	for (i = 0; i < KIND_NR; i++)
		if (result->rounds[i])
			json_append(kinds, table_json(&kind_table,
				&(struct kind_row) { result, i }));
	json_add(document, "kinds", kinds);
	for (method = 0; method < METHOD_NR; method++)
		if (result->method[method].rounds)
			json_append(methods, table_json(&method_table,
				&(struct method_row) { result, method }));
	json_add(document, "methods", methods);
	for (i = 0; i < result->nr; i++)
		json_append(examples, fault_json(&result->fault[i]));
	json_add(document, "examples", examples);
	return document;
}
