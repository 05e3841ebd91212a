/* SPDX-License-Identifier: GPL-2.0 */
/* stats --drive: ledgers, and the counts of the drives below. */
#ifndef ALIGNCTL_STATS_DRIVES_H
#define ALIGNCTL_STATS_DRIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/drive.h"
#include "ledger/ledger_select.h"

/*
 * Print the ledgers of the named align devices, or of all, and what the drives
 * below them, and below the other block devices that are named, have counted.
 * That a drive has no count is no finding. Return: enum alignctl_exit, reported.
 */
int stats_drives(bool json, char *const *names, size_t nr_names);

/*
 * Print an interval of devices whose ledgers count from an earlier reading on,
 * and what the drives below them have counted from @before to @now. @seconds:
 * its length as asked for.
 */
void stats_drives_interval(bool json, uint64_t seconds,
			   const struct ledger_selection *devices,
			   struct drives *before, struct drives *now);

#endif
