// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for reads that must not go to the buffers of their blocks.
 *
 * A run that reads such blocks has memory of its own, where that can be had without
 * waiting, SPARE_MAX_RUNS at a time. A block without such memory uses the reserve,
 * which is allocated with the target, one at a time; the others wait for the
 * reserve as jobs.
 */
#include <linux/slab.h>

#include "buffer.h"
#include "spare.h"

/* Queue the first job that waits. spare->lock held. */
static void spare_wake_first(struct align_spare *spare)
{
	struct align_job *job =
		list_first_entry_or_null(&spare->starved, struct align_job,
					 list);

	lockdep_assert_held(&spare->lock);
	if (!job || spare->busy)
		return;
	list_del(&job->list);
	job_queue(spare->jobs, job);
}

/**
 * spare_wake - let the next job try that waits for the reserve
 * @spare: the spare memory
 *
 * Memory that becomes free wakes one job only. When that job has run, it has its memory
 * or waits again: so it calls spare_wake() for the next one, as may any other. A job that
 * comes to wait behind the look at the list does so because the reserve is in use, whose
 * return wakes it.
 */
void spare_wake(struct align_spare *spare)
{
	unsigned long flags;

	if (list_empty(&spare->starved))
		return;
	spin_lock_irqsave(&spare->lock, flags);
	spare_wake_first(spare);
	spin_unlock_irqrestore(&spare->lock, flags);
}

/* Tell whether another run may have memory of its own. If not, @room is queued. */
bool spare_has_room(struct align_spare *spare)
{
	unsigned long flags;
	bool has;

	spin_lock_irqsave(&spare->lock, flags);
	has = spare->runs < SPARE_MAX_RUNS;
	spin_unlock_irqrestore(&spare->lock, flags);
	return has;
}

/**
 * spare_get - reserve the right of a run to memory of its own
 * @spare: the spare memory
 *
 * Return: false if SPARE_MAX_RUNS runs have it.
 */
bool spare_get(struct align_spare *spare)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&spare->lock, flags);
	may = spare->runs < SPARE_MAX_RUNS;
	if (may)
		spare->runs++;
	spin_unlock_irqrestore(&spare->lock, flags);
	return may;
}

/**
 * spare_put - give back the right of spare_get()
 * @spare: the spare memory
 */
void spare_put(struct align_spare *spare)
{
	unsigned long flags;

	spin_lock_irqsave(&spare->lock, flags);
	if (spare->runs-- == SPARE_MAX_RUNS) {
		spare_wake_first(spare);
		queue_work(spare->jobs->wq, spare->room);
	}
	spin_unlock_irqrestore(&spare->lock, flags);
}

/**
 * spare_get_reserve - take the reserve, or wait for it
 * @spare: the spare memory
 * @job: a job that is not queued
 *
 * Return: room for one block, or NULL: then @job is queued when it is its turn to
 * try again, maybe at once.
 */
struct bio_vec *spare_get_reserve(struct align_spare *spare,
				  struct align_job *job)
{
	struct bio_vec *vecs = NULL;
	unsigned long flags;

	spin_lock_irqsave(&spare->lock, flags);
	if (!spare->busy) {
		spare->busy = true;
		vecs = spare->vecs;
	} else {
		list_add_tail(&job->list, &spare->starved);
	}
	spin_unlock_irqrestore(&spare->lock, flags);
	return vecs;
}

/**
 * spare_put_reserve - give the reserve back
 * @spare: the spare memory
 */
void spare_put_reserve(struct align_spare *spare)
{
	unsigned long flags;

	spin_lock_irqsave(&spare->lock, flags);
	spare->busy = false;
	spare_wake_first(spare);
	spin_unlock_irqrestore(&spare->lock, flags);
}

/**
 * spare_init - allocate the reserve
 * @spare: the spare memory
 * @at: the target, of which the geometry is known
 * @jobs: queue of the jobs that wait
 * @room: work to be queued when another run may have memory of its own
 *
 * A target whose writes cannot be fixed never reads a block, and has no reserve.
 *
 * Return: 0 or -ENOMEM.
 */
int spare_init(struct align_spare *spare, const struct align_target *at,
	       struct align_jobs *jobs, struct work_struct *room)
{
	spin_lock_init(&spare->lock);
	INIT_LIST_HEAD(&spare->starved);
	spare->jobs = jobs;
	spare->room = room;
	spare->vecs = NULL;
	if (!align_can_fix(&at->geometry))
		return 0;
	spare->vecs = kcalloc(buffer_nr_vecs(at), sizeof(*spare->vecs),
			      GFP_KERNEL);
	if (!spare->vecs)
		return -ENOMEM;
	if (buffer_alloc(at, spare->vecs, GFP_KERNEL))
		return 0;
	kfree(spare->vecs);
	return -ENOMEM;
}

/* Free the reserve; no run is in flight. */
void spare_exit(struct align_spare *spare, const struct align_target *at)
{
	if (spare->vecs)
		buffer_free(at, spare->vecs);
	kfree(spare->vecs);
}
