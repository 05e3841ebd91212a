// SPDX-License-Identifier: GPL-2.0
/* One thread polls the socket and its clients, splits their input into lines, and answers. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"

#define CLIENTS_MAX 16		/* as the message and the man page say */
#define LINE_MAX_BYTES 256

struct client {
	int fd;				/* -1: free */
	size_t used;
	char line[LINE_MAX_BYTES];
};

struct control {
	struct drive *drive;
	char *path;
	int listener;
	int stop[2];			/* a pipe: closing [1] ends the thread */
	bool running;
	pthread_t thread;
	struct client clients[CLIENTS_MAX];
};

static int socket_address(struct sockaddr_un *addr, const char *path)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	if (strlen(path) > CONTROL_PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr->sun_path, path);
	return 0;
}

/*
 * Remove a socket that a killed server left behind, and nothing else: connect()
 * has the same error for a file that is no socket.
 */
static void remove_stale(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd;

	if (stat(addr->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 &&
	    errno == ECONNREFUSED)
		unlink(addr->sun_path);
	close(fd);
}

struct control *control_new(const char *path)
{
	struct control *control = calloc(1, sizeof(*control));
	struct sockaddr_un addr;
	int saved;

	if (!control)
		return NULL;
	control->listener = -1;
	control->stop[0] = -1;
	control->stop[1] = -1;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		control->clients[i].fd = -1;

	if (socket_address(&addr, path) < 0)
		goto fail;
	control->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (control->listener < 0)
		goto fail;
	remove_stale(&addr);
	if (bind(control->listener, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		goto fail;
	control->path = strdup(path);	/* the socket is now ours to remove */
	if (!control->path || listen(control->listener, CLIENTS_MAX) < 0)
		goto fail;
	return control;

fail:
	saved = errno;
	control_free(control);
	errno = saved;
	return NULL;
}

/* Send an answer; false: drop the client, which does not read its answers. */
static bool answer(const struct client *client, const char *text)
{
	size_t len = strlen(text);

	return send(client->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		       (ssize_t)len &&
	       send(client->fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/*
 * Run a command of @length bytes and answer it; false: drop the client.  Refuse
 * a NUL byte, which would hide the rest of the command.
 */
static bool run_command(struct control *control, const struct client *client,
			const char *command, size_t length)
{
	char *json;
	bool ok;

	if (strlen(command) < length)
		return answer(client, "{\"ok\":false,\"error\":"
				      "\"a byte 0 in the line\"}");
	json = command_run(control->drive, command);
	ok = answer(client, json ? json : "{\"ok\":false,\"error\":"
					  "\"no memory\"}");

	free(json);
	return ok;
}

/* Receive from a client and run every whole line.  False: drop the client. */
static bool serve_client(struct control *control, struct client *client)
{
	ssize_t n = recv(client->fd, client->line + client->used,
			 sizeof(client->line) - client->used, MSG_DONTWAIT);
	char *newline;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	client->used += (size_t)n;

	while ((newline = memchr(client->line, '\n', client->used))) {
		size_t len = (size_t)(newline - client->line);
		size_t end = len && newline[-1] == '\r' ? len - 1 : len;

		client->line[end] = '\0';
		if (!run_command(control, client, client->line, end))
			return false;
		client->used -= len + 1;
		memmove(client->line, newline + 1, client->used);
	}
	if (client->used < sizeof(client->line))
		return true;
	answer(client, "{\"ok\":false,\"error\":\"line too long\"}");
	return false;
}

/* Return: false if there is no descriptor or memory for the client that waits. */
static bool accept_client(struct control *control)
{
	struct client one_more = {
		.fd = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC),
	};

	if (one_more.fd < 0)
		return errno != EMFILE && errno != ENFILE &&
		       errno != ENOBUFS && errno != ENOMEM;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &control->clients[i];

		if (client->fd >= 0)
			continue;
		client->fd = one_more.fd;
		client->used = 0;
		return true;
	}
	answer(&one_more, "{\"ok\":false,\"error\":"
			  "\"there are 16 clients; close one of them\"}");
	close(one_more.fd);
	return true;
}

/* How long to wait for what is lacking before it is asked for again. */
#define RETRY_MS 100

/*
 * Serve clients until the stop pipe is closed: pfd[0] is that pipe, pfd[1] the
 * listener, the rest the clients.
 */
static void *serve(void *opaque)
{
	struct control *control = opaque;
	struct pollfd pfd[CLIENTS_MAX + 2];
	bool may_accept = true;

	pfd[0] = (struct pollfd){ .fd = control->stop[0], .events = POLLIN };
	for (;;) {
		struct client *client[CLIENTS_MAX];
		nfds_t nr = 2;

		pfd[1] = (struct pollfd){
			.fd = may_accept ? control->listener : -1,
			.events = POLLIN,
		};
		for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
			if (control->clients[i].fd < 0)
				continue;
			client[nr - 2] = &control->clients[i];
			pfd[nr++] = (struct pollfd){
				.fd = control->clients[i].fd,
				.events = POLLIN,
			};
		}
		/* poll() takes no more entries than the process may have open. */
		if (poll(pfd, nr, may_accept ? -1 : RETRY_MS) < 0 &&
		    poll(pfd, 1, RETRY_MS) <= 0)
			continue;
		if (pfd[0].revents)
			return NULL;
		while (nr-- > 2) {
			if (!pfd[nr].revents ||
			    serve_client(control, client[nr - 2]))
				continue;
			close(client[nr - 2]->fd);
			client[nr - 2]->fd = -1;
		}
		may_accept = !pfd[1].revents || accept_client(control);
	}
}

int control_start(struct control *control, struct drive *drive)
{
	int err;

	control->drive = drive;
	/*
	 * Not before the fork: the parent, which runs the command of nbdkit's
	 * --run, would keep its end open, and the thread would never end.
	 */
	if (pipe2(control->stop, O_CLOEXEC) < 0)
		return errno;
	err = pthread_create(&control->thread, NULL, serve, control);
	control->running = err == 0;
	return err;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void control_free(struct control *control)
{
	if (!control)
		return;
	close_if_open(control->stop[1]);
	if (control->running)
		pthread_join(control->thread, NULL);
	close_if_open(control->stop[0]);
	close_if_open(control->listener);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		close_if_open(control->clients[i].fd);
	if (control->path)
		unlink(control->path);
	free(control->path);
	free(control);
}
