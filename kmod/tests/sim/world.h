/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world: a drive, align devices on it, threads that use them, and an
 * administrator; the interface for main.c, on the host's side.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "machine.h"

#define WORLD_THREADS	12U
#define WORLD_OPS	400U	/* of all threads together */

enum world_op_kind {
	OP_READ,
	OP_WRITE,
	OP_FUA,			/* a write */
	OP_FLUSH,
	OP_FLUSH_FUA,		/* a write with PREFLUSH and FUA */
	OP_DISCARD,
	OP_ZEROES,
	OP_KINDS,
};

/**
 * struct world_op - a request of a thread
 * @thread: number of the thread
 * @kind: its kind, of enum world_op_kind
 * @first: first sector on the device
 * @nr: number of sectors
 * @nowait: REQ_NOWAIT; it may be sent back
 * @plug: it begins a plug, or goes on with one
 * @wait: the thread waits for all its requests afterwards
 * @pieces: in how many pieces of memory its data lie
 * @twin: it goes to the twin, whose first sector is 0, too
 */
struct world_op {
	unsigned char thread;
	unsigned char kind;
	unsigned short first;
	unsigned short nr;
	bool nowait;
	bool plug;
	bool wait;
	unsigned char pieces;
	bool twin;
};

enum world_event {
	EVENT_SUSPEND,
	EVENT_RELOAD,
	EVENT_MODE,
	EVENT_FLUSH,		/* the message */
	EVENT_MAX_BLOCKS,
	EVENT_HOLD_MS,
	EVENT_DROP_FAILED,
	EVENT_SLEEP,
	EVENT_LIMITS,		/* of the drive's requests */
	EVENT_CACHE,		/* of the drive: off, or on again */
	EVENT_KINDS,
};

/**
 * struct world_plan - all that a seed has decided before a world begins
 * @physical: P, bytes
 * @offset: alignment_offset, bytes
 * @base: first sector of the drive that can be used, as many as the medium has
 * @start: first sector of the target on the drive, not in front of @base
 * @sectors: sectors of the target
 * @twin: sectors of a second target, which begins on the drive where the first
 *	one ends; 0: there is none
 * @has_twin: that target is there in this world
 * @border: where the second target of the device's table begins; 0: there is none
 * @linear: the second target of the table is a linear one
 * @files: devices have files in sysfs, and a task reads them
 * @reclaims: a task calls the shrinker
 * @logical: sectors in a logical block of the drive, if the device offers smaller ones;
 *	else 0
 * @gapless: the drive takes no gaps between segments
 * @large_memory: nor segments of parts of logical blocks
 * @limited: threads with odd numbers are in a cgroup that has a limit of the drive's
 * @granule: sectors that the drive says it discards as a whole; 0: it says nothing
 * @ceiling: blocks that all targets together may have in memory; 0: there is no such
 *	limit
 * @mode: 0 report, 1 pad, 2 coalesce
 * @max_blocks: the table argument
 * @hold_ms: the table argument
 * @max_sectors: limit of the drive's requests
 * @zeroes: the drive's limit for write-zeroes, sectors; 0: it takes none
 * @workers: workers in the machine's pool
 * @stacked: the device is a second target above the first, which is in @mode
 * @layer: a layer above has looked for a write cache when the device had an inactive
 *	table only, and sends no flushes; the drive has no volatile cache
 * @tables: tables and messages are asked for, and no request is sent
 * @scenes: scenes.c is played, in place of threads and administrator
 * @nowait_one_in: faults of memory
 * @nowait_nth: the allocation that may not sleep, of all in the world, that fails;
 *	0: none
 * @nth: the allocation of a set-up that fails
 * @error_one_in: of so many requests of the drive one fails
 * @bad_first: first sector that the drive cannot write
 * @bad_nr: number of them
 * @inline_end: requests may end while they are submitted, as a RAM disk's
 * @slow_one_in: of so many requests one takes long
 * @hang_at: before which request the drive hangs once; 0: it does not
 * @hang_ms: for how long
 * @tags: requests that the drive takes at a time
 * @cut_after: requests of the drive before the power is cut; 0: it is not
 * @cut_late: then the power goes by so many choices of the next thread later
 * @reboot: the machine reboots at the end, instead of a removal
 * @event: actions of the administrator, one after the other
 * @nr_events: number of @event
 * @op: requests
 * @nr_ops: number of @op
 * @threads: number of threads
 * @depth: requests in flight of a thread
 * @power: in a search, the power may be cut at any time
 * @streams: most requests of a thread go on where its last one has ended
 * @flood: all threads but the first repeat their requests until that is done
 */
struct world_plan {
	unsigned int physical, offset, base, start, sectors;
	unsigned int twin;
	bool has_twin;
	unsigned int border;
	bool linear, files, reclaims;
	unsigned int logical;
	bool gapless;
	bool large_memory, limited;
	unsigned int granule;
	unsigned int ceiling;
	unsigned int mode, max_blocks, hold_ms;
	unsigned int max_sectors, zeroes;
	unsigned int workers;
	bool stacked;
	bool layer;
	bool tables;
	bool scenes;
	unsigned int nowait_one_in, nowait_nth, nth, error_one_in;
	unsigned int bad_first, bad_nr;
	bool inline_end;
	unsigned int slow_one_in, tags;
	unsigned int hang_at, hang_ms;
	unsigned int cut_after, cut_late;
	bool reboot;
	unsigned char event[16];
	unsigned int nr_events;
	struct world_op op[WORLD_OPS];
	unsigned int nr_ops, threads, depth;
	bool streams, flood;
	bool power;
};

/**
 * struct world_count - sums over the requests of a world
 * @ops: requests that have ended
 * @drive: requests of the drive
 * @events: events of the administrator
 * @writes: numbers of writes that are taken
 * @outcome: sum of hashes of the status and the found content of each request of a
 *	world, and of the ledger at its end
 */
struct world_count {
	sim_u64 ops, drive, events, writes, outcome;
};

/*
 * Sectors of a region of the engine (shard.h): a device across the border of two has
 * blocks under two locks.
 */
extern const unsigned int world_region_sectors;
/* And how many regions in a row have locks of their own. */
extern const unsigned int world_shards;

/* The border of two regions behind the base of a plan. */
static inline unsigned int world_border(const struct world_plan *plan)
{
	return (plan->base / world_region_sectors + 1) * world_region_sectors;
}

/* main.c's: it outlives a world. */
extern struct world_count world_count;

/* The life of a world; the first task of a machine. @plan is a world_plan. */
void world_main(void *plan);

#endif
