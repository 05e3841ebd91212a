// SPDX-License-Identifier: GPL-2.0
/* Requests that meet a power cut between two steps of the drive. */
#include "../drive.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../nbdkit_stand_in.h"
#include "tap.h"

/* What happens between two steps; NULL: nothing. */
static void (*behind_begin)(const struct request *req);
static void (*behind_end)(bool went);

static enum begun begin_media(struct media *media, struct in_flight *f,
			      const struct request *req, const void *data)
{
	enum begun begun = media_begin(media, f, req, data);

	if (behind_begin)
		behind_begin(req);
	return begun;
}

static int end_media(struct media *media, struct in_flight *f, bool *went)
{
	int ret = media_end(media, f, went);

	if (behind_end)
		behind_end(*went);
	return ret;
}

/*
 * The drive's clock: only a sleep lets time go on, so that its head has moved no further
 * where a test is kept waiting.
 */
static atomic_llong now_ns = 1;

static int read_clock(clockid_t clock, struct timespec *now)
{
	long long ns = now_ns;

	(void)clock;
	*now = (struct timespec) { ns / 1000000000, ns % 1000000000 };
	return 0;
}

static int sleep_until_ns(long long ns)
{
	long long before = now_ns;

	while (before < ns &&
	       !atomic_compare_exchange_weak(&now_ns, &before, ns))
		;
	return 0;
}

static int sleep_clock(clockid_t clock, int flags, const struct timespec *until,
		       struct timespec *left)
{
	(void)clock;
	(void)flags;
	(void)left;
	return sleep_until_ns(until->tv_sec * 1000000000LL + until->tv_nsec);
}

static int sleep_for(unsigned int seconds, unsigned int ns)
{
	return sleep_until_ns(now_ns + seconds * 1000000000LL + ns);
}

/* The drive takes its steps, and its time, through these. */
#define media_begin begin_media
#define media_end end_media
#define clock_gettime read_clock
#define clock_nanosleep sleep_clock
#define nbdkit_nanosleep sleep_for
#include "../drive.c"

static struct drive *make(const char *log)
{
	struct drive_config config = {
		.model = {
			.profile = profile_find("st1000dm003"),
			.map = { 4096, 0 }, .size = 1 << 30, .cache = true,
		},
		.log = log,
	};
	const char *what;
	struct drive *made = drive_new(&config, &what);

	if (!made)
		abort();
	return made;
}

/* Write a sector; return 0 or the error. */
static int write_sector(struct drive *to, uint64_t offset)
{
	struct request req = { OP_WRITE, offset, SECTOR_SIZE, false };
	unsigned char data[SECTOR_SIZE] = { 1 };

	return drive_request(to, &req, data) < 0 ? errno : 0;
}

static uint64_t stat_of(struct drive *of, const char *name)
{
	char *json = drive_stats_json(of), *at = strstr(json, name);
	uint64_t value = strtoull(at + strlen(name) + 2, NULL, 10);

	free(json);
	return value;
}

/* ---- the order of arrival ---- */

#define FIRST 512u
#define SECOND 40960u

static atomic_bool first_began, second_ended;

/* Let the second request come between, if that is possible. */
static void hold_the_first(const struct request *req)
{
	const struct timespec ms = { 0, 1000000 };

	if (req->offset != FIRST)
		return;
	first_began = true;
	for (unsigned int i = 0; i < 300 && !second_ended; i++)
		nanosleep(&ms, NULL);
}

static void *send_first(void *opaque)
{
	write_sector(opaque, FIRST);
	return NULL;
}

static void test_last_request(void)
{
	char path[] = "/tmp/drive512e-test-XXXXXX", lines[100] = "";
	int fd = mkstemp(path);
	struct drive *d = make(path);
	struct power_cut how = { .at = 2 };
	pthread_t first;
	int error;

	behind_begin = hold_the_first;
	CHECK(drive_cut_power(d, &how), "the power is off");
	if (pthread_create(&first, NULL, send_first, d))
		abort();
	while (!first_began)
		sched_yield();
	error = write_sector(d, SECOND);
	second_ended = true;
	CHECK(error == EIO, "error %d", error);
	pthread_join(first, NULL);
	behind_begin = NULL;
	CHECK(stat_of(d, "writes") == 2 && stat_of(d, "touches") == 2,
	      "not counted");
	CHECK(stat_of(d, "touches_pending") == 0,
	      "without power a write is in the cache");
	CHECK(read(fd, lines, sizeof(lines) - 1) > 0 &&
	      strcmp(lines, "0 W 512 512 0 1\n1 W 40960 512 0 1\n") == 0,
	      "the power went with another request than the last one:\n%s",
	      lines);
	drive_free(d);
	close(fd);
	unlink(path);
}

/* ---- power on right behind a cut ---- */

static struct drive *switched;
static int error_after;

static void switch_on(bool went)
{
	if (!went)
		return;
	drive_power_on(switched);
	error_after = write_sector(switched, SECOND);
}

static void test_power_on_behind_a_cut(void)
{
	struct power_cut how = { .after = 1 };

	switched = make(NULL);
	behind_end = switch_on;
	CHECK(drive_cut_power(switched, &how), "the power is off");
	CHECK(write_sector(switched, FIRST) == 0, "refused");
	behind_end = NULL;
	CHECK(error_after == 0, "error %d", error_after);
	CHECK(stat_of(switched, "touches_lost") == 1,
	      "%ju touches lost: one came after power on",
	      (uintmax_t)stat_of(switched, "touches_lost"));
	drive_free(switched);
}

const struct tap_test drive_tests[] = {
	{ "the request with which the power goes is the last one counted and "
	  "logged", test_last_request },
	{ "a power cut is over for the drive model when power is on again",
	  test_power_on_behind_a_cut },
	{ 0 },
};
