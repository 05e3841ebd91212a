// SPDX-License-Identifier: GPL-2.0
/* What more than one document holds of those that align_reports makes in Python. */
#include "verbs/report_schemas.h"

const struct schema_row report_interval_rows[] = {
	MEMBER("mean", JSON_REAL, NULL, NULL),
	MEMBER("low", JSON_REAL | JSON_NULL, NULL,
	       "The 95 % confidence interval of the mean; null for fewer than three values"),
	MEMBER("high", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("values", JSON_NUMBER, NULL, "Their number"),
	{ 0 },
};

const struct schema_row report_machine_rows[] = {
	MEMBER("date", JSON_TEXT, NULL, NULL),
	MEMBER("kernel", JSON_TEXT, NULL, NULL),
	{ 0 },
};

const struct schema_row report_dry_rows[] = {
	MEMBER("dry_run", JSON_BOOL, NULL, NULL),
	MEMBER("plan", JSON_TEXT, NULL, "In words"),
	{ 0 },
};
