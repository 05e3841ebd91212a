// SPDX-License-Identifier: GPL-2.0
/*
 * drive512e-clock: the drive model on a virtual clock, driven by lines of text.
 *
 *   drive512e-clock PARAMETER... [noise=PERCENT] [seed=N]
 *
 * The parameters are the plugin's; file=, control= and log= have no effect. The
 * first line of output is what the drive says of itself:
 *
 *   SIZE LOGICAL PHYSICAL OFFSET ROTATIONAL CACHE
 *
 * in bytes; ROTATIONAL and CACHE, a volatile write cache, are 0 or 1. Each line
 * of input is a command and has a line of output, in ns of virtual time:
 *
 *   R OFFSET BYTES   read; its service time. Sent when the last one was answered
 *   W OFFSET BYTES   write, likewise
 *   F                flush, likewise
 *   wait NS          let the drive be idle; NS
 *   depth N          requests in flight in a batch (1 at first); N
 *   batch K          K lines (at most 65536) with R, W or F follow, and then are
 *                    sent with at most N in flight; their response times, in
 *                    K lines
 *   time             the virtual time
 *
 * With noise each time is multiplied by a normally distributed factor of mean 1
 * and this standard deviation, from a generator that seed= starts. The host
 * sees an answer after that time, but never before the drive has answered, and
 * sends its next request then. Equal input gives equal output.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbdkit_stand_in.h"
#include "plugin.h"

#define NOISE_MAX	50.0
#define WAIT_MAX	UINT64_C(86400000000000)	/* a day */
#define BATCH_MAX	(1u << 16)
#define REQUEST_MAX	(32u << 20)	/* the plugin's limit */

extern struct nbdkit_plugin *plugin_init(void);

/* The host: its clock, and how well it measures. */
struct host {
	struct model *model;
	uint64_t size;		/* of the drive, bytes */
	int64_t now;
	double noise;		/* standard deviation of a factor */
	uint64_t seed;		/* state of the generator */
	unsigned int depth;
};

/* A request in flight. */
struct flight {
	struct queued queued;
	int64_t sent;
	bool measured;		/* the two below are known */
	int64_t answer;		/* the time that the host measures */
	int64_t seen;		/* when the host sees the answer */
};

static _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "drive512e-clock: %s: %s\n", what, why);
	exit(2);
}

/* Return the next random number, equally distributed in (0, 1]. */
static double draw(struct host *host)
{
	uint64_t z = host->seed += UINT64_C(0x9e3779b97f4a7c15);

	/* splitmix64 */
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double)(((z ^ (z >> 31)) >> 11) + 1) / 0x1p53;
}

/* Return the time that the host measures for @ns. */
static int64_t measured(struct host *host, int64_t ns)
{
	double normal, factor;

	if (host->noise <= 0)
		return ns;
	normal = sqrt(-2 * log(draw(host))) * cos(2 * M_PI * draw(host));
	factor = 1 + host->noise * normal;
	return factor > 0 ? (int64_t)((double)ns * factor) : 0;
}

/* Parse a whole decimal number of at most @max at @text, and step over it. */
static bool take_number(char **text, uint64_t max, uint64_t *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	if (errno || *number > max)
		return false;
	*text = end;
	return true;
}

/* Parse a command of one number, "NAME N"; ends the program at a bad number. */
static bool take_command(char *line, const char *name, uint64_t max,
			 uint64_t *number)
{
	size_t length = strlen(name);
	char *text = line + length + 1;

	if (strncmp(line, name, length) != 0 || line[length] != ' ')
		return false;
	if (!take_number(&text, max, number) || *text)
		die(line, "the number is missing, or too large");
	return true;
}

/* Parse "R OFFSET BYTES", "W OFFSET BYTES" or "F". */
static bool take_request(const struct host *host, char *line,
			 struct request *req)
{
	char *text = line + 2;

	if (strcmp(line, "F") == 0) {
		*req = (struct request){ .op = OP_FLUSH };
		return true;
	}
	if ((line[0] != 'R' && line[0] != 'W') || line[1] != ' ')
		return false;
	*req = (struct request){ .op = line[0] == 'R' ? OP_READ : OP_WRITE };
	if (!take_number(&text, host->size, &req->offset) || *text++ != ' ' ||
	    !take_number(&text, REQUEST_MAX, &req->count) || *text ||
	    req->count == 0 || (req->offset | req->count) % SECTOR_SIZE ||
	    req->count > host->size - req->offset)
		die(line, "give whole sectors of 512 bytes on the drive");
	return true;
}

/* Send a request now. */
static void fly(struct host *host, struct flight *flight,
		const struct request *req)
{
	flight->sent = host->now;
	flight->measured = false;
	model_queue(host->model, &flight->queued, req, host->now);
}

/* Note when the host sees the answer, if that is decided. */
static void look(struct host *host, struct flight *flight)
{
	if (flight->measured || !flight->queued.decided)
		return;
	flight->measured = true;
	flight->answer = measured(host, flight->queued.when - flight->sent);
	flight->seen = flight->sent + flight->answer;
	if (flight->seen < flight->queued.when)
		flight->seen = flight->queued.when;
}

/*
 * Let the drive work until the first of @nr requests in flight is answered, and
 * return it.
 */
static struct flight *land(struct host *host, struct flight **flying,
			   unsigned int nr)
{
	for (;;) {
		struct flight *first = NULL;
		int64_t next = model_decide(host->model, host->now);

		for (unsigned int i = 0; i < nr; i++) {
			look(host, flying[i]);
			if (flying[i]->measured &&
			    (!first || flying[i]->seen < first->seen))
				first = flying[i];
		}
		if (first && first->seen <= next) {
			host->now = first->seen;
			return first;
		}
		host->now = next;
	}
}

/* Read a line without its end into @line; false at the end of the input. */
static bool read_line(char **line, size_t *room)
{
	ssize_t length = getline(line, room, stdin);

	if (length < 0)
		return false;
	if ((*line)[length - 1] == '\n')
		(*line)[length - 1] = '\0';
	return true;
}

/* Send @nr requests of the input, and print their response times. */
static void batch(struct host *host, uint64_t nr)
{
	static struct flight flight[BATCH_MAX];
	static struct request req[BATCH_MAX];
	struct flight *flying[MODEL_DEPTH_MAX];
	unsigned int in_flight = 0;
	uint64_t sent = 0, i;
	char *line = NULL;
	size_t room = 0;

	for (i = 0; i < nr; i++) {
		if (!read_line(&line, &room))
			die("batch", "the input ends within it");
		if (!take_request(host, line, &req[i]))
			die(line, "not R OFFSET BYTES, W OFFSET BYTES or F");
	}
	while (sent < nr || in_flight) {
		struct flight *landed;

		if (sent < nr && in_flight < host->depth) {
			flying[in_flight++] = &flight[sent];
			fly(host, &flight[sent], &req[sent]);
			sent++;
			continue;
		}
		landed = land(host, flying, in_flight);
		for (i = 0; flying[i] != landed; i++)
			;
		flying[i] = flying[--in_flight];
	}
	for (i = 0; i < nr; i++)
		printf("%" PRId64 "\n", flight[i].answer);
	free(line);
}

static void obey(struct host *host, char *line)
{
	struct flight flight, *flying = &flight;
	struct request req;
	uint64_t n;

	if (take_request(host, line, &req)) {
		fly(host, &flight, &req);
		land(host, &flying, 1);
		printf("%" PRId64 "\n", flight.answer);
	} else if (take_command(line, "wait", WAIT_MAX, &n)) {
		host->now += (int64_t)n;
		printf("%" PRIu64 "\n", n);
	} else if (take_command(line, "depth", MODEL_DEPTH_MAX, &n)) {
		if (n == 0)
			die(line, "at least one is in flight");
		host->depth = (unsigned int)n;
		printf("%" PRIu64 "\n", n);
	} else if (take_command(line, "batch", BATCH_MAX, &n)) {
		batch(host, n);
	} else if (strcmp(line, "time") == 0) {
		printf("%" PRId64 "\n", host->now);
	} else {
		die(line, "no such command; known are R, W, F, wait, depth, "
			  "batch and time");
	}
}

/* Take a parameter of the host; false: it is the drive's. */
static bool take_parameter(struct host *host, const char *key,
			   const char *value)
{
	char *end;

	if (strcmp(key, "seed") == 0) {
		char *text = (char *)(uintptr_t)value;

		if (!take_number(&text, UINT64_MAX, &host->seed) || *text)
			die("seed", "give a whole number");
		return true;
	}
	if (strcmp(key, "noise") != 0)
		return false;
	host->noise = strtod(value, &end) / 100;
	if (end == value || *end || !(host->noise >= 0) ||
	    host->noise > NOISE_MAX / 100)
		die("noise", "give a percentage from 0 to 50");
	return true;
}

int main(int argc, char **argv)
{
	const struct nbdkit_plugin *plugin = plugin_init();
	struct host host = { .depth = 1 };
	struct model_config config;
	struct says says;
	char *line = NULL;
	size_t room = 0;

	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			die(argv[i], "give NAME=VALUE");
		*value++ = '\0';
		if (!take_parameter(&host, argv[i], value) &&
		    plugin->config(argv[i], value) < 0)
			die("parameters", nbdkit_said);
	}
	if (plugin->config_complete() < 0)
		die("parameters", nbdkit_said);
	config = plugin_model();
	says = profile_says(config.profile, &config.map);
	host.size = config.size;
	host.model = model_new(&config);
	if (!host.model)
		die("model", "no memory");
	/* whoever has sent a line may wait for its answer */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %d %d\n",
	       config.size, says.logical, says.physical, says.alignment,
	       config.profile->rotational, config.cache);
	while (read_line(&line, &room))
		obey(&host, line);
	model_free(host.model);
	free(line);
	plugin->unload();
	return 0;
}
