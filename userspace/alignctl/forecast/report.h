/* SPDX-License-Identifier: GPL-2.0 */
/* Print a forecast, for people or as JSON. */
#ifndef ALIGNCTL_FORECAST_REPORT_H
#define ALIGNCTL_FORECAST_REPORT_H

#include "base/schema.h"
#include "forecast/forecast.h"

/* What forecast_report_json() prints, and the members of its recommendation. */
extern const struct schema_document forecast_report_schema;
extern const struct schema_row forecast_advice_members[];

/*
 * Print a forecast; @offset_known: the alignment offset is not merely taken as
 * 0.
 */
void forecast_report_text(const struct forecast *forecast,
			  const struct source *source, bool offset_known);
void forecast_report_json(const struct forecast *forecast,
			  const struct source *source, bool offset_known);

#endif
