/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a mapped device that outlives its tables: the ledger, the epoch,
 * and the files in sysfs.
 */
#ifndef DM_ALIGN_NODE_H
#define DM_ALIGN_NODE_H

#include <linux/mutex.h>

#include "align.h"

struct align_files;

/**
 * struct align_slot - P and files of the align target at one index of a table
 * @physical: P when a table with it was last resumed, 0 if never
 * @files: files of the target in sysfs, or NULL
 */
struct align_slot {
	unsigned int physical;
	struct align_files *files;
};

/* Most align targets of one table that have files and epochs of their own. */
#define ALIGN_NODE_SLOTS	64

/**
 * struct align_node - one mapped device with align targets
 * @list: entry in the list of nodes; under its lock, like @refs
 * @refs: number of targets, of all tables
 * @md: the mapped device
 * @disk: its disk
 * @ledger: the ledger of the mapped device
 * @lock: guards @targets, @live, @epoch and the physical sizes in @slots; no
 *	sleeping, and never held while files are made or removed, because
 *	reading a file takes it
 * @leave_lock: held, with @lock inside, while a target joins or leaves; its
 *	holder may use all targets, and sleep, but not for a request or for memory
 * @targets: align targets of all tables; changes under both locks
 * @live: the table that was resumed last, or NULL; not to be dereferenced
 * @epoch: number of the epoch, from 1; a table with another P begins a new one
 * @has_cache: the device had a volatile write cache when it got its present table;
 *	dm resumes a device in one context at a time
 * @unflushed: an opener may have looked while the device had no volatile write
 *	cache, and then sends no flushes. node_sees_cache() sets it without a lock,
 *	and only node_is_flushed() clears it, when no opener has the device
 * @publish_lock: guards @files and the files in @slots
 * @files: the files of the device itself, or NULL
 * @slots: slots, by a target's index
 */
struct align_node {
	struct list_head list;
	unsigned int refs;
	struct mapped_device *md;
	struct gendisk *disk;
	struct ledger ledger;
	spinlock_t lock;	/* guards targets, live, epoch, sizes */
	struct mutex leave_lock;	/* keeps the targets */
	struct list_head targets;
	struct dm_table *live;
	u64 epoch;
#ifdef CONFIG_DM_ALIGN_COALESCE
	bool has_cache;
	bool unflushed;
#endif
	struct mutex publish_lock;	/* guards files */
	struct align_files *files;
	struct align_slot slots[ALIGN_NODE_SLOTS];
};

int node_join(struct align_target *at);
void node_leave(struct align_target *at);
void node_go_live(struct align_target *at);

#ifdef CONFIG_DM_ALIGN_COALESCE

/* cache.c */
void node_note_cache(struct align_node *node);
void node_look_for_openers(struct align_node *node);
bool node_is_flushed(struct align_node *node);
bool node_misses_cache(struct align_node *node);

/**
 * node_sees_cache - look at the live queue's write cache, and remember
 * @node: the device
 *
 * See node_misses_cache(). Any context.
 *
 * Return: false if the queue has no volatile write cache now.
 */
static inline bool node_sees_cache(struct align_node *node)
{
	return bdev_write_cache(node->disk->part0) || node_misses_cache(node);
}

#else

static inline void node_note_cache(struct align_node *node)
{
}

static inline void node_look_for_openers(struct align_node *node)
{
}

static inline void node_sees_cache(struct align_node *node)
{
}

#endif

/* sysfs.c */
void sysfs_publish(struct align_node *node, unsigned int index);
void sysfs_withdraw(struct align_node *node);

#endif
