// SPDX-License-Identifier: GPL-2.0
#include "player.h"

#include <stdlib.h>

#include "tap.h"

#define BLOCK UINT64_C(4096)
#define SIZE_DEFAULT (UINT64_C(1) << 40)
#define START_NS INT64_C(1000000000)
#define TOGETHER 2000

void player_start(struct player *p, const char *profile, bool cache)
{
	const struct profile *found = profile_find(profile);
	struct model *model;

	if (!found)
		abort();
	p->config = (struct model_config){
		.profile = found,
		.map = { BLOCK, 0 },
		.size = found->capacity ?: SIZE_DEFAULT,
		.cache = cache && found->cache_allowed,
	};
	if (found->blocks.physical)
		p->config.map = found->blocks;
	model = model_new(&p->config);
	if (!model)
		abort();
	clock_init(&p->clock, model);
	player_pause(p, START_NS);
}

void player_stop(struct player *p)
{
	model_free(p->clock.model);
}

int64_t player_send(struct player *p, enum op op, uint64_t offset,
		    uint64_t bytes)
{
	struct request req = { .op = op, .offset = offset, .count = bytes };

	return p->clock.host.send(&p->clock.host, &req);
}

void player_pause(struct player *p, int64_t ns)
{
	p->clock.host.wait(&p->clock.host, ns);
}

struct request player_anywhere(const struct player *p, enum op op)
{
	uint64_t blocks = p->config.size / BLOCK;

	return (struct request){
		.op = op,
		.offset = tap_random((unsigned int)blocks) * BLOCK,
		.count = BLOCK,
	};
}

int64_t player_together(struct player *p, enum op op, unsigned int depth)
{
	struct request req[TOGETHER];
	int64_t ns[TOGETHER], start = p->clock.now;

	for (unsigned int i = 0; i < TOGETHER; i++)
		req[i] = player_anywhere(p, op);
	p->clock.host.batch(&p->clock.host, req, TOGETHER, depth, ns);
	return p->clock.now - start;
}
