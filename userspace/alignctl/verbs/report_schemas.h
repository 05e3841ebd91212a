/* SPDX-License-Identifier: GPL-2.0 */
/* What documents hold that align_reports makes in Python, for --json-schema. */
#ifndef ALIGNCTL_REPORT_SCHEMAS_H
#define ALIGNCTL_REPORT_SCHEMAS_H

#include "base/schema.h"

/* The format of what verify --vs and probe print. */
#define MANY_RUNS_FORMAT	2

extern const struct schema_document *const verify_documents[];
extern const struct schema_document *const probe_documents[];
extern const struct schema_document fleet_document;

#endif
