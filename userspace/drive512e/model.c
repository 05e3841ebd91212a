// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include <stdlib.h>

#include "hdd.h"

struct model {
	struct model_config config;
	struct media_counters counters;
	int64_t servers[MODEL_DEPTH_MAX];	/* fixed: when they are free */
	struct hdd hdd;				/* mechanical */
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
	return model;
}

void model_free(struct model *model)
{
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

static int64_t serve_disk(struct model *model, const struct request *req,
			  int64_t now)
{
	const struct block_map *map = &model->config.map;
	uint64_t start = media_byte(map, req->offset);
	uint64_t end = start + req->count;

	switch (req->op) {
	case OP_READ:
		return hdd_read(&model->hdd, now, start, end);
	case OP_WRITE:
	case OP_ZERO:
		return hdd_write(&model->hdd, now, start, end,
				 req->op == OP_WRITE ? req->count : 0,
				 touch_of(map, req->offset, req->count).partial,
				 req->fua);
	case OP_FLUSH:
		return hdd_flush(&model->hdd, now);
	case OP_TRIM:
		break;
	}
	return hdd_command(&model->hdd, now);
}

int64_t model_submit(struct model *model, const struct request *req,
		     int64_t now)
{
	switch (model->config.profile->kind) {
	case PROFILE_MECHANICAL:
		return serve_disk(model, req, now);
	case PROFILE_FIXED:
		count_at_once(model, req);
		return serve_fixed(model, now);
	case PROFILE_INSTANT:
		break;
	}
	count_at_once(model, req);
	return now;
}

int64_t model_lead(const struct model *model, const struct request *req)
{
	if (model->config.profile->kind != PROFILE_MECHANICAL ||
	    req->op != OP_WRITE)
		return 0;
	return hdd_transfer_time(&model->hdd, req->count);
}

/* Let a disk do all that happens up to @now. */
static void catch_up(struct model *model, int64_t now)
{
	if (model->config.profile->kind == PROFILE_MECHANICAL)
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
	if (model->config.profile->kind == PROFILE_MECHANICAL)
		hdd_lose_power(&model->hdd, now);
}

int64_t model_revolution(const struct model *model)
{
	if (model->config.profile->kind != PROFILE_MECHANICAL)
		return 0;
	return model->hdd.mechanics.revolution;
}
