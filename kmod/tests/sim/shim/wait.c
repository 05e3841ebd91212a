// SPDX-License-Identifier: GPL-2.0
/* Wait queues, completions, mutexes, and RCU. */
#include <linux/blkdev.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

/* Go to sleep as schedule() does: plugged requests go first. */
static void sleep_on(const void *what, u64 until_ns)
{
	might_sleep();
	shim_flush_plug(true);
	shim_work_sleeps();
	machine_sleep(what, until_ns);
}

void init_waitqueue_head(wait_queue_head_t *queue)
{
	queue->nr = 0;
}

void shim_wait_prepare(wait_queue_head_t *queue)
{
	unsigned int i;

	might_sleep();
	for (i = 0; i < queue->nr; i++)
		if (queue->thread[i] == current)
			return;
	if (queue->nr == SHIM_MOST_WAITERS)
		machine_fail("more than %d threads wait for one thing",
			     SHIM_MOST_WAITERS);
	queue->thread[queue->nr++] = current;
	machine_point();
}

static void forget(wait_queue_head_t *queue, const struct thread *thread)
{
	unsigned int i;

	for (i = 0; i < queue->nr && queue->thread[i] != thread; i++)
		;
	if (i == queue->nr)
		return;
	for (queue->nr--; i < queue->nr; i++)
		queue->thread[i] = queue->thread[i + 1];
	queue->thread[queue->nr] = NULL;
}

void shim_wait_finish(wait_queue_head_t *queue)
{
	forget(queue, current);
}

void shim_wait_sleep(wait_queue_head_t *queue, u64 until_ns)
{
	unsigned int i;

	/*
	 * Flushing the plug may let other threads run, of which one may wake this one
	 * up. In the kernel the task's state has it sleep no more then: here it is no
	 * longer in the queue.
	 */
	shim_flush_plug(true);
	for (i = 0; i < queue->nr; i++)
		if (queue->thread[i] == current) {
			sleep_on(queue, until_ns);
			return;
		}
}

static void wake_queued(wait_queue_head_t *queue, bool all)
{
	while (queue->nr) {
		struct thread *thread = queue->thread[0];

		forget(queue, thread);
		machine_wake(thread);
		if (!all)
			break;
	}
}

static void wake(wait_queue_head_t *queue, bool all)
{
	machine_point();
	wake_queued(queue, all);
}

void wake_up(wait_queue_head_t *queue)
{
	wake(queue, true);
}

void wake_up_all(wait_queue_head_t *queue)
{
	wake(queue, true);
}

void shim_wake_one(wait_queue_head_t *queue)
{
	wake(queue, false);
}

bool wq_has_sleeper(wait_queue_head_t *queue)
{
	machine_point();
	return queue->nr;
}

void init_completion(struct completion *completion)
{
	completion->done = 0;
	init_waitqueue_head(&completion->wait);
}

void complete(struct completion *completion)
{
	machine_point();
	/* One step, as under the completion's lock: a waiter may free it then. */
	completion->done++;
	wake_queued(&completion->wait, false);
}

/* Return: 0, or -ETIMEDOUT, or -ERESTARTSYS. */
static int complete_wait(struct completion *completion, u64 until_ns,
			 bool killable)
{
	might_sleep();
	machine_point();
	while (!completion->done) {
		if (killable && current->killed)
			return -ERESTARTSYS;
		if (until_ns <= machine_now())
			return -ETIMEDOUT;
		shim_wait_prepare(&completion->wait);
		if (!completion->done)
			shim_wait_sleep(&completion->wait, until_ns);
		shim_wait_finish(&completion->wait);
	}
	completion->done--;
	return 0;
}

void wait_for_completion(struct completion *completion)
{
	complete_wait(completion, ~0ULL, false);
}

int wait_for_completion_killable(struct completion *completion)
{
	return complete_wait(completion, ~0ULL, true);
}

unsigned long wait_for_completion_timeout(struct completion *completion,
					  unsigned long timeout)
{
	u64 until = shim_jiffies_until(timeout);
	long left;

	if (complete_wait(completion, until, false))
		return 0;
	left = shim_jiffies_left(until);
	return left ? left : 1;
}

long wait_for_completion_killable_timeout(struct completion *completion,
					  unsigned long timeout)
{
	u64 until = shim_jiffies_until(timeout);
	int ret = complete_wait(completion, until, true);
	long left;

	if (ret == -ERESTARTSYS)
		return ret;
	if (ret)
		return 0;
	left = shim_jiffies_left(until);
	return left ? left : 1;
}

void mutex_init(struct mutex *mutex)
{
	mutex->owner = NULL;
	init_waitqueue_head(&mutex->wait);
}

void mutex_destroy(struct mutex *mutex)
{
	if (mutex->owner)
		machine_fail("a mutex is destroyed that is held");
}

static int lock_mutex(struct mutex *mutex, bool killable)
{
	might_sleep();
	if (mutex->owner == current)
		machine_fail("deadlock: a mutex is taken twice by %s",
			     current->name);
	machine_point();
	while (mutex->owner) {
		if (killable && current->killed)
			return -EINTR;
		shim_wait_prepare(&mutex->wait);
		if (mutex->owner)
			shim_wait_sleep(&mutex->wait, ~0ULL);
		shim_wait_finish(&mutex->wait);
	}
	mutex->owner = current;
	current->nr_mutexes++;
	return 0;
}

void mutex_lock(struct mutex *mutex)
{
	lock_mutex(mutex, false);
}

int mutex_lock_killable(struct mutex *mutex)
{
	return lock_mutex(mutex, true);
}

int mutex_trylock(struct mutex *mutex)
{
	machine_point();
	if (mutex->owner)
		return 0;
	mutex->owner = current;
	current->nr_mutexes++;
	return 1;
}

void mutex_unlock(struct mutex *mutex)
{
	if (mutex->owner != current)
		machine_fail("a mutex is released by %s, who does not hold it",
			     current->name);
	mutex->owner = NULL;
	current->nr_mutexes--;
	wake(&mutex->wait, false);
	machine_point();
}

void cond_resched(void)
{
	might_sleep();
	machine_point();
}

long schedule_timeout_uninterruptible(long timeout)
{
	u64 until = shim_jiffies_until(timeout);

	might_sleep();
	while (machine_now() < until)
		sleep_on("a while", until);
	return 0;
}

/*
 * RCU. Readers are counted by the generation in which they began; a grace period
 * begins a new one and ends when no reader of an older one is left.
 */
#define MOST_READERS	256

static u64 generation;
static struct {
	const struct thread *thread;
	u64 generation;
} reader[MOST_READERS];
static unsigned int nr_readers;
static wait_queue_head_t left;

void rcu_read_lock(void)
{
	if (!current->rcu++) {
		if (nr_readers == MOST_READERS)
			machine_fail("more than %d readers of RCU",
				     MOST_READERS);
		reader[nr_readers].thread = current;
		reader[nr_readers++].generation = generation;
	}
	machine_bare_point();
}

void rcu_read_unlock(void)
{
	unsigned int i;

	machine_bare_point();
	if (--current->rcu)
		return;
	for (i = 0; reader[i].thread != current; i++)
		;
	reader[i] = reader[--nr_readers];
	reader[nr_readers].thread = NULL;
	reader[nr_readers].generation = 0;
	/* A reader that leaves orders nothing. */
	machine_bare_point();
	wake_queued(&left, true);
}

static bool is_over(u64 of)
{
	unsigned int i;

	for (i = 0; i < nr_readers; i++)
		if (reader[i].generation <= of)
			return false;
	return true;
}

void synchronize_rcu(void)
{
	u64 mine = generation++;

	might_sleep();
	/* No reader sees less than all from before, or stores behind the end. */
	weak_mb_all();
	wait_event(left, is_over(mine));
	weak_mb_all();
}

static void call_back(void *argument)
{
	struct rcu_head *head = argument;

	head->func(head);
}

/* A reader never waits: in a search none is left when another thread goes on. */
void shim_rcu_ignore(void)
{
	machine_ignore(&reader, sizeof(reader));
	machine_ignore(&nr_readers, sizeof(nr_readers));
	machine_ignore(&generation, sizeof(generation));
	machine_ignore(&left, sizeof(left));
}

static void grace_period(void *argument)
{
	struct rcu_head *head = argument;

	synchronize_rcu();
	machine_interrupt(CONTEXT_SOFTIRQ, "rcu", call_back, head);
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	head->func = func;
	machine_start(CONTEXT_TASK, "rcu", grace_period, head);
}
