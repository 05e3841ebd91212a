// SPDX-License-Identifier: GPL-2.0
/*
 * Number requests under one lock as they arrive, and sleep on the machine's clock until
 * the model has completed them.
 */
#include "drive.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "pace.h"

#define NS_PER_S 1000000000

/* Length of an uninterruptible sleep, ns; nbdkit interrupts the rest. */
#define DEAF_SLEEP_NS 50000000

struct drive {
	struct drive_config config;
	struct media *media;		/* has locks of its own */
	pthread_mutex_t lock;		/* guards everything below; the media's is taken inside */
	struct model *model;
	struct pace pace;
	struct host_counters counters;
	uint64_t seq;			/* requests ever received */
	uint64_t epoch;
	uint64_t cuts;			/* power cuts that the model knows of */
	FILE *log;
	bool log_failed;
};

static int64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
}

/* Sleep until @due.  Return 0, or -1 if the server is shutting down. */
static int sleep_until(int64_t due)
{
	struct timespec ts = {
		.tv_sec = due / NS_PER_S,
		.tv_nsec = due % NS_PER_S,
	};
	int64_t left = due - clock_now();

	if (left > DEAF_SLEEP_NS) {
		left -= DEAF_SLEEP_NS;
		if (nbdkit_nanosleep((unsigned int)(left / NS_PER_S),
				     (unsigned int)(left % NS_PER_S)) < 0)
			return -1;
	}
	/* The default slack adds up to 50 us to every sleep. */
	prctl(PR_SET_TIMERSLACK, 1);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) != 0)
		;
	return 0;
}

struct drive *drive_new(const struct drive_config *config, const char **what)
{
	struct drive *drive = calloc(1, sizeof(*drive));
	int saved;

	*what = "size";
	if (!drive)
		return NULL;
	drive->config = *config;
	pthread_mutex_init(&drive->lock, NULL);

	drive->model = model_new(&config->model);
	if (!drive->model)
		goto fail;
	*what = config->file ? "file" : "size";
	drive->media = media_new(config->model.size, &config->model.map,
				 config->model.cache, config->file);
	if (!drive->media)
		goto fail;
	if (config->log) {
		*what = "log";
		drive->log = fopen(config->log, "we");
		if (!drive->log)
			goto fail;
		/* A line can be read as soon as its request has completed. */
		setvbuf(drive->log, NULL, _IOLBF, 0);
	}
	return drive;

fail:
	saved = errno;
	drive_free(drive);
	errno = saved;
	return NULL;
}

void drive_free(struct drive *drive)
{
	if (!drive)
		return;
	if (drive->log)
		fclose(drive->log);
	media_free(drive->media);
	model_free(drive->model);
	pthread_mutex_destroy(&drive->lock);
	free(drive);
}

static const char letters[] = {
	[OP_READ] = 'R', [OP_WRITE] = 'W', [OP_FLUSH] = 'F',
	[OP_TRIM] = 'T', [OP_ZERO] = 'Z',
};

static void log_request(struct drive *drive, const struct request *req,
			const struct touch *touch)
{
	bool touches = req->op == OP_WRITE || req->op == OP_ZERO;

	if (fprintf(drive->log, "%" PRIu64 " %c %" PRIu64 " %" PRIu64 " %d %u\n",
		    drive->seq, letters[req->op], req->offset, req->count,
		    req->fua, touches ? touch->partial : 0) > 0 ||
	    drive->log_failed)
		return;
	drive->log_failed = true;
	nbdkit_error("log=%s: %m; from request %" PRIu64 " on lines may be missing: "
		     "make room, and start the server again", drive->config.log,
		     drive->seq);
}

/* Log, count and queue a request; called with the lock held. */
static void arrive(struct drive *drive, const struct request *req,
		   struct queued *queued)
{
	struct touch touch = { 0 };

	if (req->op != OP_FLUSH)
		touch = touch_of(&drive->config.model.map, req->offset,
				 req->count);
	if (drive->log)
		log_request(drive, req, &touch);
	drive->seq++;
	count_request(&drive->counters, req, &touch);
	model_queue(drive->model, queued, req,
		    pace_arrival(&drive->pace, clock_now(),
				 model_lead(drive->model, req)));
}

/*
 * Sleep until the request is due.  Return 0, or -1 if the server is shutting
 * down; the model has done with the request in both cases.
 */
static int await(struct drive *drive, struct queued *queued)
{
	int result = 0;

	for (;;) {
		int64_t next = clock_now();

		pthread_mutex_lock(&drive->lock);
		do {
			next = model_decide(drive->model, next);
		} while (result < 0 && !queued->decided);
		pthread_mutex_unlock(&drive->lock);
		if (result < 0 || queued->decided)
			break;
		result = sleep_until(next);
	}
	if (result == 0 && queued->when > clock_now())
		result = sleep_until(queued->when);
	return result;
}

/* Tell the model of a power cut that it does not know; with the lock held. */
static void lose_power(struct drive *drive)
{
	uint64_t cuts = media_cuts(drive->media);

	if (cuts == drive->cuts)
		return;
	drive->cuts = cuts;
	model_lose_power(drive->model,
			 pace_arrival(&drive->pace, clock_now(), 0));
}

/*
 * Let a request arrive, as media_begin(). In one step, so that media, log,
 * counters and model have one order, in which the request with which the power
 * goes is the last.
 */
static enum begun begin(struct drive *drive, struct in_flight *in_flight,
			struct queued *queued, const struct request *req,
			const void *data)
{
	enum begun begun;

	pthread_mutex_lock(&drive->lock);
	begun = media_begin(drive->media, in_flight, req, data);
	if (begun != NO_POWER)
		arrive(drive, req, queued);
	if (begun == POWER_WENT)
		lose_power(drive);
	pthread_mutex_unlock(&drive->lock);
	return begun;
}

int drive_request(struct drive *drive, const struct request *req, void *buf)
{
	struct in_flight in_flight;
	struct queued queued;
	int error = 0;
	bool went;

	if (begin(drive, &in_flight, &queued, req, buf) != BEGUN) {
		errno = EIO;
		return -1;
	}
	if (req->op == OP_READ &&
	    media_read(drive->media, buf, req->offset, req->count) < 0)
		error = errno;
	if (await(drive, &queued) < 0) {
		media_abandon(drive->media, &in_flight);
		errno = ESHUTDOWN;
		return -1;
	}
	if (media_end(drive->media, &in_flight, &went) < 0)
		error = errno;
	if (went) {
		pthread_mutex_lock(&drive->lock);
		lose_power(drive);
		pthread_mutex_unlock(&drive->lock);
	}

	if (drive->config.model.profile->kind != PROFILE_INSTANT) {
		pthread_mutex_lock(&drive->lock);
		pace_answered(&drive->pace, queued.when, clock_now());
		pthread_mutex_unlock(&drive->lock);
	}
	errno = error;
	return error ? -1 : 0;
}

bool drive_cut_power(struct drive *drive, const struct power_cut *how)
{
	bool on;

	pthread_mutex_lock(&drive->lock);
	on = media_cut(drive->media, how);
	lose_power(drive);
	pthread_mutex_unlock(&drive->lock);
	return on;
}

void drive_power_on(struct drive *drive)
{
	pthread_mutex_lock(&drive->lock);
	/* The request with whose end the power went may not have told it yet. */
	lose_power(drive);
	media_power_on(drive->media);
	pthread_mutex_unlock(&drive->lock);
}

int drive_fail(struct drive *drive, enum op op, uint64_t first, uint64_t count)
{
	return media_fail(drive->media, op, first, count);
}

void drive_heal(struct drive *drive)
{
	media_heal(drive->media);
}

uint64_t drive_size(const struct drive *drive)
{
	return drive->config.model.size;
}

void drive_reset(struct drive *drive)
{
	pthread_mutex_lock(&drive->lock);
	drive->counters = (struct host_counters){ 0 };
	model_reset_counters(drive->model,
			     pace_arrival(&drive->pace, clock_now(), 0));
	drive->epoch++;
	pthread_mutex_unlock(&drive->lock);
}

/*
 * Return "["W",4096,512],..." of the requests in flight at the last cut; NULL:
 * no memory.
 */
static char *under_way_json(const struct media_state *state)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	for (size_t i = 0; i < state->nr_under_way; i++) {
		const struct request *req = &state->under_way[i];

		fprintf(to, "%s[\"%c\",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			letters[req->op], req->offset, req->count);
	}
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

char *drive_stats_json(struct drive *drive)
{
	const struct model_config *config = &drive->config.model;
	struct media_state state = media_state(drive->media);
	struct media_counters media;
	struct host_counters host;
	struct says says = profile_says(config->profile, &config->map);
	int64_t revolution;
	char *line, *under_way;
	uint64_t epoch;
	int len;

	under_way = under_way_json(&state);
	if (!under_way)
		return NULL;
	pthread_mutex_lock(&drive->lock);
	lose_power(drive);
	host = drive->counters;
	media = model_counters(drive->model,
			       pace_arrival(&drive->pace, clock_now(), 0));
	revolution = model_revolution(drive->model);
	epoch = drive->epoch;
	pthread_mutex_unlock(&drive->lock);

	len = asprintf(&line,
		       "{\"profile\":\"%s\",\"physical_block_size\":%" PRIu32
		       ",\"alignment_offset\":%" PRIu32
		       ",\"reported_physical_block_size\":%" PRIu32
		       ",\"reported_alignment_offset\":%" PRIu32
		       ",\"cache\":\"%s\",\"size\":%" PRIu64
#define X(name) ",\"" #name "\":%" PRIu64
		       HOST_COUNTERS(X)
		       MEDIA_COUNTERS(X)
#undef X
		       ",\"touches_pending\":%" PRIu64
		       ",\"revolutions_lost\":%.3f,\"epoch\":%" PRIu64
		       ",\"power\":\"%s\",\"power_cuts\":%" PRIu64
		       ",\"under_way_at_cut\":[%s]"
		       ",\"volatile_blocks\":%" PRIu64
		       ",\"unreadable_blocks\":%" PRIu64 "}",
		       config->profile->name, config->map.physical,
		       config->map.alignment, says.physical, says.alignment,
		       config->cache ? "on" : "off",
		       config->size,
#define X(name) host.name,
		       HOST_COUNTERS(X)
#undef X
#define X(name) media.name,
		       MEDIA_COUNTERS(X)
#undef X
		       media.touches_pending,
		       revolution ? (double)media.lost_ns / (double)revolution
				  : 0.0,
		       epoch, state.powered ? "on" : "off", state.power_cuts,
		       under_way, state.volatile_blocks,
		       state.unreadable_blocks);
	free(under_way);
	return len < 0 ? NULL : line;
}
