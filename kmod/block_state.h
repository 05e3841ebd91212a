/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures that the parts of the engine share: one physical block, and a run of
 * neighbours on its way to or from the device below. The rules are on top of
 * turn.c and held.c.
 */
#ifndef DM_ALIGN_BLOCK_STATE_H
#define DM_ALIGN_BLOCK_STATE_H

#include "block.h"
#include "buffer.h"
#include "compat.h"
#include "shard.h"

/**
 * struct block_run - neighbouring blocks that are read or written as one
 * @at: the target
 * @blocks: the blocks, ascending, through block->list
 * @nr: number of blocks
 * @spare: bytes of memory that are this run's own, beside the buffers of its
 *	blocks; 0 for the reserve
 * @job: takes the next step in process context: that of the run, or of @single,
 *	the start of its block
 * @bio: the request: the read, then the write
 * @vecs: the memory that @bio reads into or writes from
 *
 * The run belongs to the owner of its blocks: the thread that took them out of
 * COLLECT or READ, or the bio.
 */
struct block_run {
	struct align_target *at;
	struct list_head blocks;
	unsigned int nr;
	unsigned int spare;
	struct align_job job;
	struct bio bio;
	struct bio_vec *vecs;
};

/**
 * enum block_map - the bitmaps of a block, of as many bits as a block has sectors
 * @BLOCK_HELD_MAP: sectors of the buffer that hold acknowledged touches
 * @BLOCK_COVERED: sectors that the held map and the block's touches cover; where a
 *	read may look for them, from @patched on those of the touches that are in the
 *	buffer
 * @BLOCK_TOUCHED: sectors that the touches of this turn cover
 * @BLOCK_NEXT_COVERED: sectors that the touches in @next cover
 * @BLOCK_MAPS: number of bitmaps
 */
enum block_map {
	BLOCK_HELD_MAP,
	BLOCK_COVERED,
	BLOCK_TOUCHED,
	BLOCK_NEXT_COVERED,
	BLOCK_MAPS,
};

/**
 * struct align_block - one physical block in memory; see the top of turn.c
 * @rb: node in the shard's tree
 * @number: number of the block
 * @state: state; the top of turn.c has the transitions
 * @valid: the buffer held the content that a read would return before @touches
 *	came
 * @was_valid: value of @valid when this turn began
 * @has_read: the pad read of this turn was sent, and has not failed
 * @unread: the pad read of this turn has failed, and nothing was written
 * @late: a write of a stream ends in the block, and the next may complete it
 * @cut: the block layer cut write-zeroes in the block; their rest is sent next
 * @delayed: COLLECT: the block is in delay->blocks
 * @patched: WRITE, PASS: the buffer has bytes of @touches
 * @shown: WRITE, PASS: a read has found such bytes, so reads that come now take
 *	them from the buffer, too
 * @over: WAIT: ranges are in flight over held touches
 * @failed: the write of the held touches failed
 * @gone: the block has left the tree, and only pins keep it
 * @reserved: the block is the reserve, which serves one turn at a time
 * @pass_status: PASS: first error of a request
 * @blockers: WAIT: number of ranges that have to end first; the writes that are
 *	counted in its area are one of them while the block is in area->blocks
 * @waiting: number of ranges that wait for this block
 * @queue: the waiting ranges that wait for no block in front of this one
 * @turn: blocks->turns when the block last let ranges through, or was passed by one,
 *	or was made
 * @passing: PASS: number of requests in flight
 * @pins: number of reads that will take bytes from the buffer when they end
 * @touches: the touches of this turn
 * @next: touches that came too late for this turn
 * @next_late: @late for the turn of @next
 * @next_cut: @cut for the turn of @next
 * @list: entry in a list: WAIT: in area->blocks; COLLECT: of the context that
 *	will start the block;
 *	READ, WRITE: in its run; REST: in shard->urgent; CACHED: in shard->cached;
 *	otherwise in none
 * @rest: REST: node in shard->resting or failed, if not in shard->urgent
 * @place: placement (write hint, stream) of the newest held touch
 * @held: number of touches acknowledged and not on the device
 * @held_data: one of the held touches is of a write, not of write-zeroes
 * @row: REST, with all sectors held: how many such blocks lie in a row up to this one
 * @by_age: entry in shard->by_age, while @held
 * @seq: number of the block among those that began to hold, from held->seq
 * @held_ns: time of arrival of the first held touch
 * @since: time in jiffies when the block became cached, or held, or failed last
 * @single: run for a read or write of this block alone, which needs no memory
 * @vecs: the buffer, an entry for each piece; behind @maps
 * @maps: the bitmaps of enum block_map, each of block_map_longs()
 */
struct align_block {
	struct rb_node rb;
	u64 number;
	enum block_state state : 8;	/* There are very many blocks. */
	bool valid;
	bool was_valid;
	bool has_read;
	bool unread;
	bool late;
	bool cut;
	bool next_late;
	bool next_cut;
	bool delayed;
	bool patched;
	bool shown;
	bool over;
	bool failed;
	bool gone;
	bool reserved;
	bool held_data;
	struct align_placement place;
	u16 row;
	blk_status_t pass_status;
	unsigned int blockers;
	unsigned int waiting;
	struct list_head queue;
	u64 turn;
	unsigned int passing;
	unsigned int pins;
	unsigned int held;
	struct list_head touches;
	struct list_head next;
	struct list_head list;
	struct rb_node rest;
	struct list_head by_age;
	u64 seq;
	u64 held_ns;
	unsigned long since;
	struct block_run single;
	struct bio_vec *vecs;
	unsigned long maps[];
};

/* The shard of a block. */
static inline struct align_shard *block_shard(const struct align_block *block)
{
	return shard_of(block->single.at, block->number);
}

/* The area of a block. */
static inline struct align_area *block_area(const struct align_block *block)
{
	return area_at(block->single.at,
		       area_index(block->single.at, block->number));
}

/* The sectors of a block, which are the bits of each of its maps. */
static inline unsigned int block_sectors(const struct align_block *block)
{
	return align_block_sectors(&block->single.at->geometry);
}

static inline unsigned long *block_map(const struct align_block *block,
				       enum block_map map)
{
	return (unsigned long *)block->maps +
	       map * block_map_longs(block->single.at);
}

static inline unsigned long *block_held_map(const struct align_block *block)
{
	return block_map(block, BLOCK_HELD_MAP);
}

static inline unsigned long *block_covered(const struct align_block *block)
{
	return block_map(block, BLOCK_COVERED);
}

static inline unsigned long *block_touched(const struct align_block *block)
{
	return block_map(block, BLOCK_TOUCHED);
}

static inline unsigned long *block_next_covered(const struct align_block *block)
{
	return block_map(block, BLOCK_NEXT_COVERED);
}

/* Whether a map has all sectors of a block that lie inside the target. */
static inline bool block_map_is_full(const struct align_block *block,
				     const unsigned long *map)
{
	const struct align_geometry *g = &block->single.at->geometry;
	u32 from, to;

	align_inside(g, block->number, &from, &to);
	return find_next_zero_bit(map, to, from) >= to;
}

/* Tell whether a block needs no read: it is valid or covered. Lock of its shard held. */
static inline bool block_is_whole(const struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	return block->valid ||
	       block_map_is_full(block, block_covered(block));
}

/* Whether a block in REST needs no read. Lock of its shard held. */
static inline bool block_is_all_held(const struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	return block_map_is_full(block, block_held_map(block));
}

/* Let touches that wait for memory try again, if there are some. */
static inline void blocks_serve_starved(struct align_target *at)
{
	struct align_blocks *blocks = &at->engine.blocks;

	if (!list_empty(&blocks->starved))
		queue_work(at->engine.jobs.wq, &blocks->feed);
}

/* The first block of shard->resting or shard->failed, or NULL. shard->lock held. */
static inline struct align_block *
block_rests_first(const struct rb_root_cached *resting)
{
	return rb_entry_safe(rb_first_cached(resting), struct align_block, rest);
}

/* block.c */
int blocks_init(struct align_target *at, unsigned int max);
void blocks_exit(struct align_target *at);
void blocks_schedule_quiet(struct align_target *at);
bool blocks_make_room(struct align_target *at, const struct shard_span *span,
		      struct align_shard *shard);
struct align_block *block_alloc(struct align_target *at, gfp_t gfp);
struct align_block *block_new(struct align_touch *touch, u64 number);
struct align_block *block_take_reserve(struct align_target *at, u64 number);
void block_insert(struct align_block *block);
void block_remove(struct align_block *block);
void block_release(struct align_block *block);
void block_add_cached(struct align_block *block);
void block_remove_cached(struct align_block *block);
void blocks_put_slot(struct align_target *at);
bool block_evict(struct align_shard *shard);
void block_charge(struct align_target *at, s64 bytes);
struct align_block *block_at_or_above(const struct align_shard *shard,
				      u64 number);
struct align_block *block_following(struct align_block *block);

/*
 * Ranges that may touch a block which is made, of one region or of more: those of both
 * blocks of a write are counted under one lock. With more in flight there, a partial
 * touch goes down among them.
 */
#define ORDER_RANGES	(BLOCKS_BATCH / 4)

/* order.c */
unsigned int block_count_ranges(struct align_target *at, u64 number);
void block_lets_pass(struct align_block *block);
u64 range_last(struct align_target *at, const struct shard_span *span,
	       u64 first, u64 last);
void range_wait(struct align_io *io, struct align_block *block);
void block_pass_queue(struct align_block *block);
void ranges_advance(struct work_struct *work);

/* turn.c */
void turn_rest(struct align_block *block);
void turn_take(struct align_block *block, struct list_head *started);
enum block_step turn_begin(struct align_block *block);
void turn_wait_for_memory(struct align_block *block);
enum block_step turn_after_read(struct align_block *block, bool failed);
void block_end_turn(struct align_block *block, struct list_head *ready);
void turns_queue(struct list_head *ready);
void blocks_resume(struct work_struct *work);

/* start.c */
void start_job(struct align_job *job);
void start_now(struct align_target *at, struct list_head *started);

/* run.c */
unsigned int runs_read(struct align_target *at, struct list_head *list,
		       unsigned int nr);
void block_read(struct align_block *block);

#endif
