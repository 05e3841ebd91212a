// SPDX-License-Identifier: GPL-2.0
/*
 * Workqueues. A work item is the same by its address and its function: while one
 * runs, it waits behind that, and so does another that got its memory and has its
 * function. All queues share a pool of workers; a queue for memory reclaim has a
 * rescuer, which takes its items when the pool has no worker left.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#define MOST_WORKERS	64

struct workqueue_struct {
	struct list_head list;
	struct list_head items;
	const char *name;
	unsigned int running;
	unsigned int limit;
	bool rescuer;
	bool rescues;
};

static LIST_HEAD(queues);
static struct workqueue_struct *system_wq;
static unsigned int most_workers, nr_workers;
/* In a search: workers that were woken or started, and have taken no item yet. */
static unsigned int nr_ready;
static wait_queue_head_t idle, ended;

/* The running items, their workers, and whether an item's memory was freed meanwhile. */
static struct {
	const struct work_struct *work;
	work_func_t func;
	const struct thread *thread;
	bool freed;
} running[MOST_WORKERS];
static unsigned int nr_running;

/*
 * An item may be freed while it runs. But if its function sleeps then, a thread that gets the
 * memory, and queues an item with that function, waits for a sleeper of another one.
 */
static void check_freed(unsigned int i, bool sleeps)
{
	if (running[i].freed && sleeps)
		machine_fail("a work item sleeps whose memory is freed: who gets that waits for the sleeper");
}

void shim_work_freed(const void *memory, size_t bytes)
{
	unsigned int i;

	/* Data that only this looks at would keep a search's steps from commuting. */
	if (machine_is_search())
		return;
	for (i = 0; i < nr_running; i++) {
		const char *at = (const char *)running[i].work;

		if (at < (const char *)memory || at >= (const char *)memory + bytes)
			continue;
		running[i].freed = true;
		check_freed(i, running[i].thread->state == THREAD_SLEEPS);
	}
}

void shim_work_sleeps(void)
{
	unsigned int i;

	for (i = 0; !machine_is_search() && i < nr_running; i++)
		if (running[i].thread == current)
			check_freed(i, true);
}

static bool runs(const struct work_struct *work, work_func_t func)
{
	unsigned int i;

	for (i = 0; i < nr_running; i++)
		if (running[i].work == work && running[i].func == func)
			return true;
	return false;
}

/* Find the first item of a queue that may run now. */
static struct work_struct *find_in(struct workqueue_struct *wq)
{
	struct work_struct *work;

	if (wq->running >= wq->limit)
		return NULL;
	list_for_each_entry(work, &wq->items, entry)
		if (!runs(work, work->func))
			return work;
	return NULL;
}

/* Take an item that may run now off a queue. */
static struct work_struct *take_of(struct workqueue_struct *wq)
{
	struct work_struct *work = find_in(wq);

	if (work)
		list_del(&work->entry);
	return work;
}

static void run_item(struct workqueue_struct *wq, struct work_struct *work)
{
	work_func_t func = work->func;
	unsigned int i;

	running[nr_running].work = work;
	running[nr_running].thread = current;
	running[nr_running].freed = false;
	running[nr_running++].func = func;
	wq->running++;
	/* From here on the item can be queued again. */
	work->pending = false;
	machine_point();
	func(work);
	if (current->nr_held || current->preempt || current->irqs_off)
		machine_fail("a work item ends with a lock, or interrupts off");
	for (i = 0; running[i].work != work || running[i].func != func; i++)
		;
	running[i] = running[--nr_running];
	running[nr_running].work = NULL;
	running[nr_running].func = NULL;
	wq->running--;
	wake_up_all(&ended);
	if (!machine_is_search())
		wake_up(&idle);
}

/* Have a search choose between the queues that have an item. */
static struct work_struct *take_searched(struct workqueue_struct **from)
{
	struct workqueue_struct *wq;
	unsigned int nr = 0;

	list_for_each_entry(wq, &queues, list)
		nr += !!find_in(wq);
	nr = machine_decide(nr);
	list_for_each_entry(wq, &queues, list)
		if (find_in(wq) && !nr--) {
			*from = wq;
			return take_of(wq);
		}
	return NULL;
}

/* Find an item of any queue, from a random one on. */
static struct work_struct *take_any(struct workqueue_struct **from)
{
	struct workqueue_struct *wq;
	struct work_struct *work;
	unsigned int nr = 0;

	if (machine_is_search())
		return take_searched(from);
	list_for_each_entry(wq, &queues, list)
		nr++;
	nr = machine_choose(nr);
	list_for_each_entry(wq, &queues, list) {
		if (nr) {
			nr--;
			continue;
		}
		work = take_of(wq);
		if (work) {
			*from = wq;
			return work;
		}
	}
	list_for_each_entry(wq, &queues, list) {
		work = take_of(wq);
		if (work) {
			*from = wq;
			return work;
		}
	}
	return NULL;
}

static bool have_item(void)
{
	struct workqueue_struct *wq;

	list_for_each_entry(wq, &queues, list)
		if (find_in(wq))
			return true;
	return false;
}

static void kick_others(void);

static void rescuer(void *argument)
{
	struct workqueue_struct *wq = argument;
	struct work_struct *work;

	while ((work = take_of(wq))) {
		run_item(wq, work);
		if (machine_is_search())
			kick_others();
	}
	wq->rescues = false;
	wake_up_all(&ended);
}

static void worker(void *unused);

/* Have an item run: by an idle worker, a new one, or the rescuer. */
static void kick(struct workqueue_struct *wq)
{
	/* In a search a ready worker takes any item: more would be the same. */
	if (machine_is_search() && nr_ready)
		return;
	if (idle.nr) {
		nr_ready++;
		if (machine_is_search())
			shim_wake_one(&idle);
		else
			wake_up(&idle);
	} else if (nr_workers < most_workers) {
		nr_ready++;
		nr_workers++;
		machine_start(CONTEXT_TASK, "worker", worker, NULL)->flags = PF_KTHREAD;
	} else if (wq->rescuer && !wq->rescues) {
		wq->rescues = true;
		machine_start(CONTEXT_TASK, "rescuer", rescuer, wq)->flags = PF_KTHREAD;
	}
}

/*
 * Have the rest run by another worker, before a worker may sleep in an item. An
 * item may have become free to run only after it was queued.
 */
static void kick_others(void)
{
	struct workqueue_struct *wq;

	list_for_each_entry(wq, &queues, list)
		if ((!idle.nr || machine_is_search()) && find_in(wq))
			kick(wq);
}

/*
 * A worker of a search: between two items other threads can go on, and the worker
 * wakes up for an item only.
 */
static void worker_searched(void)
{
	struct workqueue_struct *wq;
	struct work_struct *work;

	for (;;) {
		nr_ready--;
		work = take_any(&wq);
		if (work) {
			kick_others();
			run_item(wq, work);
		}
		if (have_item() && !nr_ready) {
			nr_ready++;
			machine_yield();
			continue;
		}
		shim_wait_prepare(&idle);
		shim_wait_sleep(&idle, ~0ULL);
	}
}

static void worker(void *unused)
{
	struct workqueue_struct *wq;
	struct work_struct *work;

	if (machine_is_search())
		worker_searched();
	for (;;) {
		work = take_any(&wq);
		if (work) {
			kick_others();
			run_item(wq, work);
			continue;
		}
		wait_event(idle, have_item());
	}
}

void shim_init_work(struct work_struct *work, work_func_t func)
{
	work->func = func;
	work->pending = false;
	work->disabled = 0;
}

static void delayed_work_timer(struct timer_list *timer)
{
	struct delayed_work *work = container_of(timer, struct delayed_work,
						 timer);

	list_add_tail(&work->work.entry, &work->wq->items);
	kick(work->wq);
}

void shim_init_delayed_work(struct delayed_work *work, work_func_t func)
{
	shim_init_work(&work->work, func);
	timer_setup(&work->timer, delayed_work_timer, 0);
}

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max_active, ...)
{
	struct workqueue_struct *wq = kzalloc(sizeof(*wq), GFP_KERNEL);

	if (!wq)
		return NULL;
	INIT_LIST_HEAD(&wq->items);
	wq->name = name;
	wq->limit = max_active ? max_active : WQ_MAX_ACTIVE;
	wq->rescuer = flags & WQ_MEM_RECLAIM;
	list_add_tail(&wq->list, &queues);
	return wq;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	wait_event(ended, list_empty(&wq->items) && !wq->running &&
		   !wq->rescues);
	list_del(&wq->list);
	kfree(wq);
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	machine_point();
	if (work->pending || work->disabled)
		return false;
	work->pending = true;
	list_add_tail(&work->entry, &wq->items);
	kick(wq);
	return true;
}

/* Queue an item that is not queued. */
static void delay_work(struct workqueue_struct *wq, struct delayed_work *work,
		       unsigned long delay)
{
	work->work.pending = true;
	work->wq = wq;
	if (!delay)
		delayed_work_timer(&work->timer);
	else
		machine_timer_set(&work->timer.timer,
				  (jiffies + delay) * NSEC_PER_JIFFY);
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
			unsigned long delay)
{
	machine_point();
	if (work->work.pending || work->work.disabled)
		return false;
	delay_work(wq, work, delay);
	return true;
}

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay)
{
	struct machine_timer *timer = &work->timer.timer;
	bool was;

	machine_point();
	/* The function of a timer that was raised runs first, as in the kernel. */
	while (timer->raised || timer->running) {
		machine_yield();
		machine_point();
	}
	if (work->work.disabled)
		return false;
	was = work->work.pending;
	if (timer->place)
		machine_timer_clear(timer);
	else if (was)
		list_del(&work->work.entry);
	delay_work(wq, work, delay);
	return was;
}

bool schedule_work(struct work_struct *work)
{
	return queue_work(system_wq, work);
}

/*
 * Take an item off its queue, if it is there, and wait until it has ended.
 * Meanwhile the item cannot be queued, not even by itself.
 */
static bool cancel(struct work_struct *work)
{
	bool was = work->pending;

	work->disabled++;
	if (was) {
		list_del(&work->entry);
		work->pending = false;
	}
	wait_event(ended, !runs(work, work->func));
	work->disabled--;
	return was;
}

bool cancel_work_sync(struct work_struct *work)
{
	might_sleep();
	machine_point();
	return cancel(work);
}

bool cancel_delayed_work_sync(struct delayed_work *work)
{
	bool was;

	might_sleep();
	work->work.disabled++;
	was = timer_delete_sync(&work->timer);
	if (was)
		work->work.pending = false;
	was |= cancel(&work->work);
	work->work.disabled--;
	return was;
}

void shim_work_start(unsigned int workers)
{
	most_workers = workers;
	system_wq = alloc_workqueue("events", 0, 0);
	if (!system_wq)
		machine_fail("no memory for the machine's own workqueue");
}

void shim_work_stop(void)
{
	destroy_workqueue(system_wq);
}
