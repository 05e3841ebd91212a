/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel says of one align target: its status and its table line. */
#ifndef ALIGNCTL_STATUS_H
#define ALIGNCTL_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STATUS_MODE_MAX		16

/**
 * struct align_status - what the status line says of a target
 * @mode: "report", "pad" or "coalesce"
 * @physical: physical block in effect, bytes
 * @offset: alignment offset in effect, bytes; -1: the kernel cannot say
 * @max_blocks: most blocks in memory at once
 * @blocks: blocks in memory now
 * @memory_bytes: memory in use now
 * @epoch: number of the epoch
 * @held_blocks: blocks with acknowledged writes that are not on the drive;
 *	this and the next of the whole device, 0 if the line lacks them
 * @degraded: those of them that could not be written
 */
struct align_status {
	char mode[STATUS_MODE_MAX];
	uint32_t physical;
	int64_t offset;
	uint64_t max_blocks;
	uint64_t blocks;
	uint64_t memory_bytes;
	uint64_t epoch;
	uint64_t held_blocks;
	uint64_t degraded;
};

/*
 * Reads "<mode> name:value name:value ..."; pairs that are not known are left
 * out, as later kernels append. False, with nothing set, if a pair above is
 * missing (but for the last two) or no number that it can be.
 */
bool status_parse(const char *line, struct align_status *status);

/**
 * struct align_table - where a target lies
 * @device: number of the device below
 * @start: first sector on it
 */
struct align_table {
	dev_t device;
	uint64_t start;
};

/* Reads "<major>:<minor> <offset> ..."; false, with nothing set, if it is not. */
bool status_parse_table(const char *line, struct align_table *table);

#endif
