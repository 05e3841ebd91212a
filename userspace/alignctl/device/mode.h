/* SPDX-License-Identifier: GPL-2.0 */
/* The target's modes, as far as the user must know about them. */
#ifndef ALIGNCTL_MODE_H
#define ALIGNCTL_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

#define MODE_MAX_HOLD_MS	600000U

/* Rows of options.h, for the verbs that make or change a target. */
#define MODE_ROW_HOLD_MS \
	{ "hold-ms", "N", "coalesce: hold a block for N ms at most" }
#define MODE_ROW_MAX_BLOCKS \
	{ "max-blocks", "N", "most physical blocks in memory at once" }
#define MODE_ROW_WRITE_CACHE \
	{ "write-cache", "on|off", "advertise a volatile write cache" }

/* The modes that --mode takes. */
#define MODE_NR		3
extern const char *const mode_names[MODE_NR];

/* Take the argument of --mode. Return: 0, or -1 after an error. */
int mode_take(const char *argument, const char **mode);

/* NULL if @text is a time to hold blocks, and sets @ms, else what it must be. */
const char *mode_hold_ms(const char *text, uint64_t *ms);

/* NULL if @text is a limit of memory, and sets @blocks, else what it must be. */
const char *mode_max_blocks(const char *text, uint64_t *blocks);

/* NULL if @text is on or off, else what it must be. */
const char *mode_write_cache_refusal(const char *text);

/* Does the mode write whole blocks, neighbours of the user's data included? */
bool mode_rewrites(const char *mode);

/* Does the mode acknowledge writes that are not on the drive yet? */
bool mode_holds(const char *mode);

/* The value of a column hold_ms; people see it only in a mode that holds. */
struct table_value mode_hold_value(const char *mode, int64_t hold_ms);

/* Says on standard output what the user of @name takes on with mode_holds(). */
void mode_print_volatile(const char *name, int64_t hold_ms);

/* Report as an error that @below, under the device, is gone, and what to do. */
void mode_report_gone(const char *name, const char *below);

/* Says as an error that the device is degraded, and the ways out. */
void mode_report_degraded(const char *name, uint64_t blocks);

/*
 * Can blocks be held on a device whose folder in sysfs is @disk_dir? They can
 * while its queue has a volatile write cache; true if that is not known.
 */
bool mode_can_hold(const char *disk_dir);

#endif
