/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The structures of the engine, which serves writes in the modes pad and coalesce.
 */
#ifndef DM_ALIGN_ENGINE_H
#define DM_ALIGN_ENGINE_H

#include <linux/bio.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/workqueue.h>

#include "ceiling.h"
#include "decide.h"
#include "defaults.h"
#include "delay.h"
#include "job.h"
#include "quiet.h"
#include "range.h"
#include "spare.h"
#ifdef CONFIG_DM_ALIGN_COALESCE
#include "waiter.h"
#endif

/* Most blocks that are looked at under one lock with interrupts off. */
#define BLOCKS_BATCH		64
/*
 * The blocks under one lock hold while a write comes to its blocks: those of its two
 * partial touches, and those that may be evicted for each; then those of its range and
 * whole ones that go with its remainder, or else a row of blocks that a stream has filled.
 */
#define ROW_BLOCKS		(BLOCKS_BATCH / 3 * 2)
#define RANGE_BLOCKS		(BLOCKS_BATCH / 2)
#define JOIN_BLOCKS		(BLOCKS_BATCH / 8)
#define EVICT_BLOCKS		(BLOCKS_BATCH / 8)

/* Ends of recent writes that are remembered, to tell streams. */
#define ALIGN_STREAMS		8

struct align_block;
struct block_run;

/**
 * struct align_gate - stops changes while the mode changes
 * @users: writes, discards and write-zeroes between map and end_io
 * @quiesced: completed when @users has fallen to 0 behind a closed gate
 * @given_up: a signal ended a wait for @quiesced; under the change lock
 * @lock: guards @closed and @deferred
 * @closed: newcomers go to @deferred
 * @deferred: bios to be mapped when the gate opens
 */
struct align_gate {
	struct percpu_ref users;
	struct completion quiesced;
	bool given_up;
	spinlock_t lock;	/* guards closed, deferred */
	bool closed;
	struct bio_list deferred;
};

/* Locks of the blocks of one target; see shard.h. */
#define ALIGN_SHARDS		16
/* Blocks that wait for touches to come. */
#define ALIGN_FRESH_BLOCKS	8

/* Areas of one shard. */
#define ALIGN_SHARD_AREAS	(ALIGN_AREAS / ALIGN_SHARDS)

/**
 * struct align_area - the blocks of some parts of the regions of a shard
 * @nr: number of blocks
 * @quiesces: blocks wait until the writes have ended that were counted there
 * @since: time in jiffies when the last block left
 * @blocks: blocks in WAIT that count these writes among their blockers; some may
 *	be left when @quiesces is over
 */
struct align_area {
	unsigned int nr;
	bool quiesces;
	unsigned long since;
	struct list_head blocks;
};

/**
 * struct align_shard - the blocks of some regions of the device
 * @lock: guards the fields below, the state of every block here, the shard's areas,
 *	and every range that touches a region of this shard; taken in any context,
 *	interrupts off, in the order of the shards, before held->lock and the like
 * @tree: blocks by number
 * @ranges: registered ranges that touch at most two shards
 * @nr_ranges: number of registered ranges that touch the shard, those of all shards
 *	among them
 * @crowded: a block in WAIT that waits for all of these that came before it, or NULL
 * @nr_before: number of those
 * @crowding: touches that wait until there is no such block, oldest first; under
 *	blocks->lock, too
 * @cached: blocks whose content is cached and that have no touch, oldest first
 * @nr_cached: number of blocks in @cached; read without the lock
 * @resting: blocks in REST whose write has not failed, by block->seq: the order of
 *	their first held touch; without the blocks in @urgent
 * @urgent: blocks in REST whose write has not failed and that a range waits for
 * @failed: blocks in REST whose write failed, by block->seq: the order in which
 *	they failed
 * @by_age: blocks with held touches, in any state, in the order in which
 *	they began to hold
 */
struct align_shard {
	spinlock_t lock;	/* guards all below, blocks, areas and ranges */
	struct rb_root tree;
	struct rb_root_cached ranges;
	unsigned int nr_ranges;
	struct align_block *crowded;
	unsigned int nr_before;
	struct list_head crowding;
	struct list_head cached;
	unsigned int nr_cached;
	struct rb_root_cached resting;
	struct list_head urgent;
	struct rb_root_cached failed;
	struct list_head by_age;
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

#ifdef CONFIG_DM_ALIGN_COALESCE
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
#endif

/**
 * struct align_blocks - the blocks in memory, and the ranges among them
 * @shard: the shards, each with its own lock
 * @area: the areas, those of one shard in lines of their own
 * @long_ranges: registered ranges that touch more than two regions; changes
 *	under the locks of all shards, read under that of any
 * @turns: how often a block was made, or let ranges through, or was passed by one;
 *	rises under the lock of the block's shard
 * @nr: number of allocated blocks
 * @max: limit of @nr; read without a lock
 * @quota: the same blocks below the ceiling of all targets
 * @bytes: memory of blocks and runs of blocks
 * @bytes_high: high-water mark of @bytes
 * @expire: work that evicts blocks which have been cached for too long
 * @calm: work that makes areas quiet which have had no block for a while
 * @go_on: work that lets blocks go on whose area has quiesced, where there are many
 * @fresh: blocks for touches that come, or NULL; taken and put by exchanging the pointer
 * @pass: work that finds the blocks for which the ranges in @passed still wait
 * @feed: work that finds blocks for the touches in @starved
 * @nr_shown: number of blocks with block->shown
 * @nr_over: number of blocks with block->over
 * @asleep: nothing may be cached, because the machine sleeps: see notify.c. A block
 *	that ends its turn reads it under the lock of its shard, and blocks_evict()
 *	takes each of these behind its setting, so that none is cached after that
 * @lock: guards all below; taken inside a shard's
 * @passed: ranges that have been let through by a block
 * @starved: touches that wait for a block, where none may go down unmodified; whether
 *	there are any is read without the lock, too
 * @reserve: a block for starved touches if there is no memory, or NULL while it is in
 *	use, and where touches may go down unmodified
 */
struct align_blocks {
	struct align_shard shard[ALIGN_SHARDS];
	struct align_area *area;
	struct rb_root_cached long_ranges;
	atomic64_t turns;
	atomic_t nr;
	unsigned int max;
	struct align_quota quota;
	atomic64_t bytes;
	atomic64_t bytes_high;
	struct delayed_work expire;
	struct delayed_work calm;
	struct work_struct go_on;
	struct align_block *fresh[ALIGN_FRESH_BLOCKS];
	struct work_struct pass;
	struct work_struct feed;
	atomic_t nr_shown;
	atomic_t nr_over;
	bool asleep;

	spinlock_t lock;	/* guards all below */
	struct list_head passed;
	struct list_head starved;
	struct align_block *reserve;
};

#ifdef CONFIG_DM_ALIGN_COALESCE
/**
 * struct align_held - held touches, and the waiters for them
 * @nr_resting: number of blocks in the shards' @resting and @urgent
 * @nr_idle: number of blocks in the shards' @failed
 * @pressed: @nr_resting is too large; a hint, without a lock
 * @drops: number of blocks whose held touches were given up; rises under the lock
 *	of the block's shard
 * @hold_ms: how long a block is held; read without a lock
 * @work: work that writes the blocks which must not be held any longer
 * @due: timer that queues @work when a block has been held for hold_ms
 * @event: work that tells userspace when the target enters or leaves degraded
 * @ends: work that ends waiters where there are very many; not a job, as the workers of
 *	jobs may all wait for the device below
 * @said_degraded: the state that userspace was told last; @event's own
 * @lock: guards all below; taken inside a shard's
 * @holding: touches may be acknowledged when they have been copied
 * @stopped: reasons why @holding is false, as bits
 * @frozen: no held block may be sent, because the device is suspended; read
 *	without the lock
 * @at_rest: woken when a block has nothing more in flight, while @frozen
 * @nr_flushes: flushes that had to wait for held blocks and have not ended; read
 *	without the lock
 * @waiters: flushes, messages and suspends that wait for held blocks
 * @seq: number of the block that began to hold last
 * @drain_seq: held blocks with a number up to this one must be written; read
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
	wait_queue_head_t at_rest;
	unsigned int nr_flushes;
	struct align_waiters waiters;
	u64 seq;
	u64 drain_seq;
	unsigned int nr;
	unsigned int nr_failed;
};
#endif

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
 * @spare: memory for reads of held blocks
 * @delay: blocks that wait a moment for the rest of a stream
 * @quiet: writes where no block is in memory
 * @blocks: the blocks that have touches, are held or are cached
 * @held: held touches
 * @cursor: kind and shards from which the drain takes its next block; its own
 * @endings: a waiter for each notifier
 * @bounces: logical blocks of the device below that are read for parts of them; NULL
 *	where the target offers no smaller ones
 * @streams: ends of recent writes
 */
struct align_engine {
	struct align_jobs jobs;
	struct align_spare spare;
	struct align_delay delay;
	struct align_quiet quiet;
	struct align_blocks blocks;
#ifdef CONFIG_DM_ALIGN_COALESCE
	struct align_held held;
	struct drain_cursor cursor;
	struct align_waiter endings[ALIGN_ENDINGS];
#endif
	struct align_bounces *bounces;
	struct align_streams streams;
};

#endif
