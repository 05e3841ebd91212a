/* SPDX-License-Identifier: GPL-2.0 */
/* What happened in an interval: a row for each device. */
#ifndef ALIGNCTL_LEDGER_INTERVAL_H
#define ALIGNCTL_LEDGER_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/schema.h"
#include "ledger/ledger_select.h"

/*
 * Print a row for each device, whose ledger counts from an earlier reading on,
 * below headings or below the rows of the interval before.
 */
void ledger_interval_text(const struct ledger *ledgers, size_t nr,
			  bool headings);

/* The members of ledger_interval_json(). */
extern const struct schema_row ledger_interval_members[];

/* Make an object of a device's row. */
struct json_object *ledger_interval_json(const struct ledger *ledger);

#endif
