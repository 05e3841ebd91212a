/* SPDX-License-Identifier: GPL-2.0 */
/* What to give for a new layout on a device, by the unit of its drive. */
#ifndef ALIGNCTL_LAYOUT_REPORT_H
#define ALIGNCTL_LAYOUT_REPORT_H

#include <stddef.h>

#include "audit/judgement.h"
#include "audit/stack.h"

/* Print what to give for a device of the stack, and which unit that is for. */
void layout_report_text(const struct stack *stack,
			const struct judgement *judgement, size_t index);

/* Return the same as an object. */
struct json_object *layout_report_json(const struct stack *stack,
				       const struct judgement *judgement,
				       size_t index);

#endif
