// SPDX-License-Identifier: GPL-2.0
/*
 * Run the published workloads against the emulated drive alone, without a
 * guest, and print published and measured figures side by side. Exit status: 0
 * if all figures are within the tolerance, 1 if one is not, 2 for bad usage, 3
 * if the drive could not be run.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <libnbd.h>

#include "workloads.h"

#define EXIT_OFF 1
#define EXIT_USAGE 2
#define EXIT_DRIVE 3

#define BLOCK 4096u
#define BUFFER_BYTES (256u << 10)

/* Figures of hdd-nocache: 7200 rpm, and the rate of w136k. */
#define REVOLUTION_US (60e6 / 7200)
#define RATE_PER_US 220.0

/* Enough rounds, as each takes a revolution or two. */
#define NOCACHE_COUNT 100u

struct options {
	const char *plugin;
	const char *json;		/* path, NULL: none */
	unsigned int count;		/* 0: as published */
};

/* One workload on one profile. */
struct row {
	const struct workload *workload;
	unsigned int count;
	double mean_us[PARTS_MAX];
	double wall_s;
	double expected_us[PARTS_MAX];
	double expected_wall_s;
	uint64_t touches, rmws;		/* the drive's own counts */
};

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

static void read_counters(const char *socket_path, struct row *row)
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
	row->touches = counter(stats, "touches");
	row->rmws = counter(stats, "rmws");
}

static struct nbd_handle *start_drive(const struct options *o,
				      const char *profile, const char *control)
{
	struct nbd_handle *nbd = nbd_create();
	char profile_arg[64], control_arg[160];
	char *argv[] = {
		"nbdkit", "--foreground", "--exit-with-parent",
		(char *)(uintptr_t)o->plugin, "size=1G", profile_arg,
		control_arg, NULL,
	};

	snprintf(profile_arg, sizeof(profile_arg), "profile=%s", profile);
	snprintf(control_arg, sizeof(control_arg), "control=%s", control);
	if (!nbd || nbd_connect_systemd_socket_activation(nbd, argv) < 0)
		die(nbd_get_error());
	return nbd;
}

/*
 * Ask for the lowest real-time priority, for this program and the server that
 * it starts: a client preempted for milliseconds is a slow client, also to the
 * drive.
 */
static void ask_for_priority(void)
{
	struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		printf("No real-time priority (%s): on a busy machine figures will "
		       "be off; run as root.\n", strerror(errno));
}

/* Spin until a time, for the host's share of the workload; sleep is coarse. */
static void spend_until(double us)
{
	while (now_us() < us)
		;
}

static void play(struct nbd_handle *nbd, struct row *row)
{
	const struct workload *w = row->workload;
	double host_us = workload_host_us(w), start;
	static char buf[BUFFER_BYTES];

	memset(buf, 0x5a, sizeof(buf));
	start = now_us();
	for (unsigned int i = 0; i < row->count; i++) {
		uint64_t offset = w->first + i * w->stride;

		for (unsigned int part = 0; part < w->parts; part++) {
			double sent = now_us(), done;

			if (nbd_pwrite(nbd, buf, w->bytes[part], offset, 0) < 0)
				die(nbd_get_error());
			done = now_us();
			row->mean_us[part] += (done - sent) / row->count;
			offset += w->bytes[part];
			spend_until(done + host_us);
		}
	}
	row->wall_s = (now_us() - start) / 1e6;
	if (nbd_flush(nbd, 0) < 0)
		die(nbd_get_error());
}

static void run_row(const struct options *o, const char *profile,
		    struct row *row)
{
	struct nbd_handle *nbd;
	char control[128];

	snprintf(control, sizeof(control), "%s/control", folder);
	nbd = start_drive(o, profile, control);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s %s ...\033[K", profile,
			row->workload->name);
	play(nbd, row);
	read_counters(control, row);
	nbd_close(nbd);
	/* The server removes it, too, but later. */
	unlink(control);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static void expect_published(struct row *row)
{
	const struct workload *w = row->workload;

	for (unsigned int i = 0; i < w->parts; i++)
		row->expected_us[i] = w->mean_us[i];
	row->expected_wall_s = w->wall_s * row->count / w->count;
}

static uint64_t block_end(uint64_t byte)
{
	return (byte + BLOCK - 1) / BLOCK * BLOCK;
}

/*
 * Compute the times of hdd-nocache. Each write begins where the last one ended,
 * which has just passed the head: it waits a revolution, and another for an
 * RMW.
 */
static void expect_first_principles(struct row *row)
{
	const struct workload *w = row->workload;
	uint64_t start = w->first, end;
	double round_us = 0;

	for (unsigned int i = 0; i < w->parts; i++)
		start += w->bytes[i];
	end = block_end(start);			/* first round */

	start = w->first + w->stride;		/* second round */
	for (unsigned int i = 0; i < w->parts; i++) {
		uint64_t next = block_end(start + w->bytes[i]);
		bool rmw = start % BLOCK || (start + w->bytes[i]) % BLOCK;
		double us = (rmw ? 2 : 1) * REVOLUTION_US +
			    (double)(next - end) / RATE_PER_US;

		row->expected_us[i] = us - workload_host_us(w);
		round_us += us;
		end = next;
		start += w->bytes[i];
	}
	row->expected_wall_s = round_us * row->count / 1e6;
}

static double percent(double measured, double expected)
{
	return (measured / expected - 1) * 100;
}

/*
 * Print a figure beside the expected one; true if it is within the tolerance.
 */
static bool compare(const char *what, const char *unit, int digits,
		    double expected, double measured)
{
	bool ok = fabs(measured / expected - 1) <= TOLERANCE;

	printf("  %-22s %12.*f %12.*f %-3s %+7.1f %%%s\n", what, digits, expected,
	       digits, measured, unit, percent(measured, expected),
	       ok ? "" : "   outside 15 %");
	return ok;
}

static bool print_row(const struct row *row)
{
	const struct workload *w = row->workload;
	bool ok = true;
	char what[64];

	for (unsigned int i = 0; i < w->parts; i++) {
		snprintf(what, sizeof(what), "%s %" PRIu64 " B", w->name,
			 w->bytes[i]);
		ok &= compare(what, "us", 0, row->expected_us[i],
			      row->mean_us[i]);
	}
	snprintf(what, sizeof(what), "%s wall, %u x", w->name, row->count);
	ok &= compare(what, "s", 3, row->expected_wall_s, row->wall_s);
	if (row->touches != (uint64_t)row->count * w->touches) {
		printf("  %s: the drive counted %" PRIu64 " touches, not %" PRIu64
		       "\n", w->name, row->touches,
		       (uint64_t)row->count * w->touches);
		ok = false;
	}
	fflush(stdout);
	return ok;
}

static void json_row(FILE *f, const char *profile, const struct row *row,
		     const char *separator)
{
	const struct workload *w = row->workload;

	fprintf(f, "%s\n  {\"profile\":\"%s\",\"workload\":\"%s\",\"count\":%u,"
		"\"touches\":%" PRIu64 ",\"rmws\":%" PRIu64 ",\"wall_s\":%.6f,"
		"\"expected_wall_s\":%.6f,\"parts\":[", separator, profile,
		w->name, row->count, row->touches, row->rmws, row->wall_s,
		row->expected_wall_s);
	for (unsigned int i = 0; i < w->parts; i++)
		fprintf(f, "%s{\"bytes\":%" PRIu64 ",\"mean_us\":%.1f,"
			"\"expected_us\":%.1f,\"deviation_percent\":%.2f}",
			i ? "," : "", w->bytes[i], row->mean_us[i],
			row->expected_us[i],
			percent(row->mean_us[i], row->expected_us[i]));
	fprintf(f, "]}");
}

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: drive512e-bench [options] PLUGIN\n"
		"Measures the emulated drive PLUGIN (drive512e.so) by itself.\n\n"
		"  -n, --count N    N rounds of each workload; default: as published,\n"
		"                   and 100 for hdd-nocache. Below some 2000 the empty\n"
		"                   cache at the start weighs in the means\n"
		"  -j, --json PATH  write the figures as JSON too\n"
		"  -h, --help       this text\n");
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	unsigned long n;
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "n:j:h", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			n = strtoul(optarg, &end, 10);
			/* More rounds than published exceed 1 GiB. */
			if (*end || n < 1 || n > 7000) {
				fprintf(stderr, "drive512e-bench: --count %s: give "
					"a number from 1 to 7000\n", optarg);
				exit(EXIT_USAGE);
			}
			o->count = (unsigned int)n;
			break;
		case 'j':
			o->json = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
	o->plugin = argv[optind];
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct row cached[WORKLOADS] = { 0 }, nocache[WORKLOADS] = { 0 };
	const struct row *fast = &cached[WORKLOAD_W136K - workloads];
	const struct row *slow = &cached[WORKLOAD_W4K_132K - workloads];
	double wall_ratio, mean_ratio;
	FILE *json = NULL;
	bool ok = true;

	parse_options(argc, argv, &o);
	if (o.json) {
		json = fopen(o.json, "w");
		if (!json) {
			fprintf(stderr, "drive512e-bench: --json %s: %s; give a "
				"path that can be written\n", o.json,
				strerror(errno));
			return EXIT_USAGE;
		}
	}
	if (!mkdtemp(folder))
		die("cannot make a folder in /tmp");
	atexit(remove_folder);

	ask_for_priority();
	printf("st1000dm003                 published     measured\n");
	for (unsigned int i = 0; i < WORKLOADS; i++) {
		cached[i].workload = &workloads[i];
		cached[i].count = o.count ? o.count : workloads[i].count;
		expect_published(&cached[i]);
		run_row(&o, "st1000dm003", &cached[i]);
		ok &= print_row(&cached[i]);
	}
	wall_ratio = slow->wall_s / fast->wall_s;
	mean_ratio = (slow->mean_us[0] + slow->mean_us[1]) / fast->mean_us[0];
	ok &= compare("w4k_132k/w136k, wall", "", 2, WALL_RATIO, wall_ratio);
	ok &= compare("w4k_132k/w136k, means", "", 2, MEAN_RATIO, mean_ratio);

	printf("\nhdd-nocache                  expected     measured\n");
	for (unsigned int i = 0; i < WORKLOADS; i++) {
		nocache[i].workload = &workloads[i];
		nocache[i].count = o.count && o.count < NOCACHE_COUNT ? o.count
								      : NOCACHE_COUNT;
		expect_first_principles(&nocache[i]);
		run_row(&o, "hdd-nocache", &nocache[i]);
		ok &= print_row(&nocache[i]);
	}
	if (json) {
		fprintf(json, "{\"tolerance_percent\":%.0f,\"within\":%s,"
			"\"wall_ratio\":%.3f,\"published_wall_ratio\":%.1f,"
			"\"mean_ratio\":%.3f,\"published_mean_ratio\":%.1f,"
			"\"rows\":[", TOLERANCE * 100, ok ? "true" : "false",
			wall_ratio, WALL_RATIO, mean_ratio, MEAN_RATIO);
		for (unsigned int i = 0; i < WORKLOADS; i++)
			json_row(json, "st1000dm003", &cached[i], i ? "," : "");
		for (unsigned int i = 0; i < WORKLOADS; i++)
			json_row(json, "hdd-nocache", &nocache[i], ",");
		fprintf(json, "\n]}\n");
		fclose(json);
	}
	printf("\n%s\n", ok ? "all figures within 15 %"
			    : "there are figures outside 15 %");
	return ok ? 0 : EXIT_OFF;
}
