/* SPDX-License-Identifier: GPL-2.0 */
/* Find align devices in sysfs, and read their ledgers. */
#ifndef ALIGNCTL_LEDGER_SELECT_H
#define ALIGNCTL_LEDGER_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger.h"

/**
 * struct ledger_selection - align devices, in the order of sysfs
 * @wanted: names, paths or "dm-N" that the user gave; not owned
 * @nr_wanted: number of @wanted; 0: all devices are wanted
 * @nr: number of @ledger
 * @ledger: ledgers of the devices
 */
struct ledger_selection {
	char *const *wanted;
	size_t nr_wanted;
	size_t nr;
	struct ledger *ledger;
};

/*
 * Find the wanted devices, without reading their ledgers. Return: enum
 * alignctl_exit; each name that no align device has has been reported.
 */
int ledger_select(struct ledger_selection *selection, char *const *wanted,
		  size_t nr_wanted);

/*
 * Find those of the wanted devices that are align devices, and set @found, an
 * array of @nr_wanted that is false, for the name of each.
 */
void ledger_select_known(struct ledger_selection *selection,
			 char *const *wanted, size_t nr_wanted, bool *found);
void ledger_select_free(struct ledger_selection *selection);

/*
 * Read the ledger of each device, again if it does not balance because touches
 * moved meanwhile. Those that cannot be read are dropped. Return: enum
 * alignctl_exit, reported; ALIGNCTL_FINDINGS if a ledger does not balance
 * although nothing is in flight, if a device is degraded, or if a device below
 * is gone; ALIGNCTL_IO if a device cannot be read, but for one that has gone
 * since ledger_select() and was not named.
 */
int ledger_select_read(struct ledger_selection *selection);

/*
 * Read each ledger once; report those that cannot be read, and drop them.
 * Return: the number of devices that could not be read though they are there.
 */
size_t ledger_select_read_once(struct ledger_selection *selection);

/*
 * Count each device's ledger from that of the same device in @earlier on, and
 * from nothing if the device was not there. @earlier_ns: time of that reading,
 * on the monotonic clock.
 */
void ledger_select_count_from(struct ledger_selection *selection,
			      const struct ledger_selection *earlier,
			      uint64_t earlier_ns);

#endif
