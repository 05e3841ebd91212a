/* SPDX-License-Identifier: GPL-2.0 */
/* What the documents of check and of check --layout hold. */
#ifndef ALIGNCTL_REPORT_SCHEMA_H
#define ALIGNCTL_REPORT_SCHEMA_H

#include "base/schema.h"

extern const struct schema_document audit_report_schema;
extern const struct schema_document layout_report_schema;

#endif
