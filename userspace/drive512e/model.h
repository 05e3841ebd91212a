/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long does a request take, and what happens on the media meanwhile?
 *
 * A model lives in virtual time: it is told when each request arrives and says
 * when it completes.  It never sleeps and never reads a clock, so that the
 * same arrivals always give the same completions.  Requests are given in the
 * order of their arrival; the caller locks.
 */
#ifndef DRIVE512E_MODEL_H
#define DRIVE512E_MODEL_H

#include "counters.h"
#include "profile.h"

#define MODEL_DEPTH_MAX 1024

struct model_config {
	const struct profile *profile;
	struct block_map map;
	uint64_t size;		/* bytes */
	bool cache;		/* volatile write cache on */
	int64_t latency_ns;	/* PROFILE_FIXED: of each request */
	unsigned int depth;	/* PROFILE_FIXED: requests served at once; 0: any */
};

struct model;

/* NULL if there is no memory. */
struct model *model_new(const struct model_config *config);
void model_free(struct model *model);

/* Returns when @req, which arrives at @now, completes (ns, >= @now). */
int64_t model_submit(struct model *model, const struct request *req,
		     int64_t now);

/* How long the data of @req takes to cross the interface (ns). */
int64_t model_lead(const struct model *model, const struct request *req);

/* What was done on the media up to @now. */
struct media_counters model_counters(struct model *model, int64_t now);

/* Counts from 0 again; what is still in the cache is not counted. */
void model_reset_counters(struct model *model, int64_t now);

/* The power goes at @now: what is in the cache is never written. */
void model_lose_power(struct model *model, int64_t now);

/* Duration of a revolution in ns; 0 if nothing rotates. */
int64_t model_revolution(const struct model *model);

#endif
