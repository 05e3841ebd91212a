// SPDX-License-Identifier: GPL-2.0
/*
 * Choice of the next thread, by chance or by priority, among those that a real
 * machine could run.
 */
#include "machine_own.h"
#include "strategy.h"

/* Runs on a CPU that is idle. */
static const struct thread no_thread = { .context = CONTEXT_TASK };

/*
 * Return the thread on a CPU. The result is as good as random, and is asked for at
 * each choice: there are no branches, which a processor would guess wrong.
 */
static const struct thread *top_of(const struct cpu *cpu)
{
	return cpu->top ? cpu->top : &no_thread;
}

/* Whether a CPU can take a hard interrupt, a soft interrupt or a task now. */
bool takes_hard(const struct cpu *cpu)
{
	const struct thread *top = top_of(cpu);

	return (top->context != CONTEXT_HARDIRQ) & !top->irqs_off;
}

bool takes_soft(const struct cpu *cpu)
{
	const struct thread *top = top_of(cpu);

	return (top->context == CONTEXT_TASK) & !top->irqs_off;
}

bool takes_task(const struct cpu *cpu)
{
	return takes_soft(cpu) & !top_of(cpu)->preempt;
}

/* Whether the thread on a CPU can go on. */
static bool goes_on(const struct cpu *cpu)
{
	return top_of(cpu)->state == THREAD_RUNNABLE;
}

/* Return the thread on the @nr-th CPU, among the CPUs with a runnable thread. */
static struct thread *nth_on_cpu(unsigned int nr)
{
	unsigned int i;

	for (i = 0; !goes_on(&cpus[i]) || nr--; i++)
		;
	return cpus[i].top;
}

/*
 * Put the waiting task @at on the @nr-th CPU that takes one, and its task in that
 * place.
 */
struct thread *place_task(unsigned int at, unsigned int nr)
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

struct thread *take_interrupt(struct queue *queue, enum thread_context context,
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
		const struct cpu *cpu = &cpus[i];

		go += goes_on(cpu);
		task += takes_task(cpu);
		irq += takes_hard(cpu);
		bh += takes_soft(cpu);
	}
	task = nr_waiting ? task : 0;
	irq = hard.nr ? irq : 0;
	bh = soft.nr ? bh : 0;
	/* A thread on a CPU goes on more often than a task or an interrupt comes. */
	kinds = 2 * !!go + !!task + !!irq + !!bh + !!nr_devices;
	if (!kinds)
		return NULL;
	pick = choose_of(kinds);
	if (go) {
		if (pick < 2)
			return nth_on_cpu(choose_of(go));
		pick -= 2;
	}
	if (task && !pick--) {
		pick = choose_of(task);
		return place_task(choose_of((unsigned int)nr_waiting), pick);
	}
	if (irq && !pick--) {
		pick = choose_of(irq);
		return take_interrupt(&hard, CONTEXT_HARDIRQ, takes_hard, pick,
				      choose_of((unsigned int)hard.nr));
	}
	if (bh && !pick--) {
		pick = choose_of(bh);
		return take_interrupt(&soft, CONTEXT_SOFTIRQ, takes_soft, pick,
				      choose_of((unsigned int)soft.nr));
	}
	return devices[choose_of((unsigned int)nr_devices)];
}

/* A candidate to go on: its place in its list, and its priority. */
struct candidate {
	enum { NO_CANDIDATE, ON_CPU, TASK, HARD, SOFT, DEVICE } kind;
	unsigned int at;
	unsigned int priority;
};

static void consider(struct candidate *best, int kind, size_t at,
		     unsigned int priority)
{
	if (best->kind == NO_CANDIDATE || priority > best->priority)
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
	struct candidate best = { NO_CANDIDATE, 0, 0 };
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
	case NO_CANDIDATE:
		break;
	}
	return NULL;
}

struct thread *choose(void)
{
	if (options.strategy == STRATEGY_SEARCH)
		return choose_searched();
	return options.strategy == STRATEGY_RANDOM ? choose_random() :
						     choose_first();
}
