// SPDX-License-Identifier: GPL-2.0
/* Rows of counts and bytes for each operation. */
#include "trace/operations.h"

/* Misaligned requests and their touches are members elsewhere in the documents. */
#define OPERATION_COLUMNS(count) {					\
	[OPERATION_NAME] = { .heading = "OPERATION" },			\
	[OPERATION_REQUESTS] = { .key = (count), .heading = "REQUESTS",	\
				 .flags = TABLE_RIGHT,			\
		COLUMN_MEMBER(JSON_NUMBER, "Requests of this kind") },	\
	[OPERATION_BYTES] = { .key = "bytes", .heading = "SIZE",	\
			      .flags = TABLE_RIGHT,			\
			      .unit = FIGURE_BYTES,			\
		COLUMN_MEMBER(JSON_NUMBER, "Their bytes") },		\
	[OPERATION_MISALIGNED] = { .heading = "MISALIGNED",		\
				   .flags = TABLE_RIGHT },		\
	[OPERATION_TOUCHES] = { .heading = "TOUCHES",			\
				.flags = TABLE_RIGHT },			\
}

static const struct table_column counted[] = OPERATION_COLUMNS("count");
static const struct table_column requested[] = OPERATION_COLUMNS("requests");

/* Return a number that only requests have which can make touches. */
static struct table_value on_blocks(const struct trace_operation *operation,
				    uint64_t n)
{
	if (operation->op != TRACE_WRITE &&
	    operation->op != TRACE_WRITE_ZEROES)
		return table_absent();
	return operation->on_blocks ? table_number(n) : table_null();
}

static struct table_value operation_value(const void *row, size_t column)
{
	const struct trace_operation *operation = row;

	switch ((enum operation_column)column) {
	case OPERATION_NAME:
		return table_text(trace_op_names[operation->op]);
	case OPERATION_REQUESTS:
		return table_number(operation->requests);
	case OPERATION_BYTES:
		return operation->op == TRACE_FLUSH ?
		       table_shown(table_number(operation->bytes), "-") :
		       table_number(operation->bytes);
	case OPERATION_MISALIGNED:
		return on_blocks(operation, operation->misaligned);
	case OPERATION_TOUCHES:
		return on_blocks(operation, operation->touches);
	}
	return table_absent();
}

const struct table_type trace_operations_counted =
	TABLE_TYPE(counted, operation_value);
const struct table_type trace_operations_requested =
	TABLE_TYPE(requested, operation_value);

static const struct schema_row counted_rows[] = {
	MEMBERS_OF_TABLE(&trace_operations_counted),
	{ 0 },
};

static const struct schema_row requested_rows[] = {
	MEMBERS_OF_TABLE(&trace_operations_requested),
	{ 0 },
};

#define OPERATIONS_ROWS(rows_, name_) {					\
	OPERATION_MEMBER("read", rows_, name_),				\
	OPERATION_MEMBER("write", rows_, name_),			\
	OPERATION_MEMBER("flush", rows_, name_),			\
	OPERATION_MEMBER("discard", rows_, name_),			\
	OPERATION_MEMBER("write-zeroes", rows_, name_),			\
	{ 0 },								\
}
#define OPERATION_MEMBER(key, rows_, name_) \
	MEMBER(key, JSON_OBJECT, NULL, NULL, .rows = (rows_), .name = (name_))

const struct schema_row trace_operations_counted_members[] =
	OPERATIONS_ROWS(counted_rows, "operation_counted");
const struct schema_row trace_operations_requested_members[] =
	OPERATIONS_ROWS(requested_rows, "operation_requested");

void trace_operations_print(const struct table_type *type,
			    const struct trace_operation row[TRACE_NR_OPS])
{
	struct table *table = table_new(type);
	unsigned int op;

	for (op = 0; op < TRACE_NR_OPS; op++)
		if (row[op].requests)
			table_add(table, &row[op]);
	table_print(table, 2);
}

struct json_object *
trace_operations_json(const struct table_type *type,
		      const uint64_t requests[TRACE_NR_OPS],
		      const uint64_t bytes[TRACE_NR_OPS])
{
	struct json_object *operations = json_new();
	unsigned int op;

	for (op = 0; op < TRACE_NR_OPS; op++) {
		const struct trace_operation row = {
			.op = op, .requests = requests[op], .bytes = bytes[op],
		};

		json_add(operations, trace_op_names[op],
			 table_json(type, &row));
	}
	return operations;
}
