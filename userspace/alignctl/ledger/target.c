// SPDX-License-Identifier: GPL-2.0
/*
 * Read one target of an align device from sysfs: its place, its blocks and its
 * mode.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "ledger/target.h"
#include "sysfs/sysfs.h"

/* Return the name of a target's file, for free(). */
static char *file_of(const struct align_target *target, const char *name)
{
	return message_format("target%u_%s", target->index, name);
}

void target_read_below(struct align_target *target)
{
	dev_t devno = target->table.device;
	CLEANUP_SYSFS struct sysfs_device below = { 0 };

	if (sysfs_device_open(&below, devno)) {
		target->device = message_format("%s", below.name);
		target->lower_logical = sysfs_logical(below.disk_dir);
		return;
	}
	target->device = message_format("%u:%u", major(devno), minor(devno));
	/* no number is that of a table line that was not understood */
	target->device_gone = devno && sysfs_device_gone(devno);
}

/* Read whether a target may hold now. */
static struct maybe holding_of(const struct align_target *target,
			       const char *dir)
{
	CLEANUP_FREE char *file = file_of(target, "holding");
	int64_t holding;

	return sysfs_number(dir, file, &holding) ? maybe_of(holding) :
						   MAYBE_UNKNOWN;
}

void target_read_holding(struct align_target *target, const char *dir)
{
	CLEANUP_FREE char *hold_ms = file_of(target, "hold_ms");
	CLEANUP_FREE char *high_water = file_of(target,
						"memory_high_water_bytes");

	if (!sysfs_number(dir, hold_ms, &target->hold_ms))
		target->hold_ms = 0;
	if (!sysfs_number(dir, high_water, &target->memory_high_water))
		target->memory_high_water = 0;
	target->holding = holding_of(target, dir);
}

/* Read which device is below; false if the file is missing. */
static bool read_device(struct align_target *target, const char *dir)
{
	CLEANUP_FREE char *file = file_of(target, "device");

	if (sysfs_devno(dir, file, &target->table.device))
		target_read_below(target);
	else
		target->device = sysfs_text(dir, file);
	return target->device;
}

bool target_read(struct align_target *target, const char *dir,
		 unsigned int index)
{
	struct align_status *status = &target->status;
	int64_t physical, max_blocks = 0, blocks = 0, memory = 0, offset;
	/* Of the modes that a module lacks there is no file, and the number is 0. */
	const struct { const char *name; int64_t *value; bool lacked; } numbers[] = {
		{ "physical_block_size", &physical, .lacked = false },
		{ "hold_ms", &target->hold_ms, .lacked = true },
		{ "max_blocks", &max_blocks, .lacked = true },
		{ "blocks", &blocks, .lacked = true },
		{ "memory_bytes", &memory, .lacked = true },
		{ "memory_high_water_bytes", &target->memory_high_water, .lacked = true },
	};
	CLEANUP_FREE char *mode_file = NULL, *offset_file = NULL, *mode = NULL;
	size_t i;

	*target = (struct align_target){ .index = index };
	mode_file = file_of(target, "mode");
	offset_file = file_of(target, "alignment_offset");
	mode = sysfs_text(dir, mode_file);
	if (!mode)
		return false;
	snprintf(status->mode, sizeof(status->mode), "%s", mode);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		CLEANUP_FREE char *file = file_of(target, numbers[i].name);
		CLEANUP_FREE char *text = sysfs_text(dir, file);

		if (!text && numbers[i].lacked)
			continue;
		if (!sysfs_number(dir, file, numbers[i].value))
			return false;
	}
	if (physical < 0 || physical > UINT32_MAX)
		return false;
	status->physical = (uint32_t)physical;
	status->max_blocks = (uint64_t)max_blocks;
	status->blocks = (uint64_t)blocks;
	status->memory_bytes = (uint64_t)memory;
	status->offset = sysfs_number(dir, offset_file, &offset) ?
		maybe_of(offset) : MAYBE_UNKNOWN;
	target->holding = holding_of(target, dir);
	return read_device(target, dir);
}

void targets_free(struct align_target *target, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(target[i].device);
	free(target);
}

bool target_offers_smaller(const struct align_target *target, uint32_t logical)
{
	return logical && logical < target->lower_logical;
}
