/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive model: how long requests take, and what happens on the media
 * meanwhile.
 *
 * A model lives in virtual time: it is told when a request arrives and returns
 * when it completes. It never sleeps and never reads a clock, so equal arrivals
 * give equal completions. Requests are submitted in the order of arrival; the
 * caller locks.
 *
 * A drive with a command queue decides late: a request that comes while others
 * wait may overtake them.  So with several requests in flight, use model_queue()
 * and model_decide().  With one at a time, model_submit() says the same.
 */
#ifndef DRIVE512E_MODEL_H
#define DRIVE512E_MODEL_H

#include "counters.h"
#include "hdd.h"
#include "profile.h"

#define MODEL_DEPTH_MAX 1024

struct model_config {
	const struct profile *profile;
	struct block_map map;
	uint64_t size;		/* bytes */
	bool cache;		/* volatile write cache on */
	int64_t latency_ns;	/* PROFILE_FIXED: time of each request */
	unsigned int depth;	/* PROFILE_FIXED: requests served at once; 0: any */
};

struct model;

/* Create a model; NULL if there is no memory. */
struct model *model_new(const struct model_config *config);
void model_free(struct model *model);

/*
 * Return when @req, which arrives at @now, completes (ns, >= @now), if nothing
 * overtakes it. Requests queued before are decided, too.
 */
int64_t model_submit(struct model *model, const struct request *req,
		     int64_t now);

/*
 * Let @req arrive at @now, before later requests are known.  @queued is the
 * caller's memory, and in use until it is decided.
 */
void model_queue(struct model *model, struct queued *queued,
		 const struct request *req, int64_t now);

/*
 * Decide what can be decided at @now, when all earlier requests have arrived.
 * Return when something more can be; INT64_MAX if nothing waits. Decided
 * requests have @decided set, and @when, which may lie before @now.
 */
int64_t model_decide(struct model *model, int64_t now);

/* Return how long the data of @req takes to cross the interface (ns). */
int64_t model_lead(const struct model *model, const struct request *req);

/* Return the counters of the media at @now. */
struct media_counters model_counters(struct model *model, int64_t now);

/* Zero the counters; touches that wait then are not counted later. */
void model_reset_counters(struct model *model, int64_t now);

/*
 * Cut the power at @now: the content of the cache is lost, and requests that were
 * in flight keep no later one waiting.
 */
void model_lose_power(struct model *model, int64_t now);

/* Return the duration of a revolution in ns; 0 if nothing rotates. */
int64_t model_revolution(const struct model *model);

#endif
