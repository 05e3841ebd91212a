/* SPDX-License-Identifier: GPL-2.0 */
/* Requests counted by operation, for the documents of several verbs. */
#ifndef ALIGNCTL_TRACE_OPERATIONS_H
#define ALIGNCTL_TRACE_OPERATIONS_H

#include "base/json.h"
#include "trace/trace.h"

/* Return an object with "count" and "bytes" of each operation, by its name. */
struct json_object *trace_operations_json(const uint64_t count[TRACE_NR_OPS],
					  const uint64_t bytes[TRACE_NR_OPS]);

#endif
