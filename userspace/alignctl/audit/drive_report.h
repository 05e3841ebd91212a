/* SPDX-License-Identifier: GPL-2.0 */
/* The counts of the drives below a device, as a table or as JSON. */
#ifndef ALIGNCTL_DRIVE_REPORT_H
#define ALIGNCTL_DRIVE_REPORT_H

#include <sys/types.h>

#include "audit/drive.h"
#include "base/json.h"
#include "base/schema.h"

/* Print the drives below a device on standard output, a row for each. */
void drive_report_text(struct drives *drives, dev_t devno);

/* The members of each in drive_report_json(). */
extern const struct schema_row drive_report_members[];

/* Return an array with an object for each drive below a device. */
struct json_object *drive_report_json(struct drives *drives, dev_t devno);

#endif
