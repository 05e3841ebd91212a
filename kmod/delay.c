// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Blocks that wait for a stream
 *
 * With several writes in flight, the rest of a block may be on its way in a
 * write that has not arrived yet, and a read would be wasted. So a read waits,
 * for 300 us at most, if
 *
 * - a touch in the block is the end of a write of a stream: of a write that
 *   begins where one of the last eight misaligned writes ended;
 * - and another write of the target that touches a block in part is in flight,
 *   besides those that wait like this.
 *
 * 300 us is long compared with the time in which a program sends its next
 * request, and short compared with a read. When no such write is in flight any
 * more, the wait is over at once; a program that sends one write at a time
 * never waits. A touch that completes the block ends it, too. blocks_delayed
 * counts the blocks.
 */
#include "block_state.h"
#include "delay.h"

/*
 * How long a block waits for a write that is on its way: long compared with the
 * time in which a submitter sends its next request, short compared with a read.
 */
#define DELAY_US	300

/**
 * delay_add - delay a block, if another write is in flight that may complete it
 * @delay: the delayed blocks
 * @block: a block in COLLECT, in a list of the caller's, which it leaves
 * @always: delay it even if no write is in flight
 *
 * Called with the lock of the block's shard held.
 *
 * Return: whether it is delayed; then it may belong to a worker at once.
 */
bool delay_add(struct align_delay *delay, struct align_block *block,
	       bool always)
{
	bool add;

	lockdep_assert_held(&block_shard(block)->lock);
	spin_lock(&delay->lock);
	add = always || atomic_read(&delay->writes) > delay->nr + 1;
	if (add) {
		list_move_tail(&block->list, &delay->blocks);
		block->delayed = true;
		/* While some are over, the timer is theirs, or has run out. */
		if (delay->nr == delay->over)
			hrtimer_start(&delay->timer,
				      ns_to_ktime(DELAY_US * NSEC_PER_USEC),
				      HRTIMER_MODE_REL);
		WRITE_ONCE(delay->nr, delay->nr + 1);
	}
	spin_unlock(&delay->lock);
	return add;
}

/**
 * delay_remove - end the delay of a block, if it is delayed
 * @delay: the delayed blocks
 * @block: a block in COLLECT
 * @started: receives the block, for the caller to start
 *
 * Called with the lock of the block's shard held.
 */
void delay_remove(struct align_delay *delay, struct align_block *block,
		  struct list_head *started)
{
	lockdep_assert_held(&block_shard(block)->lock);
	if (!READ_ONCE(block->delayed))
		return;
	spin_lock(&delay->lock);
	if (block->delayed) {
		block->delayed = false;
		WRITE_ONCE(delay->nr, delay->nr - 1);
		delay->over = min(delay->over, delay->nr);
		list_move_tail(&block->list, started);
	}
	spin_unlock(&delay->lock);
}

/*
 * Queue delayed blocks, as many as half of BLOCKS_BATCH: each touches its neighbour
 * in the queue, too. Return: whether some are left.
 */
static bool delay_end_some(struct align_delay *delay)
{
	struct align_block *block;
	unsigned int nr;
	bool left;

	spin_lock_irq(&delay->lock);
	for (nr = min_t(unsigned int, delay->over, BLOCKS_BATCH / 2); nr; nr--) {
		block = list_first_entry(&delay->blocks, struct align_block,
					 list);
		list_del_init(&block->list);
		block->delayed = false;
		WRITE_ONCE(delay->nr, delay->nr - 1);
		delay->over--;
		job_init(&block->single.job, delay->start);
		job_queue(delay->jobs, &block->single.job);
	}
	left = delay->over;
	spin_unlock_irq(&delay->lock);
	return left;
}

static void delay_work(struct work_struct *work)
{
	struct align_delay *delay =
		container_of(work, struct align_delay, work);

	while (delay_end_some(delay))
		cond_resched();
}

/*
 * End the delay of all blocks. There may be very many, so a work queues them.
 * delay->lock held.
 */
static void delay_end(struct align_delay *delay)
{
	lockdep_assert_held(&delay->lock);
	delay->over = delay->nr;
	if (delay->over)
		queue_work(delay->jobs->wq, &delay->work);
}

static enum hrtimer_restart delay_expire(struct hrtimer *timer)
{
	struct align_delay *delay =
		container_of(timer, struct align_delay, timer);
	unsigned long flags;

	spin_lock_irqsave(&delay->lock, flags);
	delay_end(delay);
	spin_unlock_irqrestore(&delay->lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * delay_end_early - end the delay if no other write is in flight
 * @delay: the delayed blocks
 */
void delay_end_early(struct align_delay *delay)
{
	unsigned long flags;

	if (!READ_ONCE(delay->nr))
		return;
	spin_lock_irqsave(&delay->lock, flags);
	if (atomic_read(&delay->writes) <= delay->nr)
		delay_end(delay);
	spin_unlock_irqrestore(&delay->lock, flags);
}

/**
 * delay_init - initialise the delayed blocks: there are none
 * @delay: the delayed blocks, zeroed
 * @jobs: where they go when the delay is over
 * @start: starts the block in COLLECT whose job it is
 */
void delay_init(struct align_delay *delay, struct align_jobs *jobs,
		align_job_fn start)
{
	spin_lock_init(&delay->lock);
	INIT_LIST_HEAD(&delay->blocks);
	delay->jobs = jobs;
	delay->start = start;
	INIT_WORK(&delay->work, delay_work);
	hrtimer_setup(&delay->timer, delay_expire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
}

/* Cancel the timer; no block is delayed. */
void delay_exit(struct align_delay *delay)
{
	hrtimer_cancel(&delay->timer);
}
