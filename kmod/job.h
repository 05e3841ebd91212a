/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs: steps of the engine that need process context.
 */
#ifndef DM_ALIGN_JOB_H
#define DM_ALIGN_JOB_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

/* Jobs of one target that may sleep in the device below at the same time. */
#define ALIGN_WORKERS	64

struct align_job;
struct align_jobs;

typedef void (*align_job_fn)(struct align_job *job);

/**
 * struct align_job - one step, embedded in the object that it is a step of
 * @list: place in jobs->todo while queued
 * @func: takes the step; may free the object, @job included, at any time
 */
struct align_job {
	struct list_head list;
	align_job_fn func;
};

/**
 * struct align_worker - runs jobs one after the other
 * @work: the work item
 * @jobs: the queue that it serves
 */
struct align_worker {
	struct work_struct work;
	struct align_jobs *jobs;
};

/**
 * struct align_jobs - the queue of jobs of one target
 * @wq: runs the workers
 * @lock: guards @todo and @idle; the innermost lock, taken in any context
 * @todo: queued jobs, oldest first
 * @idle: workers that will not look at @todo again unless their work is queued
 * @worker: the workers
 */
struct align_jobs {
	struct workqueue_struct *wq;
	spinlock_t lock;	/* guards todo and idle */
	struct list_head todo;
	DECLARE_BITMAP(idle, ALIGN_WORKERS);
	struct align_worker worker[ALIGN_WORKERS];
};

static inline void job_init(struct align_job *job, align_job_fn func)
{
	job->func = func;
}

void job_queue(struct align_jobs *jobs, struct align_job *job);
int jobs_init(struct align_jobs *jobs);
void jobs_exit(struct align_jobs *jobs);

#endif
