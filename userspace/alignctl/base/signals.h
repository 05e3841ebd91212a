/* SPDX-License-Identifier: GPL-2.0 */
/* Keep signals from ending the program between steps that belong together. */
#ifndef ALIGNCTL_SIGNALS_H
#define ALIGNCTL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Block the signals by which people and systemd end a program, and that of a pipe
 * whose reader they have ended: a message must not be the last step. Return: the mask
 * before, for a variable with CLEANUP_SIGNALS: a signal that came meanwhile ends
 * the program where that goes out of scope.
 */
static inline sigset_t signals_block(void)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &before);
	return before;
}

/*
 * Check whether a signal has come that ends the program where signals_block() is undone.
 * @before: the mask that was returned. One that is ignored is pending, too, while it is
 * blocked, as SIGHUP of nohup.
 */
static inline bool signals_end(const sigset_t *before)
{
	static const int numbers[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE,
	};
	struct sigaction action;
	sigset_t pending;
	size_t i;

	sigpending(&pending);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigismember(&pending, numbers[i]) == 1 &&
		    !sigismember(before, numbers[i]) &&
		    !sigaction(numbers[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			return true;
	return false;
}

static inline void signals_cleanup(sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

#define CLEANUP_SIGNALS	__attribute__((cleanup(signals_cleanup), unused))

#endif
