// SPDX-License-Identifier: GPL-2.0
/* What more than one document holds of those that align_reports makes in Python. */
#include "verbs/report_schemas.h"

const struct schema_row report_interval_rows[] = {
	MEMBER("mean", JSON_REAL, NULL,
	       "Mean of the values, in the unit of the member or its name; of ratios, the geometric mean"),
	MEMBER("low", JSON_REAL | JSON_NULL, NULL,
	       "Bounds of the 95 % confidence interval of the mean; null for fewer than three values"),
	MEMBER("high", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("values", JSON_NUMBER, NULL, "Number of values"),
	{ 0 },
};

const struct schema_row report_machine_rows[] = {
	MEMBER("date", JSON_TEXT, NULL,
	       "When the document was made, in UTC as in ISO 8601"),
	MEMBER("kernel", JSON_TEXT, NULL,
	       "Release of the kernel, \"on\", name of the host"),
	{ 0 },
};

const struct schema_row report_dry_rows[] = {
	MEMBER("dry_run", JSON_BOOL, NULL, "Always true"),
	MEMBER("plan", JSON_TEXT, NULL, "What would be done, in words"),
	{ 0 },
};
