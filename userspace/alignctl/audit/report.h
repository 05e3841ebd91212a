/* SPDX-License-Identifier: GPL-2.0 */
/* The audit's report: the tree of devices, and the findings. */
#ifndef ALIGNCTL_AUDIT_REPORT_H
#define ALIGNCTL_AUDIT_REPORT_H

#include "audit/judgement.h"
#include "audit/stack.h"

/* Print the tree from the disks up, and below it the findings. */
void audit_report_text(const struct stack *stack,
		       const struct judgement *judgement);

/* Print one JSON document. */
void audit_report_json(const struct stack *stack,
		       const struct judgement *judgement);

#endif
