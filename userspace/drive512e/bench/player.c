// SPDX-License-Identifier: GPL-2.0
#include "player.h"

#include <stdio.h>
#include <stdlib.h>

#define SIZE_DEFAULT (UINT64_C(1) << 40)
#define START_NS INT64_C(1000000000)

void player_start(struct player *p, const char *profile, bool cache)
{
	const struct profile *found = profile_find(profile);

	*p = (struct player){ .now = START_NS, .random = 1 };
	if (!found) {
		fprintf(stderr, "drive512e-bench: %s: no such profile\n", profile);
		exit(EXIT_FAILURE);
	}
	p->config = (struct model_config){
		.profile = found,
		.map = { 4096, 0 },
		.size = SIZE_DEFAULT,
		.cache = cache && found->cache_allowed,
	};
	if (found->blocks.physical)
		p->config.map = found->blocks;
	if (found->capacity)
		p->config.size = found->capacity;
	p->model = model_new(&p->config);
	if (!p->model) {
		fprintf(stderr, "drive512e-bench: no memory\n");
		exit(EXIT_FAILURE);
	}
}

void player_stop(struct player *p)
{
	model_free(p->model);
}

int64_t player_send(struct player *p, enum op op, uint64_t offset,
		    uint64_t bytes)
{
	struct request req = { .op = op, .offset = offset, .count = bytes };
	int64_t sent = p->now;

	p->now = model_submit(p->model, &req, sent);
	return p->now - sent;
}

void player_pause(struct player *p, int64_t ns)
{
	p->now += ns;
}

uint64_t player_random(struct player *p, uint64_t below)
{
	uint64_t x = p->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (x ^ (x >> 31)) % below;
}

uint64_t player_place(struct player *p, uint64_t limit, uint64_t bytes,
		      uint64_t step)
{
	return player_random(p, (limit - bytes) / step) * step;
}

struct request player_read_random(struct player *p, unsigned int job,
				  unsigned int i)
{
	const uint64_t bytes = 4096;

	(void)job;
	(void)i;
	return (struct request){
		OP_READ, player_place(p, p->config.size, bytes, bytes), bytes,
		false,
	};
}

int64_t player_together(struct player *p, unsigned int jobs, unsigned int count,
			player_next *next)
{
	struct queued *slots = calloc(jobs, sizeof(*slots));
	bool *busy = calloc(jobs, sizeof(*busy));
	unsigned int sent = 0, answered = 0;
	int64_t start = p->now;

	if (!slots || !busy)
		abort();
	for (; sent < jobs && sent < count; sent++) {
		struct request req = next(p, sent, 0);

		model_queue(p->model, &slots[sent], &req, p->now);
		busy[sent] = true;
	}
	while (answered < count) {
		int64_t choice = model_decide(p->model, p->now);
		unsigned int job = jobs;

		for (unsigned int i = 0; i < jobs; i++) {
			if (busy[i] && slots[i].decided &&
			    (job == jobs || slots[i].when < slots[job].when))
				job = i;
		}
		if (job == jobs || choice < slots[job].when) {
			p->now = choice;
			continue;
		}
		if (slots[job].when > p->now)
			p->now = slots[job].when;
		busy[job] = false;
		answered++;
		if (sent < count) {
			struct request req = next(p, job, sent / jobs);

			model_queue(p->model, &slots[job], &req, p->now);
			busy[job] = true;
			sent++;
		}
	}
	free(slots);
	free(busy);
	return p->now - start;
}
