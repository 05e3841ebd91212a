// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include <stdlib.h>

struct model {
	struct model_config config;
	struct media_counters counters;
	int64_t servers[MODEL_DEPTH_MAX];	/* fixed: when each is free */
};

struct model *model_new(const struct model_config *config)
{
	struct model *model = calloc(1, sizeof(*model));

	if (model)
		model->config = *config;
	return model;
}

void model_free(struct model *model)
{
	free(model);
}

/* A drive that joins nothing: every touch is an RMW of its own. */
static void count_at_once(struct model *model, const struct request *req)
{
	struct touch t;

	if (req->op != OP_WRITE && req->op != OP_ZERO)
		return;
	t = touch_of(&model->config.map, req->offset, req->count);
	model->counters.rmws += t.partial;
	model->counters.blocks_written += t.last - t.first + 1;
}

/* Each request waits for a free server and then takes the fixed latency. */
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

int64_t model_submit(struct model *model, const struct request *req,
		     int64_t now)
{
	count_at_once(model, req);
	if (model->config.profile->kind == PROFILE_FIXED)
		return serve_fixed(model, now);
	return now;
}

struct media_counters model_counters(struct model *model, int64_t now)
{
	(void)now;
	return model->counters;
}

void model_reset_counters(struct model *model, int64_t now)
{
	(void)now;
	model->counters = (struct media_counters){ 0 };
}

int64_t model_revolution(const struct model *model)
{
	(void)model;
	return 0;
}
