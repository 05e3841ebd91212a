/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for reads that must not go to the buffers of their blocks, because these
 * hold something.
 */
#ifndef DM_ALIGN_SPARE_H
#define DM_ALIGN_SPARE_H

#include "job.h"

struct align_target;
struct bio_vec;

/* Most runs that may read into memory of their own at a time. */
#define SPARE_MAX_RUNS	16

/**
 * struct align_spare - the spare memory of a target
 * @lock: guards all below but @vecs, which never changes; taken inside a shard's
 * @vecs: the reserve: room for one block, for when no memory can be had; NULL in a
 *	target that can only count
 * @busy: the reserve is in use
 * @runs: number of runs in flight that have memory of their own; it comes on top
 *	of max_blocks
 * @starved: jobs that wait for the reserve, oldest first
 * @jobs: where they are queued when it is their turn
 * @room: work that is queued, on the workqueue of @jobs, when another run may have
 *	memory of its own
 */
struct align_spare {
	spinlock_t lock;	/* guards all below but vecs */
	struct bio_vec *vecs;
	bool busy;
	unsigned int runs;
	struct list_head starved;
	struct align_jobs *jobs;
	struct work_struct *room;
};

int spare_init(struct align_spare *spare, const struct align_target *at,
	       struct align_jobs *jobs, struct work_struct *room);
void spare_exit(struct align_spare *spare, const struct align_target *at);
bool spare_has_room(struct align_spare *spare);
bool spare_get(struct align_spare *spare);
void spare_put(struct align_spare *spare);
struct bio_vec *spare_get_reserve(struct align_spare *spare,
				  struct align_job *job);
void spare_put_reserve(struct align_spare *spare);
void spare_wake(struct align_spare *spare);

#endif
