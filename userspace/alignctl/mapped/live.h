/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An align device in use, whose mode an experiment changes: one experiment at a
 * time, and with a keeper that puts its mode back.
 */
#ifndef ALIGNCTL_LIVE_H
#define ALIGNCTL_LIVE_H

#include "mapped/dm.h"
#include "mapped/mode_keeper.h"

/**
 * struct live - the device of an experiment
 * @start: the device as it was at the start
 * @dm: the kernel's name of the device, "dm-N"
 * @lock: file of the device in sysfs, locked while it is open; -1: not locked.
 *	It cannot be read any more once the last align target is gone
 * @keeper: the device, for the keeper
 */
struct live {
	struct dm_align start;
	char *dm;
	int lock;
	struct keeper_device keeper;
};

/*
 * Find the device, and check that its modes may be compared: one mode, not
 * suspended, nothing failed below. Return: enum alignctl_exit, reported.
 */
int live_open(struct live *live, const char *name);
void live_close(struct live *live);

/* Return the mode of the device at the start. */
const char *live_mode(const struct live *live);

/* Return the longest time for which a target holds a block in coalesce, ms. */
int64_t live_hold_ms(const struct live *live);

/*
 * Keep other experiments from the device, until all processes that inherit the
 * lock have ended. Return: enum alignctl_exit, reported; ALIGNCTL_BUSY if
 * there is another experiment.
 */
int live_lock(struct live *live);

/* Start the keeper; as mode_keeper_start(). */
int live_keep(struct live *live);

#endif
