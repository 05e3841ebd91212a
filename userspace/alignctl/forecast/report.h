/* SPDX-License-Identifier: GPL-2.0 */
/* What requests must cost, for people and as JSON. */
#ifndef ALIGNCTL_FORECAST_REPORT_H
#define ALIGNCTL_FORECAST_REPORT_H

#include "forecast/forecast.h"

/* @offset_known: or was the alignment offset taken as 0? */
void forecast_report_text(const struct forecast *forecast,
			  const struct source *source, bool offset_known);
void forecast_report_json(const struct forecast *forecast,
			  const struct source *source, bool offset_known);

#endif
