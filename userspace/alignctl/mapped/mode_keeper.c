// SPDX-License-Identifier: GPL-2.0
/*
 * The process that sets modes for an experiment, and puts the first one back at
 * its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "ledger/mode.h"
#include "mapped/mode_keeper.h"
#include "remedy/remedy.h"

/**
 * struct keeper - the state of the keeper's process
 * @device: its device
 * @socket: to the experiment
 * @ours: the mode in place, and the mode that was asked for last: a change that
 *	failed may have reached some targets
 * @foreign: another mode was seen, so the mode is never touched again
 * @lost: reason why the experiment cannot go on; NULL: it can
 */
struct keeper {
	const struct keeper_device *device;
	int socket;
	const char *ours[2];
	bool foreign;
	char *lost;
};

/* Send an answer; the experiment may be gone, which the next receipt shows. */
__attribute__((format(printf, 2, 3)))
static void answer(const struct keeper *keeper, const char *format, ...)
{
	char text[KEEPER_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	send(keeper->socket, text, strlen(text), MSG_NOSIGNAL);
}

/* Look at the device, and note whether the experiment has lost it. */
static enum keeper_sight look(struct keeper *keeper)
{
	const struct keeper_device *device = keeper->device;
	char *reason = NULL;
	enum keeper_sight sight = device->look(device->context, keeper->ours,
					       &reason);

	if (sight == KEEPER_FOREIGN)
		keeper->foreign = true;
	if (sight == KEEPER_AS_LEFT || keeper->lost)
		free(reason);
	else
		keeper->lost = reason;
	return sight;
}

/* Check, and say if it is so, that the experiment has lost the device. */
static bool lost(struct keeper *keeper)
{
	if (!keeper->lost)
		look(keeper);
	if (keeper->lost)
		answer(keeper, "lost %s", keeper->lost);
	return keeper->lost;
}

/* Return the name of a mode as mode_names[] has it; NULL: unknown. */
static const char *known_mode(const char *name)
{
	size_t i;

	for (i = 0; i < MODE_NR; i++)
		if (!strcmp(name, mode_names[i]))
			return mode_names[i];
	return NULL;
}

static void change(struct keeper *keeper, const char *name)
{
	const struct keeper_device *device = keeper->device;
	const char *mode = known_mode(name);
	int result;

	if (lost(keeper))
		return;
	if (!mode) {
		answer(keeper, "refused %d", ALIGNCTL_USAGE);
		return;
	}
	keeper->ours[1] = mode;
	result = device->enter(device->context, mode);
	if (result) {
		answer(keeper, "refused %d", result);
		return;
	}
	keeper->ours[0] = mode;
	answer(keeper, "ok");
}

/* Put the mode back. @asked: the experiment waits for the answer. */
static void put_back(struct keeper *keeper, bool asked)
{
	const struct keeper_device *device = keeper->device;
	enum keeper_sight sight = look(keeper);
	bool changed = strcmp(keeper->ours[0], device->before) ||
		       strcmp(keeper->ours[1], device->before);
	int result = ALIGNCTL_FINE;

	if (sight == KEEPER_GONE || keeper->foreign) {
		answer(keeper, "left %s", keeper->lost);
		if (!asked)
			message_error("%s: %s; its mode is left as it is",
				      device->name, keeper->lost);
		return;
	}
	if (changed)
		result = device->enter(device->context, device->before);
	if (result) {
		CLEANUP_FREE char *set = remedy_of_mode(device->name,
							device->before);

		message_error("%s: its former mode, %s, could not be put back; run '%s'",
			      device->name, device->before, set);
		answer(keeper, "failed %d", result);
		return;
	}
	answer(keeper, "back %s", device->before);
	if (!asked && changed)
		message_error("%s: the program that changed its mode ended; mode %s is put back",
			      device->name, device->before);
}

/* Do what the experiment asks, until it ends. */
static void serve(struct keeper *keeper)
{
	struct pollfd ready = { .fd = keeper->socket, .events = POLLIN };
	char text[KEEPER_MESSAGE_MAX];
	ssize_t length;
	int events;

	for (;;) {
		events = poll(&ready, 1, keeper->device->watch_ms);
		if (!events) {
			/* said once, without being asked */
			if (!keeper->lost)
				lost(keeper);
			continue;
		}
		/* waits if poll() failed */
		length = recv(keeper->socket, text, sizeof(text) - 1, 0);
		if (length < 0 && errno == EINTR)
			continue;
		text[length > 0 ? length : 0] = '\0';
		if (length <= 0 || !strcmp(text, "end")) {
			put_back(keeper, length > 0);
			return;
		}
		if (!strncmp(text, "mode ", 5))
			change(keeper, text + 5);
		else if (!lost(keeper))
			answer(keeper, "ok");
	}
}

/*
 * Leave what ends the experiment: its terminal, its signals, its output. Standard
 * error stays, for messages.
 */
static void stand_apart(void)
{
	static const int signals[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP,
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
	setsid();
	if (chdir("/"))
		message_warning("/: %s", strerror(errno));
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
}

int mode_keeper_start(const struct keeper_device *device)
{
	struct keeper keeper = {
		.device = device, .ours = { device->before, device->before },
	};
	int pair[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)) {
		message_error("%s: no socket to the keeper of its mode: %s",
			      device->name, strerror(errno));
		return -1;
	}
	child = fork();
	if (child < 0) {
		message_error("%s: no process to keep its mode: %s",
			      device->name, strerror(errno));
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	if (child) {
		close(pair[1]);
		return pair[0];
	}
	close(pair[0]);
	keeper.socket = pair[1];
	stand_apart();
	serve(&keeper);
	free(keeper.lost);
	_exit(ALIGNCTL_FINE);
}
