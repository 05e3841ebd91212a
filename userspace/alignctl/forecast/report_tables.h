/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of a forecast, which people get and of which its document is made. */
#ifndef ALIGNCTL_FORECAST_REPORT_TABLES_H
#define ALIGNCTL_FORECAST_REPORT_TABLES_H

#include "base/table.h"

/* 1: what it was before documents had a number; there format was what is now source_format. */
#define FORECAST_FORMAT	2

extern const struct table_type forecast_mode_table;
extern const struct table_type forecast_shift_table;
extern const struct table_type forecast_case_table;
extern const struct table_type forecast_size_table;
extern const struct table_type forecast_phase_table;
extern const struct table_type forecast_process_table;

#endif
