// SPDX-License-Identifier: GPL-2.0
/* Parse the parameters and the lines of input, and print times. */
#include "lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../nbdkit_stand_in.h"
#include "../plugin.h"

#define WAIT_MAX	UINT64_C(86400000000000)	/* a day */

extern struct nbdkit_plugin *plugin_init(void);

_Noreturn void lines_die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		why);
	exit(2);
}

bool lines_take_number(const char **text, uint64_t max, uint64_t *number)
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
static bool take_command(const char *line, const char *name, uint64_t max,
			 uint64_t *number)
{
	size_t length = strlen(name);
	const char *text = line + length + 1;

	if (strncmp(line, name, length) != 0 || line[length] != ' ')
		return false;
	if (!lines_take_number(&text, max, number) || *text)
		lines_die(line, "the number is missing, or too large");
	return true;
}

/* Parse "R OFFSET BYTES", "W OFFSET BYTES" or "F". */
static bool take_request(const struct host *host, const char *line,
			 struct request *req)
{
	const char *text = line + 2;

	if (strcmp(line, "F") == 0) {
		*req = (struct request){ .op = OP_FLUSH };
		return true;
	}
	if ((line[0] != 'R' && line[0] != 'W') || line[1] != ' ')
		return false;
	*req = (struct request){ .op = line[0] == 'R' ? OP_READ : OP_WRITE };
	if (!lines_take_number(&text, host->size, &req->offset) ||
	    *text++ != ' ' ||
	    !lines_take_number(&text, host->request_max, &req->count) || *text ||
	    req->count == 0 || (req->offset | req->count) % SECTOR_SIZE ||
	    req->count > host->size - req->offset)
		lines_die(line, "give whole sectors of 512 bytes on the drive");
	return true;
}

/* What was read of standard input; [start, end) is not yet taken. */
static struct input {
	char text[1 << 16];
	size_t start, end;
} input;

/*
 * Read more of the input. Its sender may wait for the answers so far, and gets
 * them first. Returns false at the end of the input.
 */
static bool read_more(void)
{
	ssize_t length;

	memmove(input.text, input.text + input.start, input.end - input.start);
	input.end -= input.start;
	input.start = 0;
	if (input.end == sizeof(input.text) - 1)
		lines_die("input", "a line is too long");
	fflush(stdout);
	do {
		length = read(STDIN_FILENO, input.text + input.end,
			      sizeof(input.text) - 1 - input.end);
	} while (length < 0 && errno == EINTR);
	if (length <= 0)
		return false;
	input.end += (size_t)length;
	return true;
}

/* Take a line without its end, valid until the next one; NULL: there is none. */
static char *take_line(void)
{
	char *line, *end;

	while (!(end = memchr(input.text + input.start, '\n',
			      input.end - input.start))) {
		if (read_more())
			continue;
		if (input.start == input.end)
			return NULL;
		end = input.text + input.end++;
		break;
	}
	*end = '\0';
	line = input.text + input.start;
	input.start = (size_t)(end - input.text) + 1;
	return line;
}

typedef void send_batch(struct host *host, const struct request *req,
			unsigned int nr, unsigned int depth, int64_t *ns);

/* Send @nr requests of the input by @send, and print their response times. */
static void batch(struct host *host, send_batch *send, unsigned int nr,
		  unsigned int depth)
{
	struct request *req = calloc(nr, sizeof(*req));
	int64_t *ns = calloc(nr, sizeof(*ns));

	if (nr && (!req || !ns))
		lines_die("batch", "no memory");
	for (unsigned int i = 0; i < nr; i++) {
		const char *line = take_line();

		if (!line)
			lines_die("batch", "the input ends within it");
		if (!take_request(host, line, &req[i]))
			lines_die(line,
				  "not R OFFSET BYTES, W OFFSET BYTES or F");
	}
	send(host, req, nr, depth, ns);
	for (unsigned int i = 0; i < nr; i++)
		printf("%" PRId64 "\n", ns[i]);
	free(req);
	free(ns);
}

static void obey(struct host *host, const char *line, unsigned int *depth)
{
	struct request req;
	uint64_t n;

	if (take_request(host, line, &req)) {
		printf("%" PRId64 "\n", host->send(host, &req));
	} else if (take_command(line, "wait", WAIT_MAX, &n)) {
		host->wait(host, (int64_t)n);
		printf("%" PRIu64 "\n", n);
	} else if (take_command(line, "depth", MODEL_DEPTH_MAX, &n)) {
		if (n == 0)
			lines_die(line, "at least one is in flight");
		*depth = (unsigned int)n;
		printf("%" PRIu64 "\n", n);
	} else if (take_command(line, "batch", BATCH_MAX, &n)) {
		batch(host, host->batch, (unsigned int)n, *depth);
	} else if (host->jobs && take_command(line, "jobs", BATCH_MAX, &n)) {
		if (n % *depth)
			lines_die(line, "give a multiple of depth");
		batch(host, host->jobs, (unsigned int)n, *depth);
	} else if (strcmp(line, "time") == 0) {
		printf("%" PRId64 "\n", host->time(host));
	} else if (host->count && strncmp(line, "count ", 6) == 0) {
		if (!host->count(host, line + 6, &n))
			lines_die(line, "no such counter of the media");
		printf("%" PRIu64 "\n", n);
	} else {
		lines_die(line, "no such command; known are R, W, F, wait, "
				"depth, batch, jobs, count and time");
	}
}

struct model_config lines_configure(char **parameters,
				    bool (*take)(const char *name,
						 const char *value))
{
	const struct nbdkit_plugin *plugin = plugin_init();

	for (; *parameters; parameters++) {
		char *value = strchr(*parameters, '=');

		if (!value)
			lines_die(*parameters, "give NAME=VALUE");
		*value++ = '\0';
		if (!(take && take(*parameters, value)) &&
		    plugin->config(*parameters, value) < 0)
			lines_die("parameters", nbdkit_said);
		value[-1] = '=';
	}
	if (plugin->config_complete() < 0)
		lines_die("parameters", nbdkit_said);
	return plugin_model();
}

void lines_obey(struct host *host, const struct model_config *config)
{
	struct says says = profile_says(config->profile, &config->map);
	unsigned int depth = 1;
	const char *line;

	host->size = config->size;
	printf("%" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %d %d\n",
	       config->size, says.logical, says.physical, says.alignment,
	       config->profile->rotational, config->cache);
	while ((line = take_line()))
		obey(host, line, &depth);
	plugin_init()->unload();
}
