// SPDX-License-Identifier: GPL-2.0
/* Virtual time: timers, and sleepers with a limit. */
#include "machine_own.h"

#define MOST_TIMERS	4096

sim_u64 now_ns, next_ns;
static struct thread *sleepers[MOST_THREADS];
static size_t nr_sleepers;
static struct machine_timer *timers[MOST_TIMERS];
static size_t nr_timers;

sim_u64 machine_now(void)
{
	machine_note(&now_ns, false);
	return now_ns;
}

void fire_timers(void)
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

bool machine_has_timer(const void *memory, size_t bytes)
{
	const char *from = memory;
	size_t i;

	for (i = 0; i < nr_timers; i++) {
		const char *at = (const char *)timers[i];

		if (at >= from && at < from + bytes)
			return true;
	}
	return false;
}

void sleeper_add(struct thread *thread, sim_u64 until_ns)
{
	note_timer(thread);
	thread->place = (unsigned int)nr_sleepers;
	sleepers[nr_sleepers++] = thread;
	if (until_ns < next_ns)
		next_ns = until_ns;
}

void sleeper_remove(struct thread *thread)
{
	sleepers[thread->place] = sleepers[--nr_sleepers];
	sleepers[thread->place]->place = thread->place;
	thread->wake_ns = NEVER;
}

struct machine_timer *const *time_timers(size_t *nr)
{
	*nr = nr_timers;
	return timers;
}

void time_parts(void (*part)(void *at, size_t bytes))
{
	PART(now_ns);
	PART(next_ns);
	PART(nr_sleepers);
	PART(nr_timers);
	LIST(sleepers, nr_sleepers);
	LIST(timers, nr_timers);
}

void time_begin(void)
{
	nr_sleepers = 0;
	nr_timers = 0;
	now_ns = 1000000000;
	next_ns = NEVER;
}
