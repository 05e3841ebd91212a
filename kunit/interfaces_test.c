// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the kernel's interfaces that the target uses: its expectations of
 * them. The same file runs in the simulated machine of kmod/tests/sim, in place of
 * the target: all that holds in the kernel must hold there.
 *
 * Only results that hold with any timing are expected here. These stay out, because
 * no such expectation is the same in both:
 * - spin_trylock() of a lock that is held: a kernel for one CPU takes it as a bug;
 * - the result of timer_reduce() while the callback is about to begin;
 * - sleeping in atomic context: the simulation ends there, lockdep only warns.
 */
#include <asm/local64.h>
#include <kunit/test.h>
#include <linux/bio.h>
#include <linux/bitops.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "interfaces.h"

#define TASKS		3
#define ROUNDS		20
#define SLEEPERS	8

/* Wait until a condition holds, but not for ever. Return: the condition. */
#define eventually(condition) \
	({ \
		int _left = 10 * HZ; \
		bool _holds; \
		for (;;) { \
			_holds = (condition); \
			if (_holds || !_left--) \
				break; \
			schedule_timeout_uninterruptible(1); \
		} \
		_holds; \
	})

/* A time that is not over while a case runs, as no machine is as slow as that. */
#define FAR		(1000 * HZ)

static bool is_late(unsigned long begun)
{
	return time_after(jiffies, begun + FAR / 2);
}

/* Give other contexts time for forbidden steps; none come if all is well. */
static void let_pass(void)
{
	schedule_timeout_uninterruptible(3);
}

/**
 * struct numbers - numbers of a CPU
 * @ones: goes up by one
 * @twos: goes up by two, in three steps
 * @own: goes up by three; allocated when it first does
 */
struct numbers {
	unsigned long ones;
	unsigned long twos;
	local64_t *own;
};

/**
 * struct scene - state that a case shares with its works, tasks and timers
 * @test: the case
 * @wq: a workqueue for memory reclaim
 * @work: a work item
 * @other: another work item
 * @delayed: a delayed work item
 * @sleeper: work items of the system's queue
 * @timer: a timer
 * @hrtimer: an hrtimer
 * @rcu: for call_rcu()
 * @ref: a percpu_ref
 * @mutex: a mutex
 * @lock: a spin lock that an interrupt takes, too
 * @plain: a spin lock that is taken by tasks only
 * @queue: a wait queue
 * @begun: completed by a task or callback that has begun
 * @go: completed for the tasks that wait inside
 * @inside: how many are inside now
 * @most: the most that have been
 * @begins: how many have begun
 * @ends: how many have ended
 * @others: how often @other has run
 * @result: the result of the call under test
 * @condition: the condition that @queue waits for
 * @again: the work or timer that runs queues itself again
 * @stop: tasks end
 * @value: a number that only one task may change at a time
 * @expires: the earliest time of a callback, jiffies
 * @expires_ns: the same for @hrtimer
 * @set: bios
 * @per_cpu: numbers
 */
struct scene {
	struct kunit *test;
	struct workqueue_struct *wq;
	struct work_struct work;
	struct work_struct other;
	struct delayed_work delayed;
	struct work_struct sleeper[SLEEPERS];
	struct timer_list timer;
	struct hrtimer hrtimer;
	struct rcu_head rcu;
	struct percpu_ref ref;
	struct mutex mutex;	/* under test */
	spinlock_t lock;	/* guards @value */
	spinlock_t plain;	/* under test */
	wait_queue_head_t queue;
	struct completion begun;
	struct completion go;
	atomic_t inside;
	atomic_t most;
	atomic_t begins;
	atomic_t ends;
	atomic_t others;
	int result;
	bool condition;
	bool again;
	bool stop;
	unsigned long value;
	unsigned long expires;
	u64 expires_ns;
	struct bio_set set;
	struct numbers __percpu *per_cpu;
};

/* The scene of the case that runs: tasks and sleepers find it here. */
static struct scene *scene;

static struct scene *scene_new(struct kunit *test)
{
	struct scene *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	mutex_init(&s->mutex);
	spin_lock_init(&s->lock);
	spin_lock_init(&s->plain);
	init_waitqueue_head(&s->queue);
	init_completion(&s->begun);
	init_completion(&s->go);
	scene = s;
	return s;
}

static struct scene *scene_with_queue(struct kunit *test, int max_active)
{
	struct scene *s = scene_new(test);

	s->wq = alloc_workqueue("interfaces", WQ_MEM_RECLAIM | WQ_UNBOUND,
				max_active);
	KUNIT_ASSERT_NOT_NULL(test, s->wq);
	return s;
}

static void enter(struct scene *s)
{
	int inside = atomic_add_return(1, &s->inside);

	/* Written by one at a time if all is well, and else large enough. */
	if (inside > atomic_read(&s->most))
		atomic_set(&s->most, inside);
	atomic_inc(&s->begins);
}

static void leave(struct scene *s)
{
	atomic_inc(&s->ends);
	atomic_dec(&s->inside);
}

static void tasks_run(struct scene *s, int nr, int (*function)(void *data))
{
	while (nr--)
		KUNIT_EXPECT_NOT_ERR_OR_NULL(s->test,
					     kthread_run(function, s, "task"));
}

/* Work items. */

static void work_waits(struct work_struct *work)
{
	struct scene *s = scene;

	enter(s);
	complete(&s->begun);
	wait_for_completion(&s->go);
	leave(s);
}

static void other_runs(struct work_struct *work)
{
	struct scene *s = container_of(work, struct scene, other);

	KUNIT_EXPECT_TRUE(s->test, in_task());
	KUNIT_EXPECT_FALSE(s->test, irqs_disabled());
	atomic_inc(&s->others);
}

static void work_queued_while_it_runs_runs_once_more(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);

	INIT_WORK(&s->work, work_waits);
	KUNIT_EXPECT_TRUE(test, queue_work(s->wq, &s->work));
	wait_for_completion(&s->begun);
	KUNIT_EXPECT_TRUE(test, queue_work(s->wq, &s->work));
	KUNIT_EXPECT_FALSE(test, queue_work(s->wq, &s->work));
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 1);
	complete(&s->go);
	wait_for_completion(&s->begun);
	complete(&s->go);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 2));
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->most), 1);
	destroy_workqueue(s->wq);
}

/* Memory that is used again for an item with the same function while one runs. */
static void recycled_work_waits_for_the_one_that_runs(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);

	INIT_WORK(&s->work, work_waits);
	queue_work(s->wq, &s->work);
	wait_for_completion(&s->begun);
	INIT_WORK(&s->work, work_waits);
	KUNIT_EXPECT_TRUE(test, queue_work(s->wq, &s->work));
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 1);
	complete(&s->go);
	complete(&s->go);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 2));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->most), 1);
	destroy_workqueue(s->wq);
}

/* The same address with another function is another item. */
static void work_of_another_function_does_not_wait(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);

	INIT_WORK(&s->other, work_waits);
	queue_work(s->wq, &s->other);
	wait_for_completion(&s->begun);
	INIT_WORK(&s->other, other_runs);
	KUNIT_EXPECT_TRUE(test, queue_work(s->wq, &s->other));
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) == 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 0);
	complete(&s->go);
	destroy_workqueue(s->wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
}

static void work_that_sleeps_holds_up_no_other(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);

	INIT_WORK(&s->work, work_waits);
	INIT_WORK(&s->other, other_runs);
	queue_work(s->wq, &s->work);
	wait_for_completion(&s->begun);
	queue_work(s->wq, &s->other);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) == 1));
	complete(&s->go);
	destroy_workqueue(s->wq);
}

static void sleeper_waits(struct work_struct *work)
{
	struct scene *s = scene;

	wait_event(s->queue, READ_ONCE(s->condition));
	atomic_inc(&s->ends);
}

static void sleepers_run(struct scene *s)
{
	int i;

	for (i = 0; i < SLEEPERS; i++) {
		INIT_WORK(&s->sleeper[i], sleeper_waits);
		schedule_work(&s->sleeper[i]);
	}
}

static void sleepers_end(struct scene *s, int ends)
{
	int i;

	WRITE_ONCE(s->condition, true);
	wake_up_all(&s->queue);
	KUNIT_EXPECT_TRUE(s->test,
			  eventually(atomic_read(&s->ends) == SLEEPERS + ends));
	for (i = 0; i < SLEEPERS; i++)
		cancel_work_sync(&s->sleeper[i]);
}

static void queue_for_reclaim_goes_on_while_workers_sleep(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);

	sleepers_run(s);
	INIT_WORK(&s->other, other_runs);
	queue_work(s->wq, &s->other);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) == 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 0);
	sleepers_end(s, 0);
	destroy_workqueue(s->wq);
}

/* The rescuer may have found nothing to do while the item still ran. */
static void requeued_work_goes_on_while_workers_sleep(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);

	INIT_WORK(&s->work, work_waits);
	queue_work(s->wq, &s->work);
	wait_for_completion(&s->begun);
	queue_work(s->wq, &s->work);
	sleepers_run(s);
	let_pass();
	complete(&s->go);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) == 2));
	complete(&s->go);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 2));
	sleepers_end(s, 2);
	destroy_workqueue(s->wq);
}

static void work_of_a_row(struct work_struct *work)
{
	struct scene *s = scene;

	enter(s);
	/* In the order in which they were queued. */
	KUNIT_EXPECT_PTR_EQ(s->test, work, &s->sleeper[s->value]);
	s->value++;
	schedule_timeout_uninterruptible(1);
	leave(s);
}

static void queue_runs_no_more_than_its_limit(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 1);
	int i;

	for (i = 0; i < SLEEPERS; i++) {
		INIT_WORK(&s->sleeper[i], work_of_a_row);
		queue_work(s->wq, &s->sleeper[i]);
	}
	/* Destroying the queue also waits for all queued items. */
	destroy_workqueue(s->wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), SLEEPERS);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->most), 1);
}

static void work_takes_its_time(struct work_struct *work)
{
	struct scene *s = container_of(work, struct scene, work);

	atomic_inc(&s->begins);
	complete(&s->begun);
	schedule_timeout_uninterruptible(2);
	mdelay(1);
	atomic_inc(&s->ends);
}

static void cancel_work_sync_waits_for_the_one_that_runs(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);

	INIT_WORK(&s->work, work_takes_its_time);
	KUNIT_EXPECT_FALSE(test, cancel_work_sync(&s->work));
	queue_work(s->wq, &s->work);
	wait_for_completion(&s->begun);
	KUNIT_EXPECT_FALSE(test, cancel_work_sync(&s->work));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	destroy_workqueue(s->wq);
}

static void cancel_work_sync_takes_an_item_off_its_queue(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 1);

	INIT_WORK(&s->work, work_takes_its_time);
	INIT_WORK(&s->other, other_runs);
	queue_work(s->wq, &s->work);
	queue_work(s->wq, &s->other);
	if (cancel_work_sync(&s->other))
		KUNIT_EXPECT_EQ(test, atomic_read(&s->others), 0);
	else
		KUNIT_EXPECT_EQ(test, atomic_read(&s->others), 1);
	KUNIT_EXPECT_FALSE(test, cancel_work_sync(&s->other));
	KUNIT_EXPECT_TRUE(test, queue_work(s->wq, &s->other));
	destroy_workqueue(s->wq);
	KUNIT_EXPECT_GE(test, atomic_read(&s->others), 1);
}

static void work_queues_itself(struct work_struct *work)
{
	struct scene *s = container_of(work, struct scene, work);

	atomic_inc(&s->begins);
	schedule_timeout_uninterruptible(1);
	queue_work(s->wq, work);
}

static void work_that_queues_itself_can_be_cancelled(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);
	int begins;

	INIT_WORK(&s->work, work_queues_itself);
	queue_work(s->wq, &s->work);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins)));
	cancel_work_sync(&s->work);
	begins = atomic_read(&s->begins);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), begins);
	/* And the item can be queued again. */
	KUNIT_EXPECT_TRUE(test, queue_work(s->wq, &s->work));
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) > begins));
	cancel_work_sync(&s->work);
	destroy_workqueue(s->wq);
}

static void delayed_runs(struct work_struct *work)
{
	struct scene *s = container_of(to_delayed_work(work), struct scene,
				       delayed);

	KUNIT_EXPECT_TRUE(s->test, in_task());
	KUNIT_EXPECT_TRUE(s->test, time_after_eq(jiffies, s->expires));
	atomic_inc(&s->begins);
	if (s->again)
		queue_delayed_work(s->wq, &s->delayed, 1);
}

static void delayed_work_comes_when_its_time_is_over(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);
	unsigned long begun;
	bool queued[3];

	INIT_DELAYED_WORK(&s->delayed, delayed_runs);
	s->expires = jiffies + 3;
	KUNIT_EXPECT_TRUE(test, queue_delayed_work(s->wq, &s->delayed, 3));
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) == 1));
	KUNIT_EXPECT_FALSE(test, cancel_delayed_work_sync(&s->delayed));
	KUNIT_EXPECT_TRUE(test, queue_delayed_work(s->wq, &s->delayed, 0));
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) == 2));
	begun = jiffies;
	queued[0] = queue_delayed_work(s->wq, &s->delayed, FAR);
	queued[1] = queue_delayed_work(s->wq, &s->delayed, 0);
	queued[2] = cancel_delayed_work_sync(&s->delayed);
	if (!is_late(begun)) {
		KUNIT_EXPECT_TRUE(test, queued[0]);
		KUNIT_EXPECT_FALSE(test, queued[1]);
		KUNIT_EXPECT_TRUE(test, queued[2]);
		let_pass();
		KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 2);
	}
	KUNIT_EXPECT_TRUE(test, queue_delayed_work(s->wq, &s->delayed, 1));
	cancel_delayed_work_sync(&s->delayed);
	destroy_workqueue(s->wq);
}

static void delayed_work_can_be_moved(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);
	unsigned long begun;
	bool was;

	INIT_DELAYED_WORK(&s->delayed, delayed_runs);
	s->expires = jiffies + 2;
	KUNIT_EXPECT_FALSE(test, mod_delayed_work(s->wq, &s->delayed, 2));
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) == 1));
	begun = jiffies;
	queue_delayed_work(s->wq, &s->delayed, FAR);
	s->expires = jiffies + 2;
	was = mod_delayed_work(s->wq, &s->delayed, 2);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) > 1));
	/* The item was in the queue once, so it runs once. */
	let_pass();
	if (!is_late(begun)) {
		KUNIT_EXPECT_TRUE(test, was);
		KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 2);
	}
	cancel_delayed_work_sync(&s->delayed);
	destroy_workqueue(s->wq);
}

static void delayed_work_that_queues_itself_can_be_cancelled(struct kunit *test)
{
	struct scene *s = scene_with_queue(test, 0);
	int begins;

	s->expires = jiffies;
	s->again = true;
	INIT_DELAYED_WORK(&s->delayed, delayed_runs);
	queue_delayed_work(s->wq, &s->delayed, 1);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) > 1));
	cancel_delayed_work_sync(&s->delayed);
	begins = atomic_read(&s->begins);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), begins);
	destroy_workqueue(s->wq);
}

/* Completions and wait queues. */

static void completion_counts(struct kunit *test)
{
	struct scene *s = scene_new(test);
	unsigned long begun, left;

	complete(&s->go);
	complete(&s->go);
	complete(&s->go);
	wait_for_completion(&s->go);
	KUNIT_EXPECT_EQ(test, wait_for_completion_killable(&s->go), 0);
	left = wait_for_completion_timeout(&s->go, 5);
	KUNIT_EXPECT_GE(test, left, 1UL);
	KUNIT_EXPECT_LE(test, left, 5UL);
	begun = jiffies;
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&s->go, 5), 0UL);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, begun + 5));
	KUNIT_EXPECT_EQ(test, wait_for_completion_killable_timeout(&s->go, 1),
			0L);
	complete(&s->go);
	KUNIT_EXPECT_EQ(test, wait_for_completion_killable_timeout(&s->go, 1),
			1L);
}

static int task_waits(void *data)
{
	struct scene *s = data;

	atomic_inc(&s->begins);
	wait_for_completion(&s->go);
	atomic_inc(&s->ends);
	return 0;
}

static void completion_lets_one_pass(struct kunit *test)
{
	struct scene *s = scene_new(test);
	int i;

	tasks_run(s, TASKS, task_waits);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) == TASKS));
	for (i = 1; i <= TASKS; i++) {
		let_pass();
		KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), i - 1);
		complete(&s->go);
		KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == i));
	}
}

static int task_waits_killable(void *data)
{
	struct scene *s = data;

	allow_signal(SIGKILL);
	complete(&s->begun);
	KUNIT_EXPECT_EQ(s->test, wait_for_completion_killable(&s->go),
			-ERESTARTSYS);
	KUNIT_EXPECT_EQ(s->test,
			wait_for_completion_killable_timeout(&s->go,
							     MAX_SCHEDULE_TIMEOUT),
			(long)-ERESTARTSYS);
	KUNIT_EXPECT_EQ(s->test, mutex_lock_killable(&s->mutex), -EINTR);
	atomic_inc(&s->ends);
	/* A fatal signal ends no other wait, and a completion that is there is taken. */
	wait_for_completion(&s->go);
	complete(&s->begun);
	KUNIT_EXPECT_EQ(s->test, wait_for_completion_killable(&s->begun), 0);
	atomic_inc(&s->ends);
	return 0;
}

static void fatal_signal_ends_killable_waits_only(struct kunit *test)
{
	struct scene *s = scene_new(test);
	struct task_struct *task;

	mutex_lock(&s->mutex);
	task = kthread_run(task_waits_killable, s, "task");
	KUNIT_ASSERT_NOT_NULL(test, task);
	wait_for_completion(&s->begun);
	let_pass();
	send_sig(SIGKILL, task, 1);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 1));
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	complete(&s->go);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 2));
	mutex_unlock(&s->mutex);
}

static int task_waits_in_queue(void *data)
{
	struct scene *s = data;

	atomic_inc(&s->begins);
	wait_event(s->queue, READ_ONCE(s->condition));
	atomic_inc(&s->ends);
	return 0;
}

static void wake_up_wakes_all_who_wait(struct kunit *test, bool all)
{
	struct scene *s = scene_new(test);

	KUNIT_EXPECT_FALSE(test, wq_has_sleeper(&s->queue));
	tasks_run(s, TASKS, task_waits_in_queue);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) == TASKS));
	KUNIT_EXPECT_TRUE(test, eventually(wq_has_sleeper(&s->queue)));
	/* The tasks look, and sleep on. */
	wake_up_all(&s->queue);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 0);
	WRITE_ONCE(s->condition, true);
	if (all)
		wake_up_all(&s->queue);
	else
		wake_up(&s->queue);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == TASKS));
	KUNIT_EXPECT_FALSE(test, wq_has_sleeper(&s->queue));
}

static void wake_up_wakes_each(struct kunit *test)
{
	wake_up_wakes_all_who_wait(test, false);
}

static void wake_up_all_wakes_each(struct kunit *test)
{
	wake_up_wakes_all_who_wait(test, true);
}

static void wait_with_a_limit_says_what_was_left(struct kunit *test)
{
	struct scene *s = scene_new(test);
	unsigned long begun = jiffies;
	long left;

	KUNIT_EXPECT_EQ(test, wait_event_timeout(s->queue, s->condition, 5),
			0L);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, begun + 5));
	s->condition = true;
	left = wait_event_timeout(s->queue, s->condition, 5);
	KUNIT_EXPECT_GE(test, left, 1L);
	KUNIT_EXPECT_LE(test, left, 5L);
	begun = jiffies;
	KUNIT_EXPECT_EQ(test, schedule_timeout_uninterruptible(3), 0L);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, begun + 3));
}

/* Locks. */

static int task_takes_mutex(void *data)
{
	struct scene *s = data;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (i % 3 == 0) {
			mutex_lock(&s->mutex);
		} else if (i % 3 == 1) {
			if (mutex_lock_killable(&s->mutex))
				return 0;
		} else {
			while (!mutex_trylock(&s->mutex))
				schedule_timeout_uninterruptible(1);
		}
		lockdep_assert_held(&s->mutex);
		enter(s);
		cond_resched();
		leave(s);
		mutex_unlock(&s->mutex);
	}
	atomic_inc(&s->others);
	return 0;
}

static void mutex_is_held_by_one(struct kunit *test)
{
	struct scene *s = scene_new(test);

	tasks_run(s, TASKS, task_takes_mutex);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) == TASKS));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->most), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), TASKS * ROUNDS);
	mutex_destroy(&s->mutex);
}

/* Change a value such that two changes at once are seen. s->lock held. */
static void change_value(struct scene *s)
{
	unsigned long value = READ_ONCE(s->value);

	lockdep_assert_held(&s->lock);
	cpu_relax();
	WRITE_ONCE(s->value, value + 1);
}

static int task_takes_lock(void *data)
{
	struct scene *s = data;
	unsigned long flags;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (i & 1) {
			spin_lock_irqsave(&s->lock, flags);
			change_value(s);
			spin_unlock_irqrestore(&s->lock, flags);
		} else {
			spin_lock_irq(&s->lock);
			change_value(s);
			spin_unlock_irq(&s->lock);
		}
	}
	atomic_inc(&s->others);
	return 0;
}

static enum hrtimer_restart hrtimer_takes_lock(struct hrtimer *timer)
{
	struct scene *s = container_of(timer, struct scene, hrtimer);

	spin_lock(&s->lock);
	change_value(s);
	spin_unlock(&s->lock);
	atomic_inc(&s->ends);
	return HRTIMER_NORESTART;
}

static void spin_lock_is_held_by_one(struct kunit *test)
{
	struct scene *s = scene_new(test);

	hrtimer_setup(&s->hrtimer, hrtimer_takes_lock, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	tasks_run(s, TASKS, task_takes_lock);
	hrtimer_start(&s->hrtimer, ns_to_ktime(1000), HRTIMER_MODE_REL);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) == TASKS &&
					   atomic_read(&s->ends) == 1));
	KUNIT_EXPECT_EQ(test, s->value, TASKS * ROUNDS + 1UL);
}

static void locks_turn_interrupts_off_and_on(struct kunit *test)
{
	struct scene *s = scene_new(test);
	spinlock_t inner;	/* under test */
	unsigned long flags, more;

	spin_lock_init(&inner);
	spin_lock_irqsave(&s->lock, flags);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	spin_lock_irqsave(&inner, more);
	spin_unlock_irqrestore(&inner, more);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	spin_unlock_irqrestore(&s->lock, flags);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	spin_lock_irq(&s->lock);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	spin_unlock_irq(&s->lock);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* Timers and hrtimers. */

static void timer_fires(struct timer_list *timer)
{
	struct scene *s = container_of(timer, struct scene, timer);

	enter(s);
	KUNIT_EXPECT_TRUE(s->test, in_serving_softirq());
	KUNIT_EXPECT_FALSE(s->test, in_hardirq());
	KUNIT_EXPECT_FALSE(s->test, irqs_disabled());
	KUNIT_EXPECT_TRUE(s->test, time_after_eq(jiffies, s->expires));
	if (s->again)
		timer_reduce(timer, jiffies + 1);
	complete(&s->begun);
	mdelay(1);
	leave(s);
}

static struct scene *scene_with_timer(struct kunit *test)
{
	struct scene *s = scene_new(test);

	timer_setup(&s->timer, timer_fires, 0);
	return s;
}

static void timer_fires_in_a_soft_interrupt(struct kunit *test)
{
	struct scene *s = scene_with_timer(test);

	s->expires = jiffies + 3;
	KUNIT_EXPECT_EQ(test, timer_reduce(&s->timer, s->expires), 0);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 1));
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 1);
	KUNIT_EXPECT_EQ(test, timer_delete_sync(&s->timer), 0);
}

static void timer_reduce_makes_it_earlier_only(struct kunit *test)
{
	struct scene *s = scene_with_timer(test);
	unsigned long begun = jiffies;
	int pending[4];

	s->expires = begun;
	pending[0] = timer_reduce(&s->timer, begun + 2 * FAR);
	pending[1] = timer_reduce(&s->timer, begun + FAR);
	pending[2] = timer_reduce(&s->timer, begun + 2 * FAR);
	pending[3] = timer_delete_sync(&s->timer);
	if (is_late(begun))
		return;
	KUNIT_EXPECT_EQ(test, pending[0], 0);
	KUNIT_EXPECT_EQ(test, pending[1], 1);
	KUNIT_EXPECT_EQ(test, pending[2], 1);
	KUNIT_EXPECT_EQ(test, pending[3], 1);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 0);
	timer_reduce(&s->timer, jiffies + FAR);
	timer_reduce(&s->timer, jiffies + 1);
	timer_reduce(&s->timer, jiffies + FAR);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) >= 1));
	timer_delete_sync(&s->timer);
}

static void timer_delete_sync_waits_for_the_one_that_runs(struct kunit *test)
{
	struct scene *s = scene_with_timer(test);

	s->expires = jiffies;
	timer_reduce(&s->timer, jiffies + 1);
	wait_for_completion(&s->begun);
	KUNIT_EXPECT_EQ(test, timer_delete_sync(&s->timer), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
}

static void timer_never_runs_twice_at_once(struct kunit *test)
{
	struct scene *s = scene_with_timer(test);
	int begins;

	s->expires = jiffies;
	s->again = true;
	timer_reduce(&s->timer, jiffies);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) > 5));
	timer_delete_sync(&s->timer);
	begins = atomic_read(&s->begins);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), begins);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), begins);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->most), 1);
}

/* A spin lock keeps other tasks off the CPU, but no soft interrupt. */
static void timer_fires_while_a_spin_lock_is_held(struct kunit *test)
{
	struct scene *s = scene_with_timer(test);
	int i;

	s->expires = jiffies;
	spin_lock(&s->plain);
	timer_reduce(&s->timer, jiffies + 1);
	for (i = 0; i < 20000 && !atomic_read(&s->ends); i++)
		mdelay(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	spin_unlock(&s->plain);
	timer_delete_sync(&s->timer);
}

static enum hrtimer_restart hrtimer_fires(struct hrtimer *timer)
{
	struct scene *s = container_of(timer, struct scene, hrtimer);

	enter(s);
	KUNIT_EXPECT_TRUE(s->test, in_hardirq());
	KUNIT_EXPECT_TRUE(s->test, irqs_disabled());
	KUNIT_EXPECT_GE(s->test, ktime_get_ns(), s->expires_ns);
	if (s->again)
		hrtimer_start(timer, ns_to_ktime(1000), HRTIMER_MODE_REL);
	complete(&s->begun);
	mdelay(1);
	leave(s);
	return HRTIMER_NORESTART;
}

static struct scene *scene_with_hrtimer(struct kunit *test)
{
	struct scene *s = scene_new(test);

	hrtimer_setup(&s->hrtimer, hrtimer_fires, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	return s;
}

static void hrtimer_fires_in_a_hard_interrupt(struct kunit *test)
{
	struct scene *s = scene_with_hrtimer(test);

	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&s->hrtimer), 0);
	s->expires_ns = ktime_get_ns() + 200000;
	hrtimer_start(&s->hrtimer, ns_to_ktime(200000), HRTIMER_MODE_REL);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 1));
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 1);
	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&s->hrtimer), 0);
}

static void hrtimer_start_replaces_the_time(struct kunit *test)
{
	struct scene *s = scene_with_hrtimer(test);
	ktime_t far = ns_to_ktime(1000000000000ULL);
	unsigned long begun = jiffies;
	int was;

	hrtimer_start(&s->hrtimer, far, HRTIMER_MODE_REL);
	hrtimer_start(&s->hrtimer, ns_to_ktime(1000), HRTIMER_MODE_REL);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends)));
	hrtimer_start(&s->hrtimer, far, HRTIMER_MODE_REL);
	was = hrtimer_cancel(&s->hrtimer);
	if (is_late(begun))
		return;
	KUNIT_EXPECT_EQ(test, was, 1);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), 1);
}

static void hrtimer_cancel_waits_for_the_one_that_runs(struct kunit *test)
{
	struct scene *s = scene_with_hrtimer(test);

	hrtimer_start(&s->hrtimer, ns_to_ktime(1000), HRTIMER_MODE_REL);
	wait_for_completion(&s->begun);
	KUNIT_EXPECT_EQ(test, hrtimer_cancel(&s->hrtimer), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
}

static void hrtimer_never_runs_twice_at_once(struct kunit *test)
{
	struct scene *s = scene_with_hrtimer(test);
	int i;

	for (i = 0; i < 5; i++) {
		hrtimer_start(&s->hrtimer, ns_to_ktime(1000), HRTIMER_MODE_REL);
		wait_for_completion(&s->begun);
		/* The callback may still run. */
		hrtimer_start(&s->hrtimer, ns_to_ktime(1000), HRTIMER_MODE_REL);
		wait_for_completion(&s->begun);
	}
	hrtimer_cancel(&s->hrtimer);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->most), 1);
}

/* RCU. */

/*
 * Let another task have the CPU. User Mode Linux takes it from a task in the kernel
 * only where preemption is turned on again.
 */
static void give_way(struct scene *s)
{
	spin_lock(&s->plain);
	spin_unlock(&s->plain);
}

static int task_reads(void *data)
{
	struct scene *s = data;
	int i;

	rcu_read_lock();
	rcu_read_lock();
	complete(&s->begun);
	rcu_read_unlock();
	for (i = 0; i < 500; i++)
		give_way(s);
	atomic_inc(&s->ends);
	rcu_read_unlock();
	return 0;
}

static void synchronize_rcu_waits_for_who_reads(struct kunit *test)
{
	struct scene *s = scene_new(test);
	int i;

	tasks_run(s, TASKS, task_reads);
	for (i = 0; i < TASKS; i++)
		wait_for_completion(&s->begun);
	synchronize_rcu();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), TASKS);
}

/* Two of these tasks leave no time without a reader. */
static int task_reads_on(void *data)
{
	struct scene *s = data;
	int turn;

	while (!READ_ONCE(s->stop)) {
		rcu_read_lock();
		turn = atomic_add_return(1, &s->begins);
		/* Until another one has begun, in vain if that cannot run. */
		while (atomic_read(&s->begins) == turn && !READ_ONCE(s->stop))
			give_way(s);
		rcu_read_unlock();
	}
	atomic_inc(&s->ends);
	return 0;
}

static int task_synchronizes(void *data)
{
	struct scene *s = data;

	synchronize_rcu();
	atomic_inc(&s->others);
	return 0;
}

static void synchronize_rcu_does_not_wait_for_later_readers(struct kunit *test)
{
	struct scene *s = scene_new(test);

	tasks_run(s, 2, task_reads_on);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) > 2));
	tasks_run(s, 1, task_synchronizes);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others)));
	WRITE_ONCE(s->stop, true);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == 2));
}

static void rcu_calls(struct rcu_head *head)
{
	struct scene *s = container_of(head, struct scene, rcu);

	KUNIT_EXPECT_TRUE(s->test, in_softirq());
	KUNIT_EXPECT_EQ(s->test, atomic_read(&s->ends), 1);
	atomic_inc(&s->others);
}

static void call_rcu_calls_when_readers_have_left(struct kunit *test)
{
	struct scene *s = scene_new(test);

	tasks_run(s, 1, task_reads);
	wait_for_completion(&s->begun);
	call_rcu(&s->rcu, rcu_calls);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others)));
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->others), 1);
}

/* Data of each CPU, and references. */

static int task_counts(void *data)
{
	struct scene *s = data;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		this_cpu_inc(s->per_cpu->ones);
		this_cpu_add(s->per_cpu->twos, 5);
		this_cpu_dec(s->per_cpu->twos);
		this_cpu_sub(s->per_cpu->twos, 2);
		if (!(i & 7))
			cond_resched();
	}
	atomic_inc(&s->ends);
	return 0;
}

static void counts_of_cpus_add_up(struct kunit *test)
{
	struct scene *s = scene_new(test);
	unsigned long ones = 0, twos = 0;
	int cpu;

	s->per_cpu = alloc_percpu(struct numbers);
	KUNIT_ASSERT_TRUE(test, s->per_cpu);
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_EQ(test, per_cpu_ptr(s->per_cpu, cpu)->twos, 0UL);
	tasks_run(s, TASKS, task_counts);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == TASKS));
	for_each_possible_cpu(cpu) {
		ones += per_cpu_ptr(s->per_cpu, cpu)->ones;
		twos += per_cpu_ptr(s->per_cpu, cpu)->twos;
	}
	KUNIT_EXPECT_EQ(test, ones, TASKS * ROUNDS * 1UL);
	KUNIT_EXPECT_EQ(test, twos, TASKS * ROUNDS * 2UL);
	free_percpu(s->per_cpu);
}

static int task_counts_in_memory(void *data)
{
	struct scene *s = data;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		local64_t *made = kzalloc(sizeof(*made), GFP_KERNEL);
		local64_t *there, *own;

		preempt_disable();
		there = cmpxchg(&this_cpu_ptr(s->per_cpu)->own, NULL, made);
		own = this_cpu_read(s->per_cpu->own);
		if (own)
			local64_add(3, own);
		preempt_enable();
		KUNIT_EXPECT_PTR_EQ(s->test, own, there ? there : made);
		if (there)
			kfree(made);
		if (!(i & 7))
			cond_resched();
	}
	atomic_inc(&s->ends);
	return 0;
}

static void counts_in_memory_of_cpus_add_up(struct kunit *test)
{
	struct scene *s = scene_new(test);
	s64 sum = 0;
	int cpu;

	s->per_cpu = alloc_percpu(struct numbers);
	KUNIT_ASSERT_TRUE(test, s->per_cpu);
	tasks_run(s, TASKS, task_counts_in_memory);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == TASKS));
	for_each_possible_cpu(cpu) {
		local64_t *own = per_cpu_ptr(s->per_cpu, cpu)->own;

		if (own)
			sum += local64_read(own);
		kfree(own);
	}
	KUNIT_EXPECT_EQ(test, sum, TASKS * ROUNDS * 3LL);
	free_percpu(s->per_cpu);
}

static int task_counts_back(void *data)
{
	struct scene *s = data;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		preempt_disable();
		this_cpu_inc(s->per_cpu->ones);
		atomic_inc(&s->others);
		this_cpu_dec(s->per_cpu->ones);
		preempt_enable();
		if (!(i & 7))
			cond_resched();
	}
	atomic_inc(&s->ends);
	return 0;
}

static void a_task_keeps_its_cpu_while_preemption_is_off(struct kunit *test)
{
	struct scene *s = scene_new(test);
	int cpu;

	s->per_cpu = alloc_percpu(struct numbers);
	KUNIT_ASSERT_TRUE(test, s->per_cpu);
	tasks_run(s, TASKS, task_counts_back);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == TASKS));
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_EQ(test, per_cpu_ptr(s->per_cpu, cpu)->ones, 0UL);
	free_percpu(s->per_cpu);
}

static void ref_is_released(struct percpu_ref *ref)
{
	struct scene *s = container_of(ref, struct scene, ref);

	KUNIT_EXPECT_EQ(s->test, atomic_read(&s->inside), 0);
	atomic_inc(&s->others);
}

static struct scene *scene_with_ref(struct kunit *test)
{
	struct scene *s = scene_new(test);

	KUNIT_ASSERT_EQ(test, percpu_ref_init(&s->ref, ref_is_released,
					      PERCPU_REF_ALLOW_REINIT,
					      GFP_KERNEL), 0);
	return s;
}

static void ref_exit(struct scene *s)
{
	/* The task that released it may still be in percpu_ref_put(). */
	synchronize_rcu();
	percpu_ref_exit(&s->ref);
}

static void killed_ref_is_released_by_its_last_user(struct kunit *test)
{
	struct scene *s = scene_with_ref(test);
	int i;

	for (i = 1; i <= 3; i++) {
		KUNIT_EXPECT_TRUE(test, percpu_ref_tryget_live(&s->ref));
		KUNIT_EXPECT_TRUE(test, percpu_ref_tryget_live(&s->ref));
		KUNIT_EXPECT_FALSE(test, percpu_ref_is_zero(&s->ref));
		percpu_ref_put(&s->ref);
		percpu_ref_kill(&s->ref);
		KUNIT_EXPECT_FALSE(test, percpu_ref_tryget_live(&s->ref));
		synchronize_rcu();
		let_pass();
		KUNIT_EXPECT_EQ(test, atomic_read(&s->others), i - 1);
		KUNIT_EXPECT_FALSE(test, percpu_ref_is_zero(&s->ref));
		percpu_ref_put(&s->ref);
		KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) ==
						   i));
		KUNIT_EXPECT_TRUE(test, percpu_ref_is_zero(&s->ref));
		let_pass();
		KUNIT_EXPECT_EQ(test, atomic_read(&s->others), i);
		percpu_ref_resurrect(&s->ref);
	}
	percpu_ref_kill(&s->ref);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) == i));
	ref_exit(s);
}

static void resurrected_ref_is_not_released(struct kunit *test)
{
	struct scene *s = scene_with_ref(test);

	KUNIT_EXPECT_TRUE(test, percpu_ref_tryget_live(&s->ref));
	percpu_ref_kill(&s->ref);
	percpu_ref_resurrect(&s->ref);
	percpu_ref_put(&s->ref);
	KUNIT_EXPECT_TRUE(test, percpu_ref_tryget_live(&s->ref));
	percpu_ref_put(&s->ref);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->others), 0);
	percpu_ref_kill(&s->ref);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others) == 1));
	ref_exit(s);
}

static int task_uses_ref(void *data)
{
	struct scene *s = data;

	while (percpu_ref_tryget_live(&s->ref)) {
		atomic_inc(&s->inside);
		atomic_inc(&s->begins);
		cond_resched();
		atomic_dec(&s->inside);
		percpu_ref_put(&s->ref);
	}
	atomic_inc(&s->ends);
	return 0;
}

static void ref_is_released_behind_all_users(struct kunit *test)
{
	struct scene *s = scene_with_ref(test);

	tasks_run(s, TASKS, task_uses_ref);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->begins) > TASKS));
	percpu_ref_kill(&s->ref);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == TASKS &&
					   atomic_read(&s->others) == 1));
	ref_exit(s);
}

/* Bios. */

static int task_takes_bio(void *data)
{
	struct scene *s = data;
	struct bio *bio;

	complete(&s->begun);
	bio = bio_alloc_bioset(NULL, 1, REQ_OP_READ, GFP_NOIO, &s->set);
	KUNIT_EXPECT_NOT_NULL(s->test, bio);
	atomic_inc(&s->ends);
	bio_put(bio);
	atomic_inc(&s->others);
	return 0;
}

static void empty_set_has_who_may_sleep_wait(struct kunit *test)
{
	struct scene *s = scene_new(test);
	struct bio *bio[BIO_POOL_SIZE];
	int i;

	KUNIT_ASSERT_EQ(test, bioset_init(&s->set, BIO_POOL_SIZE, 0,
					  BIOSET_NEED_BVECS), 0);
	lacks_memory(&s->set, true);
	for (i = 0; i < BIO_POOL_SIZE; i++) {
		bio[i] = bio_alloc_bioset(NULL, 1, REQ_OP_READ,
					  i ? GFP_NOIO : GFP_NOWAIT, &s->set);
		KUNIT_ASSERT_NOT_NULL(test, bio[i]);
	}
	KUNIT_EXPECT_NULL(test, bio_alloc_bioset(NULL, 1, REQ_OP_READ,
						 GFP_NOWAIT, &s->set));
	tasks_run(s, 1, task_takes_bio);
	wait_for_completion(&s->begun);
	let_pass();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 0);
	bio_put(bio[0]);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->others)));
	bio[0] = bio_alloc_bioset(NULL, 1, REQ_OP_READ, GFP_NOWAIT, &s->set);
	KUNIT_EXPECT_NOT_NULL(test, bio[0]);
	for (i = 0; i < BIO_POOL_SIZE; i++)
		bio_put(bio[i]);
	lacks_memory(&s->set, false);
	bioset_exit(&s->set);
}

static void bio_ends(struct bio *bio)
{
	struct scene *s = bio->bi_private;

	s->result = bio->bi_status;
	atomic_inc(&s->ends);
}

static void clone_is_a_bio_of_its_own(struct kunit *test)
{
	struct scene *s = scene_new(test);
	struct bio *bio, *clone;
	struct bio_vec bv;
	struct bvec_iter iter;
	struct page *page = alloc_pages(GFP_KERNEL, 1);
	unsigned int bytes = 0;
	int most;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, bioset_init(&s->set, BIO_POOL_SIZE, 0,
					  BIOSET_NEED_BVECS), 0);
	bio = bio_alloc(NULL, 2, REQ_OP_WRITE | REQ_FUA, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bio);
	most = bio->bi_max_vecs;
	KUNIT_EXPECT_GE(test, most, 2);
	bio->bi_iter.bi_sector = 100;
	__bio_add_page(bio, page, 1024, 512);
	__bio_add_page(bio, page, 512, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, bio_sectors(bio), 3U);
	KUNIT_EXPECT_EQ(test, bio_end_sector(bio), (sector_t)103);

	clone = bio_alloc_clone(NULL, bio, GFP_NOIO, &s->set);
	KUNIT_ASSERT_NOT_NULL(test, clone);
	KUNIT_EXPECT_EQ(test, clone->bi_opf, bio->bi_opf);
	bio_advance_iter(clone, &clone->bi_iter, 512);
	KUNIT_EXPECT_EQ(test, clone->bi_iter.bi_sector, (sector_t)101);
	KUNIT_EXPECT_EQ(test, bio_sectors(bio), 3U);
	__bio_for_each_segment(bv, clone, iter, clone->bi_iter) {
		KUNIT_EXPECT_EQ(test, bv.bv_len, 512U);
		KUNIT_EXPECT_EQ(test, bv.bv_offset, bytes ? 0U : 1024U);
		bytes += bv.bv_len;
	}
	KUNIT_EXPECT_EQ(test, bytes, 1024U);
	clone->bi_private = s;
	clone->bi_end_io = bio_ends;
	bio_io_error(clone);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	KUNIT_EXPECT_EQ(test, s->result, (int)BLK_STS_IOERR);
	bio_put(clone);

	bio_reset(bio, NULL, REQ_OP_READ);
	KUNIT_EXPECT_EQ(test, bio_sectors(bio), 0U);
	KUNIT_EXPECT_EQ(test, bio->bi_vcnt, 0);
	KUNIT_EXPECT_EQ(test, (int)bio->bi_max_vecs, most);
	KUNIT_EXPECT_EQ(test, (int)bio_op(bio), (int)REQ_OP_READ);
	bio->bi_private = s;
	bio->bi_end_io = bio_ends;
	bio_endio(bio);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 2);
	KUNIT_EXPECT_EQ(test, s->result, 0);
	bio_put(bio);
	__free_pages(page, 1);
	bioset_exit(&s->set);
}

static void bios_of_the_caller_are_cloned_and_left(struct kunit *test)
{
	struct bio bio, clone;
	struct bio_vec table[1];

	bio_init(&bio, NULL, table, ARRAY_SIZE(table), REQ_OP_WRITE);
	KUNIT_EXPECT_EQ(test, bio.bi_max_vecs, 1);
	bio.bi_iter.bi_sector = 7;
	KUNIT_EXPECT_EQ(test, bio_init_clone(NULL, &clone, &bio, GFP_KERNEL),
			0);
	KUNIT_EXPECT_EQ(test, clone.bi_iter.bi_sector, (sector_t)7);
	KUNIT_EXPECT_EQ(test, (int)bio_op(&clone), (int)REQ_OP_WRITE);
	bio_uninit(&clone);
	bio_uninit(&bio);
}

static void list_of_bios_keeps_their_order(struct kunit *test)
{
	struct bio_list list = BIO_EMPTY_LIST, more = BIO_EMPTY_LIST;
	struct bio *bio = kunit_kzalloc(test, 4 * sizeof(*bio), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, bio);
	KUNIT_EXPECT_TRUE(test, bio_list_empty(&list));
	bio_list_add(&list, &bio[0]);
	bio_list_add(&list, &bio[1]);
	bio_list_add(&more, &bio[2]);
	bio_list_merge(&list, &more);
	bio_list_add(&list, &bio[3]);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_PTR_EQ(test, bio_list_pop(&list), &bio[i]);
	KUNIT_EXPECT_NULL(test, bio_list_pop(&list));
}

/* Plugs. */

struct plug_cb {
	struct blk_plug_cb cb;
	bool from_schedule;
};

static void plug_ends(struct blk_plug_cb *cb, bool from_schedule)
{
	struct scene *s = cb->data;

	atomic_inc(&s->ends);
	s->result = from_schedule;
	kfree(cb);
}

static void plug_is_flushed_at_its_end(struct kunit *test)
{
	struct scene *s = scene_new(test);
	struct blk_plug plug, inner;
	struct blk_plug_cb *cb;

	KUNIT_EXPECT_NULL(test, blk_check_plugged(plug_ends, s, sizeof(*cb)));
	blk_start_plug(&plug);
	cb = blk_check_plugged(plug_ends, s, sizeof(struct plug_cb));
	KUNIT_ASSERT_NOT_NULL(test, cb);
	KUNIT_EXPECT_PTR_EQ(test, cb,
			    blk_check_plugged(plug_ends, s,
					      sizeof(struct plug_cb)));
	blk_start_plug(&inner);
	blk_finish_plug(&inner);
	cond_resched();
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 0);
	blk_finish_plug(&plug);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	KUNIT_EXPECT_EQ(test, s->result, 0);
	KUNIT_EXPECT_NULL(test, blk_check_plugged(plug_ends, s, sizeof(*cb)));
}

static int task_completes(void *data)
{
	struct scene *s = data;

	/* Only when the plug is flushed: the waiting task has gone to sleep. */
	KUNIT_EXPECT_TRUE(s->test, eventually(atomic_read(&s->ends)));
	complete(&s->go);
	return 0;
}

static void plug_is_flushed_when_its_task_sleeps(struct kunit *test)
{
	struct scene *s = scene_new(test);
	struct blk_plug plug;

	tasks_run(s, 1, task_completes);
	blk_start_plug(&plug);
	KUNIT_ASSERT_NOT_NULL(test, blk_check_plugged(plug_ends, s,
						      sizeof(struct plug_cb)));
	wait_for_completion(&s->go);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 1);
	KUNIT_EXPECT_EQ(test, s->result, 1);
	KUNIT_ASSERT_NOT_NULL(test, blk_check_plugged(plug_ends, s,
						      sizeof(struct plug_cb)));
	schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 2);
	blk_finish_plug(&plug);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 2);
}

/* Atomic operations, memory, numbers. */

static int task_adds(void *data)
{
	struct scene *s = data;
	int i, old;

	for (i = 0; i < ROUNDS; i++) {
		atomic_add(2, &s->begins);
		atomic_dec(&s->begins);
		old = atomic_read(&s->inside);
		while (!atomic_try_cmpxchg(&s->inside, &old, old + 1))
			;
	}
	atomic_inc(&s->ends);
	return 0;
}

static void atomic_operations_are_one_step(struct kunit *test)
{
	struct scene *s = scene_new(test);
	atomic64_t large = { 5 };
	s64 was = 4;
	int old = 7, number = 3;

	tasks_run(s, TASKS, task_adds);
	KUNIT_EXPECT_TRUE(test, eventually(atomic_read(&s->ends) == TASKS));
	KUNIT_EXPECT_EQ(test, atomic_read(&s->begins), TASKS * ROUNDS);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->inside), TASKS * ROUNDS);
	atomic_set(&s->ends, 1);
	KUNIT_EXPECT_FALSE(test, atomic_try_cmpxchg(&s->ends, &old, 9));
	KUNIT_EXPECT_EQ(test, old, 1);
	KUNIT_EXPECT_TRUE(test, atomic_dec_and_test(&s->ends));
	KUNIT_EXPECT_FALSE(test, atomic_dec_and_test(&s->ends));
	KUNIT_EXPECT_EQ(test, atomic_dec_return(&s->ends), -2);
	/* A value that is not positive stays. */
	KUNIT_EXPECT_EQ(test, atomic_dec_if_positive(&s->ends), -3);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), -2);
	atomic_set(&s->ends, 1);
	KUNIT_EXPECT_EQ(test, atomic_dec_if_positive(&s->ends), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s->ends), 0);
	KUNIT_EXPECT_EQ(test, cmpxchg(&number, 4, 5), 3);
	KUNIT_EXPECT_EQ(test, cmpxchg(&number, 3, 5), 3);
	KUNIT_EXPECT_EQ(test, number, 5);
	KUNIT_EXPECT_EQ(test, xchg(&number, 7), 5);
	KUNIT_EXPECT_EQ(test, number, 7);
	KUNIT_EXPECT_FALSE(test, atomic64_try_cmpxchg(&large, &was, 9));
	KUNIT_EXPECT_EQ(test, was, (s64)5);
	KUNIT_EXPECT_EQ(test, (s64)atomic64_add_return(-6, &large), (s64)-1);
	KUNIT_EXPECT_EQ(test, (s64)atomic64_inc_return(&large), (s64)0);
	atomic64_add(-3, &large);
	atomic64_sub(-2, &large);
	KUNIT_EXPECT_EQ(test, (s64)atomic64_read(&large), (s64)-1);
}

static void memory_is_as_large_and_aligned_as_asked(struct kunit *test)
{
	unsigned char *memory;
	struct page *page;
	size_t bytes, i;

	for (bytes = 8; bytes <= 2 * PAGE_SIZE; bytes *= 2) {
		memory = kzalloc(bytes, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, memory);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)memory,
						   bytes));
		KUNIT_EXPECT_GE(test, ksize(memory), bytes);
		KUNIT_EXPECT_GE(test, kmalloc_size_roundup(bytes), bytes);
		for (i = 0; i < bytes && !memory[i]; i++)
			;
		KUNIT_EXPECT_EQ(test, i, bytes);
		kfree(memory);
	}
	kfree(NULL);
	page = alloc_pages(GFP_NOIO, 1);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)page_address(page),
					   PAGE_SIZE));
	__free_pages(page, 1);
}

static void numbers_are_read_from_text(struct kunit *test)
{
	unsigned long long large = 0;
	unsigned int number = 0;
	char text[8];

	KUNIT_EXPECT_EQ(test, kstrtouint("12", 10, &number), 0);
	KUNIT_EXPECT_EQ(test, number, 12U);
	KUNIT_EXPECT_EQ(test, kstrtouint("+13\n", 10, &number), 0);
	KUNIT_EXPECT_EQ(test, number, 13U);
	KUNIT_EXPECT_EQ(test, kstrtouint("", 10, &number), -EINVAL);
	KUNIT_EXPECT_EQ(test, kstrtouint("-1", 10, &number), -EINVAL);
	KUNIT_EXPECT_EQ(test, kstrtouint(" 1", 10, &number), -EINVAL);
	KUNIT_EXPECT_EQ(test, kstrtouint("1 ", 10, &number), -EINVAL);
	KUNIT_EXPECT_EQ(test, kstrtouint("1\n\n", 10, &number), -EINVAL);
	KUNIT_EXPECT_EQ(test, kstrtouint("4294967296", 10, &number), -ERANGE);
	KUNIT_EXPECT_EQ(test, kstrtoull("18446744073709551615", 10, &large),
			0);
	KUNIT_EXPECT_EQ(test, large, U64_MAX);
	KUNIT_EXPECT_EQ(test, kstrtoull("18446744073709551616", 10, &large),
			-ERANGE);
	KUNIT_EXPECT_EQ(test, scnprintf(text, sizeof(text), "%d-%s", 12, "ab"),
			5);
	KUNIT_EXPECT_EQ(test, strcmp(text, "12-ab"), 0);
	KUNIT_EXPECT_EQ(test, scnprintf(text, 4, "%d-%s", 12, "ab"), 3);
	KUNIT_EXPECT_EQ(test, scnprintf(text, 0, "%d", 12), 0);
}

static struct kunit_case interfaces_cases[] = {
	KUNIT_CASE(work_queued_while_it_runs_runs_once_more),
	KUNIT_CASE(recycled_work_waits_for_the_one_that_runs),
	KUNIT_CASE(work_of_another_function_does_not_wait),
	KUNIT_CASE(work_that_sleeps_holds_up_no_other),
	KUNIT_CASE(queue_for_reclaim_goes_on_while_workers_sleep),
	KUNIT_CASE(requeued_work_goes_on_while_workers_sleep),
	KUNIT_CASE(queue_runs_no_more_than_its_limit),
	KUNIT_CASE(cancel_work_sync_waits_for_the_one_that_runs),
	KUNIT_CASE(cancel_work_sync_takes_an_item_off_its_queue),
	KUNIT_CASE(work_that_queues_itself_can_be_cancelled),
	KUNIT_CASE(delayed_work_comes_when_its_time_is_over),
	KUNIT_CASE(delayed_work_can_be_moved),
	KUNIT_CASE(delayed_work_that_queues_itself_can_be_cancelled),
	KUNIT_CASE(completion_counts),
	KUNIT_CASE(completion_lets_one_pass),
	KUNIT_CASE(fatal_signal_ends_killable_waits_only),
	KUNIT_CASE(wake_up_wakes_each),
	KUNIT_CASE(wake_up_all_wakes_each),
	KUNIT_CASE(wait_with_a_limit_says_what_was_left),
	KUNIT_CASE(mutex_is_held_by_one),
	KUNIT_CASE(spin_lock_is_held_by_one),
	KUNIT_CASE(locks_turn_interrupts_off_and_on),
	KUNIT_CASE(timer_fires_in_a_soft_interrupt),
	KUNIT_CASE(timer_reduce_makes_it_earlier_only),
	KUNIT_CASE(timer_delete_sync_waits_for_the_one_that_runs),
	KUNIT_CASE(timer_never_runs_twice_at_once),
	KUNIT_CASE(timer_fires_while_a_spin_lock_is_held),
	KUNIT_CASE(hrtimer_fires_in_a_hard_interrupt),
	KUNIT_CASE(hrtimer_start_replaces_the_time),
	KUNIT_CASE(hrtimer_cancel_waits_for_the_one_that_runs),
	KUNIT_CASE(hrtimer_never_runs_twice_at_once),
	KUNIT_CASE(synchronize_rcu_waits_for_who_reads),
	KUNIT_CASE(synchronize_rcu_does_not_wait_for_later_readers),
	KUNIT_CASE(call_rcu_calls_when_readers_have_left),
	KUNIT_CASE(counts_of_cpus_add_up),
	KUNIT_CASE(counts_in_memory_of_cpus_add_up),
	KUNIT_CASE(a_task_keeps_its_cpu_while_preemption_is_off),
	KUNIT_CASE(killed_ref_is_released_by_its_last_user),
	KUNIT_CASE(resurrected_ref_is_not_released),
	KUNIT_CASE(ref_is_released_behind_all_users),
	KUNIT_CASE(empty_set_has_who_may_sleep_wait),
	KUNIT_CASE(clone_is_a_bio_of_its_own),
	KUNIT_CASE(bios_of_the_caller_are_cloned_and_left),
	KUNIT_CASE(list_of_bios_keeps_their_order),
	KUNIT_CASE(plug_is_flushed_at_its_end),
	KUNIT_CASE(plug_is_flushed_when_its_task_sleeps),
	KUNIT_CASE(atomic_operations_are_one_step),
	KUNIT_CASE(memory_is_as_large_and_aligned_as_asked),
	KUNIT_CASE(numbers_are_read_from_text),
	{}
};

static struct kunit_suite interfaces_suite = {
	.name = "dm-align-interfaces",
	.test_cases = interfaces_cases,
};

kunit_test_suite(interfaces_suite);

MODULE_DESCRIPTION("KUnit tests of the kernel's interfaces that dm-align uses");
MODULE_LICENSE("GPL");
