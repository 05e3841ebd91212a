// SPDX-License-Identifier: GPL-2.0
/* Keep requests in an array, and hand batches of them to each model. */
#include <stdlib.h>

#include "base/message.h"
#include "forecast/changes.h"

/* Requests that a model does before the next one: few enough for a cache. */
#define BATCH		1024U

/**
 * struct changes - requests
 * @model: models that do each request
 * @nr_models: number of elements of @model
 * @max: limit of @nr
 * @kept: no request was dropped
 * @request: the requests
 * @room: allocated length of @request
 * @nr: number of requests
 * @done: number of these that the models have done
 */
struct changes {
	struct fixing *const *model;
	unsigned int nr_models;
	size_t max;
	bool kept;
	struct fixing_request *request;
	size_t room;
	size_t nr;
	size_t done;
};

struct changes *changes_new(struct fixing *const models[], unsigned int nr,
			    bool keep)
{
	struct changes *c = memory_or_exit(calloc(1, sizeof(*c)));

	c->model = models;
	c->nr_models = nr;
	c->max = keep ? CHANGES_MAX : BATCH;
	c->kept = true;
	c->room = BATCH;
	c->request = memory_or_exit(calloc(c->room, sizeof(*c->request)));
	return c;
}

void changes_free(struct changes *c)
{
	if (!c)
		return;
	free(c->request);
	free(c);
}

/* Do the requests that the models have not done. */
static void do_new(struct changes *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_models; i++)
		fixing_do(c->model[i], c->request + c->done, c->nr - c->done);
	c->done = c->nr;
}

/* Make room for more requests: drop those that are there if there are too many. */
static void make_room(struct changes *c)
{
	if (c->nr == c->max) {
		c->kept = false;
		c->max = BATCH;
		c->room = BATCH;
		c->nr = c->done = 0;
	} else {
		c->room *= 2;
	}
	c->request = memory_or_exit(reallocarray(c->request, c->room,
						 sizeof(*c->request)));
}

void changes_add(struct changes *c, const struct trace_request *request,
		 uint64_t first, uint64_t end)
{
	/* what a read makes too old is so at the next request as well */
	if (request->op == TRACE_READ && !request->preflush)
		return;
	if (c->nr - c->done == BATCH)
		do_new(c);
	if (c->nr == c->room)
		make_room(c);
	c->request[c->nr++] = (struct fixing_request) {
		.time_ns = request->time_ns, .first = first, .end = end,
		.op = request->op, .preflush = request->preflush,
		.fua = request->fua,
	};
}

bool changes_end(struct changes *c)
{
	unsigned int i;

	do_new(c);
	for (i = 0; i < c->nr_models; i++)
		fixing_flush(c->model[i]);
	return c->kept;
}

void changes_repeat(const struct changes *c, struct fixing *model)
{
	fixing_do(model, c->request, c->nr);
	fixing_flush(model);
}
