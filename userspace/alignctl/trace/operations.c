// SPDX-License-Identifier: GPL-2.0
#include "trace/operations.h"

struct json_object *trace_operations_json(const uint64_t count[TRACE_NR_OPS],
					  const uint64_t bytes[TRACE_NR_OPS])
{
	struct json_object *operations = json_new();
	unsigned int op;

	for (op = 0; op < TRACE_NR_OPS; op++) {
		struct json_object *one = json_new();

		json_add_number(one, "count", count[op]);
		json_add_number(one, "bytes", bytes[op]);
		json_add(operations, trace_op_names[op], one);
	}
	return operations;
}
