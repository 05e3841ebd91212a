// SPDX-License-Identifier: GPL-2.0
#include "live.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../host/server.h"
#include "player.h"

#define EXIT_DRIVE 3

#define LIVE_SIZE (UINT64_C(1) << 30)
#define BLOCK 4096u

/* Requests of a run: writes that cover blocks in part, and random reads. */
#define LIVE_COUNT 200u

/* Folder of the control socket. */
static char folder[] = "/tmp/drive512e-bench-XXXXXX";

static void remove_folder(void)
{
	rmdir(folder);
}

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void die(const char *what)
{
	fprintf(stderr, "drive512e-bench: %s\n", what);
	exit(EXIT_DRIVE);
}

/* Read a counter from the drive's answer to "stats". */
static uint64_t counter(const char *stats, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(stats, key);
	if (!at)
		die("the drive's answer to stats lacks a counter");
	return strtoull(at + strlen(key), NULL, 10);
}

static uint64_t read_touches(const char *socket_path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char stats[4096];
	size_t used = 0;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", socket_path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    write(fd, "stats\n", 6) != 6)
		die("cannot talk to the drive's control socket");
	while (used == 0 || stats[used - 1] != '\n') {
		ssize_t n = read(fd, stats + used, sizeof(stats) - 1 - used);

		if (n <= 0)
			die("no answer from the drive's control socket");
		used += (size_t)n;
	}
	stats[used] = '\0';
	close(fd);
	return counter(stats, "touches");
}

static struct nbd_handle *start_drive(const char *plugin, const char *profile,
				      const char *control)
{
	char profile_arg[64], control_arg[160];
	char *parameters[] = { "size=1G", profile_arg, control_arg, NULL };
	struct nbd_handle *nbd;

	snprintf(profile_arg, sizeof(profile_arg), "profile=%s", profile);
	snprintf(control_arg, sizeof(control_arg), "control=%s", control);
	nbd = server_start((char *)(uintptr_t)plugin, parameters);
	if (!nbd)
		die(nbd_get_error());
	return nbd;
}

void live_priority(void)
{
	if (server_priority() < 0)
		printf("No real-time priority (%s): on a busy machine figures in real "
		       "time will be off; run as root.\n", strerror(errno));
}

/* Make the @i-th request of a run; all of them lie in the first 1 GiB. */
static struct request make_request(struct player *p, unsigned int i)
{
	struct request req = { .count = BLOCK };

	if (i % 2) {
		req.op = OP_READ;
		req.offset = player_place(p, LIVE_SIZE, BLOCK, BLOCK);
	} else {
		req.op = OP_WRITE;
		req.offset = 512 + i * 4 * BLOCK;
	}
	return req;
}

static double play_virtual(struct player *p)
{
	double sum_us = 0;

	for (unsigned int i = 0; i < LIVE_COUNT; i++) {
		struct request req = make_request(p, i);

		sum_us += (double)player_send(p, req.op, req.offset, req.count) /
			  1e3;
	}
	return sum_us / LIVE_COUNT;
}

static double play_live(struct nbd_handle *nbd, struct player *places)
{
	static char buf[BLOCK];
	double sum_us = 0;

	for (unsigned int i = 0; i < LIVE_COUNT; i++) {
		struct request req = make_request(places, i);
		double sent = now_us();
		int result = req.op == OP_READ
			? nbd_pread(nbd, buf, req.count, req.offset, 0)
			: nbd_pwrite(nbd, buf, req.count, req.offset, 0);

		if (result < 0)
			die(nbd_get_error());
		sum_us += now_us() - sent;
	}
	return sum_us / LIVE_COUNT;
}

struct live live_run(const char *plugin, const char *profile)
{
	struct live live = { .profile = profile };
	struct player p;
	struct nbd_handle *nbd;
	char control[128];

	if (access(folder, F_OK) < 0) {
		if (!mkdtemp(folder))
			die("cannot make a folder in /tmp");
		atexit(remove_folder);
	}
	player_start(&p, profile, true);
	live.judged = p.config.profile->kind == PROFILE_MECHANICAL;
	live.virtual_us = play_virtual(&p);
	player_stop(&p);
	for (unsigned int i = 0; i < LIVE_COUNT; i += 2) {
		struct request req = make_request(&p, i);

		live.expected_touches += touch_of(&p.config.map, req.offset,
						  req.count).partial;
	}

	snprintf(control, sizeof(control), "%s/control", folder);
	nbd = start_drive(plugin, profile, control);
	p.random = 1;
	live.measured_us = play_live(nbd, &p);
	live.touches = read_touches(control);
	nbd_close(nbd);
	/* The server removes it, too, but later. */
	unlink(control);
	live.holds = live.touches == live.expected_touches &&
		     (!live.judged ||
		      fabs(live.measured_us / live.virtual_us - 1) <=
		      LIVE_TOLERANCE);
	return live;
}
