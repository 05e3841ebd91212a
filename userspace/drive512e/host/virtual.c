// SPDX-License-Identifier: GPL-2.0
/* Keep the requests in flight on a virtual clock, and tell when each is answered. */
#include "virtual.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define REQUEST_MAX	(64u << 20)	/* bytes */

/* A request in flight. */
struct flight {
	struct queued queued;
	int64_t sent;
	int64_t *answer;	/* the time that the host measures */
	bool measured;		/* *@answer and @seen are known */
	int64_t seen;		/* when the host sees the answer */
};

static struct clock *clock_of(struct host *host)
{
	return (struct clock *)((char *)host - offsetof(struct clock, host));
}

/* Return the next random number, equally distributed in (0, 1]. */
static double draw(struct clock *clock)
{
	uint64_t z = clock->seed += UINT64_C(0x9e3779b97f4a7c15);

	/* splitmix64 */
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double)(((z ^ (z >> 31)) >> 11) + 1) / 0x1p53;
}

/* Return the time that the host measures for @ns. */
static int64_t measured(struct clock *clock, int64_t ns)
{
	double normal, factor;

	if (clock->noise <= 0)
		return ns;
	normal = sqrt(-2 * log(draw(clock))) * cos(2 * M_PI * draw(clock));
	factor = 1 + clock->noise * normal;
	return factor > 0 ? (int64_t)((double)ns * factor) : 0;
}

/* Send a request now; its time goes to @answer. */
static void send_request(struct clock *clock, struct flight *flight,
			 const struct request *req, int64_t *answer)
{
	flight->sent = clock->now;
	flight->answer = answer;
	flight->measured = false;
	model_queue(clock->model, &flight->queued, req, clock->now);
}

/* Note when the host sees the answer, if that is decided. */
static void note_answer(struct clock *clock, struct flight *flight)
{
	if (flight->measured || !flight->queued.decided)
		return;
	flight->measured = true;
	*flight->answer = measured(clock, flight->queued.when - flight->sent);
	flight->seen = flight->sent + *flight->answer;
	if (flight->seen < flight->queued.when)
		flight->seen = flight->queued.when;
}

/*
 * Let the drive work until the first of @nr requests in flight is answered, and
 * return it; of several at once, the one that lies first in memory.
 */
static struct flight *await_answer(struct clock *clock, struct flight **flying,
				   unsigned int nr)
{
	for (;;) {
		struct flight *first = NULL;
		int64_t next = model_decide(clock->model, clock->now);

		for (unsigned int i = 0; i < nr; i++) {
			note_answer(clock, flying[i]);
			if (flying[i]->measured &&
			    (!first || flying[i]->seen < first->seen ||
			     (flying[i]->seen == first->seen &&
			      flying[i] < first)))
				first = flying[i];
		}
		if (first && first->seen <= next) {
			clock->now = first->seen;
			return first;
		}
		clock->now = next;
	}
}

static int64_t clock_send(struct host *host, const struct request *req)
{
	struct flight flight, *flying = &flight;
	int64_t answer;

	send_request(clock_of(host), &flight, req, &answer);
	await_answer(clock_of(host), &flying, 1);
	return answer;
}

/*
 * Send @nr requests in order with at most @depth in flight. With @jobs, one that
 * follows an answer is that of the same place in its round of @depth requests.
 */
static void send_all(struct clock *clock, const struct request *req,
		     unsigned int nr, unsigned int depth, bool jobs, int64_t *ns)
{
	static struct flight flight[MODEL_DEPTH_MAX];
	struct flight *flying[MODEL_DEPTH_MAX];
	unsigned int in_flight = 0, sent = 0;

	/* Those beyond @in_flight are free. */
	for (unsigned int i = 0; i < depth; i++)
		flying[i] = &flight[i];
	while (sent < nr || in_flight) {
		struct flight *landed;
		unsigned int i = 0;

		if (sent < nr && in_flight < depth) {
			unsigned int job = (unsigned int)(flying[in_flight] -
							  flight);

			send_request(clock, flying[in_flight++],
				     &req[jobs ? sent - sent % depth + job
					       : sent], &ns[sent]);
			sent++;
			continue;
		}
		landed = await_answer(clock, flying, in_flight);
		while (flying[i] != landed)
			i++;
		flying[i] = flying[--in_flight];
		flying[in_flight] = landed;
	}
}

static void clock_batch(struct host *host, const struct request *req,
			unsigned int nr, unsigned int depth, int64_t *ns)
{
	send_all(clock_of(host), req, nr, depth, false, ns);
}

static void clock_jobs(struct host *host, const struct request *req,
		       unsigned int nr, unsigned int depth, int64_t *ns)
{
	send_all(clock_of(host), req, nr, depth, true, ns);
}

static void clock_wait(struct host *host, int64_t ns)
{
	clock_of(host)->now += ns;
}

static int64_t clock_time(struct host *host)
{
	return clock_of(host)->now;
}

static bool clock_count(struct host *host, const char *name, uint64_t *n)
{
	struct clock *clock = clock_of(host);
	struct media_counters media = model_counters(clock->model, clock->now);

#define COUNTER(counter)						\
	if (strcmp(name, #counter) == 0) {				\
		*n = media.counter;					\
		return true;						\
	}
	MEDIA_COUNTERS(COUNTER)
#undef COUNTER
	return false;
}

void clock_init(struct clock *clock, struct model *model)
{
	*clock = (struct clock){
		.model = model,
		.host = {
			.request_max = REQUEST_MAX,
			.send = clock_send,
			.batch = clock_batch,
			.jobs = clock_jobs,
			.wait = clock_wait,
			.time = clock_time,
			.count = clock_count,
		},
	};
}
