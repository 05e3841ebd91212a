/* SPDX-License-Identifier: GPL-2.0 */
/* The drive: a disk with a volatile cache that ends requests in any order. */
#ifndef SIM_DRIVE_H
#define SIM_DRIVE_H

#include <linux/blkdev.h>

#include "world.h"

/**
 * struct drive_count - what the drive has seen, for the ledger's witness
 * @reads: reads that did not come from above the targets
 * @read_bytes: their bytes
 * @partial: physical blocks that writes and write-zeroes covered in part
 * @written: bytes of writes
 * @block_bytes: bytes of the physical blocks that writes touched
 * @requests: all requests
 * @again: requests that were sent back, as all tags were in use
 */
struct drive_count {
	u64 reads, read_bytes, partial, written, block_bytes, requests, again;
};

/* Make the drive of a plan; it is dm_get_device()'s "drive". */
struct gendisk *drive_new(const struct world_plan *plan);
const struct drive_count *drive_count(void);
/* Asked of world.c: nothing may come to the drive now. */
bool world_is_suspended(void);
/* From now on nothing fails. */
void drive_mend(void);
/* Have the drive take other requests, or lose its volatile cache or get it back. */
void drive_change_limits(void);
void drive_change_cache(void);

#endif
