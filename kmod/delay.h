/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks that wait a moment for a write that may complete them.
 */
#ifndef DM_ALIGN_DELAY_H
#define DM_ALIGN_DELAY_H

#include <linux/hrtimer.h>

#include "job.h"

struct align_block;

/**
 * struct align_delay - the delayed blocks of a target
 * @jobs: where blocks go when the delay is over
 * @start: starts the block in COLLECT whose job it is
 * @writes: writes with partial touches that have not ended
 * @lock: guards all below; taken inside a shard's
 * @blocks: blocks in COLLECT that wait for the rest of a stream
 * @nr: number of blocks in @blocks; read without the lock
 * @timer: ends the delay of all of them
 * @over: so many of them, from the front, do not wait any more: a touch that completes
 *	one of these makes it one too many, and a younger one goes with them
 * @work: queues those for the workers, in batches
 */
struct align_delay {
	struct align_jobs *jobs;
	align_job_fn start;
	atomic_t writes;
	spinlock_t lock;	/* guards all below */
	struct list_head blocks;
	unsigned int nr;
	struct hrtimer timer;
	unsigned int over;
	struct work_struct work;
};

void delay_init(struct align_delay *delay, struct align_jobs *jobs,
		align_job_fn start);
void delay_exit(struct align_delay *delay);
bool delay_add(struct align_delay *delay, struct align_block *block,
	       bool always);
void delay_remove(struct align_delay *delay, struct align_block *block,
		  struct list_head *started);
void delay_end_early(struct align_delay *delay);

#endif
