// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Jobs
 *
 * Steps that need process context are jobs, and 64 work items of the target
 * serve their queue.
 *
 * Blocks, runs of blocks and writes come from slabs and end while a step of
 * theirs still runs: a step submits a bio, the bio ends, and its end frees the
 * object that the step belongs to, or the step itself frees the object before
 * it submits. Submitting may sleep, for a tag or in a target below. So such an
 * object must not hold a work_struct. Another target may get its memory, and
 * queue a work item there with the same function; the workqueue takes that for
 * the item that still runs (find_worker_executing_work()) and queues it behind
 * the sleeper: one device waits for another one's disk, and if that disk lies
 * on the first device, for ever.
 *
 * Work items therefore lie in the target, which destroys its workqueue before
 * it is freed. They serve a queue of jobs, which the kernel's workqueues know
 * nothing of. A worker takes a job off the queue before it runs the job, and
 * does not look at the job afterwards. Unlike a work item, a job that is queued
 * again while it still runs may run at the same time on another worker: a step
 * must not touch its object after the call that makes the next step possible.
 */
#include <linux/sched.h>

#include "job.h"

static void jobs_work(struct work_struct *work)
{
	struct align_worker *worker =
		container_of(work, struct align_worker, work);
	struct align_jobs *jobs = worker->jobs;
	struct align_job *job;

	for (;;) {
		spin_lock_irq(&jobs->lock);
		job = list_first_entry_or_null(&jobs->todo, struct align_job,
					       list);
		if (!job)
			break;
		list_del(&job->list);
		spin_unlock_irq(&jobs->lock);

		job->func(job);
		cond_resched();
	}
	__set_bit(worker - jobs->worker, jobs->idle);
	spin_unlock_irq(&jobs->lock);
}

/**
 * job_queue - run a job in process context
 * @jobs: the target's queue
 * @job: a job that is not queued
 *
 * Any context. If all workers are busy, the first that ends a job takes it:
 * what they sleep for comes without the help of any job.
 */
void job_queue(struct align_jobs *jobs, struct align_job *job)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&jobs->lock, flags);
	list_add_tail(&job->list, &jobs->todo);
	i = find_first_bit(jobs->idle, ALIGN_WORKERS);
	if (i < ALIGN_WORKERS) {
		__clear_bit(i, jobs->idle);
		queue_work(jobs->wq, &jobs->worker[i].work);
	}
	spin_unlock_irqrestore(&jobs->lock, flags);
}

/**
 * jobs_init - create a target's workqueue and its workers
 * @jobs: the queue, zeroed
 *
 * Return: 0 or -ENOMEM.
 */
int jobs_init(struct align_jobs *jobs)
{
	unsigned int i;

	spin_lock_init(&jobs->lock);
	INIT_LIST_HEAD(&jobs->todo);
	bitmap_fill(jobs->idle, ALIGN_WORKERS);
	for (i = 0; i < ALIGN_WORKERS; i++) {
		INIT_WORK(&jobs->worker[i].work, jobs_work);
		jobs->worker[i].jobs = jobs;
	}
	jobs->wq = alloc_workqueue("dm-align", WQ_MEM_RECLAIM | WQ_UNBOUND |
				   WQ_HIGHPRI, WQ_MAX_ACTIVE);
	return jobs->wq ? 0 : -ENOMEM;
}

/**
 * jobs_exit - run the queued jobs, and destroy the workqueue
 * @jobs: the queue; no job comes any more
 */
void jobs_exit(struct align_jobs *jobs)
{
	destroy_workqueue(jobs->wq);
	WARN_ON(!list_empty(&jobs->todo));
	jobs->wq = NULL;
}
