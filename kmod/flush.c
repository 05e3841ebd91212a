// SPDX-License-Identifier: GPL-2.0
/*
 * Flushes of a target that holds something.
 */
#include "block_state.h"
#include "hold.h"

static void flush_job(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, job);

	if (io->flush.waiter.failed) {
		ledger_inc(io->at->ledger, flushes_failed);
		bio_io_error(io->bio);
		return;
	}
	/*
	 * dm starts the accounting of a flush once for all targets of a table,
	 * and without a lock; where others may do so at this moment, dm does it
	 * when the flush has ended.
	 */
	if (io->at->ti->len == dm_table_get_size(io->at->ti->table))
		dm_submit_bio_remap(io->bio, NULL);
	else
		submit_bio_noacct(io->bio);
}

static void flush_queue_job(struct align_waiter *waiter)
{
	struct align_io *io = container_of(waiter, struct align_io, flush.waiter);

	job_queue(&io->at->engine.jobs, &io->job);
}

/**
 * hold_map_flush - map a flush of a target with held blocks
 * @io: the flush
 *
 * The flush goes down when the blocks held now are on the device, and fails if one of
 * them cannot be written.
 *
 * Return: what map returns.
 */
int hold_map_flush(struct align_io *io)
{
	struct align_held *held = &io->at->engine.held;
	unsigned long flags;

	job_init(&io->job, flush_job);
	io->flush.waiter.done = flush_queue_job;
	spin_lock_irqsave(&held->lock, flags);
	if (!held->nr) {
		spin_unlock_irqrestore(&held->lock, flags);
		return DM_MAPIO_REMAPPED;
	}
	io->held_flush = true;
	held->nr_flushes++;
	/* A frozen target sends nothing. */
	if (hold_is_frozen(held)) {
		io->flush.waiter.failed = true;
		flush_queue_job(&io->flush.waiter);
	} else {
		hold_wait(io->at, &io->flush.waiter);
	}
	spin_unlock_irqrestore(&held->lock, flags);
	return DM_MAPIO_SUBMITTED;
}

/**
 * hold_end_flush - note the end of a flush that waited for held blocks
 * @at: the target
 */
void hold_end_flush(struct align_target *at)
{
	struct align_held *held = &at->engine.held;
	unsigned long flags;

	spin_lock_irqsave(&held->lock, flags);
	if (!--held->nr_flushes)
		wake_up(&held->at_rest);
	spin_unlock_irqrestore(&held->lock, flags);
}
