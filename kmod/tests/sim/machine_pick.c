// SPDX-License-Identifier: GPL-2.0
/* Who goes on: what a real machine allows, and of that by chance or by priority. */
#include "machine_own.h"
#include "strategy.h"

/* Which interrupts a CPU can take now. */
bool takes_hard(const struct cpu *cpu)
{
	return !cpu->top || (cpu->top->context != CONTEXT_HARDIRQ &&
			     !cpu->top->irqs_off);
}

bool takes_soft(const struct cpu *cpu)
{
	return !cpu->top || (cpu->top->context == CONTEXT_TASK &&
			     !cpu->top->irqs_off);
}

bool takes_task(const struct cpu *cpu)
{
	return !cpu->top || (cpu->top->context == CONTEXT_TASK &&
			     !cpu->top->irqs_off && !cpu->top->preempt);
}

/* Put a task that is on no CPU on one, and what is there beside. */
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

struct thread *choose(void)
{
	if (options.strategy == STRATEGY_SEARCH)
		return choose_searched();
	return options.strategy == STRATEGY_RANDOM ? choose_random() :
						     choose_first();
}
