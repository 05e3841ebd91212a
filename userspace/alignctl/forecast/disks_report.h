/* SPDX-License-Identifier: GPL-2.0 */
/* Print what the requests to each disk cost, for people or as JSON. */
#ifndef ALIGNCTL_DISKS_REPORT_H
#define ALIGNCTL_DISKS_REPORT_H

#include "base/json.h"
#include "base/schema.h"
#include "forecast/tallies.h"

struct disks_report;

/* Compute what to print of one tally a disk, as tallies_add_up() leaves them. */
struct disks_report *disks_report_new(const struct tallies *tallies);
void disks_report_free(struct disks_report *report);

/* Print the report, the dearest disk first. */
void disks_report_text(const struct disks_report *report);

/* What that document holds. */
extern const struct schema_document disks_report_schema;

/* Return the document, which needs the report until it is printed or freed. */
struct json_object *disks_report_json(struct disks_report *report);

#endif
