/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the target share: the target, and one write on its way
 * through it.
 */
#ifndef DM_ALIGN_H
#define DM_ALIGN_H

#include <linux/bio.h>
#include <linux/device-mapper.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/workqueue.h>

#include "decide.h"
#include "defaults.h"
#include "delay.h"
#include "geometry.h"
#include "job.h"
#include "ledger.h"
#include "quiet.h"
#include "range.h"
#include "spare.h"
#include "waiter.h"

#define DM_MSG_PREFIX "align"

/* Largest override that is advertised as physical_block_size, bytes. */
#define ALIGN_MAX_CLAIMED	4096

/* Largest max_blocks. */
#define ALIGN_MAX_MAX_BLOCKS	262144
/* Largest hold_ms. */
#define ALIGN_MAX_HOLD_MS	600000

/* Most blocks that are looked at under one lock with interrupts off. */
#define BLOCKS_BATCH		64
/*
 * What shares it while a write comes to its blocks: those of its two partial touches,
 * and those that are evicted for them; then those of its range and whole ones that go
 * with its run, or else a run of blocks that a stream has filled.
 */
#define RUN_BLOCKS		(BLOCKS_BATCH / 4 * 3)
#define RANGE_BLOCKS		(BLOCKS_BATCH / 2)
#define JOIN_BLOCKS		(BLOCKS_BATCH / 4)
#define EVICT_BLOCKS		(BLOCKS_BATCH / 16)

/* Ends of recent writes that are remembered, to tell streams. */
#define ALIGN_STREAMS		8
/* Held blocks that a read can pin without memory. */
#define ALIGN_FEW_PINS		2

struct align_block;
struct align_node;
struct block_run;

/**
 * struct align_gate - stops changes while the mode changes
 * @users: writes, discards and write-zeroes between map and end_io
 * @drained: completed when @users has fallen to 0 behind a closed gate
 * @given_up: a signal ended a wait for @drained; under the change lock
 * @lock: guards @closed and @deferred
 * @closed: newcomers go to @deferred
 * @deferred: bios to be mapped when the gate opens
 */
struct align_gate {
	struct percpu_ref users;
	struct completion drained;
	bool given_up;
	spinlock_t lock;	/* guards closed, deferred */
	bool closed;
	struct bio_list deferred;
};

/* Locks of the blocks of one target; see shard.h. */
#define ALIGN_SHARDS		16

/* Areas of one shard. */
#define ALIGN_SHARD_AREAS	(ALIGN_AREAS / ALIGN_SHARDS)

/**
 * struct align_area - the blocks of some parts of the regions of a shard
 * @nr: number of blocks
 * @since: time in jiffies when the last block left
 * @drains: blocks wait until the writes have ended that were counted there
 * @blocks: blocks in WAIT that count these writes among their blockers; some may
 *	be left when @drains is over
 */
struct align_area {
	unsigned int nr;
	unsigned long since;
	bool drains;
	struct list_head blocks;
};

/**
 * struct align_shard - the blocks of some regions of the device
 * @lock: guards the fields below, the state of every block here, and every
 *	range that touches a region of this shard; taken in any context,
 *	interrupts off, in the order of the shards, before held->lock and the like
 * @tree: blocks by number
 * @ranges: registered ranges that touch at most two shards
 * @known: blocks whose content is known and that have no touch, oldest first
 * @held: blocks in HELD whose write has not failed, by block->seq: the order of
 *	their first held touch; without the blocks in @urgent
 * @urgent: blocks in HELD whose write has not failed and that a range waits for
 * @failed: blocks in HELD whose write failed, by block->seq: the order in which
 *	they failed
 * @by_age: blocks with held touches, in any state, in the order in which
 *	they began to hold
 * @area: the areas of the shard
 */
struct align_shard {
	spinlock_t lock;	/* guards all below, blocks and ranges */
	struct rb_root tree;
	struct rb_root_cached ranges;
	struct list_head known;
	struct rb_root_cached held;
	struct list_head urgent;
	struct rb_root_cached failed;
	struct list_head by_age;
	struct align_area area[ALIGN_SHARD_AREAS];
} ____cacheline_aligned_in_smp;

/**
 * struct shard_span - the shards of some neighbouring blocks
 * @first: the index of the first shard
 * @second: the index of another shard, or @first again
 * @all: the span has every shard
 *
 * Always locked by rising index.
 */
struct shard_span {
	unsigned int first;
	unsigned int second;
	bool all;
};

/* Events that wait until no target holds anything: see notify.c. */
enum align_ending {
	ALIGN_REBOOT,
	ALIGN_SLEEP,
	ALIGN_ENDINGS,
};

/* Reasons to hold nothing although the mode is coalesce: bits of @stopped. */
#define HOLD_STOPPED_SUSPEND	1
#define HOLD_STOPPED_MODE	2
#define HOLD_STOPPED_REBOOT	4
#define HOLD_STOPPED_SLEEP	8

/**
 * struct align_blocks - the blocks in memory, and the ranges among them
 * @shard: the shards, each with its own lock
 * @long_ranges: registered ranges that touch more than two regions; changes
 *	under the locks of all shards, read under that of any
 * @turns: how often a block was made, or let ranges through, or was passed by one;
 *	rises under the lock of the block's shard
 * @nr: number of allocated blocks
 * @max: limit of @nr; read without a lock
 * @bytes: memory of blocks and runs of blocks
 * @bytes_high: high-water mark of @bytes
 * @expire: work that evicts blocks which have been known for too long
 * @rest: work that makes areas quiet which have had no block for a while
 * @go_on: work that lets blocks go on whose area has drained, where there are many
 * @pass: work that finds out what else the ranges in @passed wait for
 * @lock: guards @passed; taken inside a shard's
 * @passed: ranges that have been let through by a block
 * @nr_shown: number of blocks with block->shown
 * @nr_over: number of blocks with block->over
 */
struct align_blocks {
	struct align_shard shard[ALIGN_SHARDS];
	struct rb_root_cached long_ranges;
	atomic64_t turns;
	atomic_t nr;
	unsigned int max;
	atomic64_t bytes;
	atomic64_t bytes_high;
	struct delayed_work expire;
	struct delayed_work rest;
	struct work_struct go_on;
	struct work_struct pass;
	atomic_t nr_shown;
	atomic_t nr_over;

	spinlock_t lock;	/* guards passed */
	struct list_head passed;
};

/**
 * struct align_held - held touches, and the waiters for them
 * @nr_resting: number of blocks in the shards' @held and @urgent
 * @nr_idle: number of blocks in the shards' @failed
 * @pressed: @nr_resting is too large; a hint, without a lock
 * @drops: number of blocks whose held touches were given up; rises under the lock
 *	of the block's shard
 * @hold_ms: how long a block is held; read without a lock
 * @work: work that writes the blocks which must not be held any longer
 * @due: timer that queues @work when a block has been held for hold_ms
 * @event: work that tells userspace when the target enters or leaves degraded
 * @ends: work that ends waiters where there are very many; not a job, as those may
 *	all wait for the device below
 * @said_degraded: the state that userspace was told last; @event's own
 * @lock: guards all below; taken inside a shard's
 * @holding: touches may be acknowledged when they have been copied
 * @stopped: reasons why @holding is false, as bits
 * @frozen: no held block may be sent, because the device is suspended; read
 *	without the lock
 * @quiet: woken when a block has nothing more in flight, while @frozen
 * @nr_flushes: flushes that had to wait for held blocks and have not ended; read
 *	without the lock
 * @waiters: flushes, messages and suspends that wait for held blocks
 * @seq: number of the block that began to hold last
 * @empty_seq: held blocks with a number up to this one must be written; read
 *	without the lock
 * @nr: number of held blocks, in all states; read without the lock
 * @nr_failed: number of held blocks whose write failed
 */
struct align_held {
	atomic_t nr_resting;
	atomic_t nr_idle;
	bool pressed;
	atomic_t drops;
	unsigned int hold_ms;
	struct work_struct work;
	struct timer_list due;
	struct work_struct event;
	struct work_struct ends;
	bool said_degraded;

	spinlock_t lock;	/* guards all below */
	bool holding;
	unsigned int stopped;
	bool frozen;
	wait_queue_head_t quiet;
	unsigned int nr_flushes;
	struct align_waiters waiters;
	u64 seq;
	u64 empty_seq;
	unsigned int nr;
	unsigned int nr_failed;
};

/**
 * struct align_streams - where recent misaligned writes have ended
 * @ends: sectors; a hint, without a lock
 * @next: the entry of @ends that is replaced next; without a lock
 */
struct align_streams {
	sector_t ends[ALIGN_STREAMS];
	unsigned int next;
};

/**
 * struct align_engine - the parts that serve writes in the fixing modes
 * @jobs: steps that an interrupt or a full stack cannot take
 * @spare: memory for reads of blocks that hold something
 * @delay: blocks that wait a moment for the rest of a stream
 * @quiet: writes where no block is in memory
 * @blocks: the blocks that have touches, are held or are known
 * @held: held touches
 * @cursor: kind and shards from which the drain takes its next block; its own
 * @streams: ends of recent writes
 * @endings: a waiter for each notifier
 */
struct align_engine {
	struct align_jobs jobs;
	struct align_spare spare;
	struct align_delay delay;
	struct align_quiet quiet;
	struct align_blocks blocks;
	struct align_held held;
	struct drain_cursor cursor;
	struct align_streams streams;
	struct align_waiter endings[ALIGN_ENDINGS];
};

/**
 * struct align_target - one target of one table
 * @ti: its dm_target
 * @dev: the device below
 * @start: first sector of the range on it
 * @geometry: where physical blocks lie; never changes
 * @offset_unknown: the kernel says misaligned and no alignment_offset is given
 * @given: the arguments that the table line or a message has set, and that
 *	STATUSTYPE_TABLE shows
 * @suggested: io_min of a large-unit SSD, a better P than the drive's, or 0
 * @mode: changes under @change_lock with the gate closed
 * @change_lock: one change of the mode at a time
 * @gate: gate that every change of data passes
 * @engine: the engine, which serves writes in the fixing modes
 * @pieces: bios for runs that have to be cut and for touches that go down
 *	unmodified; allocated without waiting, or where the last one has been
 *	sent
 * @joined: bios for a run and the blocks in front of it; never waited for, as a
 *	worker sends a bio that failed once more
 * @devt: the mapped device's number
 * @node: the mapped device's node
 * @ledger: the ledger in @node
 * @node_list: entry in the node's list of targets, under the node's lock
 * @all: entry in the list of all targets, for the notifiers; under its lock
 * @index: position among the align targets of its table
 */
struct align_target {
	struct dm_target *ti;
	struct dm_dev *dev;
	sector_t start;
	struct align_geometry geometry;
	bool offset_unknown;
	struct {
		bool mode;
		bool physical;
		bool offset;
		bool max_blocks;
		bool write_cache;
		bool write_cache_on;
		bool hold_ms;
	} given;
	unsigned int suggested;
	enum align_mode mode;
	struct mutex change_lock;	/* one change of mode at a time */
	struct align_gate gate;
	struct align_engine engine;
	struct bio_set pieces;
	struct bio_set joined;
	dev_t devt;
	struct align_node *node;
	struct ledger *ledger;
	struct list_head node_list;
	struct list_head all;
	unsigned int index;
};

/**
 * struct align_touch - one partial touch of one write or write-zeroes
 * @list: entry in one of its block's lists, under the lock of the block's shard
 * @io: the write
 * @part: the sectors that the write covers in the block
 * @iter: the bytes of @part in the write's bio; write-zeroes have none
 * @how: how the touch was resolved; set before the write's part for it ends
 * @late: the touch ends a write of a stream, whose next write may complete the
 *	block
 * @cut: the touch ends write-zeroes that the block layer has cut, and the next
 *	part comes
 * @held: the touch was copied and acknowledged; it is resolved with its block
 * @block: the block that serves the touch
 */
struct align_touch {
	struct list_head list;
	struct align_io *io;
	struct align_part part;
	struct bvec_iter iter;
	enum rmw_how how;
	bool late;
	bool cut;
	bool held;
	struct align_block *block;
};

/**
 * struct align_pin - a held block of which a read takes bytes when it ends
 * @block: the pinned block
 * @kept: the sectors of @block that were held when the read was mapped
 */
struct align_pin {
	struct align_block *block;
	DECLARE_BITMAP(kept, ALIGN_MAX_BLOCK_SECTORS);
};

/**
 * struct align_write - a write, discard or write-zeroes on its way
 * @start_ns: time of arrival
 * @entered: the bio has a reference on the gate
 * @counted: the ledger has counted the bio
 * @awaited: delay->writes has counted the bio
 * @quiet: the bio is counted in @area and not registered
 * @area: if @quiet
 * @in_range: @range is registered
 * @may_hold: the touches may be acknowledged when copied
 * @split_up: the bio went down in parts, and not itself
 * @nr_touches: how many of @touch are its partial touches
 * @parts: parts that have not ended, one of them the submitter's own
 * @status: first error of a part
 * @drops: held->drops when the touches came to their blocks
 * @span: the shards of the blocks that the bio touches
 * @range: the blocks of the range, in the tree of their shard, of both of their
 *	shards, or of the long ranges
 * @left_shard: the range has ended in the shards below this one
 * @left_number: and in that one, at the blocks below this number; both change under
 *	the locks of the range's shards
 * @stamp: blocks->turns when the range was registered: it waits for the blocks whose
 *	turn is not above
 * @wait: entry in the list of a block that the range waits for, or in blocks->passed
 * @wait_shard: the range waits for no block in the shards below this one
 * @wait_number: and in that one, for none below this number
 * @start: first sector of the range, which is the run or a part of it
 * @end: the sector after the last one of the range
 * @rest: sectors of the run behind the range, which are one when that has ended
 * @waited: the ledger has counted the bio among those that waited
 * @pieces: requests of the range that have not ended, one of them the sender's
 * @run_sector: where the next piece of the run starts
 * @run_left: sectors of the range not yet sent
 * @run_iter: the bytes of @run_left in the bio
 * @joined: whole blocks in WRITE that go down with the first piece
 * @nr_joined: number of blocks in @joined
 * @joined_bio: the request of the blocks in @joined and the first piece
 * @joined_iter: the bytes of the first piece in the bio
 * @apart: resends blocks and piece one by one, if @joined_bio failed
 * @run: the last piece of the run, so that sending it needs no memory
 * @touch: the partial touches
 */
struct align_write {
	u64 start_ns;
	bool entered;
	bool counted;
	bool awaited;
	bool quiet;
	u8 area;
	bool in_range;
	bool may_hold;
	bool split_up;
	unsigned int nr_touches;
	atomic_t parts;
	blk_status_t status;
	int drops;
	struct shard_span span;
	struct align_range range[2];
	unsigned int left_shard;
	u64 left_number;
	u64 stamp;
	struct list_head wait;
	unsigned int wait_shard;
	u64 wait_number;
	u64 start;
	u64 end;
	sector_t rest;
	bool waited;
	atomic_t pieces;
	sector_t run_sector;
	sector_t run_left;
	struct bvec_iter run_iter;
	struct list_head joined;
	unsigned int nr_joined;
	struct bio *joined_bio;
	struct bvec_iter joined_iter;
	struct align_job apart;
	struct bio run;
	struct align_touch touch[ALIGN_MAX_TOUCHES];
};

/**
 * struct align_flush - a flush
 * @waiter: waits for what was held when the flush came
 */
struct align_flush {
	struct align_waiter waiter;
};

/**
 * struct align_read - a read of a target that holds something
 * @iter: the bytes of the read in the bio
 * @nr_pins: number of held blocks that it covers
 * @pins: the pins of these blocks: @few_pins, or allocated
 * @few_pins: room for the pins of most reads
 */
struct align_read {
	struct bvec_iter iter;
	unsigned int nr_pins;
	struct align_pin *pins;
	struct align_pin few_pins[ALIGN_FEW_PINS];
};

/**
 * struct align_io - per-bio data of a bio that the target maps
 * @at: the target
 * @bio: dm's clone; its iterator is never changed
 * @change: @bio may change data, and end_io has to account for it
 * @held_flush: @bio is a flush that had to wait for held blocks
 * @job: maps @bio after the gate, or sends the run or the flush
 * @write: if @change
 * @flush: if @held_flush
 * @read: of others
 */
struct align_io {
	struct align_target *at;
	struct bio *bio;
	bool change;
	bool held_flush;
	struct align_job job;
	union {
		struct align_write write;
		struct align_flush flush;
		struct align_read read;
	};
};

/* Tell whether a bio is write-zeroes, which have no data and no bvecs. */
static inline bool align_io_is_zeroes(const struct align_io *io)
{
	return bio_op(io->bio) == REQ_OP_WRITE_ZEROES;
}

/* Flags of a write that a bio made from it keeps. */
#define ALIGN_KEPT_FLAGS	(REQ_SYNC | REQ_META | REQ_PRIO | REQ_IDLE | \
				 REQ_BACKGROUND | REQ_SWAP)
/*
 * Flags of a bio that one made from it must not have. REQ_ALLOC_CACHE is about
 * the set that the bio itself is from: ours have no cache.
 */
#define ALIGN_DROPPED_FLAGS	(REQ_NOWAIT | REQ_POLLED | REQ_RAHEAD | \
				 REQ_ALLOC_CACHE)

/* write.c */
int align_engine_map(struct align_io *io);
bool align_engine_is_quiet(struct align_io *io, u64 first, u64 last);

#endif
