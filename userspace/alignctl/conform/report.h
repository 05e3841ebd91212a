/* SPDX-License-Identifier: GPL-2.0 */
/* What conform has found, for people and as JSON. */
#ifndef ALIGNCTL_CONFORM_REPORT_H
#define ALIGNCTL_CONFORM_REPORT_H

#include "base/json.h"
#include "base/schema.h"
#include "conform/rounds.h"

/**
 * struct conform_report - what was done, and what was found
 * @options: options of the rounds
 * @physical: physical block that the device says, bytes
 * @result: counts and faults of the rounds
 * @seconds: how long it took
 * @restored: the area has its content again
 */
struct conform_report {
	const struct rounds_options *options;
	uint32_t physical;
	const struct rounds_result *result;
	double seconds;
	bool restored;
};

/*
 * Return the least n so that no fault in @rounds rounds means, at a confidence
 * of 95 %, that fewer than one round in n has one; 0: there is none. It is the
 * exact bound of a binomial: (1 - 1/n)^rounds <= 5 %.
 */
uint64_t report_bound(uint64_t rounds);

void conform_report_text(const struct conform_report *report);

/* What that document holds. */
extern const struct schema_document conform_report_schema;

/* Return the document, for json_print(). */
struct json_object *conform_report_json(const struct conform_report *report);

#endif
