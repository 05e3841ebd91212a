/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests counted by operation, for the reports of several verbs, in the order of
 * enum trace_op.
 */
#ifndef ALIGNCTL_TRACE_OPERATIONS_H
#define ALIGNCTL_TRACE_OPERATIONS_H

#include "base/table.h"
#include "trace/trace.h"

enum operation_column {
	OPERATION_NAME,
	OPERATION_REQUESTS,
	OPERATION_BYTES,
	OPERATION_MISALIGNED,
	OPERATION_TOUCHES,
};

/**
 * struct trace_operation - the requests of one operation
 * @op: the operation
 * @requests: number of requests
 * @bytes: total length of the requests, bytes
 * @on_blocks: @misaligned and @touches are known, if requests can make touches
 * @misaligned: number of requests with a partial touch
 * @touches: number of partial touches
 */
struct trace_operation {
	enum trace_op op;
	uint64_t requests;
	uint64_t bytes;
	bool on_blocks;
	uint64_t misaligned;
	uint64_t touches;
};

/*
 * Both have the columns of enum operation_column. In documents one says "count"
 * and the other "requests".
 */
extern const struct table_type trace_operations_counted;
extern const struct table_type trace_operations_requested;

/* The members of trace_operations_json() of each. */
extern const struct schema_row trace_operations_counted_members[];
extern const struct schema_row trace_operations_requested_members[];

/* Print the operations that there are any of. */
void trace_operations_print(const struct table_type *type,
			    const struct trace_operation row[TRACE_NR_OPS]);

/* Make an object of all operations, each by its name. */
struct json_object *
trace_operations_json(const struct table_type *type,
		      const uint64_t requests[TRACE_NR_OPS],
		      const uint64_t bytes[TRACE_NR_OPS]);

#endif
