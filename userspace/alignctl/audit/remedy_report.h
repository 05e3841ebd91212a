/* SPDX-License-Identifier: GPL-2.0 */
/* The table of remedies, for people and as JSON, which has that of rules, too. */
#ifndef ALIGNCTL_REMEDY_REPORT_H
#define ALIGNCTL_REMEDY_REPORT_H

#include "base/schema.h"

/* Print each row of the table. */
void remedy_report_text(void);

/* Print one document with all rows, and all rules. */
void remedy_report_json(void);

/* What its document holds. */
extern const struct schema_document remedy_report_schema;

#endif
