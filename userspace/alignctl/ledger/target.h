/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ALIGNCTL_TARGET_H
#define ALIGNCTL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/status.h"

/**
 * struct align_target - one target of an align device
 * @index: index of the target in the device's table
 * @start: first sector of the target on the device
 * @length: length of the target in sectors
 * @status: status line of the target
 * @table: table line of the target
 * @device: the kernel's name of the device below, or "major:minor"
 * @device_gone: the device below has been removed
 * @lower_logical: logical block of the device below, bytes, from sysfs; 0 if missing
 *	there
 * @hold_ms: longest time to hold a block, ms, from sysfs; 0 if missing there
 * @holding: 1: in mode coalesce, a partial touch may be acknowledged as soon as
 *	it is copied; 0: not, from sysfs; unknown if missing there
 * @memory_high_water: largest memory that blocks have taken, bytes, from sysfs;
 *	0 if missing there
 */
struct align_target {
	unsigned int index;
	uint64_t start;
	uint64_t length;
	struct align_status status;
	struct align_table table;
	char *device;
	bool device_gone;
	uint32_t lower_logical;
	int64_t hold_ms;
	int64_t memory_high_water;
	struct maybe holding;
};

/*
 * Read target @index from a device's folder align in sysfs, which lacks start,
 * length and table.start, and has of the status what is the target's own. Return:
 * false if the device has no such target.
 */
bool target_read(struct align_target *target, const char *dir,
		 unsigned int index);

/* Read what sysfs has of the device below, by its number in @target->table. */
void target_read_below(struct align_target *target);

/* Read the members on holding that only that folder align has. */
void target_read_holding(struct align_target *target, const char *dir);

/* Free an array of targets. */
void targets_free(struct align_target *target, size_t nr);

/*
 * Check whether a target makes the logical blocks that its device offers, of
 * @logical bytes or 0 if not known, by its feature logical_block_size: those of
 * the device below are larger.
 */
bool target_offers_smaller(const struct align_target *target, uint32_t logical);

#endif
