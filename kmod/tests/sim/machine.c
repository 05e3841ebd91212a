// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler of the simulated machine: its threads, CPUs and interrupts.
 *
 * All state is static: there is one machine in a process.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "machine_own.h"
#include "strategy.h"

/* Virtual time of a choice, ns. */
#define CHOICE_NS	50
/* No world lives so long: a thread polls for ever. */
#define MOST_NS		(1000000000ULL * 7200)
/* Once in so many choices time goes on to the next timer though a thread can run. */
#define HASTE		4096

struct machine_options options;
struct machine_result result;
struct thread threads[MOST_THREADS];
size_t nr_threads;
static struct thread *pool[MOST_THREADS];
static size_t nr_pool;
struct thread *waiting[MOST_THREADS];
size_t nr_waiting;
struct thread *devices[MOST_THREADS];
size_t nr_devices;
struct cpu cpus[MACHINE_CPUS];
struct queue hard, soft;
struct thread host;
/* Where a run of a search ends, if no thread runs then. */
static jmp_buf host_end;
static bool ended;
static char failure[1024];
sim_u64 all_choices;
/* Threads that spin. */
static unsigned int nr_spinning;
/* Points that were granted until the next switch. */
static int granted;

struct thread *machine_current;
int machine_budget;

void thread_end(void)
{
	struct thread *thread = machine_current;

	if (thread->nr_held || thread->preempt)
		machine_fail("%s ends with a spin lock, or preemption off",
			     thread->name);
	thread->state = THREAD_IDLE;
	if (thread->context != CONTEXT_DEVICE)
		cpus[thread->cpu].top = thread->below;
	pool[nr_pool++] = thread;
	machine_switch();
}

struct thread *thread_take(enum thread_context context, const char *name,
			   void (*run)(void *argument), void *argument)
{
	struct thread *thread;

	if (nr_pool) {
		thread = pool[--nr_pool];
	} else {
		if (nr_threads == MOST_THREADS)
			machine_fail("more than %d threads", MOST_THREADS);
		thread = &threads[nr_threads];
		thread->id = (unsigned int)nr_threads++;
		if (!thread->stack)
			thread->stack = stack_new(thread->id);
		stack_begin(thread);
	}
	thread->context = context;
	thread->state = THREAD_RUNNABLE;
	thread->cpu = -1;
	thread->preempt = 0;
	thread->irqs_off = context == CONTEXT_HARDIRQ;
	thread->rcu = 0;
	thread->killed = false;
	thread->bio_list = NULL;
	thread->plug = NULL;
	thread->unplugs = false;
	thread->waits_for = NULL;
	thread->wake_ns = NEVER;
	thread->nr_held = 0;
	thread->nr_mutexes = 0;
	thread->flags = 0;
	thread->offers = NULL;
	thread->name = name;
	thread->run = run;
	thread->argument = argument;
	thread->below = NULL;
	return thread;
}

static unsigned int new_priority(void)
{
	return options.strategy == STRATEGY_PCT ? pct_new_priority() : 0;
}

/* A thread has become runnable: with priorities, have it seen at the next point. */
static void look_soon(void)
{
	if (options.strategy != STRATEGY_PCT)
		return;
	granted -= machine_budget;
	machine_budget = 0;
}

static void make_runnable(struct thread *thread)
{
	thread->state = THREAD_RUNNABLE;
	look_soon();
	if (thread->context == CONTEXT_DEVICE)
		devices[nr_devices++] = thread;
	else
		waiting[nr_waiting++] = thread;
}

struct thread *machine_start(enum thread_context context, const char *name,
			     void (*run)(void *argument), void *argument)
{
	struct thread *thread = thread_take(context, name, run, argument);

	thread->priority = new_priority();
	weak_mb();
	make_runnable(thread);
	return thread;
}

void machine_interrupt(enum thread_context context, const char *name,
		       void (*run)(void *argument), void *argument)
{
	struct queue *queue = context == CONTEXT_HARDIRQ ? &hard : &soft;

	weak_mb();
	if (queue->nr == MOST_PENDING)
		machine_fail("more than %d interrupts are pending",
			     MOST_PENDING);
	queue->entry[queue->nr++] =
		(struct interrupt) { name, run, argument, new_priority() };
	look_soon();
}

/* Whether something waits for a CPU to turn interrupts or preemption on. */
static bool is_barred(void)
{
	bool irq = !hard.nr, bh = !soft.nr, task = !nr_waiting;
	unsigned int i;

	for (i = 0; i < options.cpus; i++) {
		irq |= takes_hard(&cpus[i]);
		bh |= takes_soft(&cpus[i]);
		task |= takes_task(&cpus[i]);
	}
	return !irq || !bh || !task;
}

static void refill(void)
{
	if (options.strategy == STRATEGY_RANDOM)
		machine_budget = 1 + (int)choose_of(2 * options.mean);
	else if (options.strategy == STRATEGY_SEARCH)
		machine_budget = INT_MAX;
	else
		machine_budget = is_barred() ? 1 : (int)pct_until_change();
	granted = machine_budget;
}

static void leave(void)
{
	weak_leave();
	ended = true;
	if (options.strategy == STRATEGY_SEARCH)
		options.search->stop();
	if (machine_current == &host)
		longjmp(host_end, 1);
	go_to(&host);
	abort();
}

/* Count the points since the last switch. Return: PCT has time go on. */
static bool pass_points(void)
{
	unsigned int passed = (unsigned int)(granted - machine_budget);

	granted = machine_budget;
	result.points += passed;
	switch (pct_pass(passed)) {
	case PCT_LOWER:
		machine_current->priority = pct_lowest_priority();
		break;
	case PCT_RENEW:
		machine_current->priority = pct_new_priority();
		break;
	case PCT_LAST:
		machine_current->priority = pct_last_priority();
		break;
	case PCT_TIME:
		return true;
	case PCT_STAY:
		break;
	}
	return false;
}

/* Whether time goes on to the next timer though a thread can run. */
static bool has_haste(void)
{
	if (options.strategy == STRATEGY_PCT)
		return pass_points() && !options.calm && next_ns != NEVER;
	return options.strategy == STRATEGY_RANDOM && next_ns != NEVER &&
	       now_ns < next_ns && !options.calm && !choose_of(HASTE);
}

void machine_calm(void)
{
	options.calm = true;
}

bool machine_is_calm(void)
{
	return options.calm;
}

void machine_switch(void)
{
	struct thread *next;

	/* A search chooses while no thread runs, so that all stacks are at rest. */
	if (options.strategy == STRATEGY_SEARCH && machine_current != &host) {
		go_to(&host);
		return;
	}
	weak_leave();
	for (;;) {
		all_choices++;
		if (++result.choices == options.most_choices)
			machine_stop("given up");
		if (options.strategy != STRATEGY_SEARCH)
			now_ns += CHOICE_NS;
		if (has_haste() && now_ns < next_ns)
			now_ns = next_ns;
		if (now_ns >= next_ns)
			fire_timers();
		next = choose();
		if (next)
			break;
		weak_mb_all();
		if (next_ns == NEVER)
			leave();
		machine_note(&now_ns, true);
		now_ns = next_ns;
		if (now_ns > MOST_NS && !result.failure)
			machine_fail("hang: a thread has waited for two hours");
		fire_timers();
	}
	if (next != machine_current)
		pct_switched();
	refill();
	weak_enter(next->cpu);
	if (options.strategy == STRATEGY_SEARCH)
		stack_clean(next);
	go_to(next);
}

void machine_sleep(const void *waits_for, sim_u64 until_ns)
{
	struct thread *thread = machine_current;

	weak_mb();
	thread->state = THREAD_SLEEPS;
	thread->waits_for = waits_for;
	thread->wake_ns = until_ns;
	if (until_ns != NEVER)
		sleeper_add(thread, until_ns);
	if (thread->context == CONTEXT_DEVICE) {
		size_t i;

		for (i = 0; devices[i] != thread; i++)
			;
		devices[i] = devices[--nr_devices];
	} else {
		cpus[thread->cpu].top = NULL;
		thread->cpu = -1;
	}
	machine_switch();
}

void machine_yield(void)
{
	struct thread *thread = machine_current;

	if (options.strategy != STRATEGY_SEARCH)
		return;
	cpus[thread->cpu].top = NULL;
	thread->cpu = -1;
	make_runnable(thread);
	machine_switch();
}

void machine_wake(struct thread *thread)
{
	weak_mb();
	machine_note(thread, true);
	if (thread->state != THREAD_SLEEPS)
		return;
	if (thread->wake_ns != NEVER)
		sleeper_remove(thread);
	thread->waits_for = NULL;
	make_runnable(thread);
}

void machine_wake_for(const void *thing)
{
	size_t i;

	for (i = 0; i < nr_threads; i++)
		if (threads[i].state == THREAD_SLEEPS &&
		    threads[i].waits_for == thing)
			machine_wake(&threads[i]);
}

void machine_spin(const void *waits_for)
{
	struct thread *thread = machine_current;

	thread->state = THREAD_SPINS;
	nr_spinning++;
	thread->waits_for = waits_for;
	machine_switch();
	thread->waits_for = NULL;
}

void machine_unspin(const void *waits_for)
{
	unsigned int i;

	for (i = 0; nr_spinning && i < options.cpus; i++) {
		struct thread *thread = cpus[i].top;

		for (; thread; thread = thread->below)
			if (thread->state == THREAD_SPINS &&
			    thread->waits_for == waits_for) {
				thread->state = THREAD_RUNNABLE;
				nr_spinning--;
				look_soon();
			}
	}
}

const char *machine_atomic(void)
{
	const struct thread *thread = machine_current;

	if (thread->context == CONTEXT_HARDIRQ)
		return "in a hard interrupt";
	if (thread->context == CONTEXT_SOFTIRQ)
		return "in a soft interrupt";
	if (thread->irqs_off)
		return "with interrupts off";
	if (thread->preempt)
		return "with preemption off";
	if (thread->rcu)
		return "in an RCU read section";
	return NULL;
}

void machine_fail(const char *format, ...)
{
	va_list list;

	if (!result.failure) {
		va_start(list, format);
		vsnprintf(failure, sizeof(failure), format, list);
		va_end(list);
		result.failure = failure;
	}
	leave();
	abort();
}

void machine_stop(const char *why)
{
	result.why = why;
	leave();
	abort();
}

bool machine_is_on_stack(const void *at)
{
	const char *stack = machine_current->stack;

	return (const char *)at >= stack &&
	       (const char *)at < stack + STACK_BYTES;
}

/* All static data of the engine, the shim and the world. */
extern char __start_sim_data[], __stop_sim_data[];

bool machine_is_shared(const void *at)
{
	const char *of = at;
	size_t i;

	if ((of >= __start_sim_data && of < __stop_sim_data) || memory_has(of))
		return true;
	for (i = 0; i < nr_threads; i++)
		if (of >= threads[i].stack && of < threads[i].stack + STACK_BYTES)
			return true;
	return false;
}

void thread_parts(void (*part)(void *at, size_t bytes))
{
	size_t i;

	PART(result);
	PART(cpus);
	PART(nr_threads);
	PART(nr_pool);
	PART(nr_waiting);
	PART(nr_spinning);
	PART(nr_devices);
	PART(hard.nr);
	PART(soft.nr);
	LIST(threads, nr_threads);
	LIST(pool, nr_pool);
	LIST(waiting, nr_waiting);
	LIST(devices, nr_devices);
	LIST(hard.entry, hard.nr);
	LIST(soft.entry, soft.nr);
	for (i = 0; i < nr_threads; i++)
		part(threads[i].sp, (size_t)(threads[i].stack + STACK_BYTES -
					     (char *)threads[i].sp));
}

void machine_reset(const struct machine_options *wanted)
{
	size_t i;

	catch_signals();
	options = *wanted;
	chance_begin(options.seed);
	search_begin();
	granted = 0;
	machine_budget = 0;
	if (options.strategy == STRATEGY_PCT)
		pct_begin(options.depth, options.steps);
	result = (struct machine_result) { 0 };
	for (i = 0; i < nr_threads; i++)
		threads[i].state = THREAD_IDLE;
	nr_threads = 0;
	nr_pool = 0;
	nr_waiting = 0;
	nr_spinning = 0;
	nr_devices = 0;
	hard.nr = 0;
	soft.nr = 0;
	memset(cpus, 0, sizeof(cpus));
	time_begin();
	story_begin(options.keep_story);
	host.name = "host";
	host.cpu = -1;
	machine_current = &host;
	memory_reset();
	bounds_reset();
	weak_reset(options.cpus);
}

struct machine_result machine_run(void (*first)(void *argument),
				  void *argument)
{
	machine_start(CONTEXT_TASK, "first", first, argument);
	return machine_go_on();
}

struct machine_result machine_go_on(void)
{
	machine_current = &host;
	ended = false;
	if (!setjmp(host_end))
		do
			machine_switch();
		while (!ended);
	result.ns = now_ns;
	result.hash = story_hash();
	return result;
}
