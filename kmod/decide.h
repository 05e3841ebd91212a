/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a block does next, and how the partial touches that it served are
 * booked. Pure functions, so that every combination can be tested.
 */
#ifndef DM_ALIGN_DECIDE_H
#define DM_ALIGN_DECIDE_H

#include <linux/types.h>

#include "geometry.h"

enum align_mode {
	ALIGN_REPORT,
	ALIGN_PAD,
	ALIGN_COALESCE,
};

/**
 * enum block_step - what is to be done for the touches that a block collected
 * @BLOCK_READ: read the block, because they leave a part of it open
 * @BLOCK_WRITE: patch the buffer and write it whole
 * @BLOCK_PASS: send each touch as it came
 */
enum block_step {
	BLOCK_READ,
	BLOCK_WRITE,
	BLOCK_PASS,
};

/**
 * block_first_step - begin to serve the touches of a block
 * @known: the buffer holds what a read at this moment would return
 * @full: the touches cover the whole block
 *
 * Return: BLOCK_WRITE if nothing is missing, else BLOCK_READ.
 */
static inline enum block_step block_first_step(bool known, bool full)
{
	return known || full ? BLOCK_WRITE : BLOCK_READ;
}

/**
 * block_step_after_read - go on when the pad read has ended
 * @failed: the read failed, and the buffer holds nothing
 * @full: the touches cover the whole block by now
 *
 * Return: BLOCK_PASS if a part of the block is unknown, else BLOCK_WRITE.
 */
static inline enum block_step block_step_after_read(bool failed, bool full)
{
	return failed && !full ? BLOCK_PASS : BLOCK_WRITE;
}

/*
 * How a partial touch was resolved.
 *
 * Each is one counter of the ledger; ledger_book() has the table.
 */
enum rmw_how {
	RMW_HOST,		/* the block was read for this touch */
	RMW_MERGED,		/* joined a block that was read for another */
	RMW_COMPLETE,		/* the touches covered the whole block */
	RMW_KNOWN,		/* the rest of the block was known */
	RMW_SUPERSEDED,		/* overwritten or discarded while it was held */
	RMW_LOST,		/* the write of the block failed */
	RMW_DRIVE_REPORT,	/* from here on: went down as it came */
	RMW_DRIVE_EDGE,
	RMW_DRIVE_NO_MEMORY,
	RMW_DRIVE_MAX_BLOCKS,
	RMW_DRIVE_READ_ERROR,
	RMW_DRIVE_LIMITS,
	RMW_DRIVE_ATOMIC,
	RMW_HOW_NR,
};

/**
 * block_how - how a touch that went down in a whole block is booked
 * @failed: the write of the block failed
 * @known: its buffer was known before the touches came
 * @read: it was read, and the read succeeded
 * @nth: place of the touch in order of arrival, from 0
 *
 * Return: how the touch was resolved; never one of RMW_DRIVE_*.
 */
static inline enum rmw_how block_how(bool failed, bool known, bool read,
				     unsigned int nth)
{
	if (failed)
		return RMW_LOST;
	if (known)
		return RMW_KNOWN;
	if (read)
		return nth ? RMW_MERGED : RMW_HOST;
	return RMW_COMPLETE;
}

#endif
