/* SPDX-License-Identifier: GPL-2.0 */
/* Parse the status line and the table line of an align target. */
#ifndef ALIGNCTL_STATUS_H
#define ALIGNCTL_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/maybe.h"

#define STATUS_MODE_MAX		16

/**
 * struct align_status - a target's status line
 * @mode: "report", "pad" or "coalesce"
 * @physical: physical block in effect, bytes
 * @offset: alignment offset in effect, bytes; unknown: the kernel cannot say
 * @max_blocks: limit of blocks in memory
 * @blocks: number of blocks in memory now
 * @memory_bytes: memory in use now, bytes
 */
struct align_status {
	char mode[STATUS_MODE_MAX];
	uint32_t physical;
	struct maybe offset;
	uint64_t max_blocks;
	uint64_t blocks;
	uint64_t memory_bytes;
};

/**
 * struct align_state - what the status line of each target says of the whole device
 * @epoch: number of the epoch
 * @held_blocks: number of blocks with acknowledged writes that are not on the
 *	drive; 0 if missing in the line
 * @degraded: number of held blocks that could not be written; 0 if missing in
 *	the line
 * @held_bytes: acknowledged bytes in held blocks; unknown if missing in the line
 */
struct align_state {
	uint64_t epoch;
	uint64_t held_blocks;
	uint64_t degraded;
	struct maybe held_bytes;
};

/*
 * Parse "<mode> name:value name:value ..." and ignore unknown pairs, which
 * later versions append. Return: false, with nothing set, if a pair above other
 * than the last three is missing, or one is malformed.
 */
bool status_parse(const char *line, struct align_status *status,
		  struct align_state *state);

/**
 * struct align_table - a target's table line
 * @device: device number of the device below
 * @start: first sector of the target on the device below
 */
struct align_table {
	dev_t device;
	uint64_t start;
};

/*
 * Parse "<major>:<minor> <offset> ..."; false, with nothing set, if malformed.
 */
bool status_parse_table(const char *line, struct align_table *table);

#endif
