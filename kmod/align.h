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
#include "geometry.h"
#include "ledger.h"
#include "range.h"

#define DM_MSG_PREFIX "align"

/* Default ceiling of the memory for blocks, bytes; max_blocks follows from it. */
#define ALIGN_DEFAULT_MEMORY	(16U << 20)
/* Largest max_blocks. */
#define ALIGN_MAX_MAX_BLOCKS	262144
/*
 * How long the content of a block just written stays known. Longer than the
 * pauses of a log that syncs every record on a slow drive (two revolutions of
 * 11 ms a record, or a group commit every 100 to 200 ms); short enough that
 * content does not outlive the activity that it is kept for.
 */
#define ALIGN_KNOWN_MS		500

struct align_block;
struct align_node;

/**
 * struct align_gate - stops changes while the mode changes
 * @users: writes, discards and write-zeroes between map and end_io
 * @drained: completed when @users has fallen to 0 behind a closed gate
 * @given_up: a wait for that was ended by a signal; under the change lock
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

/**
 * struct align_blocks - the blocks that have touches or are known
 * @lock: guards all that follows but @max, and the state of every block and
 *	range; taken in any context, interrupts off
 * @tree: blocks by number
 * @ranges: registered ranges
 * @known: blocks whose content is known and that have no touch, oldest first
 * @nr: blocks allocated
 * @max: most blocks; read without the lock
 * @expire: ends what has been known for too long
 * @wq: carries on what an interrupt or a full stack cannot
 */
struct align_blocks {
	spinlock_t lock;	/* guards all below, blocks and ranges */
	struct rb_root tree;
	struct rb_root_cached ranges;
	struct list_head known;
	unsigned int nr;
	unsigned int max;
	struct delayed_work expire;
	struct workqueue_struct *wq;
};

/**
 * struct align_target - one target of one table
 * @ti: its dm_target
 * @dev: the device below
 * @start: first sector of the range on it
 * @geometry: the blocks; never changes
 * @offset_unknown: the kernel says misaligned and no alignment_offset is given
 * @given: what the table line or a message has set, and a table line shows
 * @suggested: io_min of a large-unit SSD, a better P than the drive's, or 0
 * @mode: changes under @change_lock with the gate closed
 * @change_lock: one change of the mode at a time
 * @gate: see there
 * @blocks: see there
 * @pieces: bios for runs that have to be cut and for touches that go down as
 *	they came; allocated without waiting, or where the last one has been sent
 * @devt: the mapped device's number
 * @node: the mapped device's, with the ledger
 * @ledger: the ledger in it
 * @node_list: in the node's list of targets, under the node's lock
 * @index: place among the align targets of its table
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
	} given;
	unsigned int suggested;
	enum align_mode mode;
	struct mutex change_lock;	/* one change of mode at a time */
	struct align_gate gate;
	struct align_blocks blocks;
	struct bio_set pieces;
	dev_t devt;
	struct align_node *node;
	struct ledger *ledger;
	struct list_head node_list;
	unsigned int index;
};

/**
 * struct align_touch - one partial touch of one write
 * @list: in one of its block's lists, under the blocks' lock
 * @io: the write
 * @part: the sectors covered
 * @iter: their bytes in the write's bio
 * @how: how it was resolved; set before the write's part for it ends
 * @block: that serves it, once it goes down as it came
 */
struct align_touch {
	struct list_head list;
	struct align_io *io;
	struct align_part part;
	struct bvec_iter iter;
	enum rmw_how how;
	struct align_block *block;
};

/**
 * struct align_io - per-bio data: one write, discard or write-zeroes
 * @at: the target
 * @bio: the clone that dm gave us; its iterator stays as it came
 * @start_ns: when it came
 * @change: it may change data, and end_io has to account for it
 * @entered: it holds a reference on the gate
 * @counted: it stands in the ledger
 * @in_range: @range is registered
 * @split_up: it went down in parts, @bio did not go down itself
 * @nr_touches: how many of @touch are its partial touches
 * @parts: parts that have not ended, one of them the submitter's own
 * @status: first error of a part
 * @range: what goes down without a block's buffer
 * @pieces: requests of the run that have not ended, one of them the sender's
 * @run_sector: where the next piece of the run starts
 * @run_left: sectors of the run not yet sent
 * @run_iter: their bytes in @bio
 * @work: maps it after the gate, or sends the run, from process context
 * @run: the last piece of the run, so that sending it needs no memory
 * @touch: the partial touches
 */
struct align_io {
	struct align_target *at;
	struct bio *bio;
	u64 start_ns;
	bool change;
	bool entered;
	bool counted;
	bool in_range;
	bool split_up;
	unsigned int nr_touches;
	atomic_t parts;
	blk_status_t status;
	struct align_range range;
	atomic_t pieces;
	sector_t run_sector;
	sector_t run_left;
	struct bvec_iter run_iter;
	struct work_struct work;
	struct bio run;
	struct align_touch touch[ALIGN_MAX_TOUCHES];
};

/* Flags of a write that a bio made from it keeps. */
#define ALIGN_KEPT_FLAGS	(REQ_SYNC | REQ_META | REQ_PRIO | REQ_IDLE | \
				 REQ_BACKGROUND | REQ_SWAP)
/* Flags of a bio that one made from it must not have. */
#define ALIGN_DROPPED_FLAGS	(REQ_NOWAIT | REQ_POLLED | REQ_RAHEAD)

/* target.c */
extern const char * const align_mode_names[];

/* write.c */
int align_engine_map(struct align_io *io);
int align_again(struct align_io *io);
void align_io_count(struct align_io *io, const struct align_split *split,
		    bool over);
void align_io_resolve(struct align_io *io);
void align_io_put(struct align_io *io, blk_status_t status);
bool align_over_limits(struct align_io *io);
void align_get_limits(const struct align_target *at, struct align_limits *lim);

#endif
