// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler of the simulated machine, its memory and its story.
 *
 * A switch goes from stack to stack without a system call. All state is static:
 * there is one machine in a process.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#include "machine.h"
#include "strategy.h"

#define STACK_BYTES	(64 * 1024)
#define MOST_THREADS	1024
#define MOST_PENDING	4096
#define MOST_TIMERS	4096
#define STORY_LINES	(1 << 20)
#define NEVER		(~0ULL)
/* Virtual time of a choice, ns. */
#define CHOICE_NS	50
/* No world lives so long: somebody waits, looks again, and waits. */
#define MOST_NS		(1000000000ULL * 7200)
/* Once in so many choices time goes on to the next timer though somebody can run. */
#define HASTE		4096

struct interrupt {
	const char *name;
	void (*run)(void *argument);
	void *argument;
	unsigned int priority;
};

struct queue {
	struct interrupt entry[MOST_PENDING];
	size_t nr;
};

struct cpu {
	struct thread *top;
};

static struct machine_options options;
static struct machine_result result;
static struct thread threads[MOST_THREADS];
static size_t nr_threads;
static struct thread *pool[MOST_THREADS];
static size_t nr_pool;
/* Runnable tasks that are on no CPU; runnable devices; sleepers with a limit. */
static struct thread *waiting[MOST_THREADS];
static size_t nr_waiting;
static struct thread *devices[MOST_THREADS];
static size_t nr_devices;
static struct thread *sleepers[MOST_THREADS];
static size_t nr_sleepers;
static struct machine_timer *timers[MOST_TIMERS];
static size_t nr_timers;
static struct cpu cpus[MACHINE_CPUS];
static struct queue hard, soft;
static sim_u64 now_ns, next_ns, state[2];
static struct thread host;
static char failure[1024];
static struct machine_line *story;
static size_t nr_story;
static size_t allocated;
/* Of all runs of the process. */
static sim_u64 all_choices;

/* Orders are searched now; and how often time has gone on meanwhile. */
static bool explored;
static unsigned int early;
/* Points that were granted until the next switch. */
static int granted;

struct thread *machine_current;
int machine_budget;

/* Chance: xoroshiro128+, seeded by splitmix64; Blackman and Vigna, 2018. */
static sim_u64 next_random(void)
{
	sim_u64 a = state[0], b = state[1], sum = a + b;

	b ^= a;
	state[0] = (a << 24 | a >> 40) ^ b ^ (b << 16);
	state[1] = b << 37 | b >> 27;
	return sum;
}

static sim_u64 split_mix(sim_u64 *from)
{
	sim_u64 z = *from += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

unsigned int machine_choose(unsigned int n)
{
	if (options.strategy == STRATEGY_SEARCH)
		return 0;
	return n < 2 ? 0 : (unsigned int)((next_random() >> 32) * n >> 32);
}

bool machine_chance(unsigned int one_in)
{
	return options.strategy != STRATEGY_SEARCH && one_in && !machine_choose(one_in);
}

unsigned int machine_decide(unsigned int n)
{
	if (options.strategy == STRATEGY_SEARCH)
		return explored && n > 1 ? options.search->decide(n) : 0;
	return machine_choose(n);
}

bool machine_is_search(void)
{
	return options.strategy == STRATEGY_SEARCH;
}

void machine_explore(bool explore)
{
	if (options.strategy == STRATEGY_SEARCH && !explore)
		options.search->stop();
	explored = explore;
}

void machine_note(const void *what, bool write)
{
	if (explored && options.strategy == STRATEGY_SEARCH)
		options.search->note(what, write);
}

void machine_ignore(const void *from, size_t bytes)
{
	if (options.strategy == STRATEGY_SEARCH)
		options.search->ignore(from, bytes);
}

sim_u64 machine_now(void)
{
	machine_note(&now_ns, false);
	return now_ns;
}

/* Switch stacks: save what a call must keep, and take the other one's. */
void stack_switch(void **save, void *to);
#if defined(__x86_64__)
__asm__(".text\n"
	".globl stack_switch\n"
	".type stack_switch, @function\n"
	"stack_switch:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n"
	"	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n"
	"	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n"
	".size stack_switch, . - stack_switch\n"
	".section .note.GNU-stack,\"\",@progbits\n"
	".text\n");
#define SAVED_WORDS	6
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl stack_switch\n"
	".type stack_switch, %function\n"
	"stack_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n	ret\n"
	".size stack_switch, . - stack_switch\n"
	".section .note.GNU-stack,\"\",%progbits\n"
	".text\n");
#else
#error "stack_switch() has to be written for this architecture"
#endif

static void go_to(struct thread *to)
{
	struct thread *from = machine_current;

	if (from == to)
		return;
	machine_current = to;
#ifdef SIM_ASAN
	{
		void *fake;

		__sanitizer_start_switch_fiber(&fake, to->stack,
					       to == &host ? 0 : STACK_BYTES);
		stack_switch(&from->sp, to->sp);
		__sanitizer_finish_switch_fiber(fake, NULL, NULL);
	}
#else
	stack_switch(&from->sp, to->sp);
#endif
}

static void thread_main(void)
{
#ifdef SIM_ASAN
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(NULL, &bottom, &size);
	if (!host.stack)
		host.stack = (char *)bottom;
#endif
	for (;;) {
		struct thread *thread = machine_current;

		thread->run(thread->argument);
		thread = machine_current;
		if (thread->nr_held || thread->preempt)
			machine_fail("%s ends with a spin lock, or preemption off",
				     thread->name);
		thread->state = THREAD_IDLE;
		if (thread->context != CONTEXT_DEVICE)
			cpus[thread->cpu].top = thread->below;
		pool[nr_pool++] = thread;
		machine_switch();
	}
}

static void thread_prepare(struct thread *thread)
{
	uintptr_t top = (uintptr_t)thread->stack + STACK_BYTES;
	void **sp = (void **)(top & ~(uintptr_t)15);

#ifdef SIM_ASAN
	__asan_unpoison_memory_region(thread->stack, STACK_BYTES);
#endif
#if defined(__x86_64__)
	*--sp = NULL;
	*--sp = (void *)thread_main;
	sp -= SAVED_WORDS;
	memset(sp, 0, SAVED_WORDS * sizeof(*sp));
#else
	sp -= 20;
	memset(sp, 0, 20 * sizeof(*sp));
	sp[11] = (void *)thread_main;
#endif
	thread->sp = sp;
}

/* Stacks lie behind the arena, at the same addresses in each run. */
static char *stack_new(unsigned int id)
{
	char *at = (char *)MACHINE_ARENA_AT + MACHINE_ARENA_BYTES +
		   (size_t)id * STACK_BYTES;
	void *stack = mmap(at, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			   0);

	if (stack == MAP_FAILED) {
		perror("sim: a stack");
		exit(2);
	}
	return stack;
}

static struct thread *thread_take(enum thread_context context,
				  const char *name,
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
		thread_prepare(thread);
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

/* Somebody can go on who could not: with priorities, have it seen at the next point. */
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

/* Which interrupts a CPU can take now. */
static bool takes_hard(const struct cpu *cpu)
{
	return !cpu->top || (cpu->top->context != CONTEXT_HARDIRQ &&
			     !cpu->top->irqs_off);
}

static bool takes_soft(const struct cpu *cpu)
{
	return !cpu->top || (cpu->top->context == CONTEXT_TASK &&
			     !cpu->top->irqs_off);
}

static bool takes_task(const struct cpu *cpu)
{
	return !cpu->top || (cpu->top->context == CONTEXT_TASK &&
			     !cpu->top->irqs_off && !cpu->top->preempt);
}

static void fire_timers(void)
{
	size_t i;

	next_ns = NEVER;
	for (i = 0; i < nr_timers;) {
		struct machine_timer *timer = timers[i];

		if (timer->at_ns > now_ns) {
			if (timer->at_ns < next_ns)
				next_ns = timer->at_ns;
			i++;
			continue;
		}
		machine_timer_clear(timer);
		timer->raised = true;
		machine_interrupt(timer->context, "timer", timer->run,
				  timer->argument);
	}
	for (i = 0; i < nr_sleepers;) {
		if (sleepers[i]->wake_ns > now_ns) {
			if (sleepers[i]->wake_ns < next_ns)
				next_ns = sleepers[i]->wake_ns;
			i++;
			continue;
		}
		machine_wake(sleepers[i]);
	}
}

static void note_timer(const void *timer)
{
	machine_note(&now_ns, false);
	machine_note(timer, true);
}

void machine_timer_set(struct machine_timer *timer, sim_u64 at_ns)
{
	weak_mb();
	if (!timer->place) {
		if (nr_timers == MOST_TIMERS)
			machine_fail("more than %d timers", MOST_TIMERS);
		timers[nr_timers++] = timer;
		timer->place = (unsigned int)nr_timers;
	}
	timer->at_ns = at_ns;
	if (at_ns < next_ns)
		next_ns = at_ns;
	note_timer(timer);
}

void machine_timer_clear(struct machine_timer *timer)
{
	note_timer(timer);
	if (!timer->place)
		return;
	timers[timer->place - 1] = timers[--nr_timers];
	timers[timer->place - 1]->place = timer->place;
	timer->place = 0;
	timer->at_ns = NEVER;
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
		machine_budget = 1 + (int)machine_choose(2 * options.mean);
	else if (options.strategy == STRATEGY_SEARCH)
		machine_budget = INT_MAX;
	else
		machine_budget = is_barred() ? 1 : (int)pct_until_change();
	granted = machine_budget;
}

/* Put a task that is on no CPU on one, and what is there beside. */
static struct thread *place_task(unsigned int at, unsigned int nr)
{
	struct cpu *cpu = NULL;
	struct thread *thread;
	unsigned int i;

	for (i = 0; i < options.cpus; i++)
		if (takes_task(&cpus[i]) && !nr--) {
			cpu = &cpus[i];
			break;
		}
	thread = waiting[at];
	waiting[at] = waiting[--nr_waiting];
	if (cpu->top) {
		cpu->top->cpu = -1;
		waiting[nr_waiting++] = cpu->top;
	}
	cpu->top = thread;
	thread->cpu = (int)(cpu - cpus);
	weak_settle((unsigned int)thread->cpu);
	return thread;
}

static struct thread *take_interrupt(struct queue *queue,
				     enum thread_context context,
				     bool (*takes)(const struct cpu *),
				     unsigned int nr, unsigned int at)
{
	unsigned int i;
	struct interrupt entry = queue->entry[at];
	struct thread *thread;

	queue->entry[at] = queue->entry[--queue->nr];
	for (i = 0; !takes(&cpus[i]) || nr--; i++)
		;
	thread = thread_take(context, entry.name, entry.run, entry.argument);
	thread->priority = entry.priority;
	thread->below = cpus[i].top;
	thread->cpu = (int)i;
	cpus[i].top = thread;
	weak_settle(i);
	return thread;
}

/* Choose a thread by chance. Return: NULL if no thread can go on. */
static struct thread *choose_random(void)
{
	unsigned int go = 0, task = 0, irq = 0, bh = 0, i, kinds, pick;

	for (i = 0; i < options.cpus; i++) {
		struct cpu *cpu = &cpus[i];

		go += cpu->top && cpu->top->state == THREAD_RUNNABLE;
		task += nr_waiting && takes_task(cpu);
		irq += hard.nr && takes_hard(cpu);
		bh += soft.nr && takes_soft(cpu);
	}
	/* Whoever is on a CPU goes on more often than others come. */
	kinds = 2 * !!go + !!task + !!irq + !!bh + !!nr_devices;
	if (!kinds)
		return NULL;
	pick = machine_choose(kinds);
	if (go) {
		if (pick < 2) {
			pick = machine_choose(go);
			for (i = 0;; i++)
				if (cpus[i].top &&
				    cpus[i].top->state == THREAD_RUNNABLE &&
				    !pick--)
					return cpus[i].top;
		}
		pick -= 2;
	}
	if (task && !pick--)
		return place_task(machine_choose((unsigned int)nr_waiting),
				  machine_choose(task));
	if (irq && !pick--) {
		pick = machine_choose(irq);
		return take_interrupt(&hard, CONTEXT_HARDIRQ, takes_hard, pick,
				      machine_choose((unsigned int)hard.nr));
	}
	if (bh && !pick--) {
		pick = machine_choose(bh);
		return take_interrupt(&soft, CONTEXT_SOFTIRQ, takes_soft, pick,
				      machine_choose((unsigned int)soft.nr));
	}
	return devices[machine_choose((unsigned int)nr_devices)];
}

/* Who could go on: the place in its list, and the priority. */
struct candidate {
	enum { NOBODY, ON_CPU, TASK, HARD, SOFT, DEVICE } kind;
	unsigned int at;
	unsigned int priority;
};

static void consider(struct candidate *best, int kind, size_t at,
		     unsigned int priority)
{
	if (best->kind == NOBODY || priority > best->priority)
		*best = (struct candidate) { kind, (unsigned int)at, priority };
}

static void consider_queue(struct candidate *best, int kind,
			   const struct queue *queue)
{
	size_t i;

	for (i = 0; i < queue->nr; i++)
		consider(best, kind, i, queue->entry[i].priority);
}

/* Choose the thread of the highest priority. Return: NULL if none can go on. */
static struct thread *choose_first(void)
{
	struct candidate best = { NOBODY, 0, 0 };
	unsigned int task = 0, irq = 0, bh = 0, i;
	const struct thread *top;

	for (i = 0; i < options.cpus; i++) {
		task += takes_task(&cpus[i]);
		irq += takes_hard(&cpus[i]);
		bh += takes_soft(&cpus[i]);
		top = cpus[i].top;
		if (top && top->state == THREAD_RUNNABLE)
			consider(&best, ON_CPU, i, top->priority);
	}
	for (i = 0; task && i < nr_waiting; i++)
		consider(&best, TASK, i, waiting[i]->priority);
	if (irq)
		consider_queue(&best, HARD, &hard);
	if (bh)
		consider_queue(&best, SOFT, &soft);
	for (i = 0; i < nr_devices; i++)
		consider(&best, DEVICE, i, devices[i]->priority);
	switch (best.kind) {
	case ON_CPU:
		return cpus[best.at].top;
	case TASK:
		return place_task(best.at, machine_choose(task));
	case HARD:
		return take_interrupt(&hard, CONTEXT_HARDIRQ, takes_hard,
				      machine_choose(irq), best.at);
	case SOFT:
		return take_interrupt(&soft, CONTEXT_SOFTIRQ, takes_soft,
				      machine_choose(bh), best.at);
	case DEVICE:
		return devices[best.at];
	case NOBODY:
		break;
	}
	return NULL;
}

static struct machine_candidate candidates[2 * MOST_PENDING];
static unsigned int nr_candidates;

static void add_candidate(enum machine_kind kind, const void *who,
			  const void *offer, size_t at)
{
	candidates[nr_candidates++] = (struct machine_candidate) {
		kind, who, offer, (unsigned int)at,
	};
}

/* List the threads that could go on. Between waits all CPUs are free. */
static void list_candidates(void)
{
	const void *offer;
	unsigned int nr;
	size_t i;

	nr_candidates = 0;
	for (i = 0; i < nr_waiting; i++)
		add_candidate(MACHINE_TASK, waiting[i], NULL, i);
	for (i = 0; i < hard.nr; i++)
		add_candidate(MACHINE_HARD, hard.entry[i].argument, NULL, i);
	for (i = 0; i < soft.nr; i++)
		add_candidate(MACHINE_SOFT, soft.entry[i].argument, NULL, i);
	for (i = 0; i < nr_devices; i++) {
		if (!devices[i]->offers)
			add_candidate(MACHINE_DEVICE, devices[i], NULL, i);
		for (nr = 0; devices[i]->offers &&
		     (offer = devices[i]->offers(nr)); nr++)
			add_candidate(MACHINE_DEVICE, devices[i], offer, i);
	}
	if (nr_candidates && next_ns != NEVER && explored &&
	    early < options.search->early)
		add_candidate(MACHINE_TIME, NULL, NULL, 0);
}

/* Time goes on: whoever looks at it, or sets a timer, sees it. */
static void pass_time(void)
{
	early++;
	machine_note(&now_ns, true);
	now_ns = next_ns;
	fire_timers();
}

/* Choose as a search has it. Return: NULL if nobody can go on. */
static struct thread *choose_searched(void)
{
	const struct machine_candidate *picked;
	struct thread *thread;

	do {
		list_candidates();
		if (!nr_candidates)
			return NULL;
		picked = &candidates[!explored ? 0 :
				     options.search->pick(candidates,
							  nr_candidates)];
		if (picked->kind == MACHINE_TIME)
			pass_time();
	} while (picked->kind == MACHINE_TIME);
	switch (picked->kind) {
	case MACHINE_TASK:
		thread = place_task(picked->at, 0);
		break;
	case MACHINE_HARD:
		return take_interrupt(&hard, CONTEXT_HARDIRQ, takes_hard, 0,
				      picked->at);
	case MACHINE_SOFT:
		return take_interrupt(&soft, CONTEXT_SOFTIRQ, takes_soft, 0,
				      picked->at);
	default:
		thread = devices[picked->at];
		thread->offered = picked->offer;
		break;
	}
	machine_note(thread, true);
	return thread;
}

static struct thread *choose(void)
{
	if (options.strategy == STRATEGY_SEARCH)
		return choose_searched();
	return options.strategy == STRATEGY_RANDOM ? choose_random() :
						     choose_first();
}

static void leave(void)
{
	weak_leave();
	if (options.strategy == STRATEGY_SEARCH)
		options.search->stop();
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
	case PCT_TIME:
		return true;
	case PCT_STAY:
		break;
	}
	return false;
}

/* Whether time goes on to the next timer though somebody can run. */
static bool has_haste(void)
{
	if (options.strategy == STRATEGY_PCT)
		return pass_points() && next_ns != NEVER;
	return next_ns != NEVER && now_ns < next_ns && machine_chance(HASTE);
}

void machine_switch(void)
{
	struct thread *next;

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
			machine_fail("hang: somebody has waited for two hours");
		fire_timers();
	}
	if (next != machine_current)
		pct_switched();
	refill();
	weak_enter(next->cpu);
	go_to(next);
}

void machine_sleep(const void *waits_for, sim_u64 until_ns)
{
	struct thread *thread = machine_current;

	weak_mb();
	thread->state = THREAD_SLEEPS;
	thread->waits_for = waits_for;
	thread->wake_ns = until_ns;
	if (until_ns != NEVER) {
		note_timer(thread);
		thread->place = (unsigned int)nr_sleepers;
		sleepers[nr_sleepers++] = thread;
		if (until_ns < next_ns)
			next_ns = until_ns;
	}
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
	if (thread->wake_ns != NEVER) {
		sleepers[thread->place] = sleepers[--nr_sleepers];
		sleepers[thread->place]->place = thread->place;
		thread->wake_ns = NEVER;
	}
	thread->waits_for = NULL;
	make_runnable(thread);
}

void machine_spin(const void *waits_for)
{
	struct thread *thread = machine_current;

	thread->state = THREAD_SPINS;
	thread->waits_for = waits_for;
	machine_switch();
	thread->waits_for = NULL;
}

void machine_unspin(const void *waits_for)
{
	unsigned int i;

	for (i = 0; i < options.cpus; i++) {
		struct thread *thread = cpus[i].top;

		for (; thread; thread = thread->below)
			if (thread->state == THREAD_SPINS &&
			    thread->waits_for == waits_for) {
				thread->state = THREAD_RUNNABLE;
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

void machine_say(const char *format, sim_u64 a, sim_u64 b, sim_u64 c,
		 sim_u64 d)
{
	sim_u64 hash = result.hash;

	hash = (hash ^ now_ns) * 0x100000001b3ULL;
	hash = (hash ^ a ^ b << 16) * 0x100000001b3ULL;
	result.hash = (hash ^ c ^ d << 16) * 0x100000001b3ULL;
	if (!options.keep_story)
		return;
	if (!story)
		story = calloc(STORY_LINES, sizeof(*story));
	story[nr_story++ % STORY_LINES] = (struct machine_line) {
		now_ns, format, { a, b, c, d },
		machine_current->id, machine_current->name,
		machine_current->cpu,
	};
}

/* Lines that are no longer kept. */
static size_t lost_lines(void)
{
	return nr_story > STORY_LINES ? nr_story - STORY_LINES : 0;
}

const struct machine_line *machine_line(size_t nr)
{
	nr += lost_lines();
	return nr < nr_story ? &story[nr % STORY_LINES] : NULL;
}

void machine_tell(void *file, size_t last)
{
	const struct machine_line *line;
	size_t kept = nr_story - lost_lines();
	size_t i = last && kept > last ? kept - last : 0;

	for (; (line = machine_line(i)); i++) {
		fprintf(file, "%14.6f ms  cpu %2d  %3u %-10s ",
			(double)line->ns / 1e6, line->cpu, line->thread,
			line->name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		fprintf(file, line->format, line->figure[0], line->figure[1],
			line->figure[2], line->figure[3]);
#pragma GCC diagnostic pop
		fputc('\n', file);
	}
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

#ifndef SIM_ASAN
/* A bad access is a violation as any other; ASan has more to say of one. */
static void bad_access(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (machine_current == &host)
		abort();
	machine_fail("a bad access to %p, signal %d", info->si_addr, signal);
}

/* A thread that passes no point for so long never will. */
static void no_point(int signal)
{
	static sim_u64 last;

	(void)signal;
	if (machine_current != &host && all_choices == last)
		machine_fail("a thread goes round without end: %s",
			     machine_current->name);
	last = all_choices;
}

static void catch_signals(void)
{
	static const struct itimerval often = {
		.it_interval = { .tv_usec = 300000 },
		.it_value = { .tv_usec = 300000 },
	};
	const struct sigaction look = {
		.sa_handler = no_point,
		.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART,
	};
	static char stack[64 * 1024];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = {
		.sa_sigaction = bad_access,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};
	static bool caught;

	if (caught)
		return;
	caught = true;
	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGVTALRM, &look, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
}
#endif

/*
 * Memory: blocks of powers of two from one arena at a fixed address, so that
 * addresses, which decide where requests are cut, are the same in each run. What
 * is freed is overwritten, and used again as late as can be. ASan's build takes
 * the C library's, where ASan sees each use behind a free.
 */
#define CLASSES		24
#define POISON		0x6b

struct chunk {
	struct chunk *next, *prev;
	void *base;		/* what ASan's free() wants */
	size_t bytes;
	unsigned int class;
	unsigned int magic;
};

#define CHUNK_USED	0x5ee0a11cU
#define CHUNK_FREE	0xdeadf4eeU

static struct chunk used;
#ifndef SIM_ASAN
static char *arena, *arena_end;
struct free_list {
	struct chunk *first, *last;
};
static struct free_list freed[CLASSES];
#endif

static struct chunk *chunk_of(const void *memory)
{
	return (struct chunk *)((uintptr_t)memory - sizeof(struct chunk));
}

void *machine_alloc(size_t bytes, size_t align)
{
	struct chunk *chunk;
	unsigned int class = 0;
	char *memory;

#ifdef SIM_ASAN
	size_t head = align > sizeof(*chunk) ? align : sizeof(*chunk);
	void *base = NULL;

	if (posix_memalign(&base, align < 16 ? 16 : align, head + bytes))
		machine_fail("the machine has no memory left");
	memory = (char *)base + head;
	chunk = chunk_of(memory);
	chunk->base = base;
	class = 0;
#else
	size_t room = bytes < align ? align : bytes;

	while ((32UL << class) < room)
		class++;
	if (class >= CLASSES)
		return NULL;
	if (freed[class].first) {
		chunk = freed[class].first;
		freed[class].first = chunk->next;
		memory = (char *)(chunk + 1);
	} else {
		/* Aligned to its own size, as the slab does. */
		size_t step = 32UL << class;
		uintptr_t at = (uintptr_t)arena + sizeof(*chunk);

		memory = (char *)((at + step - 1) & ~(step - 1));
		if (memory + (32UL << class) > arena_end)
			machine_fail("the simulated machine has no memory left");
		arena = memory + (32UL << class);
		chunk = chunk_of(memory);
	}
	memset(memory, 0xa5, bytes);
#endif
	chunk->bytes = bytes;
	chunk->class = class;
	chunk->magic = CHUNK_USED;
	chunk->next = used.next;
	chunk->prev = &used;
	used.next->prev = chunk;
	used.next = chunk;
	allocated += bytes;
	return memory;
}

void machine_free(void *memory)
{
	struct chunk *chunk = chunk_of(memory);

	if (chunk->magic != CHUNK_USED)
		machine_fail("memory is freed that is not allocated");
	weak_free(memory, chunk->bytes);
	chunk->magic = CHUNK_FREE;
	chunk->next->prev = chunk->prev;
	chunk->prev->next = chunk->next;
	allocated -= chunk->bytes;
#ifdef SIM_ASAN
	free(chunk->base);
#else
	memset(memory, POISON, chunk->bytes);
	chunk->next = NULL;
	if (freed[chunk->class].first)
		freed[chunk->class].last->next = chunk;
	else
		freed[chunk->class].first = chunk;
	freed[chunk->class].last = chunk;
#endif
}

size_t machine_size(const void *memory)
{
#ifdef SIM_ASAN
	return chunk_of(memory)->bytes;	/* ASan would see a use of the rest */
#else
	return 32UL << chunk_of(memory)->class;
#endif
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

	if (of >= __start_sim_data && of < __stop_sim_data)
		return true;
#ifndef SIM_ASAN
	if (of >= (const char *)MACHINE_ARENA_AT && of < arena_end)
		return true;
#endif
	for (i = 0; i < nr_threads; i++)
		if (of >= threads[i].stack && of < threads[i].stack + STACK_BYTES)
			return true;
	return false;
}

size_t machine_leaked(void)
{
	return allocated;
}

static void memory_reset(void)
{
#ifdef SIM_ASAN
	while (used.next && used.next != &used)
		machine_free(used.next + 1);
#else
	if (!arena_end) {
		void *at = mmap(MACHINE_ARENA_AT, MACHINE_ARENA_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				MAP_FIXED_NOREPLACE, -1, 0);

		if (at == MAP_FAILED) {
			perror("sim: the arena");
			exit(2);
		}
		arena_end = (char *)MACHINE_ARENA_AT + MACHINE_ARENA_BYTES;
	}
	arena = MACHINE_ARENA_AT;
	memset(freed, 0, sizeof(freed));
#endif
	used.next = &used;
	used.prev = &used;
	allocated = 0;
}

void machine_reset(const struct machine_options *wanted)
{
	sim_u64 seed = wanted->seed;
	size_t i;

#ifndef SIM_ASAN
	catch_signals();
#endif
	options = *wanted;
	state[0] = split_mix(&seed);
	state[1] = split_mix(&seed);
	explored = false;
	early = 0;
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
	nr_devices = 0;
	nr_sleepers = 0;
	nr_timers = 0;
	hard.nr = 0;
	soft.nr = 0;
	memset(cpus, 0, sizeof(cpus));
	now_ns = 1000000000;
	next_ns = NEVER;
	nr_story = 0;
	host.name = "host";
	host.cpu = -1;
	machine_current = &host;
	memory_reset();
	weak_reset(options.cpus);
}

struct machine_result machine_run(void (*first)(void *argument),
				  void *argument)
{
	machine_start(CONTEXT_TASK, "first", first, argument);
	machine_current = &host;
	machine_switch();
	result.ns = now_ns;
	return result;
}
