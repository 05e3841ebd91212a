// SPDX-License-Identifier: GPL-2.0
/* The handler removes the draft itself: a read of a pipe may never return. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/message.h"
#include "trace/unfinished.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

#define NR_SIGNALS	(sizeof(signals) / sizeof(signals[0]))

static char *draft_path;
static volatile sig_atomic_t child_pid, seen;

static void on_signal(int number)
{
	int saved = errno;

	if (child_pid) {
		seen = number;
		kill((pid_t)child_pid, number);
	} else {
		unlink(draft_path);
		signal(number, SIG_DFL);
		raise(number);
	}
	errno = saved;
}

void unfinished_begin(const char *draft)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = SA_RESTART,
	}, before;
	size_t i;

	draft_path = message_format("%s", draft);
	seen = 0;
	for (i = 0; i < NR_SIGNALS; i++)
		sigaddset(&action.sa_mask, signals[i]);
	for (i = 0; i < NR_SIGNALS; i++)
		/* nohup ignores SIGHUP, and must keep doing so */
		if (signals[i] != SIGHUP || (!sigaction(SIGHUP, NULL, &before) &&
					     before.sa_handler != SIG_IGN))
			sigaction(signals[i], &action, NULL);
}

void unfinished_child(pid_t child)
{
	child_pid = draft_path ? child : 0;
}

bool unfinished_seen(void)
{
	return seen;
}

void unfinished_end(void)
{
	struct sigaction before;
	size_t i;

	for (i = 0; i < NR_SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &before) &&
		    before.sa_handler == on_signal)
			signal(signals[i], SIG_DFL);
	free(draft_path);
	draft_path = NULL;
	if (seen)
		raise(seen);
}
