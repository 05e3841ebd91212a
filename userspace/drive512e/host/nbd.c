// SPDX-License-Identifier: GPL-2.0
/*
 * drive512e-nbd: the plugin in real time, through NBD, driven by lines of text
 * (lines.h).
 *
 *   drive512e-nbd PLUGIN PARAMETER...
 *
 * It starts nbdkit with the plugin at the path PLUGIN, and is its only client.
 * Times are what a client measures, so they have the transport's in them. Exit
 * status 3: the server cannot be started, or a request has failed.
 */
#include <errno.h>
#include <libnbd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lines.h"

#define NS_PER_S INT64_C(1000000000)

#define REQUEST_MAX (32u << 20)	/* the limit of nbdkit; bytes */
#define PARAMETERS_MAX 32

static struct nbd_handle *nbd;
static int64_t began;

/* What is written, and where all that is read goes. */
static char zeroes[REQUEST_MAX], data[REQUEST_MAX];

/* A request in flight. */
struct flight {
	int64_t sent;
	int64_t *ns;			/* its response time, once it is answered */
	unsigned int *in_flight;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "drive512e-nbd: %s: %s\n", what,
		nbd_get_error() ?: "too many parameters");
	exit(3);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* Note that a request is answered. */
static int answered(void *user_data, int *error)
{
	struct flight *flight = user_data;

	if (*error) {
		fprintf(stderr, "drive512e-nbd: a request failed: %s\n",
			strerror(*error));
		exit(3);
	}
	*flight->ns = now_ns() - flight->sent;
	(*flight->in_flight)--;
	return 1;
}

static void send_request(struct flight *flight, const struct request *req)
{
	nbd_completion_callback done = {
		.callback = answered,
		.user_data = flight,
	};
	int64_t cookie;

	flight->sent = now_ns();
	(*flight->in_flight)++;
	if (req->op == OP_READ)
		cookie = nbd_aio_pread(nbd, data, req->count, req->offset,
				       done, 0);
	else if (req->op == OP_WRITE)
		cookie = nbd_aio_pwrite(nbd, zeroes, req->count, req->offset,
					done, 0);
	else
		cookie = nbd_aio_flush(nbd, done, 0);
	if (cookie < 0)
		die("request");
}

static void live_batch(struct host *host, const struct request *req,
		       unsigned int nr, unsigned int depth, int64_t *ns)
{
	static struct flight flight[BATCH_MAX];
	unsigned int in_flight = 0, sent = 0;

	(void)host;
	while (sent < nr || in_flight) {
		if (sent < nr && in_flight < depth) {
			flight[sent] = (struct flight){
				.ns = &ns[sent],
				.in_flight = &in_flight,
			};
			send_request(&flight[sent], &req[sent]);
			sent++;
		} else if (nbd_poll(nbd, -1) < 0) {
			die("poll");
		}
	}
}

static int64_t live_send(struct host *host, const struct request *req)
{
	int64_t ns;

	live_batch(host, req, 1, 1, &ns);
	return ns;
}

static void live_wait(struct host *host, int64_t ns)
{
	struct timespec left = { ns / NS_PER_S, ns % NS_PER_S };

	(void)host;
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static int64_t live_time(struct host *host)
{
	(void)host;
	return now_ns() - began;
}

/*
 * Start nbdkit with the plugin at this path and these parameters, which end with
 * NULL, and return the connection to it; it ends with the connection. Returns
 * NULL on failure, or if there are more than PARAMETERS_MAX parameters;
 * nbd_get_error() has the reason, where it is not that.
 */
static struct nbd_handle *start_server(char *plugin, char **parameters)
{
	char *argv[PARAMETERS_MAX + 5] = {
		"nbdkit", "--foreground", "--exit-with-parent", plugin,
	};
	struct nbd_handle *server;
	unsigned int nr = 4;

	for (; *parameters; parameters++) {
		if (nr == 4 + PARAMETERS_MAX)
			return NULL;
		argv[nr++] = *parameters;
	}
	server = nbd_create();
	if (server && nbd_connect_systemd_socket_activation(server, argv) < 0) {
		nbd_close(server);
		return NULL;
	}
	return server;
}

/*
 * Ask for a real-time priority, for this program and the server that it starts.
 * Returns 0, or -1 with errno set.
 */
static int ask_priority(void)
{
	struct sched_param param = { .sched_priority = 1 };

	/* A client preempted for milliseconds is a slow client to the drive. */
	return sched_setscheduler(0, SCHED_FIFO, &param);
}

int main(int argc, char **argv)
{
	struct host host = {
		.request_max = REQUEST_MAX,
		.send = live_send,
		.batch = live_batch,
		.wait = live_wait,
		.time = live_time,
	};
	struct model_config config;

	if (argc < 2)
		lines_die("PLUGIN", "give the path of the plugin first");
	config = lines_configure(argv + 2, NULL);
	if (ask_priority() < 0)
		fprintf(stderr, "drive512e-nbd: no real-time priority: %s; on a "
				"busy machine times will be off\n",
			strerror(errno));
	nbd = start_server(argv[1], argv + 2);
	if (!nbd)
		die(argv[1]);
	began = now_ns();
	lines_obey(&host, &config);
	nbd_close(nbd);
	return 0;
}
