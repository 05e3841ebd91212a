/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the drives below an align device have counted in an interval, beside what
 * the device's ledger has: the drive is a witness of the ledger's count.
 */
#ifndef ALIGNCTL_DRIVE_INTERVAL_H
#define ALIGNCTL_DRIVE_INTERVAL_H

#include "audit/drive.h"
#include "base/json.h"
#include "base/maybe.h"
#include "base/schema.h"
#include "ledger/ledger_select.h"

/*
 * Return 1 if a drive that has counted @unaligned writes in an interval confirms
 * the ledger's @inside, 0 if not; unknown if the interval is too short to tell: a
 * drive may bring its count up to date only every ten minutes.
 */
struct maybe drive_confirms(uint64_t unaligned, uint64_t inside,
			    double seconds);

/* Ask the drives below each device. */
void drives_ask(struct drives *drives, const struct ledger_selection *devices);

/*
 * Print, on standard output, a row for each drive below a device whose ledger
 * counts from the reading that belongs to @before on.
 */
void drive_interval_text(struct drives *before, struct drives *now,
			 const struct ledger *ledger);

/* Return an array with an object for each drive in the same way. */
struct json_object *drive_interval_json(struct drives *before,
					struct drives *now,
					const struct ledger *ledger);

/* The members of each in drive_interval_json() that drive_report_members[] lacks. */
extern const struct schema_row drive_interval_members[];

#endif
