/* SPDX-License-Identifier: GPL-2.0 */
/* What was sent before a power cut, and what the cut has left: for people, and JSON. */
#ifndef ALIGNCTL_CONFORM_CUT_REPORT_H
#define ALIGNCTL_CONFORM_CUT_REPORT_H

#include <stdbool.h>

#include "base/schema.h"
#include "conform/cut_judge.h"
#include "conform/cut_prepare.h"

/* Print what was prepared; @save is the file with the area's content, or NULL. */
void cut_prepared_text(const struct cut_options *options,
		       const struct cut_prepared *prepared, double seconds,
		       const char *save);
void cut_prepared_json(const struct cut_options *options,
		       const struct cut_prepared *prepared, double seconds,
		       const char *save);

/**
 * struct cut_report - what was found after a cut
 * @path: path of the device
 * @file: path of STATE
 * @state: what STATE tells
 * @verdict: what was found
 * @restored: the area has its content again
 */
struct cut_report {
	const char *path;
	const char *file;
	const struct cut_state *state;
	const struct cut_verdict *verdict;
	bool restored;
};

void cut_report_text(const struct cut_report *report);
void cut_report_json(const struct cut_report *report);

/* What the documents hold. */
extern const struct schema_document cut_prepared_schema;
extern const struct schema_document cut_report_schema;

#endif
