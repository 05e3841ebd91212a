/* SPDX-License-Identifier: GPL-2.0 */
/* What documents hold that more than one room makes, or align_reports in Python. */
#ifndef ALIGNCTL_REPORT_SCHEMAS_H
#define ALIGNCTL_REPORT_SCHEMAS_H

#include "base/schema.h"

/* The format of what verify --vs and probe print. */
#define MANY_RUNS_FORMAT	2

/* A mean of several values, where and when it was measured, and --dry-run. */
extern const struct schema_row report_interval_rows[];
extern const struct schema_row report_machine_rows[];
extern const struct schema_row report_dry_rows[];

extern const struct schema_document *const verify_documents[];
extern const struct schema_document *const probe_documents[];
extern const struct schema_document fleet_document;
extern const struct schema_document audit_report_schema;
extern const struct schema_document layout_report_schema;

#endif
