// SPDX-License-Identifier: GPL-2.0
/* The machine, seen and kept as a whole. */
#include "machine_own.h"

struct machine_inside machine_inside(void)
{
	struct machine_inside inside = {
		.threads = threads, .nr_threads = nr_threads,
		.interrupts = { { hard.entry, hard.nr }, { soft.entry, soft.nr } },
		.now = now_ns, .early = early, .explored = explored,
		.nr_pieces = memory_pieces(), .allocated = machine_leaked(),
	};

	inside.timers = time_timers(&inside.nr_timers);
	return inside;
}

void machine_parts(void (*part)(void *at, size_t bytes))
{
	thread_parts(part);
	time_parts(part);
	search_parts(part);
	memory_parts(part);
}
