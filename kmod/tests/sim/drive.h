/* SPDX-License-Identifier: GPL-2.0 */
/* The drive: a disk with a volatile cache that ends requests in any order. */
#ifndef SIM_DRIVE_H
#define SIM_DRIVE_H

#include <linux/blkdev.h>

#include "world.h"

/**
 * struct drive_count - the drive's own counts, a witness of the ledger
 * @reads: reads that did not come from above the targets
 * @read_bytes: their bytes
 * @partial: physical blocks that writes and write-zeroes covered in part
 * @outside: bytes of such blocks that do not lie in the device, whose other part is
 *	written
 * @written: bytes of writes
 * @block_bytes: bytes of the physical blocks that writes touched
 * @requests: all requests
 * @again: requests that were sent back, as all tags were in use
 */
struct drive_count {
	u64 reads, read_bytes, partial, outside, written, block_bytes, requests, again;
};

/* Requests that are kept at most. */
#define DRIVE_SEEN	1024U

/* An operation of the drive as a bit; a flush counts as one of its own. */
#define DRIVE_OP(op)	(1U << (op))

/**
 * struct drive_orders - a scene's orders to the drive
 * @seen: room for DRIVE_SEEN requests, which drive_seen() returns; NULL: none are kept
 * @waits: operations, as bits, whose requests stay in the drive, not done
 * @waits_from: requests stay that begin from this sector on, and before @waits_to;
 *	other requests are done
 * @fails: operations, as bits, that fail in @first and the @nr sectors from there
 */
struct drive_orders {
	struct drive_seen *seen;
	unsigned int waits, fails;
	sector_t waits_from, waits_to, first;
	unsigned int nr;
};

/**
 * struct drive_seen - a request that has come to the drive
 * @ns: when
 * @by: the thread that sent it
 */
struct drive_seen {
	u64 ns;
	const struct thread *by;
	enum req_op op;
	sector_t sector;
	unsigned int nr;
	blk_opf_t opf;
	unsigned short ioprio;
	unsigned char hint, stream, cgroup;
	bool nobodys;
};

/* Give the drive other orders. */
void drive_order(const struct drive_orders *orders);
/* The @nr-th request since the last drive_forget_seen(); NULL: there are not so many. */
const struct drive_seen *drive_seen(unsigned int nr);
void drive_forget_seen(void);
/* Requests that are in the drive. */
unsigned int drive_in_flight(void);

/* Make the drive of a plan; it is dm_get_device()'s "drive". */
struct gendisk *drive_new(const struct world_plan *plan);
const struct drive_count *drive_count(void);
/* Requests that have come, and are not done. */
unsigned int drive_in_flight(void);
/* Asked of world.c: nothing may come to the drive now. */
bool world_is_suspended(void);
/* From now on nothing fails. */
void drive_mend(void);
/* Have the drive take other requests, or lose its volatile cache or get it back. */
void drive_change_limits(void);
void drive_change_cache(void);

#endif
