// SPDX-License-Identifier: GPL-2.0
/* The machine's side of a search of all orders, such as exhaustive.c. */
#include "machine_own.h"

/* Orders are searched now; and how often time has gone on meanwhile. */
bool explored;
unsigned int early;
bool machine_searches;
/* A search has ended, and no thread has gone on since. */
static bool at_rest;

unsigned int machine_decide(unsigned int n)
{
	if (options.strategy == STRATEGY_SEARCH)
		return explored && n > 1 ? options.search->decide(n) : 0;
	return machine_choose(n);
}

bool machine_once(unsigned int one_in, bool *happened)
{
	if (options.strategy != STRATEGY_SEARCH)
		return machine_chance(one_in);
	if (!one_in || *happened || !machine_decide(2))
		return false;
	*happened = true;
	return true;
}

void machine_explore(bool explore)
{
	if (options.strategy == STRATEGY_SEARCH && !explore)
		options.search->stop();
	at_rest = explored && !explore;
	explored = explore;
}

void machine_note_searched(const void *what, bool write)
{
	if (explored)
		options.search->note(what, write);
}

void machine_ignore(const void *from, size_t bytes)
{
	if (options.strategy == STRATEGY_SEARCH)
		options.search->ignore(from, bytes);
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

/* Advance the time, which readers of the clock and new timers see. */
static void pass_time(void)
{
	early++;
	machine_note(&now_ns, true);
	now_ns = next_ns;
	fire_timers();
}

struct thread *choose_searched(void)
{
	const struct machine_candidate *picked;
	struct thread *thread;

	if (at_rest)
		options.search->rest();
	at_rest = false;
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

void search_parts(void (*part)(void *at, size_t bytes))
{
	PART(explored);
	PART(early);
	PART(at_rest);
}

void search_begin(void)
{
	machine_searches = options.strategy == STRATEGY_SEARCH;
	explored = false;
	at_rest = false;
	early = 0;
}
