/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Structures that the parts of the target share: the target, and one write on its way
 * through it.
 */
#ifndef DM_ALIGN_H
#define DM_ALIGN_H

#include <linux/bio.h>
#include <linux/device-mapper.h>

#include "geometry.h"
#include "ledger.h"
#include "mode.h"
#ifdef CONFIG_DM_ALIGN_PAD
#include "engine.h"
#endif

#define DM_MSG_PREFIX "align"

/* Largest override that is advertised as physical_block_size, bytes. */
#define ALIGN_MAX_CLAIMED	4096

struct align_node;

/**
 * struct align_target - one target of one table
 * @ti: its dm_target
 * @dev: the device below
 * @start: first sector of the range on it
 * @geometry: where physical blocks lie; never changes
 * @offset_unknown: the kernel says misaligned and no alignment_offset is given
 * @lower_mask: sectors of a logical block of the device below, less one, if the target
 *	offers smaller ones; else 0
 * @given: the arguments that the table line or a message has set, and that
 *	STATUSTYPE_TABLE shows
 * @suggested: io_min of a large-unit SSD, a better P than the drive's, or 0
 * @mode: changes under @change_lock with the gate closed
 * @devt: the mapped device's number
 * @index: position among the align targets of its table
 * @node: the mapped device's node
 * @ledger: the ledger in @node
 * @node_list: entry in the node's list of targets, under the node's lock
 * @change_lock: one change of the mode at a time
 * @gate: gate that every change of data passes
 * @engine: the engine, which serves writes in the fixing modes
 * @pieces: bios for remainders that have to be cut and for touches that go down
 *	unmodified; allocated without waiting, or where the last one has been
 *	sent
 * @joined: bios for a remainder and the blocks in front of it; never waited
 *	for, as a worker sends a bio that failed once more
 * @all: entry in the list of all targets, for the notifiers; under its lock
 * @walked: entry in the list of all targets, for the shrinker; under its lock
 */
struct align_target {
	struct dm_target *ti;
	struct dm_dev *dev;
	sector_t start;
	struct align_geometry geometry;
	bool offset_unknown;
#ifdef CONFIG_DM_ALIGN_PAD
	u32 lower_mask;
#endif
	struct {
		bool mode;
		bool physical;
		bool offset;
#ifdef CONFIG_DM_ALIGN_PAD
		bool logical;
		bool max_blocks;
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
		bool write_cache;
		bool write_cache_on;
		bool hold_ms;
#endif
	} given;
	unsigned int suggested;
	enum align_mode mode;
	dev_t devt;
	unsigned int index;
	struct align_node *node;
	struct ledger *ledger;
	struct list_head node_list;
#ifdef CONFIG_DM_ALIGN_PAD
	struct mutex change_lock;	/* one change of mode at a time */
	struct align_gate gate;
	struct align_engine engine;
	struct bio_set pieces;
	struct bio_set joined;
	struct list_head all;
	struct list_head walked;
#endif
};

/**
 * struct align_touch - one partial touch of one write or write-zeroes
 * @part: the sectors that the write covers in the block
 * @how: how the touch was resolved; set before the write's part for it ends
 * @late: the touch ends a write of a stream, whose next write may complete the
 *	block
 * @cut: the touch ends write-zeroes that the block layer has cut, and the next
 *	part comes
 * @held: the touch was copied and acknowledged; it is resolved with its block
 * @starved: the touch has waited for memory: see starved.c
 * @crowded: the touch was refused because very many ranges are in flight over its block
 * @list: entry in one of its block's lists, under the lock of the block's shard, or in
 *	blocks->starved
 * @io: the write
 * @idx: where the bytes of @part begin in the write's bio: bi_idx of an iterator
 * @done: and its bi_bvec_done; write-zeroes have no bytes
 * @block: the block that serves the touch, NULL before there is one
 * @fresh: a block for it if there is none, allocated before the lock is taken
 */
struct align_touch {
	struct align_part part;
	enum rmw_how how : 8;
#ifdef CONFIG_DM_ALIGN_PAD
	bool late;
	bool cut;
	bool held;
	bool starved;
	bool crowded;
	unsigned int idx;
	unsigned int done;
	struct list_head list;
	struct align_io *io;
	struct align_block *block;
	struct align_block *fresh;
#endif
};

#ifdef CONFIG_DM_ALIGN_COALESCE
/* Held blocks that a read can pin without memory. */
#define ALIGN_FEW_PINS		2

/**
 * struct align_pin - a held block of which a read takes bytes when it ends
 * @block: the pinned block
 * @held_map: the sectors of @block that were held when the read was mapped
 */
struct align_pin {
	struct align_block *block;
	unsigned long held_map[];
};

/* Longs of a pin of the largest block: the pointer, and the bitmap. */
#define ALIGN_PIN_LONGS		(1 + BITS_TO_LONGS(ALIGN_MAX_FIXED_SECTORS))
#endif

/**
 * struct align_write - a write, discard or write-zeroes on its way
 * @start_ns: time of arrival
 * @nr_touches: how many of @touch are its partial touches
 * @counted: the ledger has counted the bio
 * @entered: the bio has a reference on the gate
 * @awaited: delay->writes has counted the bio
 * @quiet: the bio is counted in @area and not registered
 * @area: if @quiet
 * @in_range: @range is registered
 * @may_hold: the touches may be acknowledged when copied
 * @split_up: the bio went down in parts, and not itself
 * @waited: the ledger has counted the bio among those that waited
 * @status: first error of a part
 * @parts: parts that have not ended, one of them the submitter's own
 * @pieces: requests of the range that have not ended, one of them the sender's
 * @drops: held->drops when the touches came to their blocks
 * @span: the shards of the blocks that the bio touches
 * @left_shard: the range has ended in the shards below this one
 * @left_number: in @left_shard the range has ended at the blocks below this number; both
 *	change under the locks of the range's shards
 * @range: the blocks of the range, in the tree of their shard, of both of their
 *	shards, or of the long ranges
 * @stamp: blocks->turns when the range was registered: it waits for the blocks whose
 *	turn is not above
 * @start: first sector of the range, which is the remainder or a part of it
 * @end: the sector after the last one of the range
 * @behind: sectors of the remainder behind the range, which become the next range
 *	when this one has ended
 * @wait: entry in the list of a block that the range waits for, or in blocks->passed
 * @wait_number: the range waits for no block below this number in the shard @wait_shard
 * @wait_shard: the range waits for no block in the shards below this one, either
 * @unsent: sectors of the range that have not been sent, and their bytes in the bio
 * @joined: whole blocks in WRITE that go down with the first piece
 * @joined_bio: the request of the blocks in @joined and the first piece
 * @joined_iter: the first piece: sectors, and their bytes in the bio
 * @nr_joined: number of blocks in @joined
 * @apart: resends blocks and piece one by one, if @joined_bio failed
 * @last_piece: the last piece of the remainder, so that sending it needs no memory
 * @touch: the partial touches
 */
struct align_write {
	u64 start_ns;
	u8 nr_touches;
	bool counted;
#ifdef CONFIG_DM_ALIGN_PAD
	bool entered;
	bool awaited;
	bool quiet;
	u8 area;
	bool in_range;
	bool may_hold;
	bool split_up;
	bool waited;
	blk_status_t status;
	atomic_t parts;
	atomic_t pieces;
	int drops;
	struct shard_span span;
	unsigned int left_shard;
	u64 left_number;
	struct align_range range[2];
	u64 stamp;
	u64 start;
	u64 end;
	sector_t behind;
	struct list_head wait;
	u64 wait_number;
	unsigned int wait_shard;
	struct bvec_iter unsent;
	struct list_head joined;
	struct bio *joined_bio;
	struct bvec_iter joined_iter;
	unsigned int nr_joined;
	struct align_job apart;
	struct bio last_piece;
#endif
	struct align_touch touch[ALIGN_MAX_TOUCHES];
};

#ifdef CONFIG_DM_ALIGN_COALESCE
/**
 * struct align_flush - a flush
 * @waiter: waits for the blocks that were held when the flush came
 */
struct align_flush {
	struct align_waiter waiter;
};

#endif

#ifdef CONFIG_DM_ALIGN_PAD
/**
 * struct align_read_end - an end of a read, inside a logical block of the device below
 * @list: entry in a list of the bounce that serves it, or in bounces->starved
 * @io: the read
 * @start: first sector, on the device below
 * @sectors: its length, at most the block's
 */
struct align_read_end {
	struct list_head list;
	struct align_io *io;
	u64 start;
	u32 sectors;
};

/**
 * struct align_read - a read of a target that holds something, or offers smaller blocks
 * @iter: the bytes of the read in the bio
 * @parts: parts that have not ended, one of them the submitter's own
 * @status: first error of a part
 * @end: the ends
 * @start: first sector of the middle, between the ends
 * @sectors: length of the middle
 * @middle: the request for the middle
 * @nr_pins: number of held blocks that it covers
 * @pins: the pins of these blocks, struct align_pin one behind the other: @few_pins,
 *	or allocated
 * @few_pins: room for the pins of most reads
 */
struct align_read {
	struct bvec_iter iter;
	atomic_t parts;
	blk_status_t status;
	struct align_read_end end[2];
	u64 start;
	u32 sectors;
	struct bio middle;
#ifdef CONFIG_DM_ALIGN_COALESCE
	unsigned int nr_pins;
	void *pins;
	unsigned long few_pins[ALIGN_FEW_PINS * ALIGN_PIN_LONGS];
#endif
};
#endif

/**
 * struct align_io - per-bio data of a bio that the target maps
 * @at: the target
 * @bio: dm's clone; its iterator is never changed
 * @change: @bio may change data, and end_io has to account for it
 * @held_flush: @bio is a flush that had to wait for held blocks
 * @job: maps @bio after the gate, or sends the remainder, the flush or the middle of a
 *	read
 * @write: if @change
 * @flush: if @held_flush
 * @read: of others
 */
struct align_io {
	struct align_target *at;
	struct bio *bio;
	bool change;
#ifdef CONFIG_DM_ALIGN_COALESCE
	bool held_flush;
#endif
#ifdef CONFIG_DM_ALIGN_PAD
	struct align_job job;
#endif
	union {
		struct align_write write;
#ifdef CONFIG_DM_ALIGN_PAD
		struct align_read read;
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
		struct align_flush flush;
#endif
	};
};

/* The longs of a bitmap that has a bit for each sector of a block. */
static inline unsigned int block_map_longs(const struct align_target *at)
{
	return BITS_TO_LONGS(align_block_sectors(&at->geometry));
}

/* Note that a touch goes down as it came. */
static inline void touch_passes(struct align_touch *touch,
				const struct align_part *part, enum rmw_how how)
{
	touch->part = *part;
	touch->how = how;
#ifdef CONFIG_DM_ALIGN_PAD
	touch->held = false;
#endif
}

#ifdef CONFIG_DM_ALIGN_PAD
/* The sectors of a touch, and their bytes in the write's bio. */
static inline struct bvec_iter touch_iter(const struct align_touch *touch)
{
	const struct align_geometry *g = &touch->io->at->geometry;

	return (struct bvec_iter) {
		.bi_sector = align_block_start(g, touch->part.block) +
			     touch->part.first,
		.bi_size = touch->part.count << SECTOR_SHIFT,
		.bi_idx = touch->idx,
		.bi_bvec_done = touch->done,
	};
}
#endif

/* Whether a touch is resolved with its block, and not with its write. */
static inline bool touch_is_held(const struct align_touch *touch)
{
#ifdef CONFIG_DM_ALIGN_PAD
	return touch->held;
#else
	return false;
#endif
}

#ifdef CONFIG_DM_ALIGN_PAD
/* Whether a target offers logical blocks that are smaller than those of its device. */
static inline bool align_offers_smaller(const struct align_target *at)
{
	return at->lower_mask;
}
#endif

/* Tell whether a bio is write-zeroes, which have no data and no bvecs. */
static inline bool align_io_is_zeroes(const struct align_io *io)
{
	return bio_op(io->bio) == REQ_OP_WRITE_ZEROES;
}

#ifdef CONFIG_DM_ALIGN_PAD
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

#endif
