/* SPDX-License-Identifier: GPL-2.0 */
/* Ledgers for people, and as JSON. */
#ifndef ALIGNCTL_LEDGER_REPORT_H
#define ALIGNCTL_LEDGER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/schema.h"
#include "ledger/ledger_select.h"

/* The members of each device in ledger_report_document(). */
extern const struct schema_row ledger_device_members[];
/* The counters of the ledger, each by its name. */
extern const struct schema_row ledger_counter_members[];
/* Its member "format". */
#define LEDGER_REPORT_FORMAT	1

/* Print every counter with its unit and meaning, for help. */
void ledger_report_counters(void);

void ledger_report_text(const struct ledger *ledgers, size_t nr);

/**
 * struct ledger_choice - counters that are asked for by name
 * @counter: whether each is
 */
struct ledger_choice {
	bool counter[LEDGER_NR];
};

/*
 * Add the counters whose names match one of @patterns, wildcards of the shell
 * with commas between them, which is cut in pieces. Return: NULL, or the first
 * pattern that no counter matches.
 */
const char *ledger_choose(struct ledger_choice *choice, char *patterns);

/* Print only these counters, those that are 0 too, and the faults of a device. */
void ledger_report_chosen(const struct ledger *ledgers, size_t nr,
			  const struct ledger_choice *choice);

/*
 * Return the document with the ledgers. @interval: seconds that the figures are
 * for, 0: since the last reset.
 */
struct json_object *
ledger_report_document(const struct ledger *ledgers, size_t nr,
		       uint64_t interval);

/* Print ledger_report_document(), with an interval on one line. */
void ledger_report_json(const struct ledger *ledgers, size_t nr,
			uint64_t interval);

#endif
