// SPDX-License-Identifier: GPL-2.0
/* Bad accesses and endless loops of the simulated machine, told as violations. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "machine_own.h"

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

void catch_signals(void)
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
#else
void catch_signals(void)
{
}
#endif
