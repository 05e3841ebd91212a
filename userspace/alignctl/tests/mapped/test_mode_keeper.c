// SPDX-License-Identifier: GPL-2.0
/* The keeper of a made-up device, in memory that all processes share. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "mapped/mode_keeper.h"
#include "tests/tap.h"

/**
 * struct made_up - a device
 * @mode: its mode
 * @sight: how it looks although its mode is one of the keeper's
 * @refuse: status of a change that is refused, which changes half of the device
 */
struct made_up {
	char mode[16];
	enum keeper_sight sight;
	int refuse;
};

static struct made_up *device;
static int ended[2];	/* a pipe that is open as long as a keeper runs */

static enum keeper_sight look(void *context, const char *const ours[2],
			      char **reason)
{
	const struct made_up *d = context;

	if (strcmp(d->mode, ours[0]) && strcmp(d->mode, ours[1])) {
		*reason = message_format("in mode %s", d->mode);
		return KEEPER_FOREIGN;
	}
	if (d->sight != KEEPER_AS_LEFT)
		*reason = message_format("seen as %d", d->sight);
	return d->sight;
}

static int enter(void *context, const char *mode)
{
	struct made_up *d = context;

	strcpy(d->mode, mode);
	return d->refuse;
}

static const struct keeper_device *kept(int watch_ms)
{
	static struct keeper_device made;

	made = (struct keeper_device) {
		.name = "made-up", .before = "report", .watch_ms = watch_ms,
		.look = look, .enter = enter, .context = device,
	};
	return &made;
}

/* Make the device; the processes that are forked later share it. */
static void map_device(void)
{
	if (!device)
		device = mmap(NULL, sizeof(*device), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Start a keeper of a new device, silent; it looks every @watch_ms. */
static int start(int watch_ms)
{
	int errors, socket;

	map_device();
	*device = (struct made_up) { .mode = "report" };
	CHECK(!pipe(ended), "no pipe");
	errors = dup(STDERR_FILENO);
	CHECK(freopen("/dev/null", "w", stderr), "no /dev/null");
	socket = mode_keeper_start(kept(watch_ms));
	dup2(errors, STDERR_FILENO);
	close(errors);
	close(ended[1]);
	CHECK(socket >= 0, "no keeper");
	return socket;
}

/* Receive an answer, "" at the end, into a static buffer. */
static const char *answer(int socket)
{
	static char text[KEEPER_MESSAGE_MAX];
	ssize_t length = recv(socket, text, sizeof(text) - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	return text;
}

static const char *ask(int socket, const char *words)
{
	send(socket, words, strlen(words), MSG_NOSIGNAL);
	return answer(socket);
}

/* Wait until the keeper has ended. */
static void wait_for_end(void)
{
	char byte;

	CHECK(!read(ended[0], &byte, 1), "the keeper wrote");
	close(ended[0]);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static bool is(const char *got, const char *want)
{
	return !strcmp(got, want);
}

static void changes(void)
{
	int socket = start(-1);

	CHECK(is(ask(socket, "mode pad"), "ok"), "not changed");
	CHECK(is(device->mode, "pad"), "mode %s", device->mode);
	CHECK(is(ask(socket, "mode coalesce"), "ok"), "not changed again");
	CHECK(is(ask(socket, "end"), "back report"), "not put back");
	CHECK(is(answer(socket), ""), "it goes on");
	wait_for_end();
	CHECK(is(device->mode, "report"), "mode %s", device->mode);
	close(socket);
}

static void killed(void)
{
	int ready[2], socket;
	char byte;
	pid_t child;

	map_device();
	CHECK(!pipe(ready), "no pipe");
	child = fork();
	if (!child) {
		socket = start(-1);
		ask(socket, "mode pad");
		/* the keeper has this pipe, too: what it inherits it keeps */
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1, "the experiment did not begin");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* its end is seen here once the keeper has ended */
	CHECK(!read(ready[0], &byte, 1), "something else was said");
	close(ready[0]);
	CHECK(is(device->mode, "report"), "mode %s", device->mode);
}

static void hung_up(void)
{
	int socket = start(-1);

	CHECK(is(ask(socket, "mode pad"), "ok"), "not changed");
	close(socket);
	wait_for_end();
	CHECK(is(device->mode, "report"), "mode %s", device->mode);
}

static void foreign(void)
{
	int socket = start(-1);

	CHECK(is(ask(socket, "mode pad"), "ok"), "not changed");
	strcpy(device->mode, "coalesce");
	CHECK(is(ask(socket, "mode report"), "lost in mode coalesce"),
	      "a foreign mode was overwritten");
	CHECK(is(device->mode, "coalesce"), "mode %s", device->mode);
	/* theirs even if it is one of ours later */
	strcpy(device->mode, "pad");
	CHECK(is(ask(socket, "end"), "left in mode coalesce"), "not left");
	wait_for_end();
	CHECK(is(device->mode, "pad"), "mode %s", device->mode);
	close(socket);
}

static void foreign_back(void)
{
	int socket = start(-1);

	CHECK(is(ask(socket, "mode pad"), "ok"), "not changed");
	CHECK(is(ask(socket, "look"), "ok"), "lost");
	strcpy(device->mode, "report");
	CHECK(is(ask(socket, "look"), "lost in mode report"), "not seen");
	CHECK(is(ask(socket, "mode pad"), "lost in mode report"),
	      "the mode before was taken for ours");
	close(socket);
	wait_for_end();
	CHECK(is(device->mode, "report"), "mode %s", device->mode);
}

static void watched(void)
{
	int socket = start(1);

	CHECK(is(ask(socket, "mode pad"), "ok"), "not changed");
	device->sight = KEEPER_DISTURBED;
	CHECK(is(answer(socket), "lost seen as 1"), "not said by itself");
	CHECK(is(ask(socket, "mode report"), "lost seen as 1"), "it went on");
	CHECK(is(ask(socket, "end"), "back report"), "not put back");
	wait_for_end();
	CHECK(is(device->mode, "report"), "mode %s", device->mode);
	close(socket);
}

static void gone(void)
{
	int socket = start(-1);

	CHECK(is(ask(socket, "mode pad"), "ok"), "not changed");
	device->sight = KEEPER_GONE;
	CHECK(is(ask(socket, "end"), "left seen as 3"), "not left");
	wait_for_end();
	CHECK(is(device->mode, "pad"), "another device's mode was changed");
	close(socket);
}

static void refused(void)
{
	int socket = start(-1);

	device->refuse = ALIGNCTL_USAGE;
	CHECK(is(ask(socket, "mode coalesce"), "refused 2"), "not refused");
	CHECK(is(ask(socket, "mode padd"), "refused 2"), "an unknown mode");
	device->refuse = ALIGNCTL_FINE;
	/* half of the device has it, and is put back */
	CHECK(is(ask(socket, "end"), "back report"), "not put back");
	wait_for_end();
	CHECK(is(device->mode, "report"), "mode %s", device->mode);
	close(socket);
}

static void stuck(void)
{
	int socket = start(-1);

	CHECK(is(ask(socket, "mode pad"), "ok"), "not changed");
	device->refuse = ALIGNCTL_IO;
	CHECK(is(ask(socket, "end"), "failed 3"), "said to be put back");
	wait_for_end();
	close(socket);
}

const struct tap_test mode_keeper_tests[] = {
	{ "a keeper changes the mode, and puts it back when it is told to end",
	  changes },
	{ "a keeper puts the mode back when the experiment is killed", killed },
	{ "a keeper puts the mode back when its socket is closed",
	  hung_up },
	{ "a keeper leaves a mode that another program has set", foreign },
	{ "a keeper sees that another program has set the mode before", foreign_back },
	{ "a keeper says by itself that the device was disturbed, and still puts its mode back",
	  watched },
	{ "a keeper leaves a device that is another one", gone },
	{ "a keeper puts back what a refused change has changed", refused },
	{ "a keeper tells that it could not put the mode back", stuck },
	{ NULL, NULL }
};
