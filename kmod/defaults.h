/* SPDX-License-Identifier: GPL-2.0 */
/* Values of the arguments that a table leaves out. */
#ifndef ALIGN_DEFAULTS_H
#define ALIGN_DEFAULTS_H

/* Default ceiling of the memory for blocks, bytes; max_blocks follows from it. */
#define ALIGN_DEFAULT_MEMORY	(16U << 20)
/*
 * How long the content of a block just written stays cached. Longer than the
 * pauses of a log that syncs every record on a slow drive (two revolutions of
 * 11 ms a record, or a group commit every 100 to 200 ms); short enough that
 * content does not outlive the activity that it is kept for.
 */
#define ALIGN_CACHED_MS		500

/*
 * How long a held block waits for its rest. A writer that works one write at a
 * time sends the next one within a request's time, two revolutions at worst,
 * and a log that commits in groups within 100 to 200 ms; longer than that,
 * holding only makes a loss of power cost more.
 */
#define ALIGN_DEFAULT_HOLD_MS	500

/*
 * log2 of the bytes of a region: blocks of two regions do not share a lock (shard.h),
 * and are not read or written together.
 */
#define ALIGN_REGION_SHIFT	26

#endif
