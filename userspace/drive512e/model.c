// SPDX-License-Identifier: GPL-2.0
/* Hand each request to the kind of drive that the profile names, in media bytes. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "ssd.h"

struct model {
	struct model_config config;
	struct media_counters counters;
	int64_t servers[MODEL_DEPTH_MAX];	/* fixed: when they are free */
	struct hdd hdd;				/* mechanical */
	struct ssd ssd;				/* flash */
};

struct model *model_new(const struct model_config *config)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		return NULL;
	model->config = *config;
	if (config->profile->kind == PROFILE_MECHANICAL)
		hdd_init(&model->hdd, config->profile, config->map.physical,
			 media_byte(&config->map, config->size), config->cache,
			 &model->counters);
	if (config->profile->kind == PROFILE_FLASH &&
	    !ssd_init(&model->ssd, config->profile, config->map.physical,
		      config->cache, &model->counters)) {
		free(model);
		return NULL;
	}
	return model;
}

void model_free(struct model *model)
{
	if (model)
		ssd_destroy(&model->ssd);
	free(model);
}

/* Count for a drive without joins: every touch is an RMW of its own. */
static void count_at_once(struct model *model, const struct request *req)
{
	struct touch t;

	if (req->op != OP_WRITE && req->op != OP_ZERO)
		return;
	t = touch_of(&model->config.map, req->offset, req->count);
	model->counters.rmws += t.partial;
	model->counters.blocks_written += t.last - t.first + 1;
}

/*
 * Serve a request by the first free server, in the fixed latency.  Return when
 * it completes.
 */
static int64_t serve_fixed(struct model *model, int64_t now)
{
	int64_t latency = model->config.latency_ns;
	int64_t *next = model->servers;

	model->counters.busy_ns += (uint64_t)latency;
	if (model->config.depth == 0)
		return now + latency;
	for (unsigned int i = 1; i < model->config.depth; i++) {
		if (model->servers[i] < *next)
			next = &model->servers[i];
	}
	if (*next < now)
		*next = now;
	*next += latency;
	return *next;
}

/* A request on the media. */
struct extent {
	uint64_t start, end;	/* media bytes */
	uint64_t transfer;	/* bytes that cross the interface */
	unsigned int touches;
};

static struct extent extent_of(const struct model *model,
			       const struct request *req)
{
	const struct block_map *map = &model->config.map;
	struct extent e = { .start = media_byte(map, req->offset) };

	e.end = e.start + req->count;
	if (req->op == OP_WRITE)
		e.transfer = req->count;
	if (req->op == OP_WRITE || req->op == OP_ZERO)
		e.touches = touch_of(map, req->offset, req->count).partial;
	return e;
}

static int64_t serve_disk(struct model *model, const struct request *req,
			  int64_t now)
{
	struct extent e = extent_of(model, req);

	switch (req->op) {
	case OP_READ:
		return hdd_read(&model->hdd, now, e.start, e.end);
	case OP_WRITE:
	case OP_ZERO:
		return hdd_write(&model->hdd, now, e.start, e.end, e.transfer,
				 e.touches, req->fua);
	case OP_FLUSH:
		return hdd_flush(&model->hdd, now);
	case OP_TRIM:
		break;
	}
	return hdd_command(&model->hdd, now);
}

static int64_t serve_flash(struct model *model, const struct request *req,
			   int64_t now)
{
	struct extent e = extent_of(model, req);

	switch (req->op) {
	case OP_READ:
		return ssd_read(&model->ssd, now, e.start, e.end);
	case OP_WRITE:
	case OP_ZERO:
		return ssd_write(&model->ssd, now, e.start, e.end, e.transfer,
				 e.touches, req->fua);
	case OP_FLUSH:
		return ssd_flush(&model->ssd, now);
	case OP_TRIM:
		break;
	}
	return ssd_command(&model->ssd, now);
}

static bool has_queue(const struct model *model)
{
	return model->config.profile->kind == PROFILE_MECHANICAL &&
	       model->config.profile->queue;
}

int64_t model_submit(struct model *model, const struct request *req,
		     int64_t now)
{
	struct queued queued;

	if (has_queue(model)) {
		model_queue(model, &queued, req, now);
		while (!queued.decided)
			model_decide(model, model_decide(model, now));
		return queued.when;
	}
	switch (model->config.profile->kind) {
	case PROFILE_MECHANICAL:
		return serve_disk(model, req, now);
	case PROFILE_FLASH:
		return serve_flash(model, req, now);
	case PROFILE_FIXED:
		count_at_once(model, req);
		return serve_fixed(model, now);
	case PROFILE_INSTANT:
		break;
	}
	count_at_once(model, req);
	return now;
}

void model_queue(struct model *model, struct queued *queued,
		 const struct request *req, int64_t now)
{
	struct extent e = extent_of(model, req);

	if (!has_queue(model)) {
		queued->when = model_submit(model, req, now);
		queued->decided = true;
		return;
	}
	hdd_choose(&model->hdd, now);
	if (req->op == OP_READ) {
		hdd_queue_read(&model->hdd, queued, now, e.start, e.end);
	} else if ((req->op == OP_WRITE || req->op == OP_ZERO) &&
		   !model->config.cache) {
		hdd_queue_write(&model->hdd, queued, now, e.start, e.end,
				e.transfer, e.touches);
	} else {
		/* The cache has an order of its own. */
		queued->when = serve_disk(model, req, now);
		queued->decided = true;
	}
}

int64_t model_decide(struct model *model, int64_t now)
{
	return has_queue(model) ? hdd_choose(&model->hdd, now) : INT64_MAX;
}

int64_t model_lead(const struct model *model, const struct request *req)
{
	const struct profile *profile = model->config.profile;

	if (!profile->bus_rate || req->op != OP_WRITE)
		return 0;
	return (int64_t)((double)req->count / profile->bus_rate * 1e9);
}

/* Let a disk do all that happens up to @now. */
static void catch_up(struct model *model, int64_t now)
{
	if (model->config.profile->kind != PROFILE_MECHANICAL)
		return;
	hdd_choose(&model->hdd, now);
	hdd_advance(&model->hdd, now);
}

struct media_counters model_counters(struct model *model, int64_t now)
{
	struct media_counters counters;

	catch_up(model, now);
	counters = model->counters;
	if (model->config.profile->kind == PROFILE_MECHANICAL)
		counters.touches_pending = hdd_pending(&model->hdd);
	return counters;
}

void model_reset_counters(struct model *model, int64_t now)
{
	catch_up(model, now);
	model->counters = (struct media_counters){ 0 };
	if (model->config.profile->kind == PROFILE_MECHANICAL)
		hdd_forget_counts(&model->hdd);
}

void model_lose_power(struct model *model, int64_t now)
{
	if (model->config.profile->kind == PROFILE_FIXED)
		memset(model->servers, 0, sizeof(model->servers));
	if (model->config.profile->kind == PROFILE_MECHANICAL)
		hdd_lose_power(&model->hdd, now);
	if (model->config.profile->kind == PROFILE_FLASH)
		ssd_lose_power(&model->ssd, now);
}

int64_t model_revolution(const struct model *model)
{
	if (model->config.profile->kind != PROFILE_MECHANICAL)
		return 0;
	return model->hdd.mechanics.revolution;
}
