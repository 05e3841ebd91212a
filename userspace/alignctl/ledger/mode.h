/* SPDX-License-Identifier: GPL-2.0 */
/* The target's modes: their names, settings and consequences for the user. */
#ifndef ALIGNCTL_MODE_H
#define ALIGNCTL_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

#define MODE_MAX_HOLD_MS	600000U

/* Rows of options.h, for the verbs that make or change a target. */
#define MODE_ROW_HOLD_MS \
	OPTION("hold-ms",						\
	       ARG_NUMBER(1, MODE_MAX_HOLD_MS, .unit = "milliseconds"),	\
	       "coalesce: hold a block for at most N ms")
#define MODE_ROW_MAX_BLOCKS \
	OPTION("max-blocks", ARG_NUMBER(1, OPTION_ANY, .unit = "blocks"), \
	       "keep at most N physical blocks in memory")
#define MODE_ROW_WRITE_CACHE \
	OPTION("write-cache", ARG_SWITCH, "advertise a volatile write cache")

/* The modes that --mode takes, with @first() and @second() between the names. */
#define MODE_NR		3
#define MODES(first, second)	"report" first() "pad" second() "coalesce"
/* Separators in an array and in an argument. */
#define MODES_APART()	,
#define MODES_LISTED()	","
/* Separators in a sentence; the first mode is the default of a new device. */
#define MODES_COMMA()	", "
#define MODES_OR()	" or "
#define MODES_DEFAULT()	" (default), "
extern const char *const mode_names[MODE_NR];

/* Return the name of a mode for good; NULL: it is none. */
const char *mode_find(const char *name);

/* Check whether a mode writes whole blocks, neighbouring data included. */
bool mode_rewrites(const char *mode);

/* Check whether a mode acknowledges writes before they are on the drive. */
bool mode_holds(const char *mode);

/* Return the value of a column hold_ms; text shows it only in a mode that holds. */
struct table_value mode_hold_value(const char *mode, int64_t hold_ms);

/* Print on standard output what a mode with mode_holds() puts at risk. */
void mode_print_volatile(const char *name, int64_t hold_ms);

/* Report that @below, the device below @name, is gone, and what to do. */
void mode_report_gone(const char *name, const char *below);

/* Report that the device is degraded, and what to do. */
void mode_report_degraded(const char *name, uint64_t blocks);

/*
 * Check whether a device whose folder in sysfs is @disk_dir can hold blocks:
 * its queue must have a volatile write cache. Return: true also if not known.
 */
bool mode_can_hold(const char *disk_dir);

#endif
