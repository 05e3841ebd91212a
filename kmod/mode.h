/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The modes of a target, and how the partial touches are booked that it has seen.
 */
#ifndef DM_ALIGN_MODE_H
#define DM_ALIGN_MODE_H

enum align_mode {
	ALIGN_REPORT,
	ALIGN_PAD,
	ALIGN_COALESCE,
};

/* The name of a mode, as in a table line. */
static inline const char *align_mode_name(enum align_mode mode)
{
	switch (mode) {
	case ALIGN_REPORT:
		return "report";
	case ALIGN_PAD:
		return "pad";
	case ALIGN_COALESCE:
		break;
	}
	return "coalesce";
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
	RMW_KNOWN,		/* the rest of the block was cached */
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

#endif
