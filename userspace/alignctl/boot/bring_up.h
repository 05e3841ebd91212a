/* SPDX-License-Identifier: GPL-2.0 */
/* Bring up the device of a line of aligntab, and take it down. */
#ifndef ALIGNCTL_BRING_UP_H
#define ALIGNCTL_BRING_UP_H

#include "boot/aligntab.h"

/*
 * Create the align device of a line, and map its partitions. Wait for the
 * device below for at most @seconds. A device that is there already is fine if
 * it is the one that the line means. Return: enum alignctl_exit; errors have
 * been reported. @missing: set to whether the device below did not come, which
 * has not been reported.
 */
int bring_up(const struct aligntab_line *line, unsigned int seconds,
	     bool *missing);

/* Report that the device below a line did not come, or had no size, within @seconds. */
void bring_up_report_missing(const struct aligntab_line *line,
			     unsigned int seconds);

/*
 * Bring up all lines that are not noauto, without waiting. @ignore_missing: not
 * even name a device that is not there; else it is reported, and a fault unless
 * its line says nofail. @netdev: those that need the network, too. Return: the
 * first line's fault; all lines have been tried.
 */
int bring_up_all(const struct aligntab *tab, bool netdev, bool ignore_missing);

/*
 * Stop a device at shutdown: write what it holds, and remove it unless it is
 * still open, as below the root file system. One that is not there is stopped.
 * Return: enum alignctl_exit; errors have been reported.
 */
int bring_down(const char *name);

#endif
